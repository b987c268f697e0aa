"""Steps per second of acting, of learning and of both, beside the bare game in the same run.

Everything is measured in rounds, one after another, so that a machine whose speed drifts drifts for
all alike; ratios are taken within a round.
"""

import math
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax.experimental.compilation_cache import compilation_cache

from allgoals.algorithms.base import Algorithm
from allgoals.bench.bare import bare_game
from allgoals.bench.sizes import ThroughputSizes
from allgoals.bench.subjects import subject
from allgoals.goals.samplers import seen_only
from allgoals.runs.memory import program_bytes
from allgoals.tasks import make_task
from allgoals.training import Trainer
from allgoals.types import Task

STEADY = 0.1  # the bare game may differ by this share before and after
TRIES = 5
PLAIN = ("pqn", "sac")  # what learns about the commanded goal alone, with which others compare


class Spread(NamedTuple):
    """Repeated measurements: the middle one, and the range."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Throughput:
    task: str
    algorithm: str
    whole: Spread  # steps per second of collecting and learning
    acting: Spread  # of collecting alone
    updating: Spread  # of learning alone
    of_bare: Spread  # whole, as a share of the bare game beside it
    of_plain: Spread | None  # whole, as a share of PQN or SAC beside it, if they are measured
    bare: Spread  # steps per second of the bare game
    compile_cold: float  # seconds to trace and compile
    compile_warm: float  # seconds to trace and load from the compile cache
    bytes_per_transition: float  # held by a rollout
    program_bytes: int  # arguments, results and scratch of one update, as the compiler plans it

    def as_dict(self) -> dict[str, Any]:
        """Plain data; a spread is an object of three numbers."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v._asdict() if isinstance(v, Spread) else v for k, v in values.items()}


class Subject(NamedTuple):
    """One algorithm, ready to be timed: calls that return after the work is done."""

    name: str
    whole: Callable[[], None]
    acting: Callable[[], None]
    updating: Callable[[], None]
    facts: dict[str, Any]

    def warm_up(self) -> None:
        self.whole()
        self.acting()
        self.updating()


def measure(
    task_name: str,
    names: list[str],
    sizes: ThroughputSizes,
    repeats: int,
    say: Callable[[str], None],
    time_compiling: bool = True,
) -> Iterator[Throughput]:
    subjects = []
    for name in names:
        say(f"{task_name}/{name}: compiling")
        subjects.append(_prepare(name, *subject(task_name, name, sizes), sizes, time_compiling))
    say(f"{task_name}: warming up")
    bare = bare_game(make_task(task_name).env, sizes.num_envs, sizes.num_steps)
    bare()
    for one in subjects:
        one.warm_up()
    plain = _plain(subjects)
    times: dict[str, list[float]] = {}
    for i in range(repeats):
        say(f"{task_name}: round {i + 1} of {repeats}")
        for one in subjects:
            for part, seconds in _round(one, bare, plain).items():
                times.setdefault(f"{one.name}/{part}", []).append(seconds)
    for one in subjects:
        yield _result(task_name, one, times, sizes)


def _plain(subjects: list[Subject]) -> Subject | None:
    return next((one for one in subjects if one.name in PLAIN), None)


def _round(subject: Subject, bare: Callable[[], None], plain: Subject | None) -> dict[str, float]:
    """Seconds of each part. What the whole is compared with is timed beside it.

    The bare game is run on both sides. If these differ the machine has changed its speed meanwhile:
    again, a few times at most.
    """
    beside = {"plain": plain.whole} if plain and plain is not subject else {}
    calls = {"before": bare, **beside, "whole": subject.whole, "after": bare}
    tries: list[dict[str, float]] = []
    while len(tries) < TRIES and (not tries or _drift(tries[-1]) > STEADY):
        tries.append({part: _time(call) for part, call in calls.items()})
    times = min(tries, key=_drift)
    if plain is subject:
        times["plain"] = times["whole"]
    times["bare"] = (times.pop("before") + times.pop("after")) / 2
    return times | {"acting": _time(subject.acting), "updating": _time(subject.updating)}


def _drift(times: dict[str, float]) -> float:
    """How far the bare game before and after is apart."""
    before, after = times["before"], times["after"]
    return abs(before - after) / min(before, after)


