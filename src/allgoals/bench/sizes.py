"""How large the things are that benchmarks measure; the command line reads these records."""

from dataclasses import dataclass
from typing import Literal

from allgoals.experiment import Count


@dataclass(frozen=True)
class GoalsSizes:
    task: str = "gridworld"  # open ground of that many cells, or a random choice of a task's goals
    num_envs: Count = 64  # environments run side by side
    num_steps: Count = 32  # steps of each environment per update
    epochs: Count = 1  # passes over each rollout
    width: Count = 256  # units of each dense layer
    layers: Count = 2  # dense layers
    minibatch_size: Count = 512  # rows per gradient step; fewer if these do not divide a rollout

    @property
    def rows(self) -> int:
        return self.num_envs * self.num_steps


@dataclass(frozen=True)
class ThroughputSizes:
    num_envs: Count = 256  # environments run side by side
    num_steps: Count = 32  # steps of each environment per update
    minibatch_size: Count = 512  # rows per gradient step
    epochs: Count = 2  # passes over each rollout
    width: Count = 256  # units of each dense layer
    layers: Count = 4  # dense layers of the value networks, where actions are discrete
    conv_features: Count = 32  # features of the convolution
    all_actions_in: Literal["float32", "bfloat16"] = "float32"  # rounding, for LEO
    batch_size: Count = 256  # where actions are continuous: rows per gradient step
    updates: Count = 8  # where actions are continuous: gradient steps per rollout
    grid: tuple[Count, ...] = (25, 112, 416)  # where actions are continuous: goals of LEO's grid

    @property
    def rows(self) -> int:
        return self.num_envs * self.num_steps
