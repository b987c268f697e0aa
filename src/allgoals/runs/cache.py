"""The compile cache: a program compiled once is not compiled again."""

import hashlib
import os
import platform
from pathlib import Path

import jax
import jaxlib
import platformdirs


def enable_compile_cache() -> Path | None:
    """Point jax at a cache of this machine and version, unless the user chose one."""
    if jax.config.jax_compilation_cache_dir:
        return Path(jax.config.jax_compilation_cache_dir)
    root = os.environ.get("ALLGOALS_CACHE_DIR") or platformdirs.user_cache_dir("allgoals")
    path = Path(root) / f"jaxlib-{jaxlib.__version__}-{_machine()}"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # a home that cannot be written to costs time, nothing else
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    return path


def _machine() -> str:
    """Which processor: compiled programs use its instructions."""
    try:
        text = Path("/proc/cpuinfo").read_text()
        features = next(line for line in text.splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        features = platform.processor()
    return f"{platform.machine()}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"
