"""Six algorithms on craftax-classic at laptop size: train, judge, print a table, draw the curves.

Run: python benchmarks/classic.py FOLDER [--seeds 0 1] [--steps N] [--figure FILE]
Stopped at any moment, the same command goes on where it was.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from allgoals.algorithms import ALGORITHMS

TASK = "craftax-classic"
SIX = [name for name in ALGORITHMS if name != "naive_all_goals"]
ROWS = {  # what the goals of a row have in common, as a pattern of their names
    "all 136 goals": ".*",
    "sapling in hand: 1": "inventory/sapling_1",
    "sapling in hand: 2": "inventory/sapling_2",
    "sapling in hand: 3": "inventory/sapling_3",
    "plant beside (mean of 4 sides)": "block_map/PLANT_.*",
    "tree beside (4)": "block_map/TREE_.*",
    "wood in hand: 1": "inventory/wood_1",
    "wood in hand: 2": "inventory/wood_2",
    "wood in hand: 3": "inventory/wood_3",
    "wood in hand: 5": "inventory/wood_5",
    "table beside (4)": "block_map/CRAFTING_TABLE_.*",
    "wood pickaxe or sword (2)": "tools/wood_.*",
    "stone in hand: 1": "inventory/stone_1",
    "water beside (4)": "block_map/WATER_.*",
    "cow beside (4)": "mob_map/cow_.*",
}


def allgoals(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "allgoals", *map(str, words)], check=True)


def train(run: Path, algorithm: str, seed: int, steps: int | None) -> None:
    if (run / "config.json").exists():
        return allgoals("train", "--resume", run)
    size = ["--steps", steps] if steps else []
    allgoals("train", f"{TASK}/{algorithm}", "--seed", seed, *size, "--out", run)


def judged(out: Path, what: list[object], episodes: int) -> dict:
    """Every goal's success, from a file if it was measured before."""
    if not out.exists():
        allgoals("evaluate", *what, "--episodes", episodes, "--max-steps", 512, "--out", out)
    results = json.loads(out.read_text())
    whole, *_parts = results["success"].values()  # of a dual agent the whole comes first
    return dict(zip(results["goals"], whole, strict=True))


def row(pattern: str, seeds: list[dict]) -> str:
    """The mean over goals of the row and over seeds, with the range over seeds."""
    of_row = [[rate for name, rate in one.items() if re.fullmatch(pattern, name)] for one in seeds]
    rates = np.mean(of_row, axis=1)
    ends = f" ({rates.min():.2f} to {rates.max():.2f})" if len(rates) > 1 else ""
    return f"{rates.mean():.2f}{ends}"


def table(columns: dict[str, list[dict]]) -> str:
    lines = [["success", *columns], ["---"] * (1 + len(columns))]
    lines += [[label, *(row(p, c) for c in columns.values())] for label, p in ROWS.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(runs: dict[str, list[Path]], random: dict, path: Path) -> None:
    """Success over training, the mean of the seeds, each evaluation a dot."""
    import matplotlib.pyplot as plt

    from allgoals.report.figures import COLOURS, short_count
    from allgoals.report.load import load_run
    from allgoals.report.results import curve

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for (name, paths), colour in zip(runs.items(), COLOURS, strict=True):
        one = curve([load_run(p) for p in paths])
        axes.plot(one.steps, one.mean, "o-", markersize=3, color=colour, label=name)
        axes.fill_between(one.steps, one.low, one.high, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(np.mean(list(random.values())), color="#888888", dashes=(4, 2), label="random")
    axes.xaxis.set_major_formatter(lambda value, _: short_count(value))
    axes.set(xlabel="environment steps", ylabel="success, mean over 136 goals", ylim=0, xlim=0)
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, help="of every run; by default the preset's")
    parser.add_argument("--episodes", type=int, default=16, help="per goal, of the last judgement")
    parser.add_argument("--figure", type=Path, help="where the curves are drawn")
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)

    random_out = words.folder / "random.json"
    columns = {"random": [judged(random_out, [TASK, "--random"], words.episodes)]}
    runs: dict[str, list[Path]] = {}
    for seed, name in itertools.product(words.seeds, SIX):
        run = words.folder / f"{name}-{seed}"
        train(run, name, seed, words.steps)
        runs.setdefault(name, []).append(run)
        rates = judged(run.with_suffix(".json"), [run], words.episodes)
        columns.setdefault(name, []).append(rates)
    print(table(columns))
    draw(runs, columns["random"][0], words.figure or words.folder / "curves.png")


if __name__ == "__main__":
    main()
