"""What comparisons share: train each subject on each seed, judge it, print a table, draw curves.

Everything is kept in a folder, so that a comparison stopped at any moment goes on where it was.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Comparison:
    task: str
    subjects: dict[str, list[str]]  # what is typed after TASK/, by the name it has in the table
    rows: dict[str, str]  # a pattern of goals' names, by what it is called
    max_steps: int  # of a judged episode
    label: str  # of the curves' vertical axis
    live: bool = False  # draw the success while training, with exploration, too


def allgoals(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "allgoals", *map(str, words)], check=True)


def train(run: Path, experiment: str, options: list[object]) -> None:
    if (run / "config.json").exists():
        return allgoals("train", "--resume", run)
    allgoals("train", experiment, *options, "--out", run)


def judged(out: Path, what: list[object], episodes: int, max_steps: int) -> dict:
    """Every goal's success, from a file if it was measured before."""
    if not out.exists():
        limits = ["--episodes", episodes, "--max-steps", max_steps]
        allgoals("evaluate", *what, *limits, "--out", out)
    results = json.loads(out.read_text())
    whole, *_parts = results["success"].values()  # of a dual agent the whole comes first
    return dict(zip(results["goals"], whole, strict=True))


def entry(pattern: str, seeds: list[dict]) -> str:
    """The mean over goals of the row and over seeds, with the range over seeds."""
    of_row = [[rate for name, rate in one.items() if re.fullmatch(pattern, name)] for one in seeds]
    rates = np.mean(of_row, axis=1)
    ends = f" ({rates.min():.2f} to {rates.max():.2f})" if len(rates) > 1 else ""
    return f"{rates.mean():.2f}{ends}"


def table(rows: dict[str, str], columns: dict[str, list[dict]]) -> str:
    """Goals along the longer side; markdown."""
    entries = {name: [entry(p, seeds) for p in rows.values()] for name, seeds in columns.items()}
    if len(columns) > len(rows):
        lines = [["success", *rows], *([name, *cells] for name, cells in entries.items())]
    else:
        body = zip(rows, *entries.values(), strict=True)
        lines = [["success", *columns], *map(list, body)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(runs: dict[str, list[Path]], random: dict, what: Comparison, path: Path) -> None:
    """Success over training, the mean of the seeds, each evaluation a dot."""
    import matplotlib.pyplot as plt

    from allgoals.report.figures import COLOURS, short_count
    from allgoals.report.load import load_run
    from allgoals.report.results import curve

    crowded = len(runs) > len(COLOURS)
    figure, axes = plt.subplots(figsize=(8 if crowded else 6, 3.6), layout="constrained")
    for (name, paths), colour in zip(runs.items(), itertools.cycle(COLOURS)):
        one = curve([load_run(p) for p in paths])
        line = "o-" if list(runs).index(name) < len(COLOURS) else "o--"
        axes.plot(one.steps, one.mean, line, markersize=3, color=colour, label=name)
        if what.live:
            rows = load_run(paths[0]).metrics
            live = [row["goals/success"] for row in rows]
            axes.plot([row["steps"] for row in rows], live, ":", color=colour,
                      label=f"{name}, while training")  # fmt: skip
        if not crowded:
            axes.fill_between(one.steps, one.low, one.high, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(np.mean(list(random.values())), color="#888888", dashes=(4, 2), label="random")
    axes.xaxis.set_major_formatter(lambda value, _: short_count(value))
    axes.set(xlabel="environment steps", ylabel=what.label, ylim=0, xlim=0)
    beside = dict(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=3.5)
    above = dict(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
    axes.legend(frameon=False, fontsize=8, **(beside if crowded else above))
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main(what: Comparison, description: str | None) -> None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, help="of every run; by default the preset's")
    parser.add_argument("--only", nargs="+", choices=what.subjects, default=list(what.subjects))
    parser.add_argument("--episodes", type=int, default=16, help="per goal, of the last judgement")
    parser.add_argument("--figure", type=Path, help="where the curves are drawn")
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)

    limits = (words.episodes, what.max_steps)
    random = judged(words.folder / "random.json", [what.task, "--random"], *limits)
    columns: dict[str, list[dict]] = {"random": [random]}
    runs: dict[str, list[Path]] = {}
    size = ["--steps", words.steps] if words.steps else []
    for seed, name in itertools.product(words.seeds, words.only):
        algorithm, *options = what.subjects[name]
        run = words.folder / f"{re.sub(r'[^a-z0-9_]+', '-', name)}-{seed}"
        train(run, f"{what.task}/{algorithm}", [*options, "--seed", seed, *size])
        runs.setdefault(name, []).append(run)
        columns.setdefault(name, []).append(judged(Path(f"{run}.json"), [run], *limits))
    print(table(what.rows, columns))
    draw(runs, random, what, words.figure or words.folder / "curves.png")
