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
from allgoals.report.load import start_of
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
            found = {"rows": rows, "sizes": sizes, "machine": describe_environment()}
            folder.write("speed.json", found)
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
            what.task, sizes.num_envs, sizes.num_steps, sizes.epochs, sizes.width, sizes.layers,
            sizes.minibatch_size,
        )  # fmt: skip
        for timing in growing.naive_relabelling(what.few, what.goals, same, what.repeats):
            desk.say(f"{NAIVE}, {timing.goals} goals: {timing.seconds:.2f} s per update")
        speed, off = timing.steps_per_second, timing.spread / timing.seconds
        naive = Spread(speed, speed / (1 + off), speed / max(1 - off, 1e-3))
        yield _row(NAIVE, naive, _ratio(naive, whole["pqn"]), extrapolated=1)

    def write(self, desk: Desk) -> Path:
        folder = desk.folder(self.name)
        measured = read_json(folder / "speed.json")
        rows = beside_naive(measured["rows"])
        what = self.measured[desk.budget]
        title = f"Steps per second on {what.task}, {what.goals} goals"
        sizes = ", ".join(
            f"{getattr(what.sizes, name)} {name.replace('_', ' ')}"
            for name in ("num_envs", "num_steps", "minibatch_size", "epochs", "width", "layers")
        )
        on = f" Sizes: {sizes}. Measured on {start_of(measured['machine']).made_by}."
        drawn = Drawn("speed", title, NOTE + on, rows, draw(rows))
        shown = Shown(self.name, self.paper, self.about, desk.budget, desk.command)
        judged = self.judged(rows, what.sizes.rows)
        return write_findings(folder, shown, [drawn], judged, BY_ROUNDS, [])

    def judged(self, rows: list[Row], transitions: int) -> list[Judged]:
        """The paper's two ratios beside ours, by updates of so many transitions."""
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
                f"LEO is at least {self.factor:.0f} times as fast as naive relabelling, in updates"
                f" of {transitions:,} transitions",
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
    """A dot each, hollow where it is extrapolated."""
    figure, axes = one_figure(7, 0.8 + 0.3 * len(rows))
    for place, row in enumerate(rows):
        middle, low, high = _speed(row)
        ends = [[middle - low], [high - middle]]
        inside = "white" if row["extrapolated"] else COLOURS[0]
        axes.errorbar(middle, place, xerr=ends, fmt="o", color=COLOURS[0], mfc=inside, capsize=3)
        number = f"{middle:,.1f}" if middle < 10 else f"{middle:,.0f}"
        axes.annotate(number, (middle, place), (0, 6), textcoords="offset points", ha="center",
                      fontsize=7)  # fmt: skip
    names = [f"{row['label']}{' (extrapolated)' * int(row['extrapolated'])}" for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.margins(x=0.1)
    axes.set(xscale="log", xlabel="steps per second", ylim=(len(rows) - 0.5, -0.7))
    return figure
