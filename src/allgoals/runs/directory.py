"""One run, one directory: plain files that outlive the program. Nothing here needs jax.

config.json        the experiment, whole
environment.json   versions, machine, command; one entry per start
goals.json         names, which are reachable, and how to draw them
metrics.jsonl      one line per log interval
evaluations.jsonl  one line per evaluation, with the success of every goal
values.npz         for drawable tasks: the value of every goal from every cell
summary.json       written last: the hash of the parameters and the final success
checkpoints/       the whole train state
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from allgoals.errors import RunInUse, SaveError, UsageError
from allgoals.runs.failpoints import failpoint

FORMAT = 1
BEFORE_CONFIG = {"lock", "config.json.tmp"}  # all that a run stopped at its very start leaves


class RunDirectory:
    """Reads and writes the files of a run, apart from its checkpoints."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._lock = None

    @classmethod
    def create(cls, path: Path, config: dict[str, Any]) -> "RunDirectory":
        """A new run: a directory becomes one when its configuration is in it."""
        directory = cls(path)
        with _writing(path):
            path.mkdir(parents=True, exist_ok=True)
        directory.lock()
        directory.write("config.json", {"format": FORMAT, "experiment": config})
        return directory

    @classmethod
    def open(cls, path: str | Path) -> "RunDirectory":
        path = Path(path)
        if not _exists(path):
            raise UsageError(f"no such run: {path}")
        if not (path / "config.json").is_file():
            raise UsageError(f"not a run directory (it has no config.json): {path}")
        return cls(path)

    def lock(self) -> None:
        """Hold the run for this process until it ends, however it ends."""
        with _writing(self.path / "lock"):
            handle = open(self.path / "lock", "a+")  # noqa: SIM115 (held for life)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "another process"
            handle.close()
            raise RunInUse(f"{self.path} is in use by {holder}") from None
        except OSError as error:  # a disk that knows no locks
            handle.close()
            raise SaveError(f"cannot lock {self.path / 'lock'}: {error}") from error
        handle.truncate(0)
        handle.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        handle.flush()
        self._lock = handle

    def unlock(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None

    def discard(self) -> None:
        """Remove a run that never began."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def config(self) -> dict[str, Any]:
        data = read_json(self.path / "config.json")
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise UsageError(f"{self.path}/config.json is not of format {FORMAT}")
        return data.get("experiment")

    def write(self, name: str, data: Any) -> None:
        with _writing(self.path / name):
            write_json(self.path / name, data)

    def write_bytes(self, name: str, data: bytes) -> None:
        with _writing(self.path / name):
            write_bytes(self.path / name, data)

    def read(self, name: str) -> Any:
        """The contents of a JSON file, or None if the run has none."""
        path = self.path / name
        return read_json(path) if path.exists() else None

    def append(self, name: str, row: dict[str, Any]) -> None:
        with _writing(self.path / name), open(self.path / name, "a") as file:
            file.write(json.dumps(row, allow_nan=False) + "\n")

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The complete lines of a JSON-lines file; a line cut short by a crash does not count."""
        path = self.path / name
        if not path.exists():
            return []
        rows = []
        for line in path.read_text(errors="replace").splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not isinstance(row, dict) or not isinstance(row.get("update"), int):
                break
            rows.append(row)
        return rows

    def keep_rows(self, name: str, keep: Callable[[dict[str, Any]], bool]) -> None:
        """Drop the rows that a resumed run will write again."""
        kept = [json.dumps(row) + "\n" for row in self.rows(name) if keep(row)]
        self.write_bytes(name, "".join(kept).encode())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say which file of a run could not be written, and why."""
    try:
        yield
    except OSError as error:
        raise SaveError(f"cannot write {path}: {error}") from error


def new_path(root: Path, name: str) -> Path:
    """A directory that no other run has, even one begun in the same second."""
    stem = re.sub(r"[^\w.-]+", "-", name)
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    for suffix in ["", *(f"-{i}" for i in range(2, 1000))]:
        path = root / f"{stem}-{stamp}{suffix}"
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            continue
        except OSError as error:
            raise UsageError(f"cannot make {path}: {error.strerror}") from None
    raise UsageError(f"no free name for a run in {root}")


def check_new(path: Path) -> None:
    """A place where a run can be made, told before anything is."""
    if _exists(path) and not path.is_dir():
        raise UsageError(f"--out {path} is a file")
    if path.is_dir() and {p.name for p in path.iterdir()} - BEFORE_CONFIG:
        hint = f"continue it with: allgoals train --resume {shlex.quote(str(path))}"
        known = (path / "config.json").exists()
        raise UsageError(f"--out {path} is not empty" + (f"\n{hint}" if known else ""))
    parent = next(p for p in [path, *path.absolute().parents] if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise UsageError(f"--out {path}: cannot write in {parent}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError) as error:  # a name too long, or with a null in it
        raise UsageError(f"{path}: {error}") from None


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def write_json(path: Path, data: Any) -> None:
    write_text(path, json.dumps(data, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write so that a crash leaves the old file or the new one, never half of it."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    failpoint(f"replacing_{path.name}")
    os.replace(temporary, path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
