"""On what a run was made: recorded at every start, so that results can be explained later."""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import psutil

PACKAGES = ("allgoals", "jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "numpy", "craftax")


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe_environment() -> dict[str, Any]:
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": _command(),
        "python": platform.python_version(),
        "packages": versions(),
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "devices": [device.device_kind for device in jax.devices()],
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "commit": _commit(),
    }


def processor() -> str:
    """Its maker's name for it, where the system tells."""
    try:
        told = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        told = None
    return told[1].strip() if told else platform.processor() or platform.machine()


def _command() -> list[str]:
    """As it would be typed again."""
    program = Path(sys.argv[0]).name
    words = ["allgoals" if program == "__main__.py" else program, *sys.argv[1:]]
    return [without_password(word) for word in words]


def without_password(text: str) -> str:
    """Addresses in a text keep their user alone."""
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)


def _commit() -> str | None:
    """The source's own version, where it is run from a checkout."""
    here = Path(__file__)
    if not _git(here.parent, "ls-files", here.name):
        return None  # installed within a checkout of something else
    return _git(here.parent, "describe", "--always", "--dirty", "--abbrev=12") or None


def _git(where: Path, *words: str) -> str:
    command = ["git", "-C", str(where), *words]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip()
