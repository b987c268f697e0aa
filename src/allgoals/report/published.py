"""Numbers that the paper prints: the success of Dual LEO (PQN) after a billion steps, by goal."""

import csv
from importlib.resources import files


def published(task: str) -> dict[str, float]:
    """By goal's name; nothing for tasks of which the paper has no table."""
    file = files("allgoals.report") / "data" / f"{task}.csv"
    if not file.is_file():
        return {}
    rows = csv.DictReader(file.read_text().splitlines())
    return {row["goal"]: float(row["dual_leo_pqn"]) for row in rows}
