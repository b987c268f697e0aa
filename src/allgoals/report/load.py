"""Run directories as checked data: past this module nothing has a shape that is not expected."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allgoals.errors import UsageError
from allgoals.runs.directory import RunDirectory

LARGEST_MAP = 1024
DEEPEST_CONFIG = 20


@dataclass(frozen=True)
class Layout:
    """A square map; x to the right, y down."""

    size: int
    walls: np.ndarray  # [W, 2]
    start: tuple[int, int]
    cells: np.ndarray  # [S, 2] the free cells
    goal_cells: np.ndarray  # [G] where in `cells` each goal lies


@dataclass(frozen=True)
class Goals:
    names: tuple[str, ...]
    reachable: np.ndarray  # [G] bool
    layout: Layout | None


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: of the agent and, where it is dual, of each component."""

    steps: int
    mean: dict[str, float]  # over reachable goals
    success: dict[str, np.ndarray]  # [G]


@dataclass(frozen=True)
class Start:
    """One start of a run: what was typed, and on what it ran."""

    started: str
    command: str
    versions: dict[str, str]
    machine: str

    @property
    def made_by(self) -> str:
        """The machine, and what ran on it."""
        return f"{self.machine}, with {', '.join(map(' '.join, self.versions.items()))}"


@dataclass(frozen=True)
class Run:
    path: Path
    config: dict[str, Any]
    goals: Goals | None
    evaluations: dict[int, Evaluation]  # by steps, in order
    metrics: tuple[dict[str, float], ...]
    starts: tuple[Start, ...]
    finished: bool
    steps: int
    seconds: float  # spent on training
    parameters_sha256: str | None
    values: np.ndarray | None  # [S, G]
    failed: str = ""  # why it was given up
    command: str = ""  # what trains this run and no other, if it is known

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def seed(self) -> int:
        return self.config["seed"]

    @property
    def last(self) -> Evaluation | None:
        return next(reversed(self.evaluations.values()), None)


def load_run(path: Path) -> Run:
    """The run in a directory, as far as it has come."""
    directory = RunDirectory.open(path)
    with _reading(path / "config.json"):
        config = _config(directory.config)
    with _reading(path / "goals.json"):
        goals = _goals(directory.read("goals.json"))
    with _reading(path / "evaluations.jsonl"):
        evaluations = _evaluations(directory.rows("evaluations.jsonl"), goals)
    with _reading(path / "metrics.jsonl"):
        metrics = tuple(_metrics(row) for row in directory.rows("metrics.jsonl"))
    with _reading(path / "environment.json"):
        starts = tuple(start_of(start) for start in directory.read("environment.json") or [])
    with _reading(path / "summary.json"):
        summary = directory.read("summary.json")
        latest = summary or (metrics[-1] if metrics else {})
        steps, seconds = _count(latest.get("steps", 0)), float(latest.get("seconds", 0))
        digest = _text(summary["parameters_sha256"]) if summary else None
    with _reading(path / "values.npz"):
        # The summary is written last: without it this file may be half written.
        values = _values(path / "values.npz", goals) if summary else None
    with _reading(path / "failed.json"):
        failed = _text((directory.read("failed.json") or {"error": ""})["error"])
    return Run(
        path, config, goals, evaluations, metrics, starts, bool(summary), steps, seconds, digest,
        values, failed,
    )  # fmt: skip


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong in here is this file's fault; there is no end to what parsers raise."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{path} is malformed: {type(error).__name__}: {error}") from None


def _check(right: bool, what: str) -> None:
    if not right:
        raise ValueError(what)


def _text(value: Any) -> str:
    _check(isinstance(value, str), f"expected text, found {type(value).__name__}")
    return value


def _count(value: Any) -> int:
    return int(np.int64(value))


def _config(config: dict[str, Any]) -> dict[str, Any]:
    _text(config["task"])
    _text(config["name"])
    _text(config["algorithm"]["class"])
    _check(isinstance(config["env"], dict), "env is not an object")
    for name in ("seed", "steps"):
        _check(type(config[name]) is int, f"{name} is not a whole number")
    _check(_depth(config) <= DEEPEST_CONFIG, "it is nested too deeply")
    return config


