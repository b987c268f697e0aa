"""Goal-conditioned reinforcement learning over finite goal sets: every goal from every step."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
_API = {"Run", "evaluate", "preset", "resume", "train"}
__all__ = sorted(_API)


def __getattr__(name: str) -> Any:
    """Import the library when it is used, so that the command line answers at once."""
    if name in _API:
        return getattr(import_module("allgoals.api"), name)
    raise AttributeError(f"module 'allgoals' has no attribute {name!r}")
