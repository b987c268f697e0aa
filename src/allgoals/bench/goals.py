"""How the time of one update grows with the number of goals: LEO against naive relabelling.

Both collect the same rollout and learn about every goal from every transition of it: LEO in one
pass of its network, naive relabelling in one pass per goal.
"""

import math
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import jax

from allgoals.algorithms import Leo, Pqn
from allgoals.algorithms.base import Algorithm
from allgoals.envs.gridworld import Gridworld
from allgoals.goals.samplers import seen_only
from allgoals.tasks import make_task
from allgoals.training import Trainer

MOST_NAIVE_SECONDS = 30.0  # an update expected to take longer is not measured
MINIBATCH = 512


@dataclass(frozen=True)
class Timing:
    algorithm: str
    goals: int
    seconds: float  # one update, rollout and learning: the median
    spread: float  # half the range over the repeats
    steps_per_second: float


def measure(
    sizes: Iterable[int], *, num_envs: int, num_steps: int, width: int, repeats: int
) -> Iterator[Timing]:
    """LEO and PQN at every size; naive relabelling up to the size that fits the time allowed."""
    shared = dict(width=width, layers=2, minibatch_size=math.gcd(MINIBATCH, num_envs * num_steps))
    algorithms = {"pqn": Pqn(**shared), "leo": Leo(**shared, epochs=1)}
    naive = Pqn(**shared, relabel="all")
    for goals in sizes:
        for name, algorithm in algorithms.items():
            timing = _time(name, algorithm, goals, num_envs, num_steps, repeats)
            if name == "pqn":
                expected = timing.seconds * goals
            yield timing
        if expected < MOST_NAIVE_SECONDS:
            yield _time("naive_all_goals", naive, goals, num_envs, num_steps, min(repeats, 3))


def _time(
    name: str, algorithm: Algorithm, goals: int, num_envs: int, num_steps: int, repeats: int
) -> Timing:
    """Open ground, so that every cell is a goal; updates are counted so that each repeat lasts."""
    env = Gridworld(size=max(2, math.ceil(goals**0.5)), wall_probability=0.0)
    task = make_task("gridworld", env, subset=goals)
    trainer = Trainer(task, algorithm, seen_only, num_envs, num_steps, 10**6, 0.9)
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, _ = jax.block_until_ready(trainer.advance(state, 1))
    begin = time.perf_counter()
    state, _ = jax.block_until_ready(trainer.advance(state, 1))
    updates = max(1, int(0.5 / (time.perf_counter() - begin)))
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        state, _ = jax.block_until_ready(trainer.advance(state, updates))
        seconds.append((time.perf_counter() - begin) / updates)
    middle = statistics.median(seconds)
    spread = (max(seconds) - min(seconds)) / 2
    return Timing(name, goals, middle, spread, num_envs * num_steps / middle)


def table(timings: list[Timing]) -> str:
    """Times and ratios to LEO at the same number of goals."""
    leo = {t.goals: t.seconds for t in timings if t.algorithm == "leo"}
    lines = [
        f"{'algorithm':16}{'goals':>7}{'ms/update':>12}{'spread':>9}{'steps/s':>11}{'/ LEO':>9}"
    ]
    for t in timings:
        ratio = t.seconds / leo[t.goals] if t.goals in leo else math.nan
        lines.append(
            f"{t.algorithm:16}{t.goals:>7}{1e3 * t.seconds:>12.1f}{1e3 * t.spread:>9.1f}"
            f"{t.steps_per_second:>11,.0f}{ratio:>9.2f}"
        )
    return "\n".join(lines)


def draw(timings: list[Timing], path: Path) -> None:
    """Milliseconds per update over goals, both axes logarithmic."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for name in dict.fromkeys(t.algorithm for t in timings):
        rows = [t for t in timings if t.algorithm == name]
        spreads = [1e3 * t.spread for t in rows]
        times = [1e3 * t.seconds for t in rows]
        axes.errorbar([t.goals for t in rows], times, yerr=spreads, marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="goals", ylabel="ms per update")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
