"""The sweep over how Dual LEO (PPO) clones what LEO says."""

from allgoals.studies.budgets import TRIALS, swept
from allgoals.studies.sweep import Sweep

WEIGHTS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)

SWEEP_DUAL_LEO_PPO = Sweep(
    name="sweep-dual-leo-ppo",
    paper="the appendix of hyperparameters",
    about="A random sweep over how Dual LEO (PPO) clones LEO; all else as PPO has it best.",
    base=swept("dual_leo_ppo"),
    space={
        "algorithm.policy_cloning": WEIGHTS,
        "algorithm.value_cloning": WEIGHTS,
        "algorithm.anneal_cloning": (True, False),
    },
    best={
        "algorithm.policy_cloning": 0.1,
        "algorithm.value_cloning": 0.0,
        "algorithm.anneal_cloning": True,
    },
    trials=TRIALS,
)
