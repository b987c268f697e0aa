"""Micro runs: whole experiments that take less than a second once compiled."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from allgoals.algorithms import ALGORITHMS
from allgoals.envs.gridworld import Gridworld
from allgoals.experiment import EvaluationOptions, Experiment
from allgoals.presets import preset

SMALL_Q = dict(width=16, layers=1, minibatch_size=16, epochs=1)
SMALL_PPO = dict(width=16, actor_layers=1, critic_layers=1, num_minibatches=2, epochs=1)
NAMES = list(ALGORITHMS)


def _small(algorithm, name: str):
    """The algorithm with networks and minibatches of the smallest sizes that still learn."""
    if name.startswith("dual"):
        other = name.removeprefix("dual_leo_")
        parts = {part: _small(getattr(algorithm, part), part) for part in ("leo", other)}
        return replace(algorithm, **parts)
    return replace(algorithm, **(SMALL_PPO if name == "ppo" else SMALL_Q))


def micro(name: str = "leo", updates: int = 40, **changes) -> Experiment:
    """gridworld/NAME with a 6x6 map and 32 steps per update."""
    experiment = preset(f"gridworld/{name}")
    sizes = dict(
        env=Gridworld(size=6, max_steps=20), algorithm=_small(experiment.algorithm, name),
        num_envs=8, num_steps=4, steps=updates * 32, log_every=2, checkpoint_every=4,
        evaluation=EvaluationOptions(times=2, num_envs=32, max_steps=20),
    )  # fmt: skip
    return replace(experiment, **(sizes | changes))
