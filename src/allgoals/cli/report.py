"""allgoals report: one HTML page from one or more runs."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from allgoals.cli.parse import check_file, parse
from allgoals.errors import UsageError


@dataclass(frozen=True)
class Words:
    runs: tyro.conf.Positional[tuple[Path, ...]]  # run directories
    out: Path = Path("report.html")  # the page to write


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals report")
    if not words.runs:
        raise UsageError("which runs? allgoals report RUN...")
    check_file(words.out)
    from allgoals.report import write_report

    write_report(list(words.runs), words.out)
    print(f"wrote {words.out}")
