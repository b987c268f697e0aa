"""Repeat a finished run, killing it on the way, and compare where both end.

Run: python benchmarks/killed.py RUN COPY [--at 0.3 0.7]

`kill -9` comes as soon as a share of the steps is logged; `allgoals train --resume` goes on.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from allgoals.runs.directory import RunDirectory

CLOCK = {"seconds", "steps_per_second"}  # columns that no two runs share


def begin(copy: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "allgoals", "train", "--resume", str(copy)])


def steps(run: Path) -> int:
    """That were logged."""
    return max((row["steps"] for row in RunDirectory(run).rows("metrics.jsonl")), default=0)


def kill(copy: Path, at: int) -> None:
    """Trains until so many steps are logged, and not a moment longer."""
    process = begin(copy)
    while steps(copy) < at:
        if process.poll() is not None:
            sys.exit(f"{copy}: it ended before {at:,} steps")
        time.sleep(0.5)
    process.kill()
    process.wait()
    print(f"killed at {steps(copy):,} steps")


def end(run: Path) -> tuple[str, list[dict], list[dict]]:
    """The hash of what was learnt, and every row of the metrics and evaluations."""
    directory = RunDirectory(run)
    rows = [
        {name: value for name, value in row.items() if name not in CLOCK}
        for row in directory.rows("metrics.jsonl")
    ]
    learnt = directory.read("summary.json")["parameters_sha256"]
    return learnt, rows, directory.rows("evaluations.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="finished, at the latest when its copy is")
    parser.add_argument("copy", type=Path, help="a new folder")
    parser.add_argument("--at", type=float, nargs="+", default=[0.3, 0.7], help="shares of it")
    words = parser.parse_args()
    words.copy.mkdir(parents=True)
    shutil.copy(words.run / "config.json", words.copy)
    whole = RunDirectory(words.run).read("config.json")["experiment"]["steps"]
    for share in words.at:
        kill(words.copy, round(share * whole))
    begin(words.copy).wait()
    names = ("parameters_sha256", "metrics", "evaluations")
    compared = zip(names, end(words.run), end(words.copy), strict=True)
    same = {name: one == other for name, one, other in compared}
    print(f"{end(words.run)[0]}\n{end(words.copy)[0]}\n{same}")
    sys.exit(not all(same.values()))


if __name__ == "__main__":
    main()
