"""Named places where tests make the writing of a checkpoint fail."""

import os
import signal
import time

_passed: dict[str, int] = {}


def failpoint(name: str) -> None:
    """Acts when ALLGOALS_FAILPOINT is NAME=kill|raise|sleep, or NAME:N=... at the N-th pass."""
    wanted, _, action = os.environ.get("ALLGOALS_FAILPOINT", "").partition("=")
    where, _, nth = wanted.partition(":")
    if where != name:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] != int(nth or 1):
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "sleep":
        time.sleep(2)
    else:
        raise OSError(28, f"failpoint {name}")
