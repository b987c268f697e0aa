"""allgoals doctor: versions, devices, caches."""

import os
import platform
import shutil
from dataclasses import dataclass

from allgoals.cli.parse import parse


@dataclass(frozen=True)
class Words:
    """What this machine has, to send with a bug report."""


def run(argv: list[str]) -> None:
    parse(Words, argv, "allgoals doctor")
    for name, value in findings().items():
        print(f"{name:18}{value}")


def findings() -> dict[str, str]:
    import imageio_ffmpeg
    import jax
    import psutil

    from allgoals.runs.cache import enable_compile_cache
    from allgoals.runs.environment import versions

    cache = enable_compile_cache()
    size = sum(f.stat().st_size for f in cache.rglob("*") if f.is_file()) if cache else 0
    return {
        "python": platform.python_version(),
        **versions(),
        "platform": platform.platform(),
        "cores": str(os.cpu_count()),
        "free memory": f"{psutil.virtual_memory().available / 2**30:.1f} GiB",
        "free disk here": f"{shutil.disk_usage('.').free / 2**30:.1f} GiB",
        "devices": ", ".join(f"{d.platform}: {d.device_kind}" for d in jax.devices()),
        "compile cache": f"{cache} ({size / 2**20:.0f} MiB)" if cache else "off: cannot be written",
        "video encoder": imageio_ffmpeg.get_ffmpeg_exe(),
    }
