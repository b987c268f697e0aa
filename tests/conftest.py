"""One compile cache for all tests and the programs they start; pictures need no screen."""

import os
import signal
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault(
    "ALLGOALS_CACHE_DIR", str(Path(tempfile.gettempdir()) / "allgoals-test-cache")
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs we start must hear it

from allgoals.runs.cache import enable_compile_cache  # noqa: E402

enable_compile_cache()
