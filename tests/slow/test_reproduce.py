"""`allgoals reproduce NAME --budget smoke` for every name: the numbers behind each picture.

What a picture should show is worked out here from the runs' own files, in plain Python.
"""

import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import fmean, stdev

import pyarrow.parquet as parquet
import pytest

from allgoals.experiment import from_dict
from allgoals.experiments import STUDIES
from allgoals.presets import command
from allgoals.report.drawing import RANDOM
from allgoals.report.pictures import Bars, Curves, Improvements, OverParameter, Profiles, Ranking
from allgoals.report.scores import AllBut
from allgoals.runs.directory import RunDirectory
from allgoals.studies.runs import RunStudy
from allgoals.studies.sweep import Sweep
from allgoals.studies.trials import parameters
from allgoals.studies.types import SEEDS

pytestmark = pytest.mark.slow
BUDGET = "smoke"


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """One folder for all, as a user has: what one study trained the next finds there."""
    return tmp_path_factory.mktemp("studies")


def reproduce(out: Path, name: str, *words: str) -> str:
    command = [sys.executable, "-m", "allgoals", "reproduce", name, "--budget", BUDGET]
    done = subprocess.run(
        [*command, "--out", str(out), *words], capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(path: Path) -> list[dict[str, str]]:
    with open(path) as file:
        return list(csv.DictReader(file))


def successes(
    out: Path, case, goal: str = "", component: str = "agent", without: tuple[str, ...] = ()
) -> dict[int, list[list[float]]]:
    """By step, the success of every seed at a goal, or at all that can be reached."""
    found: dict[int, list[list[float]]] = {}
    for seed in range(SEEDS[BUDGET]):
        run = out / BUDGET / "runs" / case.folder / f"seed-{seed}"
        goals = json.loads((run / "goals.json").read_text())
        reachable = goals["reachable"] or [True] * len(goals["names"])
        for line in (run / "evaluations.jsonl").read_text().splitlines():
            row = json.loads(line)
            if component not in row["success"] or (goal and goal not in goals["names"]):
                continue
            rates = dict(zip(goals["names"], row["success"][component], strict=True))
            can = dict(zip(goals["names"], reachable, strict=True))
            of_all = [rate for name, rate in rates.items() if can[name] and name not in without]
            found.setdefault(row["steps"], []).append([rates[goal]] if goal else of_all)
    return found


def expected(out: Path, study: RunStudy, picture) -> list[dict]:
    """What the table behind a picture should hold."""
    cases = study.cases(BUDGET)
    if isinstance(picture, Curves):
        return [
            numbers(seeds)
            | {"panel": panel(case, goal), "label": label(picture, case, part), "steps": step}
            for case in cases
            for goal in picture.goals or ("",)
            for part in picture.components
            for step, seeds in sorted(successes(out, case, goal, part).items())
        ]
    if isinstance(picture, OverParameter):
        but = isinstance(picture.goal, AllBut)
        goal, without = ("", picture.goal.names) if but else (picture.goal, ())
        ends = [(case, successes(out, case, goal, without=without)) for case in cases]
        return [
            numbers(s[max(s)]) | {"panel": c.panel, "label": c.label, "x": c.x}
            for c, s in ends
            if s
        ]
    ends = [(case, successes(out, case)) for case in cases]
    return [numbers(s[max(s)]) | {"label": c.label} for c, s in ends]


def numbers(seeds: list[list[float]]) -> dict:
    """Of every seed's success at every goal; the middle half of all is meant once more."""
    means, every = [fmean(rates) for rates in seeds], sorted(r for rates in seeds for r in rates)
    cut = len(every) // 4
    return {
        "n": len(seeds), "mean": fmean(means), "error": stdev(means) / len(seeds) ** 0.5,
        "iqm": fmean(every[cut : len(every) - cut]),
    }  # fmt: skip


def panel(case, goal: str) -> str:
    return f"{case.panel}: {goal}" if goal else case.panel


def label(picture, case, part: str) -> str:
    return case.label if len(picture.components) == 1 else f"{case.label}, {part}"


@pytest.mark.parametrize("name", [n for n, s in STUDIES.items() if isinstance(s, RunStudy)])
def test_pictures_show_what_the_runs_came_to(out, name):
    reproduce(out, name)
    study, folder = STUDIES[name], out / BUDGET / name
    page = (folder / "report.html").read_text()
    for picture in study.declared.pictures(BUDGET):
        for kind in ("svg", "pdf", "csv", "parquet"):
            assert (folder / f"{picture.name}.{kind}").stat().st_size > 100
        check_parquet(folder / picture.name)
        if isinstance(picture, Profiles):
            check_profiles(out, study, read(folder / f"{picture.name}.csv"))
        if isinstance(picture, Improvements):
            check_improvements(out, study, read(folder / f"{picture.name}.csv"))
        if not isinstance(picture, Curves | OverParameter | Ranking):
            continue
        rows, right = read(folder / f"{picture.name}.csv"), expected(out, study, picture)
        if not isinstance(picture, Ranking):
            check_random_policy(out, study, picture, [r for r in rows if r["label"] == RANDOM])
        rows = [row for row in rows if row["label"] != RANDOM]
        if isinstance(picture, Ranking):
            right = sorted(right, key=lambda row: -row["mean"])
            assert [float(row["mean"]) for row in rows] == pytest.approx([r["mean"] for r in right])
            rows, right = (sorted(t, key=lambda row: row["label"]) for t in (rows, right))
        assert len(rows) == len(right) > 0
        for row, good in zip(rows, right, strict=True):
            for key, value in good.items():
                found = row[key] if isinstance(value, str) else float(row[key])
                assert found == (value if isinstance(value, str) else pytest.approx(value)), key
    check_evaluations(out, study, read(folder / "evaluations.csv"))
    said = [claim.text for claim in study.declared.claims(BUDGET)]
    assert all(text.replace("'", "&#39;") in page for text in said)
    judged = read(folder / "claims.csv")
    assert [row["claim"] for row in judged] == said
    summary = (folder / "report.md").read_text()
    for row in judged:
        assert f"| {row['claim']} | {row['verdict']} | {row['evidence']} |" in summary
    assert {row["verdict"] for row in judged} <= {"supported", "contradicted", "cannot say"}


def check_evaluations(out: Path, study: RunStudy, rows: list[dict]) -> None:
    """Every run's mean at every evaluation, so that each interval can be worked out again."""
    for case in study.cases(BUDGET):
        for seed in range(SEEDS[BUDGET]):
            run = out / BUDGET / "runs" / case.folder / f"seed-{seed}"
            told = [
                (int(row["steps"]), row["component"], float(row["success"]))
                for row in rows if row["run"] == str(run)
            ]  # fmt: skip
            lines = map(json.loads, (run / "evaluations.jsonl").read_text().splitlines())
            means = ((line["steps"], line["mean_reachable"]) for line in lines)
            assert told == [(step, part, rate) for step, m in means for part, rate in m.items()]


def last_rates(out: Path, case) -> list[list[float]]:
    """By seed, the last success of every goal that can be reached."""
    found = []
    for seed in range(SEEDS[BUDGET]):
        run = out / BUDGET / "runs" / case.folder / f"seed-{seed}"
        goals = json.loads((run / "goals.json").read_text())
        reachable = goals["reachable"] or [True] * len(goals["names"])
        row = json.loads((run / "evaluations.jsonl").read_text().splitlines()[-1])
        rates = row["success"]["agent"]
        found.append([rate for rate, can in zip(rates, reachable, strict=True) if can])
    return found


def check_profiles(out: Path, study: RunStudy, rows: list[dict]) -> None:
    """The share of goals and seeds above each threshold."""
    cases = study.cases(BUDGET)
    assert len(rows) == 21 * len(cases)
    for case in cases:
        every = [rate for seed in last_rates(out, case) for rate in seed]
        mine = [row for row in rows if (row["panel"], row["label"]) == (case.panel, case.label)]
        for i, row in enumerate(mine):
            above = sum(rate > i / 20 + 1e-9 for rate in every) / len(every)
            assert float(row["x"]) == pytest.approx(i / 20)
            assert float(row["mean"]) == pytest.approx(above)


def check_improvements(out: Path, study: RunStudy, rows: list[dict]) -> None:
    """Over goals and pairs of seeds, a tie counting half."""
    cases = {(case.panel, case.label): case for case in study.cases(BUDGET)}
    panels = [panel for panel, _ in cases]
    pairs = sum(panels.count(p) * (panels.count(p) - 1) // 2 for p in set(panels))
    assert len(rows) == pairs
    for row in rows:
        ours, theirs = (
            last_rates(out, cases[row["panel"], row[side]]) for side in ("label", "over")
        )
        points = [
            1.0 if a > b else 0.5 if a == b else 0.0
            for one in ours
            for other in theirs
            for a, b in zip(one, other, strict=True)
        ]
        assert float(row["chance"]) == pytest.approx(fmean(points))


def check_parquet(path: Path) -> None:
    """The same table as the CSV file's."""
    table = parquet.read_table(path.with_suffix(".parquet")).to_pylist()
    rows = read(path.with_suffix(".csv"))
    assert len(table) == len(rows)
    for one, other in zip(table, rows, strict=True):
        assert {k: "" if v is None else str(v) for k, v in one.items()} == other


def check_random_policy(out: Path, study: RunStudy, picture, rows: list[dict]) -> None:
    """Every panel shows what needs no learning: at a goal, or at all that each run could reach."""
    [world] = {row["panel"].split(":")[0].split(",")[0] for row in rows}
    rates = json.loads((out / BUDGET / "runs" / f"random-{world}.json").read_text())
    assert rates and all(0 <= rate <= 1 for rate in rates.values())
    for row in rows:
        goal = getattr(picture, "goal", "") or row["panel"].partition(": ")[2]
        but = goal.names if isinstance(goal, AllBut) else ()
        shown = [case for case in study.cases(BUDGET) if float(row.get("x", case.x)) == case.x]
        each = [names - {*but} for case in shown for names in could_reach(out, case)]
        chosen = each if but or not goal else [{goal}]
        means = [fmean(rates[name] for name in names) for names in chosen]
        assert float(row["mean"]) == pytest.approx(fmean(means))


def could_reach(out: Path, case) -> list[set[str]]:
    """The goals of each seed, which may have drawn different ones."""
    found = []
    for seed in range(SEEDS[BUDGET]):
        path = out / BUDGET / "runs" / case.folder / f"seed-{seed}" / "goals.json"
        goals = json.loads(path.read_text())
        can = goals["reachable"] or [True] * len(goals["names"])
        found.append({name for name, one in zip(goals["names"], can, strict=True) if one})
    return found


def test_bars_compare_components(out):
    reproduce(out, "components")
    study = STUDIES["components"]
    case, _ = study.cases(BUDGET)
    [bars] = [p for p in study.declared.pictures(BUDGET) if isinstance(p, Bars)]
    rows = read(out / BUDGET / "components" / f"{bars.name}.csv")
    goals = out / BUDGET / "runs" / case.folder / "seed-0" / "goals.json"
    names = json.loads(goals.read_text())["names"]
    assert sorted(row["goal"] for row in rows) == sorted(names)
    for row in rows:
        for part in bars.components:
            of = successes(out, case, row["goal"], part)
            assert float(row[part]) == pytest.approx(fmean(rate for [rate] in of[max(of)]))


def test_a_goal_that_is_asked_for_has_a_page_of_its_own(out):
    reproduce(out, "components")
    page = (out / BUDGET / "components" / "report.html").read_bytes()
    assert "wrote" in reproduce(out, "components", "--goal", "position/0-1")
    other = (out / BUDGET / "components-position-0-1" / "report.html").read_text()
    assert "learns position/0-1 first" in other
    assert (out / BUDGET / "components" / "report.html").read_bytes() == page


def test_seeds_that_train_together_are_drawn_like_others(tmp_path):
    """As they do by default on a GPU: every seed ends in a run of its own."""
    reproduce(tmp_path, "components", "--together", "True")
    study, folder = STUDIES["components"], tmp_path / BUDGET / "components"
    _, mean, _ = study.declared.pictures(BUDGET)
    rows = [row for row in read(folder / f"{mean.name}.csv") if row["label"] != RANDOM]
    right = expected(tmp_path, study, mean)
    assert [float(row["mean"]) for row in rows] == pytest.approx([row["mean"] for row in right])
    assert {row["n"] for row in rows} == {str(SEEDS[BUDGET])}
    check_evaluations(tmp_path, study, read(folder / "evaluations.csv"))


def test_speed_is_measured_in_one_run(out):
    reproduce(out, "speed")
    rows = {row["label"]: row for row in read(out / BUDGET / "speed" / "speed.csv")}
    assert set(rows) == {
        "PPO", "PQN", "PQN + HER", "LEO", "Dual LEO (PQN)", "Dual LEO (PPO)",
        "naive all-goals relabelling",
    }  # fmt: skip
    speed = {name: float(row["steps_per_second"]) for name, row in rows.items()}
    assert min(speed.values()) > 0 and speed["LEO"] > speed["naive all-goals relabelling"]
    page = (out / BUDGET / "speed" / "report.html").read_text()
    leo, pqn = rows["LEO"], rows["PQN"]
    assert f"{1 - float(leo['of_pqn']):.0%} slower than PQN" in page
    assert float(pqn["of_pqn"]) == float(pqn["of_pqn_low"]) == 1 and float(leo["of_pqn"]) != 1
    naive = speed["naive all-goals relabelling"]
    for name, row in rows.items():
        assert float(row["of_naive"]) == pytest.approx(speed[name] / naive)
    of_naive = float(rows["naive all-goals relabelling"]["of_pqn"])
    assert of_naive == pytest.approx(naive / speed["PQN"])


@pytest.mark.parametrize("name", [n for n, s in STUDIES.items() if isinstance(s, Sweep)])
def test_sweeps_try_what_their_index_says(out, name):
    reproduce(out, name, "--workers", "2")
    study, folder = STUDIES[name], out / BUDGET / name
    rows = read(folder / "trials.csv")
    assert [int(row["trial"]) for row in rows] == list(range(study.trials[BUDGET]))
    for i, row in enumerate(rows):
        run = Path(row["run"])
        summary = json.loads((run / "summary.json").read_text())
        assert float(row["success"]) == pytest.approx(summary["evaluation"]["agent"])
        assert float(row["seconds"]) == summary["seconds"]
        experiment = RunDirectory(run).config
        assert row["command"] == shlex.join(command(from_dict(experiment)))
        for key, value in parameters(study.space, i).items():
            assert row[key] == str(value)
            config = experiment
            for part in key.split("."):
                config = config[part]
            assert config == value
    best = max(rows, key=lambda row: float(row["success"]))
    for row in read(folder / "values.csv"):
        of = [float(r["success"]) for r in rows if r[row["parameter"]] == row["value"]]
        if row["parameter"] not in study.matters:
            assert int(row["n"]) == len(of) and (not of or float(row["best"]) == max(of))
    for row in read(folder / "choices.csv"):
        assert row["best_trial"] == best[row["parameter"]]
        assert row["paper"] == str(study.best[row["parameter"]])
    page = (folder / "report.html").read_text()
    assert re.search(rf"The best trial is {best['trial']}:", page)


def test_done_again_nothing_is_trained(out):
    reproduce(out, "main")
    again = reproduce(out, "main")
    assert "seed" not in again and again.strip().endswith("report.html")
