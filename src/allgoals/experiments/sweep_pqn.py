"""The random sweep over PQN's hyperparameters."""

from allgoals.experiments.q_learning import VALUES
from allgoals.studies.budgets import TRIALS, swept
from allgoals.studies.sweep import Sweep

SWEEP_PQN = Sweep(
    name="sweep-pqn",
    paper="the appendix of hyperparameters",
    about="A random sweep over PQN's hyperparameters.",
    base=swept("pqn"),
    space={**VALUES, "algorithm.layers": (1, 2, 4)},
    best={
        "algorithm.width": 1024, "algorithm.layers": 4, "algorithm.conv_features": 16,
        "num_steps": 2, "algorithm.epsilon_start": 0.2, "algorithm.epsilon_end": 0.01,
        "algorithm.epsilon_decay": 0.5, "algorithm.epochs": 1, "algorithm.learning_rate": 2e-4,
        "algorithm.learning_rate_decay": True, "algorithm.gamma": 0.995,
        "algorithm.minibatch_size": 256,
    },
    trials=TRIALS,
)  # fmt: skip
