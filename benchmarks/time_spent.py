"""Where one update's time goes: seconds of every part of the program, by the profiler.

Run: python benchmarks/time_spent.py TASK/ALGORITHM [--updates N]
The sizes are those of `allgoals bench throughput`. What the compiler made of a line of source is
counted where that line stands. Seconds are of threads: where two are busy, both count.
"""

import argparse
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jax

from allgoals.bench.sizes import ThroughputSizes
from allgoals.bench.subjects import subject
from allgoals.goals.samplers import seen_only
from allgoals.training import Trainer

PARTS = {  # by a file's name, innermost first
    "/craftax/": "the game",
    "allgoals/envs/": "observing, new worlds",
    "allgoals/goals/": "judging and commanding goals",
    "networks/encoders": "widening observations",
    "networks/convolution": "convolution",
    "networks/torso": "dense layers",
    "networks/all_actions": "every action's values",
    "networks/grouped": "values of the action taken",
    "networks/": "head, all else",
    "learning/model": "optimiser",
    "optax/": "optimiser",
    "learning/minibatch": "shuffling and gathering rows",
}
PHASES = {"allgoals/rollout": "collecting", "allgoals/algorithms": "learning"}
REST = "all else"
INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = ")
COMPUTATION = re.compile(r"(?:ENTRY )?%([\w.\-]+) \(.*{$")
HOLDS_OTHERS = re.compile(r" (?:while|conditional|call)\(")
PRODUCT = re.compile(r" (?:dot|convolution)\(")


class Where(NamedTuple):
    phase: str
    part: str
    product: bool  # of matrices


class Program:
    """The text of a compiled program: its instructions, and the source each came from."""

    def __init__(self, text: str):
        self.files = dict(re.findall(r'^(\d+) "(.*)"$', _section(text, "FileNames"), re.M))
        places = _section(text, "FileLocations")
        self.places = dict(re.findall(r"^(\d+) {file_name_id=(\d+)", places, re.M))
        frames = r"^(\d+) {file_location_id=(\d+) parent_frame_id=(\d+)"
        self.frames = {i: (place, up) for i, place, up in re.findall(frames, text, re.M)}
        self.lines: dict[str, str] = {}  # by the instruction's name
        self.home: dict[str, str] = {}  # the computation it is part of
        self.bodies: dict[str, list[str]] = {}  # a computation's lines
        for line in text.splitlines():
            if opened := COMPUTATION.match(line):
                name = opened[1]
            elif found := INSTRUCTION.match(line):
                self.lines[found[1]], self.home[found[1]] = line, name
                self.bodies.setdefault(name, []).append(line)
        self.usual = {name: self._usual(body) for name, body in self.bodies.items()}

    def where(self, name: str) -> Where | None:
        """Nothing for what is no instruction, or only holds others."""
        line = self.lines.get(name, "")
        if not line or HOLDS_OTHERS.search(line):
            return None
        fused = re.search(r" fusion\(.*calls=%([\w.\-]+)", line)
        lines = [line, *(self.bodies[fused[1]] if fused else [])]
        product = any(PRODUCT.search(one) for one in lines)
        known = next((w for one in lines if (w := self._source(one))), None)
        return Where(*(known or self.usual[self.home[name]]), product)

    def _source(self, line: str) -> tuple[str, str] | None:
        """Phase and part, by the files the line came from; nothing where the compiler made it."""
        files = list(self._files(line))
        if not files:
            return None
        phases = (phase for known, phase in PHASES.items() if any(known in f for f in files))
        parts = (part for f in files for known, part in PARTS.items() if known in f)
        return next(phases, "between"), next(parts, REST)

    def _files(self, line: str) -> Iterator[str]:
        """From the innermost to the outermost."""
        found = re.search(r"stack_frame_id=(\d+)", line)
        frame = found[1] if found else ""
        while frame in self.frames:
            place, parent = self.frames[frame]
            yield self.files[self.places[place]]
            frame = str(int(parent) - 1)  # they are numbered from one

    def _usual(self, body: list[str]) -> tuple[str, str]:
        """Of what the compiler adds, such as copies: where most around it belongs."""
        known = Counter(self._source(line) for line in body)
        del known[None]
        return known.most_common(1)[0][0] if known else ("between", REST)


def _section(text: str, name: str) -> str:
    return text.partition(f"\n{name}\n")[2].partition("\n\n")[0]


def own_times(line) -> Iterator[tuple[str, float]]:
    """Every event of a thread with its own nanoseconds, less those of the events within it."""
    open_: list[list] = []  # end, name, own time
    for event in sorted(line.events, key=lambda e: (e.start_ns, -e.duration_ns)):
        while open_ and open_[-1][0] <= event.start_ns:
            yield tuple(open_.pop()[1:])
        if open_:
            open_[-1][2] -= event.duration_ns
        open_.append([event.start_ns + event.duration_ns, event.name, event.duration_ns])
    yield from (tuple(one[1:]) for one in open_)


def measure(experiment: str, updates: int) -> tuple[float, float, Counter[Where]]:
    """Seconds of an update by the clock, the same under the profiler, and of every part."""
    sizes = ThroughputSizes()
    task, algorithm = subject(*experiment.split("/"), sizes)
    trainer = Trainer(task, algorithm, seen_only, sizes.num_envs, sizes.num_steps, 10**6, 0.9)
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, _ = jax.block_until_ready(trainer.advance(state, 1))

    def timed(state):
        begin = time.perf_counter()
        state, _ = jax.block_until_ready(trainer.advance(state, updates))
        return (time.perf_counter() - begin) / updates, state

    alone, state = timed(state)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            watched, state = timed(state)
        [path] = Path(folder).rglob("*.xplane.pb")
        profile = jax.profiler.ProfileData.from_file(str(path))
    by_name: Counter[str] = Counter()
    for thread in (line for plane in profile.planes for line in plane.lines):
        for name, nanoseconds in own_times(thread):
            by_name[name] += nanoseconds / 1e9 / updates
    program = Program(trainer.program.as_text())
    spent: Counter[Where] = Counter()
    for name, seconds in by_name.items():
        if where := program.where(name):
            spent[where] += seconds
    return alone, watched, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", help="TASK/ALGORITHM, with discrete actions")
    parser.add_argument("--updates", type=int, default=3)
    words = parser.parse_args()
    alone, watched, spent = measure(words.experiment, words.updates)
    print(f"{alone:.2f} s an update by the clock, {watched:.2f} s under the profiler;")
    print(f"{sum(spent.values()):.2f} s of threads in the program:")
    print(f"{'':12}{'':32}{'products':>10}{'other':>10}")
    for phase, part in sorted({w[:2] for w in spent}, key=lambda p: (p[0], -spent[(*p, False)])):
        row = [spent[Where(phase, part, product)] for product in (True, False)]
        print(f"{phase:12}{part:32}{row[0]:10.3f}{row[1]:10.3f}")


if __name__ == "__main__":
    main()
