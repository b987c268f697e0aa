import base64
import re
import subprocess
import sys

import numpy as np
import pytest

from allgoals.errors import UsageError
from allgoals.report import maps, write_report
from allgoals.report.comparison import compared, pictures
from allgoals.report.figures import short_count
from allgoals.report.load import load_run
from allgoals.report.published import published
from allgoals.report.results import sections
from allgoals.report.study import Shown, goal_table, write_findings
from tests.report.pages import Page
from tests.report.synthetic import GRID, agent, config, write_run


def report(tmp_path, *paths) -> str:
    out = tmp_path / "out" / "report.html"
    write_report(list(paths), out)
    return out.read_text()


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Two finished runs of one algorithm, one that stopped half way, and one of another."""
    tmp_path = tmp_path_factory.mktemp("runs")
    dual = {"agent": [0.5, 1, 0], "leo": [1, 1, 0], "uvfa": [0, 0, 0]}
    return [
        write_run(tmp_path / "leo-0", config(0), {100: agent(0, 1, 0), 200: agent(1, 1, 0)}),
        write_run(tmp_path / "leo-1", config(1), {100: agent(0, 0, 0), 200: agent(0, 1, 0)}),
        write_run(tmp_path / "leo-2", config(2), {100: agent(1, 1, 0)}, finished=False),
        write_run(tmp_path / "dual-0", config(0, "DualLeoPqn"), {100: dual, 200: dual}),
    ]


@pytest.fixture(scope="module")
def text(tmp_path_factory, seeds):
    return report(tmp_path_factory.mktemp("report"), *seeds)


def test_tables_hold_the_right_numbers(text):
    runs, curves, finals, goals, profiles, improvement = Page(text).tables
    assert profiles[0][:4] == ["panel", "label", "x", "n"] and len(profiles) == 1 + 2 * 21
    assert improvement[1:] == [["gridworld", "DualLeoPqn", "Leo", "0.500", "–", "–"]]
    assert runs[1][:9] == [
        "leo-0", "Leo", "gridworld", "0", "200", "20.0", "10", "1.000", "finished",
    ]  # fmt: skip
    assert runs[3][7:9] == ["1.000", "unfinished, planned 200 steps, evaluated at 100"]
    assert curves[2] == ["Leo", "200", "2 of 3", "0.750", "0.500 to 1.000"]
    assert finals[1:] == [
        [
            "Leo",
            "2 of 3",
            "0, 1, 2",
            "200",
            "0.750",
            "0.250",
            "0.500 to 1.000",
            "1.000",
            "0.500 to 1.000",
        ],
        ["DualLeoPqn", "1 of 1", "0", "200", "0.750", "–", "–", "0.750", "–"],
    ]
    assert goals == [
        ["Goal", "Leo n = 2", "DualLeoPqn n = 1"],
        ["position/0-1", "0.50", "0.50"],
        ["position/1-0", "1.00", "1.00"],
        ["Not reachable from the start, and in no mean"],
        ["position/2-2", "0.00", "0.00"],
        ["Mean over reachable goals", "0.75", "0.75"],
    ]


def test_only_configurations_with_the_same_goals_are_compared(tmp_path):
    """After as many steps; where there are many, not each with each."""
    last = {200: agent(1, 1, 0)}
    other = ("a", "b", "c")
    paths = [
        write_run(tmp_path / "leo", config(0), last),
        write_run(tmp_path / "pqn", config(0, "Pqn"), last, names=other),
        write_run(tmp_path / "ppo", config(0, "Ppo"), last, names=other),
        write_run(tmp_path / "begun", config(0, "Sac"), {}, names=other),
        write_run(tmp_path / "early", config(0, "Td3"), {100: agent(1, 1, 0)}, names=other),
        write_run(tmp_path / "far", config(0, "Pqn", task="elsewhere"), last),
        write_run(tmp_path / "away", config(0, "Ppo", task="elsewhere"), last),
    ]
    cases = compared([load_run(path) for path in paths])
    assert [(case.label, case.panel) for case in cases] == [
        ("Pqn", "gridworld"), ("Ppo", "gridworld"), ("Pqn", "elsewhere"), ("Ppo", "elsewhere"),
    ]  # fmt: skip
    assert [one.name for one in pictures(cases)] == ["profiles", "improvement"]
    assert [one.name for one in pictures(cases * 4)] == ["profiles"]
    assert "Comparison" not in report(tmp_path, *paths[:2])


def test_what_is_missing_is_said(text):
    text = " ".join(text.split())
    assert "1 of 4 runs is unfinished:</strong> leo-2." in text
    assert "Leo <small>(n = 3; 2 from step 200)</small>" in text
    assert "none, the run is unfinished" in text
    assert "hash-of-leo-0" in text and "allgoals train &#39;a b&#39;" in text


def test_nothing_is_loaded_and_nothing_varies(tmp_path, seeds, text):
    assert "://" not in text and "@import" not in text
    links = [value for name, value in Page(text).attributes if name.endswith(("src", "href"))]
    assert links and all(link.startswith("#") for link in links)
    assert text == report(tmp_path, *seeds)
    assert len(text) < 300_000


def test_names_are_unique(text):
    ids = [value for name, value in Page(text).attributes if name == "id"]
    assert ids and len(ids) == len(set(ids))


def test_malicious_names_are_text(tmp_path):
    evil = "\"><script>alert(1)</script><img src='x' onerror=alert(1)>{{ 7 * 7 }}$\\frac$\ud800"
    path = write_run(
        tmp_path / "<b>run", config(algorithm=evil, task=evil), {100: {"agent": [1], evil: [1]}},
        names=(evil,), reachable=(True,), layout=GRID | {"goals": [[0, 1]]},
    )  # fmt: skip
    page = Page(report(tmp_path, path))
    assert page.tags.count("script") == 1 and not {"img", "b"} & set(page.tags)
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert any("{{ 7 * 7 }}" in cell for row in page.tables[-1] for cell in row)


def test_runs_without_anything_yet(tmp_path):
    path = write_run(tmp_path / "a", config(), {}, finished=False)
    for name in ("goals.json", "environment.json"):
        (path / name).unlink()
    runs, *_ = Page(report(tmp_path, path)).tables
    assert runs[1][4:9] == ["0", "0.0", "–", "–", "unfinished, planned 200 steps"]


def test_a_run_named_twice_counts_once(tmp_path, seeds):
    runs, *_ = Page(report(tmp_path, seeds[0], seeds[1] / ".." / "leo-0")).tables
    assert len(runs) == 2


def test_wild_metrics_do_not_break_charts(tmp_path):
    path = write_run(tmp_path / "a", config(), {100: agent(1, 0, 0)})
    with open(path / "metrics.jsonl", "a") as file:
        for value in ("NaN", "Infinity", "-1e308", "1e308", "null"):
            file.write(f'{{"update": 150, "steps": 150, "leo/loss": {value}}}\n')
    assert "leo/loss" in report(tmp_path, path)


def test_512_goals_stay_small(tmp_path):
    names = tuple(f"inventory/thing-{i}" for i in range(512))
    paths = [
        write_run(
            tmp_path / f"{algorithm}-{seed}", config(seed, algorithm), {200: agent(*[0.5] * 512)},
            names=names, reachable=(True,) * 512, layout=None,
        )
        for algorithm in ("Leo", "Pqn", "Ppo") for seed in range(2)
    ]  # fmt: skip
    text = report(tmp_path, *paths)
    assert len(Page(text).tables[3]) == 514
    assert len(text) < 300_000


def test_maps_hold_success_and_values_of_a_subset_of_goals(seeds):
    (section,) = sections(load_run(path) for path in seeds)
    drawn = maps.draw(section.groups[0], num_maps=1)
    assert [cell.text for cell in drawn.success.cells[:4]] == [
        "(0, 0): no goal", "position/0-1: 0.50", "(0, 2): no goal", "position/1-0: 1.00",
    ]  # fmt: skip
    assert drawn.success.cells[3].colour == maps.COLOURS[-1]
    assert [cell.reachable for cell in drawn.success.cells] == [True] * 6 + [False]
    assert drawn.run.name == "leo-0"
    levels = np.frombuffer(base64.b64decode(drawn.table.levels), np.uint8).reshape(7, 3)
    np.testing.assert_allclose(levels / 255, np.linspace(0, 1, 21).reshape(7, 3), atol=3e-3)
    coloured = [cell.colour for cell in drawn.values.cells if cell.colour]
    assert coloured == [maps.COLOURS[level] for level in levels[0]]  # the start is cell 0
    assert drawn.table.goal_cells == [1, 3, 6]


def test_tables_of_values_too_large_for_the_page_stay_out(tmp_path, seeds, monkeypatch):
    monkeypatch.setattr(maps, "MOST_EMBEDDED", 41)
    text = report(tmp_path, *seeds)  # two maps of 21 values
    assert 'data-levels="' not in text and "too many for this file" in text


def test_labels_of_axes_keep_their_digits(text):
    assert [short_count(x) for x in (0.0025, 150_000, 1.5e6, 2e9)] == [
        "0.0025", "150k", "1.5M", "2B",
    ]  # fmt: skip
    ticks = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    assert {"0.2", "1.0"} <= set(ticks)


def test_what_cannot_be_done_is_said(tmp_path, seeds):
    out = tmp_path / "report.html"
    for paths, place in (([], out), ([tmp_path / "absent"], out), (seeds, tmp_path)):
        with pytest.raises(UsageError):
            write_report(paths, place)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write_report(seeds, tmp_path / "file" / "report.html")


def test_reports_need_no_jax():
    code = "import sys, allgoals.report; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_our_numbers_stand_beside_the_papers(tmp_path):
    """Every goal of Craftax-Classic: ours, the paper's, and both coloured as the paper does."""
    paper = published("craftax-classic")
    names = ("inventory/wood_1", "tools/iron_pickaxe", "block_map/DIAMOND_left")
    runs = [
        write_run(
            tmp_path / f"run-{seed}", config(seed, task="craftax-classic"),
            {200: agent(1.0, 0.25 * seed, 0.0)}, names, (True,) * 3, layout=None,
        )
        for seed in (0, 1)
    ]  # fmt: skip
    text = report(tmp_path, *runs)
    [table] = [t for t in Page(text).tables if t[0][0] == "Goal"]
    assert table[0][-1] == "paper Dual LEO (PQN), 1B steps"
    ours = {
        "inventory/wood_1": "1.00",
        "tools/iron_pickaxe": "0.12",
        "block_map/DIAMOND_left": "0.00",
    }
    rows = {row[0]: row[1:] for row in table[1:-1]}
    assert rows == {name: [ours[name], f"{paper[name]:.2f}"] for name in names}
    assert table[-1][1:] == ["0.38", f"{np.mean([paper[name] for name in names]):.2f}"]
    for name, level in zip(names, ("always", "sometimes", "never"), strict=True):
        assert re.search(rf'<td>{name}</td><td class="n {level}"', text)
    goals = goal_table([load_run(run) for run in runs], {})
    assert [row["paper_dual_leo_pqn"] for row in goals] == 2 * [paper[name] for name in names]
    shown = Shown("main", "a figure", "Some.", "laptop", "allgoals reproduce main", "Take care.")
    write_findings(tmp_path / "study", shown, [], [], "", [load_run(run) for run in runs])
    page = (tmp_path / "study" / "goals.md").read_text().splitlines()
    lines = [f"| {name} | {paper[name]:.2f} | {ours[name]} |" for name in names]
    assert page[page.index("| goal | paper | Leo |") + 1 :][:4] == ["|---|---|---|", *lines]
    brief = (tmp_path / "study" / "report.md").read_text()
    assert "goals.md" in brief
    assert "Trained on cpu of Linux, with python ?, jax 0.10.2.\n" in brief
    for text in (brief, (tmp_path / "study" / "report.html").read_text()):
        assert text.count("Take care.") == 1
