"""Success against steps for some hard and some easy goals."""

from allgoals.experiments.main import cases
from allgoals.report.claims import Above, Claim, Side
from allgoals.report.pictures import Curves
from allgoals.studies.budgets import CHAIN, CHOSEN_AFTER
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Declared

CLASSIC = {
    "hard": ("inventory/coal_1", "tools/stone_pickaxe", "tools/wood_pickaxe"),
    "easy": ("inventory/wood_1", "inventory/sapling_1", "block_map/TREE_left"),
}
FULL = {
    "hard": ("inventory/coal_1", "tools/stone_pickaxe", "tools/bow", "dungeon_level/dlvl_1"),
    "easy": ("inventory/wood_1", "inventory/sapling_1", "block_map/tree_left"),
}
LAPTOP = CLASSIC | {"hard": (*CLASSIC["hard"], CHAIN, CHAIN.replace("left", "up"))}
SMALL = {"hard": ("position/4-4",), "easy": ("position/0-1",)}


def chosen(budget: Budget) -> dict[str, dict[str, tuple[str, ...]]]:
    """Goals by task, hard and easy."""
    return {
        "smoke": {"gridworld": SMALL},
        "laptop": {"craftax-classic": LAPTOP},
        "paper": {"craftax-classic": CLASSIC, "craftax": FULL},
    }[budget]


def pictures(budget: Budget) -> list[Curves]:
    kinds = ("hard", "easy")
    by_kind = {k: [goal for one in chosen(budget).values() for goal in one[k]] for k in kinds}
    return [Curves(k, f"Goals that are {k}", goals=tuple(dict.fromkeys(by_kind[k]))) for k in kinds]


def claims(budget: Budget) -> list[Claim]:
    """The paper's are about the full game, or what stands for it: means over either kind."""
    task, goals = list(chosen(budget).items())[-1]
    hard, easy = goals["hard"], goals["easy"]
    leo = Side("LEO")
    baselines = ("PQN", "PQN + HER", "PPO")
    duals = {"Dual LEO (PQN)": "PQN", "Dual LEO (PPO)": "PPO"}  # and what each is built on
    return [
        *(Above(f"{task}: LEO is above {b} at the hard goals", leo, Side(b), task, hard)
          for b in baselines),
        *(Above(f"{task}: LEO is below {b} at the easy goals", Side(b), leo, task, easy)
          for b in baselines),
        *(Above(f"{task}: {dual} is above {b} at the hard goals", Side(dual), Side(b), task, hard)
          for dual, b in duals.items()),
        *(Above(f"{task}: {dual} is not below {b} at the easy goals", Side(dual), Side(b), task,
                easy, margin=0.05)
          for dual, b in duals.items()),
    ]  # fmt: skip


CHOSEN_GOALS = RunStudy(
    name="chosen-goals",
    paper="the figure of selected goals",
    about="The runs of main, goal by goal: some that are hard, some that are easy. The paper"
    " speaks of the full game; at smaller budgets another world stands for it.",
    declared=Declared(cases, pictures, claims),
    cautions=CHOSEN_AFTER,
)
