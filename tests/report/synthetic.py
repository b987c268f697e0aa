"""Run directories written by hand: small, exact, and made without any training."""

from pathlib import Path
from typing import Any

import numpy as np

from allgoals.runs.directory import RunDirectory

GRID = {
    "kind": "grid",
    "size": 3,
    "walls": [[1, 1], [2, 1]],
    "start": [0, 0],
    "cells": [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 2]],
    "goals": [[0, 1], [1, 0], [2, 2]],
}


def config(seed: int = 0, algorithm: str = "Leo", **fields: Any) -> dict[str, Any]:
    return {
        "task": fields.pop("task", "gridworld"),
        "name": algorithm,
        "env": {"class": "Gridworld", "size": 3},
        "algorithm": {"class": algorithm, "gamma": fields.pop("gamma", 0.95)},
        "steps": 200,
        "seed": seed,
        **fields,
    }


def agent(*success: float) -> dict[str, list[float]]:
    """The success of every goal, of an agent without parts."""
    return {"agent": list(success)}


def evaluation(steps: int, reachable: list[bool], **success: list[float]) -> dict[str, Any]:
    """A row of evaluations.jsonl; each keyword is a component."""
    mean = {k: float(np.mean(np.array(v)[reachable])) for k, v in success.items()}
    return {"update": steps, "steps": steps, "mean_reachable": mean, "success": success}


def write_run(
    path: Path,
    config: dict[str, Any],
    evaluations: dict[int, dict[str, list[float]]],
    names: tuple[str, ...] = ("position/0-1", "position/1-0", "position/2-2"),
    reachable: tuple[bool, ...] = (True, True, False),
    layout: dict[str, Any] | None = GRID,
    finished: bool = True,
) -> Path:
    """A run; `evaluations` holds the success of every goal by steps and component."""
    run = RunDirectory.create(path, config)
    run.unlock()
    run.write("goals.json", {"names": names, "reachable": reachable, "layout": layout})
    start = {"command": ["allgoals", "train", "a b"], "packages": {"jax": "0.10.2"}}
    run.write("environment.json", [start | {"platform": "Linux", "devices": ["cpu"]}])
    for steps, success in evaluations.items():
        run.append("evaluations.jsonl", evaluation(steps, list(reachable), **success))
        row = {"update": steps, "steps": steps, "seconds": steps / 10, "steps_per_second": 10.0}
        run.append("metrics.jsonl", row | {"goals/success": 0.5, "leo/loss": 1 / steps})
    if finished:
        summary = {"steps": 200, "seconds": 20.0, "parameters_sha256": f"hash-of-{path.name}"}
        run.write("summary.json", summary)
    if finished and layout:
        shape = (len(layout["cells"]), len(names))
        values = np.linspace(0, 1, num=shape[0] * shape[1]).reshape(shape)
        np.savez_compressed(path / "values.npz", values=values.astype(np.float16))
    return path
