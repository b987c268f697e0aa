"""allgoals bench: measure speed on this machine."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from allgoals.cli.parse import check_file, parse
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Count
from allgoals.validation import check_fields

BENCHMARKS = {"goals": "time of a LEO update, and of naive relabelling, as the goals grow"}


@dataclass(frozen=True)
class GoalsWords:
    sizes: tuple[Count, ...] = (64, 512, 4096)  # numbers of goals
    num_envs: Count = 64  # environments run side by side
    num_steps: Count = 32  # steps of each environment per update
    width: Count = 256  # units of each dense layer
    repeats: Count = 5  # timed repetitions
    json: bool = False  # print JSON
    out: Path | None = None  # also draw the figure, as .png or .svg


def run(argv: list[str]) -> None:
    name, *rest = argv or [""]
    if name in ("-h", "--help"):
        print("usage: allgoals bench NAME [options]\n")
        for key, text in BENCHMARKS.items():
            print(f"  {key:10}{text}")
    elif name == "goals":
        _goals(parse(GoalsWords, rest, "allgoals bench goals"))
    else:
        raise unknown("benchmark", name, BENCHMARKS)


def _goals(words: GoalsWords) -> None:
    check_fields(words)
    if not words.sizes or not all(1 <= size <= 256 * 256 for size in words.sizes):
        raise UsageError("--sizes: a gridworld has 1 to 65536 goals")
    if words.num_envs * words.num_steps > 2**24:
        raise UsageError("--num-envs times --num-steps must be 2^24 or less")
    if words.out and words.out.suffix not in (".png", ".svg"):
        raise UsageError(f"--out {words.out}: a figure is a .png or .svg file")
    if words.out:
        check_file(words.out)
    from allgoals.bench.goals import draw, measure, table
    from allgoals.runs.cache import enable_compile_cache

    enable_compile_cache()
    timings = []
    sizes = dict(num_envs=words.num_envs, num_steps=words.num_steps, width=words.width)
    for timing in measure(words.sizes, repeats=words.repeats, **sizes):
        timings.append(timing)
        if not words.json:
            who = f"{timing.algorithm} with {timing.goals} goals"
            print(f"{who}: {timing.seconds:.4f} s per update")
    print(json.dumps([asdict(t) for t in timings], indent=2) if words.json else table(timings))
    if words.out:
        draw(timings, words.out)
