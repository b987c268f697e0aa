"""Standard output, which may lose its reader, as in `| head`."""

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
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
