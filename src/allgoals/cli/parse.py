"""Command-line words into records, with tyro."""

import sys
from typing import Any, TypeVar

import tyro

T = TypeVar("T")


def parse(kind: type[T], argv: list[str], prog: str, default: Any = tyro.MISSING) -> T:
    """A record of type `kind`; wrong words end the program with exit code 2 and one screen."""
    if default is tyro.MISSING:
        return tyro.cli(kind, args=argv, prog=prog)
    return tyro.cli(kind, args=argv, prog=prog, default=default)


def is_help(argv: list[str]) -> bool:
    return not argv or argv[0] in ("-h", "--help")


def warn(message: str) -> None:
    print(f"allgoals: {message}", file=sys.stderr)
