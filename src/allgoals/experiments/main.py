"""Mean success over all goals against steps: six methods, both Craftax tasks."""

from allgoals.report.claims import Above, Alike, Best, Claim, Side
from allgoals.report.pictures import Curves, Improvements, Profiles
from allgoals.studies.budgets import CRAFTAX, LABELS, SIX, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared


def cases(budget: Budget) -> list[Case]:
    return [
        Case(LABELS[name], craftax(budget, task, name)) for task in CRAFTAX[budget] for name in SIX
    ]


def pictures(budget: Budget) -> tuple:
    del budget
    return (
        Curves("success", "Mean success over all goals"),
        Profiles("profiles", "Performance profiles"),
        Improvements("improvement", "Probability of improvement"),
    )


CLASSIC = {
    "PQN falls behind PPO on the small goal set": ("PPO", "PQN"),
    "hindsight helps PQN": ("PQN + HER", "PQN"),
    "LEO is above the PQN it is built on": ("LEO", "PQN"),
    "PPO is above LEO on the small goal set": ("PPO", "LEO"),
    "LEO is below PQN with hindsight": ("PQN + HER", "LEO"),
    "Dual LEO (PQN) is above its part LEO": ("Dual LEO (PQN)", "LEO"),
    "Dual LEO (PQN) is above its part PQN": ("Dual LEO (PQN)", "PQN"),
    "Dual LEO (PPO) is above its part LEO": ("Dual LEO (PPO)", "LEO"),
    "Dual LEO (PPO) is above its part PPO": ("Dual LEO (PPO)", "PPO"),
}
FULL = {
    "LEO is above PPO on the large goal set": ("LEO", "PPO"),
    "LEO is above PQN": ("LEO", "PQN"),
    "LEO is above PQN with hindsight": ("LEO", "PQN + HER"),
    "hindsight helps PQN a little": ("PQN + HER", "PQN"),
    "Dual LEO (PQN) is above LEO": ("Dual LEO (PQN)", "LEO"),
}


def claims(budget: Budget) -> list[Claim]:
    classic = "gridworld" if budget == "smoke" else "craftax-classic"
    dual, leo = "Dual LEO (PQN)", "LEO"
    half = [Side(name, through=0.5) for name in (dual, leo)]
    return [
        *_about(classic, CLASSIC),
        *_about("craftax", FULL),
        Above(f"craftax: {dual} still improves in the second half", Side(dual), half[0], "craftax"),
        Alike(f"craftax: {leo} has converged by then", Side(leo), half[1], "craftax", share=0.1),
    ]


def _about(task: str, said: dict[str, tuple[str, str]]) -> list[Claim]:
    best = "Dual LEO (PPO)"
    compared = [
        Above(f"{task}: {text}", Side(upper), Side(lower), panel=task)
        for text, (upper, lower) in said.items()
    ]
    return [*compared, Best(f"{task}: {best} is the best of all", best, task)]


MAIN = RunStudy(
    name="main",
    paper="the figure of main results",
    about="PPO, PQN with and without hindsight, LEO and both Dual LEOs: mean success over all goals"
    " against steps.",
    declared=Declared(cases, pictures, claims),
)