def _depth(data: Any) -> int:
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _goals(data: dict[str, Any] | None) -> Goals | None:
    if data is None:
        return None
    names = tuple(_text(name) for name in data["names"])
    _check(len(set(names)) == len(names), "two goals have the same name")
    known = data["reachable"]
    reachable = np.ones(len(names), bool) if known is None else np.asarray(known, bool)
    _check(reachable.shape == (len(names),), "reachable does not fit the names")
    layout = data["layout"]
    drawable = layout is not None and layout["kind"] == "grid"
    return Goals(names, reachable, _layout(layout, len(names)) if drawable else None)


def _layout(data: dict[str, Any], num_goals: int) -> Layout:
    size = _count(data["size"])
    _check(0 < size <= LARGEST_MAP, f"a map of size {size}")

    def places(name: str) -> np.ndarray:
        found = np.asarray(data[name], np.int64).reshape(-1, 2)
        _check(bool(((found >= 0) & (found < size)).all()), f"{name} lie outside the map")
        return found

    cells, goals = places("cells"), places("goals")
    _check(len(goals) == num_goals, "the map's goals do not fit the names")
    index = {tuple(cell): i for i, cell in enumerate(cells.tolist())}
    (start,) = places("start").tolist()
    _check(tuple(start) in index, "the start is not a free cell")
    goal_cells = np.array([index[tuple(goal)] for goal in goals.tolist()], int)
    return Layout(size, places("walls"), tuple(start), cells, goal_cells)


def _evaluations(rows: list[Any], goals: Goals | None) -> dict[int, Evaluation]:
    if not rows:
        return {}
    _check(goals is not None, "there is no goals.json to name the goals")
    found = [_evaluation(row, len(goals.names)) for row in rows]
    return {one.steps: one for one in sorted(found, key=lambda one: one.steps)}


def _evaluation(row: dict[str, Any], num_goals: int) -> Evaluation:
    mean = {_text(name): _mean(value) for name, value in row["mean_reachable"].items()}
    success = {name: np.asarray(row["success"][name], float) for name in mean}
    _check("agent" in mean, "the agent itself is not evaluated")
    fits = all(values.shape == (num_goals,) for values in success.values())
    _check(fits, "success does not fit the goals")
    return Evaluation(_count(row["steps"]), mean, success)


def _mean(value: float | None) -> float:
    """Not a number where no goal can be reached."""
    return math.nan if value is None else float(value)


def _metrics(row: dict[str, Any]) -> dict[str, float]:
    numbers = {k: float(v) for k, v in row.items() if isinstance(v, int | float)}
    return numbers | {"steps": _count(row["steps"])}


def start_of(data: dict[str, Any]) -> Start:
    """From what is recorded when a run, or a measurement, begins."""
    versions = {"python": str(data.get("python", "?"))}
    versions |= {str(name): str(version) for name, version in data["packages"].items()}
    if data.get("commit"):
        versions["commit"] = str(data["commit"])
    return Start(
        started=str(data.get("started", "")),
        command=shlex.join(_text(word) for word in data["command"]),
        versions=versions,
        machine=_machine(data),
    )


def _machine(start: dict[str, Any]) -> str:
    """What a start was made on, in words; earlier records lack some of them."""
    counts = Counter(str(device) for device in start["devices"])
    devices = ", ".join(f"{n} x {name}" if n > 1 else name for name, n in counts.items())
    host = [
        str(start.get("processor", "")),
        f"{start['cores']} cores" if "cores" in start else "",
        f"{start['memory_gib']} GiB" if "memory_gib" in start else "",
        str(start["platform"]),
    ]
    return f"{devices} of {', '.join(filter(None, host))}"


def _values(path: Path, goals: Goals | None) -> np.ndarray | None:
    if not path.exists() or goals is None or goals.layout is None:
        return None
    with np.load(path, allow_pickle=False) as file:
        values = file["values"].astype(np.float32)
    expected = (len(goals.layout.cells), len(goals.names))
    _check(values.shape == expected, f"values of shape {values.shape}, not {expected}")
    _check(bool(np.isfinite(values).all()), "a value is not finite")
    return values
