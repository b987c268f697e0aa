"""Failures a user can act on, each with its exit code; the command line shows the message alone."""

import difflib
from collections.abc import Iterable


class AllgoalsError(Exception):
    """Something went wrong that is not a bug."""

    exit_code = 1


class UsageError(AllgoalsError):
    """What was asked for cannot be done as asked."""

    exit_code = 2


class MemoryShortage(AllgoalsError):
    """What was asked for needs more memory than there is."""

    exit_code = 3


class NumericalError(AllgoalsError):
    """A loss, a gradient or a parameter stopped being a finite number."""

    exit_code = 4


class CheckpointError(AllgoalsError):
    """No good checkpoint is left, or what is there belongs to something else."""

    exit_code = 65


class RunInUse(AllgoalsError):
    """Another process holds the run directory."""

    exit_code = 73


class SaveError(AllgoalsError):
    """A checkpoint or another file of a run could not be written."""

    exit_code = 74


class Interrupted(AllgoalsError):
    """A signal stopped the run after it had saved."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code


def unknown(kind: str, given: str, valid: Iterable[str]) -> UsageError:
    """An unknown name, with the nearest valid ones, or all where they are few."""
    valid = list(valid)
    near = difflib.get_close_matches(given, valid, n=3, cutoff=0.5)
    alike = [name for name in valid if name.casefold() == given.casefold()]
    near = list(dict.fromkeys([*alike, *near]))[:3]
    lines = [f"unknown {kind} {given!r}"]
    if near:
        lines.append("did you mean: " + ", ".join(near))
    if len(valid) <= 12:
        lines.append("valid: " + ", ".join(valid))
    return UsageError("\n".join(lines))
