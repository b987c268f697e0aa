"""How the time of one update grows with the number of goals: LEO, PQN and naive relabelling.

All collect the same rollout. LEO and naive relabelling learn about every goal from every transition
of it: LEO in one pass of its network, naive relabelling in one pass per goal. PQN learns about one.
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
from allgoals.bench.sizes import GoalsSizes
from allgoals.envs.gridworld import Gridworld
from allgoals.errors import UsageError
from allgoals.goals.samplers import seen_only
from allgoals.tasks import make_task
from allgoals.training import Trainer
from allgoals.types import Task

MOST_NAIVE_SECONDS = 60.0  # an update expected to take longer is not measured


@dataclass(frozen=True)
class Timing:
    algorithm: str
    goals: int
    seconds: float  # one update, rollout and learning: the median
    spread: float  # half the range over the repeats
    steps_per_second: float
    extrapolated: bool = False  # along a line through the two largest sizes that were measured


def measure(goal_counts: Iterable[int], sizes: GoalsSizes, repeats: int) -> Iterator[Timing]:
    """LEO and PQN at every count; naive relabelling where it fits, then drawn out along a line."""
    shared = _shared(sizes)
    naive: list[Timing] = []
    for goals in sorted(set(goal_counts)):
        pqn = _time("pqn", Pqn(**shared), goals, sizes, repeats)
        yield pqn
        yield _time("leo", Leo(**shared), goals, sizes, repeats)
        if pqn.seconds * goals < MOST_NAIVE_SECONDS:
            algorithm = Pqn(**shared, relabel="all")
            naive.append(_time("naive_all_goals", algorithm, goals, sizes, min(repeats, 3)))
            yield naive[-1]
        elif len(naive) > 1 and _rises(*naive[-2:]):
            yield extrapolate(*naive[-2:], goals)


def naive_relabelling(
    few: tuple[int, int], goals: int, sizes: GoalsSizes, repeats: int
) -> Iterator[Timing]:
    """Naive relabelling alone: at two numbers of goals, and drawn out to a third."""
    algorithm = Pqn(**_shared(sizes), relabel="all")
    one, two = (_time("naive_all_goals", algorithm, n, sizes, min(repeats, 3)) for n in few)
    if not _rises(one, two):
        raise UsageError("naive relabelling was no slower with more goals: the machine is too busy")
    yield from (one, two, extrapolate(one, two, goals))


def _shared(sizes: GoalsSizes) -> dict[str, int]:
    return dict(
        width=sizes.width, layers=sizes.layers, conv_features=32, epochs=sizes.epochs,
        minibatch_size=math.gcd(sizes.minibatch_size, sizes.rows),
    )  # fmt: skip


def _rises(one: Timing, two: Timing) -> bool:
    """Whether a line through both says anything of more goals."""
    return two.seconds > one.seconds


def extrapolate(one: Timing, two: Timing, goals: int) -> Timing:
    """Naive relabelling has `goals` times the rows, so its time is a line."""
    reach = (goals - two.goals) / (two.goals - one.goals)
    seconds = two.seconds + reach * (two.seconds - one.seconds)
    spread = two.spread + reach * (two.spread + one.spread)  # the steepest line and the flattest
    rows = two.seconds * two.steps_per_second
    return Timing(two.algorithm, goals, seconds, spread, rows / seconds, extrapolated=True)


def _task(name: str, goals: int) -> Task:
    if name != "gridworld":
        return make_task(name, subset=goals)
    side = max(2, math.ceil(goals**0.5))
    return make_task(name, Gridworld(size=side, wall_probability=0.0), subset=goals)


def _time(name: str, algorithm: Algorithm, goals: int, sizes: GoalsSizes, repeats: int) -> Timing:
    """Updates are counted so that each repeat lasts."""
    task = _task(sizes.task, goals)
    trainer = Trainer(task, algorithm, seen_only, sizes.num_envs, sizes.num_steps, 10**6, 0.9)
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
    return Timing(name, goals, middle, (max(seconds) - min(seconds)) / 2, sizes.rows / middle)


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
            f"{t.steps_per_second:>11,.0f}{ratio:>9.2f}" + "  extrapolated" * t.extrapolated
        )
    return "\n".join(lines)


def draw(timings: list[Timing], path: Path) -> None:
    """Milliseconds per update over goals, both axes logarithmic; hollow where extrapolated."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for name in dict.fromkeys(t.algorithm for t in timings):
        rows = [t for t in timings if t.algorithm == name]
        spreads = [1e3 * t.spread for t in rows]
        times = [1e3 * t.seconds for t in rows]
        (line, *_) = axes.errorbar(
            [t.goals for t in rows], times, yerr=spreads, marker="o", label=name
        )
        guessed = [t for t in rows if t.extrapolated]
        axes.plot(
            [t.goals for t in guessed], [1e3 * t.seconds for t in guessed], "o",
            color=line.get_color(), markerfacecolor="white", zorder=3,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="goals", ylabel="ms per update")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
