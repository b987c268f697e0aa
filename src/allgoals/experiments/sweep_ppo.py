"""The random sweep over PPO's hyperparameters."""

from allgoals.studies.budgets import TRIALS, swept
from allgoals.studies.sweep import Sweep

SWEEP_PPO = Sweep(
    name="sweep-ppo",
    paper="the appendix of hyperparameters",
    about="A random sweep over PPO's hyperparameters.",
    base=swept("ppo"),
    space={
        "algorithm.width": (256, 512, 1024),
        "algorithm.embedding_layers": (1, 2, 4),
        "algorithm.critic_layers": (1, 2, 4),
        "algorithm.actor_layers": (1, 2, 4),
        "algorithm.conv_features": (4, 8, 16, 32),
        "num_steps": (1, 2, 4, 8, 16, 32, 64),
        "algorithm.epochs": (1, 2, 4),
        "algorithm.learning_rate": (2e-4, 3e-4),
        "algorithm.learning_rate_decay": (True, False),
        "algorithm.gamma": (0.99, 0.995, 0.999),
        "algorithm.num_minibatches": (8, 16, 32),
        "algorithm.gae_lambda": (0.8, 0.9, 0.95),
        "algorithm.entropy_coefficient": (0.01, 0.005, 0.002),
        "algorithm.value_coefficient": (0.5,),
    },
    best={
        "algorithm.width": 1024, "algorithm.embedding_layers": 1, "algorithm.critic_layers": 4,
        "algorithm.actor_layers": 2, "algorithm.conv_features": 32, "num_steps": 64,
        "algorithm.epochs": 1, "algorithm.learning_rate": 2e-4,
        "algorithm.learning_rate_decay": True, "algorithm.gamma": 0.995,
        "algorithm.num_minibatches": 32, "algorithm.gae_lambda": 0.95,
        "algorithm.entropy_coefficient": 0.005, "algorithm.value_coefficient": 0.5,
    },
    trials=TRIALS,
)  # fmt: skip