def _time(call: Callable[[], None]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _result(
    task: str, subject: Subject, times: dict[str, list[float]], sizes: ThroughputSizes
) -> Throughput:
    def speed(part: str) -> Spread:
        return Spread.of([sizes.rows / t for t in times[f"{subject.name}/{part}"]])

    def share(of: str) -> Spread:
        pairs = zip(times[f"{subject.name}/{of}"], times[f"{subject.name}/whole"], strict=True)
        return Spread.of([other / ours for other, ours in pairs])

    return Throughput(
        task,
        subject.name,
        **{part: speed(part) for part in ("whole", "acting", "updating", "bare")},
        of_bare=share("bare"),
        of_plain=share("plain") if f"{subject.name}/plain" in times else None,
        **subject.facts,
    )


def peak_bytes() -> int:
    """The most that this process, with all that it has measured, has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _prepare(
    name: str, task: Task, algorithm: Algorithm, sizes: ThroughputSizes, time_compiling: bool
) -> Subject:
    trainer = Trainer(task, algorithm, seen_only, sizes.num_envs, sizes.num_steps, 10**6, 0.9)
    state = jax.jit(trainer.init)(jax.random.key(0))
    cold, warm = _compile_seconds(trainer) if time_compiling else (math.nan, math.nan)
    act = jax.jit(lambda algorithm, state: trainer.collect(algorithm, state, state.key, 0.0))
    update = jax.jit(
        lambda algorithm, state, rollout: algorithm.update(
            task, state.learner, rollout, state.key, progress=0.0
        )
    )
    held = {"state": trainer.advance(state, 1)[0]}
    rollout = jax.block_until_ready(act(algorithm, held["state"])[1])

    def whole() -> None:
        held["state"] = jax.block_until_ready(trainer.advance(held["state"], 1)[0])

    return Subject(
        name,
        whole,
        lambda: jax.block_until_ready(act(algorithm, held["state"])),
        lambda: jax.block_until_ready(update(algorithm, held["state"], rollout)),
        {
            "compile_cold": cold,
            "compile_warm": warm,
            "bytes_per_transition": sum(x.nbytes for x in jax.tree.leaves(rollout)) / sizes.rows,
            "program_bytes": program_bytes(trainer.program),
        },
    )


def _compile_seconds(trainer: Trainer) -> tuple[float, float]:
    """Tracing and compiling without a cache, and again with what that left in one."""
    chosen = jax.config.jax_compilation_cache_dir
    jax.clear_caches()
    with tempfile.TemporaryDirectory() as folder:
        _use_cache(folder)
        try:
            cold = _time(lambda: replace(trainer).program)
            jax.clear_caches()
            warm = _time(lambda: trainer.program)
        finally:
            _use_cache(chosen)
    return cold, warm


def _use_cache(folder: str | None) -> None:
    jax.config.update("jax_compilation_cache_dir", folder)
    compilation_cache.reset_cache()


def table(results: list[Throughput], repeats: int) -> str:
    head = ("task", "algorithm", "steps/s", "of bare", "range", "acting", "updating", "compile")
    head += ("warm", "B/step", "MiB", "of PQN, SAC", "range")
    lines = [_ROW.format(*head)]
    for r in results:
        lines.append(
            _ROW.format(
                r.task, r.algorithm, f"{r.whole.median:,.0f}", f"{r.of_bare.median:.3f}",
                f"{r.of_bare.low:.3f}-{r.of_bare.high:.3f}", f"{r.acting.median:,.0f}",
                f"{r.updating.median:,.0f}", f"{r.compile_cold:.0f} s", f"{r.compile_warm:.0f} s",
                f"{r.bytes_per_transition:,.0f}", f"{r.program_bytes / 2**20:,.0f}",
                *_share_of_plain(r.of_plain),
            )
        )  # fmt: skip
    for task in dict.fromkeys(r.task for r in results):
        speeds = [r.bare.median for r in results if r.task == task]
        lines.append(f"{task}: the bare game makes {statistics.median(speeds):,.0f} steps/s")
    lines.append(f"Medians of {repeats} rounds; shares are taken within a round, with their range.")
    lines.append("MiB: what one update holds, as planned by the compiler. The whole process held"
                 f" {peak_bytes() / 2**30:.1f} GiB at most.")  # fmt: skip
    return "\n".join(lines)


def _share_of_plain(share: Spread | None) -> tuple[str, str]:
    return (f"{share.median:.2g}", f"{share.low:.2g}-{share.high:.2g}") if share else ("", "")


_ROW = "{:<17}{:<22}{:>9}{:>9}{:>13}{:>9}{:>10}{:>9}{:>6}{:>8}{:>7}{:>13}{:>12}"


def draw(results: list[Throughput], path: Path) -> None:
    """Each algorithm's share of the bare game, with the range over the rounds."""
    import matplotlib.pyplot as plt

    tasks = list(dict.fromkeys(r.task for r in results))
    figure, axes = plt.subplots(
        1, len(tasks), figsize=(4.2 * len(tasks), 3), layout="constrained", squeeze=False
    )
    for axis, task in zip(axes[0], tasks, strict=True):
        rows = [r for r in results if r.task == task][::-1]
        shares = [r.of_bare for r in rows]
        ends = [[s.median - s.low for s in shares], [s.high - s.median for s in shares]]
        names = [r.algorithm for r in rows]
        axis.barh(names, [s.median for s in shares], xerr=ends, color="#4c78a8", capsize=3)
        bare = statistics.median(r.bare.median for r in rows)
        axis.set(title=task, xlabel=f"share of the bare game ({bare:,.0f} steps/s)")
    figure.savefig(path, dpi=150)
    plt.close(figure)
