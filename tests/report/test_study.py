"""A study's page beside the tables in its folder, and those beside the files of its runs."""

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from allgoals.report.claims import Above, Side
from allgoals.report.load import load_run
from allgoals.report.pictures import Bars, Curves, Improvements, Profiles, Ranking
from allgoals.report.scores import Trained
from allgoals.report.study import Judged, Shown, called, write_study
from tests.report.pages import Page
from tests.report.synthetic import agent, config, write_run

PARTS = {"agent": [0.3, 0.5, 0.6], "leo": [0.2, 0.9, 0.6], "uvfa": [0.4, 0.1, 0.6]}
EVALUATIONS = {  # of each seed; the third goal cannot be reached
    ("gridworld", "LEO"): [{100: agent(0.5, 0.1, 0.6), 200: agent(1.0, 0.4, 0.6)},
                           {100: agent(0.3, 0.1, 0.6), 200: agent(0.8, 0.2, 0.6)},
                           {100: agent(0.4, 0.1, 0.6), 200: agent(0.9, 0.3, 0.6)}],
    ("gridworld", "PQN"): [{1200: agent(0.2, 0.2, 0.0)}, {1200: agent(0.2, 0.0, 0.0)},
                           {1200: agent(0.2, 0.1, 0.3)}],
    ("gridworld", "Dual"): [{100: PARTS | {"agent": [0.0] * 3}, 200: PARTS}],
    ("maze", "PQN"): [{200: agent(0.7, 0.3, 0.0)}],
}  # fmt: skip
NAMES = ("position/0-1", "position/1-0", "position/2-2")
CHANCE = {"gridworld": dict(zip(NAMES, (0.1, 0.02, 0.8), strict=True)), "maze": {}}
PICTURES = (
    Curves("curves", "Success so far"), Ranking("ranking", "The best first"),
    Bars("bars", "Part by part"), Profiles("profiles", "Goals above"),
    Improvements("improvements", "Who is better"),
)  # fmt: skip
LEO, PQN = Side("LEO"), Side("PQN")
CLAIMS = (
    Above("LEO is above PQN", LEO, PQN, "gridworld"),
    Above("PQN is <b>not</b> below LEO", PQN, LEO, "gridworld", margin=0.1),
    Above("LEO is above PQN & others in mazes", LEO, PQN, "maze"),
)


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> list[Trained]:
    folder = tmp_path_factory.mktemp("runs")
    return [
        Trained(label, task, 0.0, tuple(
            load_run(write_run(folder / f"{task}-{label}-{i}", config(i, label, task=task), one))
            for i, one in enumerate(seeds)
        ), CHANCE[task])
        for (task, label), seeds in EVALUATIONS.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory, cases) -> Path:
    folder = tmp_path_factory.mktemp("study")
    shown = Shown("main", "a figure", "Some.", "laptop", "allgoals reproduce main")
    judged = [Judged(one.text, one.judge(cases)) for one in CLAIMS]
    write_study(folder, shown, cases, PICTURES, judged, "By hand.")
    return folder


@pytest.fixture(scope="module")
def page(folder) -> Page:
    return Page((folder / "report.html").read_text())


def read(path: Path) -> list[dict[str, str]]:
    with open(path) as file:
        return list(csv.DictReader(file))


def alike(shown: str, exported: str) -> bool:
    """Numbers of a page are rounded to three digits, and missing ones are dashes."""
    try:
        number = float(exported)
    except ValueError:
        return shown == exported
    if math.isnan(number):
        return shown == "–"
    return float(shown.replace(",", "")) == pytest.approx(number, abs=6e-4)


def test_the_page_has_the_numbers_behind_every_picture(folder, page):
    for picture, (header, *rows) in zip(PICTURES, page.tables, strict=False):
        exported = read(folder / f"{picture.name}.csv")
        assert header == list(exported[0]) and len(rows) == len(exported) > 0
        for row, right in zip(rows, exported, strict=True):
            assert all(map(alike, row, right.values())), (row, right)
    curves, ranking, bars, *_ = page.tables
    assert curves[3][:5] == ["gridworld", "PQN", "1,200", "3", "0.150"]
    assert [row[:5] for row in ranking[1:]] == [
        ["gridworld", "LEO", "3", "0.600", "0.058"],  # 0.1 / √3
        ["maze", "PQN", "1", "0.500", "–"],
        ["gridworld", "Dual", "1", "0.400", "–"],
        ["gridworld", "PQN", "3", "0.150", "0.029"],
    ]
    assert bars[1] == ["gridworld", "Dual", "200", NAMES[1], "0.900", "0.100", "0.500"]


