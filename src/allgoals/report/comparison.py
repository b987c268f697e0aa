"""Any runs on one page: how each came along, and how those with the same goals compare."""

from collections.abc import Sequence
from pathlib import Path

from allgoals.errors import UsageError
from allgoals.report.load import Run, load_run
from allgoals.report.page import page_of, write_page
from allgoals.report.pictures import Improvements, Picture, Profiles
from allgoals.report.results import Group, numbered, sections
from allgoals.report.scores import Trained, goal_names, same_goals
from allgoals.report.study import MOST_ROWS, draw

MOST_IN_PAIRS = 12  # configurations: of more, each is not compared with each other


def write_report(paths: list[Path], out: Path) -> None:
    """One HTML file about the runs in these directories."""
    if out.is_dir():
        raise UsageError(f"{out} is a directory; name a file for the report")
    write_page(out, render(paths))


def render(paths: list[Path]) -> str:
    """The report as text; a run named twice counts once."""
    if not paths:
        raise UsageError("a report needs one run directory or more")
    once: dict[Path, Path] = {}
    for path in paths:
        once.setdefault(Path(path).resolve(), Path(path))
    runs = [load_run(path) for path in once.values()]
    cases = compared(runs)
    drawn = [draw(picture, cases) for picture in pictures(cases)]
    return page_of("comparison.html", runs, drawn=drawn, most_rows=MOST_ROWS)


def compared(runs: Sequence[Run]) -> list[Trained]:
    """Configurations beside others that were judged alike: a panel for each.

    Of the same task, environment and goals, after as many steps.
    """
    alike: dict[tuple[int, tuple[str, ...], int | None], list[Group]] = {}
    found = sections(runs)
    for i, section in enumerate(found):
        for group in section.groups:
            if group.last and same_goals(group.runs):
                alike.setdefault((i, goal_names(group.runs), group.last_step), []).append(group)
    several = {key: groups for key, groups in alike.items() if len(groups) > 1}
    panels = numbered([found[i].task for i, *_ in several])
    return [
        Trained(group.label, panel, 0.0, group.runs)
        for panel, groups in zip(panels, several.values(), strict=True) for group in groups
    ]  # fmt: skip


def pictures(cases: Sequence[Trained]) -> list[Picture]:
    profiles = Profiles("profiles", "Performance profiles")
    improvements = Improvements("improvement", "Probability of improvement")
    in_pairs = [improvements] if len(cases) <= MOST_IN_PAIRS else []
    return [profiles, *in_pairs] if cases else []
