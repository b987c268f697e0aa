"""A study that trains nothing to its end: how fast the methods are, in one process."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from matplotlib.figure import Figure

from allgoals.bench import goals as growing
from allgoals.bench import throughput
from allgoals.bench.sizes import GoalsSizes, ThroughputSizes
from allgoals.bench.throughput import Spread
from allgoals.errors import UsageError
from allgoals.report.claims import Judgement, above
from allgoals.report.drawing import one_figure
from allgoals.report.figures import COLOURS
from allgoals.report.scores import Row
from allgoals.report.study import Drawn, Judged, Shown, write_findings
from allgoals.runs.cache import enable_compile_cache
from allgoals.runs.directory import RunDirectory, read_json
from allgoals.runs.environment import describe_environment
from allgoals.studies.budgets import LABELS
from allgoals.studies.types import Budget, Desk

NAIVE = "naive all-goals relabelling"
NOTE = (
    "Collecting and learning together, the median of some rounds; whiskers: their range. Naive"
    " relabelling is measured at few goals and drawn out along a line, since it makes as many rows"
    " as there are goals."
)


@dataclass(frozen=True)
class Measured:
    """What is measured at a budget."""

    task: str
    sizes: ThroughputSizes
    few: tuple[int, int]  # goals at which naive relabelling is measured
    goals: int  # to which it is drawn out
    repeats: int


@dataclass(frozen=True)
class SpeedStudy:
    name: str
    paper: str
    about: str
    methods: tuple[str, ...]
    measured: dict[Budget, Measured]
    slowdown: float  # of LEO against PQN, as the paper has it
    factor: float  # of naive relabelling against LEO

    def check(self, desk: Desk) -> None:
        """A measurement of other sizes is in the way."""
        path = desk.folder(self.name) / "speed.json"
        sizes = json.loads(json.dumps(asdict(self.measured[desk.budget])))
        if path.exists() and read_json(path).get("sizes") != sizes:
            raise UsageError(
                f"{path} was measured with other sizes; choose another --out, or move it"
            )

    def work(self, desk: Desk) -> None:
        """Measures, unless that was done."""
        folder = RunDirectory(desk.folder(self.name))
        if (folder.path / "speed.json").exists():
            return
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.lock()
        try:
            enable_compile_cache()
            rows = list(self._measure(self.measured[desk.budget], desk))
            sizes = asdict(self.measured[desk.budget])
            machine = describe_environment()
            folder.write("speed.json", {"rows": rows, "sizes": sizes, "machine": machine})
        finally:
            folder.unlock()

    def _measure(self, what: Measured, desk: Desk) -> Iterator[Row]:
        sizes = what.sizes
        methods = throughput.measure(
            what.task, list(self.methods), sizes, what.repeats, desk.say, time_compiling=False
        )
        whole = {}
        for one in methods:
            whole[one.algorithm] = one.whole
            yield _row(LABELS[one.algorithm], one.whole, one.of_plain)
        same = GoalsSizes(
            what.task, sizes.num_envs, sizes.num_steps, sizes.epochs, sizes.width, sizes.layers
        )
        for timing in growing.naive_relabelling(what.few, what.goals, same, what.repeats):
            desk.say(f"{NAIVE}, {timing.goals} goals: {timing.seconds:.2f} s per update")
        speed, off = timing.steps_per_second, timing.spread / timing.seconds
        naive = Spread(speed, speed / (1 + off), speed / max(1 - off, 1e-3))
        yield _row(NAIVE, naive, _ratio(naive, whole["pqn"]), extrapolated=1)

    def write(self, desk: Desk) -> Path:
        folder = desk.folder(self.name)
        measured = read_json(folder / "speed.json")
        rows = beside_naive(measured["rows"])
        what, machine = self.measured[desk.budget], measured["machine"]
        title = f"Steps per second on {what.task}, {what.goals} goals"
        sizes = ", ".join(
            f"{getattr(what.sizes, name)} {name.replace('_', ' ')}"
            for name in ("num_envs", "num_steps", "minibatch_size", "epochs", "width", "layers")
        )
        on = f" Sizes: {sizes}. {', '.join(machine['devices'])}; {machine['platform']}."
        drawn = Drawn("speed", title, NOTE + on, rows, draw(rows))
        shown = Shown(self.name, self.paper, self.about, desk.budget, desk.command)
        return write_findings(folder, shown, [drawn], self.judged(rows), BY_ROUNDS, [])

    def judged(self, rows: list[Row]) -> list[Judged]:
        """The paper's two ratios beside ours."""
        by_label = {row["label"]: row for row in rows}
        leo, naive = by_label["LEO"], by_label[NAIVE]
        slower = [1 - float(leo[key]) for key in ("of_pqn", "of_pqn_low", "of_pqn_high")]
        faster = _ratio(_speed(leo), _speed(naive))
        return [
            Judged(
                f"LEO is at most {self.slowdown:.0%} slower than learning about one goal",
                Judgement(
                    above(0.0, self.slowdown - slower[1], self.slowdown - slower[2]),
                    f"{slower[0]:.0%} slower than PQN ({slower[2]:.0%} to {slower[1]:.0%})",
                ),
            ),
            Judged(
                f"LEO is at least {self.factor:.0f} times as fast as naive relabelling",
                Judgement(
                    above(self.factor, faster.low, faster.high),
                    f"{faster.median:.0f} times ({faster.low:.0f} to {faster.high:.0f}),"
                    " extrapolated",
                ),
            ),
        ]


BY_ROUNDS = (
    "Supported or contradicted: all rounds of the measurement agree. Speeds are of this machine;"
    " the paper's are of a GPU."
)


def beside_naive(rows: list[Row]) -> list[Row]:
    """Rows with how many times as fast as naive relabelling each is."""
    [naive] = [row["steps_per_second"] for row in rows if row["label"] == NAIVE]
    return [{**row, "of_naive": row["steps_per_second"] / naive} for row in rows]


def _row(label: str, speed: Spread, of_pqn: Spread, extrapolated: int = 0) -> Row:
    """Steps per second, and how many times as fast as PQN beside it."""
    return {
        "label": label, "steps_per_second": speed.median, "low": speed.low, "high": speed.high,
        "of_pqn": of_pqn.median, "of_pqn_low": of_pqn.low, "of_pqn_high": of_pqn.high,
        "extrapolated": extrapolated,
    }  # fmt: skip


def _speed(row: Row) -> Spread:
    return Spread(row["steps_per_second"], row["low"], row["high"])


def _ratio(one: Spread, other: Spread) -> Spread:
    """Of medians, and the least and the most that the rounds allow."""
    return Spread(one.median / other.median, one.low / other.high, one.high / other.low)


def draw(rows: list[Row]) -> Figure:
    figure, axes = one_figure(7, 0.8 + 0.3 * len(rows))
    names = [str(row["label"]) for row in rows][::-1]
    middle, low, high = (
        [float(row[key]) for row in rows][::-1] for key in ("steps_per_second", "low", "high")
    )
    ends = [
        [m - e for m, e in zip(middle, low, strict=True)],
        [e - m for m, e in zip(middle, high, strict=True)],
    ]
    axes.barh(names, middle, xerr=ends, color=COLOURS[0], capsize=2)
    axes.set(xscale="log", xlabel="steps per second")
    return figure