def test_every_picture_is_drawn_on_the_page_as_in_its_file(folder):
    text = (folder / "report.html").read_text()
    for picture in PICTURES:
        [shown] = re.findall(rf'aria-label="{picture.title}">(<svg.*?</svg>)', text, re.DOTALL)
        exported = (folder / f"{picture.name}.svg").read_text()
        assert words(shown) == words(exported) and shown.count("<path") == exported.count("<path")
        told = {NAMES[1], "leo"} if isinstance(picture, Bars) else {"LEO", "PQN"}
        assert told <= set(" ".join(words(shown)).split())


def words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_the_page_has_every_claim_with_its_verdict_and_evidence(folder, page):
    header, *rows = page.tables[len(PICTURES)]
    assert header == ["Claim", "Here", "Evidence"]
    assert rows == [list(row.values()) for row in read(folder / "claims.csv")]
    assert [row[:2] for row in rows] == [
        ["LEO is above PQN", "supported"], ["PQN is <b>not</b> below LEO", "contradicted"],
        ["LEO is above PQN & others in mazes", "cannot say"],
    ]  # fmt: skip
    assert rows[0][2].startswith("LEO 0.600, PQN 0.150; difference +0.450 (95 %: ")
    assert rows[2][2] == "not trained at this budget"


def test_every_goal_stands_beside_chance_where_that_is_known(folder, page):
    known, unknown = [table for table in page.tables if table[0][0] == "Goal"]
    assert known == [
        ["Goal", "LEO n = 3", "PQN n = 3", "Dual n = 1", "random policy"],
        [NAMES[0], "0.90", "0.20", "0.30", "0.10"],
        [NAMES[1], "0.30", "0.10", "0.50", "0.02"],
        ["Not reachable from the start, and in no mean"],
        [NAMES[2], "0.60", "0.10", "0.60", "0.80"],
        ["Mean over reachable goals", "0.60", "0.15", "0.40", "0.06"],
    ]
    assert unknown[0] == ["Goal", "PQN n = 1"] and unknown[1] == [NAMES[0], "0.70"]
    lines = (folder / "goals.md").read_text().splitlines()
    assert "*random* is what a random policy reaches" in lines[2]
    first = lines.index("| goal | random | LEO | PQN | Dual |")
    assert lines[first + 1] == "|---|---|---|---|---|"
    assert lines[first + 2] == f"| {NAMES[0]} | 0.10 | 0.90 | 0.20 | 0.30 |"
    assert "| goal | PQN |" in lines


def test_every_goal_on_the_page_is_the_mean_of_its_exported_rows(folder, page):
    exported = [row for row in read(folder / "goals.csv") if row["component"] == "agent"]
    tables = [table for table in page.tables if table[0][0] == "Goal"]
    for task, (header, *rows) in zip(CHANCE, tables, strict=True):
        for name, *cells in (row for row in rows if row[0] in NAMES):
            of = [row for row in exported if (row["task"], row["goal"]) == (task, name)]
            for column, shown in zip(header[1:], cells, strict=True):
                assert shown == f"{rate(of, column):.2f}"


def rate(rows: list[dict[str, str]], column: str) -> float:
    """What a column of the page should show of one goal."""
    if column == "random policy":
        [chance] = {row["random"] for row in rows}
        return float(chance)
    label = column.partition(" n = ")[0]
    return fmean(float(row["success"]) for row in rows if row["algorithm"] == label)


def test_exported_goals_are_those_of_the_runs(folder, cases):
    rows = read(folder / "goals.csv")
    assert len(rows) == len(NAMES) * (3 + 3 + 3 + 1)  # the dual agent has two parts more
    assert {row["run"] for row in rows} == {str(run.path) for case in cases for run in case.runs}
    for row in rows:
        run = Path(row["run"])
        place = json.loads((run / "goals.json").read_text())["names"].index(row["goal"])
        last = json.loads((run / "evaluations.jsonl").read_text().splitlines()[-1])
        assert float(row["success"]) == last["success"][row["component"]][place]
        assert int(row["steps"]) == last["steps"]
        assert float(row["random"]) == pytest.approx(
            CHANCE[row["task"]].get(row["goal"], math.nan), nan_ok=True
        )


def test_runs_are_called_after_their_case_and_what_tells_it_from_its_namesakes(cases):
    run = cases[0].runs[0]

    def names(*told):
        cases = [Trained(label, panel, x, (replace(run, path=Path(str(i))),))
                 for i, (label, panel, x) in enumerate(told)]  # fmt: skip
        return list(called(cases).values())

    assert names(("LEO", "maze", 1.0), ("PQN", "maze", 2.0)) == ["LEO", "PQN"]
    assert names(("LEO", "maze", 0.05), ("LEO", "maze", 1.0)) == ["LEO, 0.05", "LEO, 1"]
    assert names(("LEO", "maze, seen", 0.0), ("LEO", "maze, any", 0.0)) == ["LEO, seen", "LEO, any"]
    assert names(("LEO", "maze", 0.0), ("LEO", "ant", 0.0)) == ["LEO", "LEO"]
