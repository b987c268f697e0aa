"""Command-line words into records, with tyro."""

import os
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro

from allgoals.errors import UsageError

T = TypeVar("T")
MaybePath = Annotated[Path | None, tyro.conf.arg(metavar="PATH")]  # None is not to be typed
MaybeText = Annotated[str | None, tyro.conf.arg(metavar="STR")]


def parse(kind: type[T], argv: list[str], prog: str, default: Any = tyro.MISSING) -> T:
    """A record of type `kind`; wrong words end the program with exit code 2 and one screen."""
    if default is tyro.MISSING:
        return tyro.cli(kind, args=argv, prog=prog)
    return tyro.cli(kind, args=argv, prog=prog, default=default)


def check_file(path: Path) -> None:
    """A place where a file can be written, told before any work."""
    parent = path.absolute().parent
    if os.path.isdir(path) or not os.path.isdir(parent):
        raise UsageError(f"--out {path}: not a file in an existing directory")
    if not os.access(parent, os.W_OK):
        raise UsageError(f"--out {path}: cannot write there")
