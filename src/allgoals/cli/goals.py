"""allgoals goals: list the goals of a task."""

import csv
import sys
from dataclasses import dataclass

import tyro

from allgoals.cli.parse import parse
from allgoals.errors import UsageError, unknown


@dataclass(frozen=True)
class Words:
    task: tyro.conf.Positional[str]  # a task's name
    search: str = ""  # only goals whose name holds this text
    csv: bool = False  # print id,name


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals goals")
    from allgoals.tasks import TASKS, make_task

    if words.task not in TASKS:
        raise unknown("task", words.task, TASKS)
    goals = make_task(words.task).goals
    found = [(i, name) for i, name in enumerate(goals.names) if words.search in name]
    if not found:
        near = unknown("goal", words.search, goals.names)
        raise UsageError(f"no goal of {words.task} holds {words.search!r}\n{near}")
    if words.csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([("id", "name"), *found])
        return
    for i, name in found:
        lost = goals.reachable is not None and not goals.reachable[i]
        print(f"{i:5}  {name}" + ("  (cannot be reached)" if lost else ""))
    print(f"{len(found)} of {len(goals.names)} goals")
