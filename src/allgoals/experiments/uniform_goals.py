"""Main, with goals sampled uniformly instead of among those seen before."""

from dataclasses import replace

from allgoals.experiments import main
from allgoals.report.claims import Above, Alike, Claim, Side, Wider
from allgoals.report.pictures import Curves
from allgoals.studies.budgets import LABELS, SIX
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

UNIFORM, SEEN = "all goals", "seen goals"
LEFT_OUT: dict[Budget, tuple[str, ...]] = {  # so that it takes less than 90 minutes from nothing
    "smoke": (),
    "laptop": ("dual_leo_ppo",),
    "paper": (),
}


def cases(budget: Budget) -> list[Case]:
    """The runs of main beside those with goals sampled uniformly."""
    seen = [case for case in main.cases(budget) if case.experiment.name not in LEFT_OUT[budget]]
    return [replace(case, sampled=SEEN) for case in seen] + [_uniform(case) for case in seen]


def _uniform(case: Case) -> Case:
    goals = replace(case.experiment.goals, sampler="uniform")
    experiment = replace(case.experiment, goals=goals)
    return replace(case, experiment=experiment, variation="uniform", sampled=UNIFORM)


def pictures(budget: Budget) -> tuple:
    del budget
    return (Curves("success", "Mean success, goals drawn from those seen before, or from all"),)


def claims(budget: Budget) -> list[Claim]:
    classic = "gridworld" if budget == "smoke" else "craftax-classic"
    methods = [LABELS[name] for name in SIX if name not in LEFT_OUT[budget]]
    baselines = [LABELS[name] for name in SIX[:3]]
    ahead = [(leo, other) for leo in methods if leo not in baselines for other in baselines]
    sides = {
        (task, name, how): Side(name, panel=f"{task}, {how}")
        for task in (classic, "craftax") for name in LABELS.values() for how in (SEEN, UNIFORM)
    }  # fmt: skip
    return [
        *(Alike(f"{classic}: it makes little difference to {n}", sides[classic, n, UNIFORM],
                sides[classic, n, SEEN]) for n in methods),
        *(Above(f"craftax: {n} gets worse", sides["craftax", n, SEEN], sides["craftax", n, UNIFORM])
          for n in methods),
        *(Above(f"craftax: with all goals, {upper} is above {lower}",
                sides["craftax", upper, UNIFORM], sides["craftax", lower, UNIFORM])
          for upper, lower in ahead),
        *(Wider(f"craftax: with all goals, {upper} is further above {lower}",
                tuple(sides["craftax", name, how] for how in (UNIFORM, SEEN)
                      for name in (upper, lower)))
          for upper, lower in ahead),
    ]  # fmt: skip


UNIFORM_GOALS = RunStudy(
    name="uniform-goals",
    paper="the appendix of uniform goal sampling",
    about="The six methods with commanded goals drawn from all goals, seen before or not, beside"
    " the runs of main; at the laptop's size without Dual LEO (PPO).",
    declared=Declared(cases, pictures, claims),
)
