"""allgoals report: one HTML page from one or more runs."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from allgoals.cli.parse import parse
from allgoals.errors import UsageError


@dataclass(frozen=True)
class Words:
    runs: tyro.conf.Positional[tuple[Path, ...]]  # run directories
    out: Path = Path("report.html")  # the page to write


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals report")
    if not words.runs:
        raise UsageError("which runs? allgoals report RUN...")
    if words.out.is_dir() or not words.out.absolute().parent.is_dir():
        raise UsageError(f"--out {words.out}: not a file in an existing directory")
    from allgoals.report import write_report

    write_report(list(words.runs), words.out)
    print(f"wrote {words.out}")
