"""What it takes to train the seeds of one configuration together, beside one seed alone.

Run: python benchmarks/together.py TASK/ALGORITHM [--seeds K] [--rounds N]
The sizes are the preset's. In every round one seed alone makes as many updates as all together.
"""

import argparse
import statistics
import time

import jax

from allgoals.presets import preset
from allgoals.runs.cache import enable_compile_cache
from allgoals.runs.setup import build_trainer
from allgoals.training import Trainer
from allgoals.validation import build_task

UPDATES = 4  # of every seed that trains together, in a round


class Training:
    """A training under way."""

    def __init__(self, trainer: Trainer):
        keys = jax.random.split(jax.random.key(0), trainer.runs or 1)
        self.trainer = trainer
        self.state = jax.jit(trainer.init)(keys if trainer.runs else keys[0])
        self.seconds(1)  # compiles

    def seconds(self, updates: int) -> float:
        begin = time.perf_counter()
        self.state, _ = jax.block_until_ready(self.trainer.advance(self.state, updates))
        return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", help="TASK/ALGORITHM")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    words = parser.parse_args()
    enable_compile_cache()
    experiment = preset(words.experiment)
    task = build_task(experiment)
    alone = Training(build_trainer(experiment, task))
    together = Training(build_trainer(experiment, task, words.seeds))
    ratios = []
    for _ in range(words.rounds):
        one = alone.seconds(UPDATES * words.seeds)
        ratios.append(together.seconds(UPDATES) / one)
        each = one / (UPDATES * words.seeds)
        print(f"alone {each:.3f} s an update, together {each * ratios[-1]:.3f} s a seed")
    print(f"together / alone: {statistics.median(ratios):.2f}"
          f" ({min(ratios):.2f} to {max(ratios):.2f} over {words.rounds} rounds)")  # fmt: skip


if __name__ == "__main__":
    main()
