"""What is said to a person; its reader may go, as in `| head`."""

import os
import sys


def say(text: str) -> None:
    """Print a line; a run outlives whoever was reading."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        silence()


def silence() -> None:
    """From here on nobody listens."""
    with open(os.devnull, "w") as nobody:
        os.dup2(nobody.fileno(), sys.stdout.fileno())


def rate(mean: float | None) -> str:
    """A success rate, or a dash where no goal can be reached."""
    return "-" if mean is None else f"{mean:.3f}"
