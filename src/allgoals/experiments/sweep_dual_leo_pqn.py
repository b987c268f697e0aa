"""The sweep over how Dual LEO (PQN) mixes its two networks."""

from allgoals.studies.budgets import TRIALS, swept
from allgoals.studies.sweep import Sweep

MIXED = ("algorithm.acting", "linear_combination")

SWEEP_DUAL_LEO_PQN = Sweep(
    name="sweep-dual-leo-pqn",
    paper="the appendix of hyperparameters",
    about="A random sweep over how Dual LEO (PQN) acts; all else as PQN has it best. There are 54"
    " sets of values, so some trials differ in their seeds alone.",
    base=swept("dual_leo_pqn"),
    space={
        "algorithm.acting": ("max", "min", "linear_combination"),
        "algorithm.alpha": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        "algorithm.anneal_alpha": (True, False),
    },
    best={
        "algorithm.acting": "linear_combination",
        "algorithm.alpha": 0.3,
        "algorithm.anneal_alpha": False,
    },
    trials=TRIALS,
    matters=dict.fromkeys(("algorithm.alpha", "algorithm.anneal_alpha"), MIXED),
)
