"""The random sweep over LEO's hyperparameters."""

from allgoals.experiments.q_learning import VALUES
from allgoals.studies.budgets import TRIALS, swept
from allgoals.studies.sweep import Sweep

SWEEP_LEO = Sweep(
    name="sweep-leo",
    paper="the appendix of hyperparameters",
    about="A random sweep over LEO's hyperparameters.",
    base=swept("leo"),
    space={**VALUES, "algorithm.layers": (1, 2, 4, 6)},
    best={
        "algorithm.width": 1024, "algorithm.layers": 4, "algorithm.conv_features": 32,
        "num_steps": 32, "algorithm.epsilon_start": 0.2, "algorithm.epsilon_end": 0.01,
        "algorithm.epsilon_decay": 0.2, "algorithm.epochs": 2, "algorithm.learning_rate": 2e-4,
        "algorithm.learning_rate_decay": True, "algorithm.gamma": 0.99,
        "algorithm.minibatch_size": 512,
    },
    trials=TRIALS,
)  # fmt: skip
