"""allgoals track: runs in TensorBoard or Weights & Biases."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from allgoals.cli.parse import parse
from allgoals.errors import UsageError


@dataclass(frozen=True)
class Words:
    runs: tyro.conf.Positional[tuple[Path, ...]]  # run directories
    to: Literal["tensorboard", "wandb"] = "tensorboard"
    follow: bool = False  # go on until the runs are finished


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals track")
    if not words.runs:
        raise UsageError("which runs? allgoals track RUN...")
    from allgoals.runs.track import track

    track(words.runs, words.to, words.follow)
    print(f"fed {len(words.runs)} run{'s' if len(words.runs) > 1 else ''} to {words.to}")
