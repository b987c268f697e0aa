"""Checkpoints that can be trusted: written by orbax, sealed by a manifest of hashes.

A step counts only once its manifest is on disk, and the manifest is written last. It holds the size
and SHA-256 of every file, the shape and type of every array, and which experiment it belongs to.
A step that does not match its manifest is never loaded; the one before it is.
"""

import hashlib
import json
import os
import shutil
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp

from allgoals.errors import CheckpointError, SaveError
from allgoals.runs.directory import sync_directory, write_json
from allgoals.runs.failpoints import failpoint
from allgoals.types import Array, PyTree

State = TypeVar("State")
MANIFEST = "MANIFEST.json"
FIELDS = {"update": int, "owner": str, "arrays": dict, "files": dict}  # of a manifest


class Checkpoints:
    """The checkpoints of one run. Saving happens in the background, one at a time."""

    def __init__(self, path: Path, owner: str, keep: int = 2):
        self.path, self.owner, self.keep = path, owner, keep
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._pending: Future | None = None
        self._newest: int | None = None  # the update last saved, or restored

    def save(self, update: int, state: PyTree) -> None:
        """Begin to save a copy of the state; an earlier save that failed is raised here."""
        self.wait()
        if update == self._newest:  # a good step is not put at risk by writing it again
            return self._clean(update)
        self._newest = update
        arrays = jax.tree.map(jnp.copy, _flatten(state))  # the state's own buffers are given away
        self._pending = self._writer.submit(self._write, update, arrays)

    def wait(self) -> None:
        pending, self._pending = self._pending, None
        if pending is None:
            return
        try:
            pending.result()
        except Exception as error:
            self._newest = None
            free = shutil.disk_usage(self.path).free if self.path.exists() else 0
            raise SaveError(f"cannot save in {self.path}: {error} ({free:,} bytes free)") from error

    def close(self) -> None:
        """Let a save that has begun come to its end, whichever it is."""
        self._writer.shutdown()

    def _write(self, update: int, arrays: dict[str, Array]) -> None:
        step = self.path / f"{update:012d}"
        _remove(step)  # left by a crash, or damaged
        step.mkdir(parents=True)
        failpoint("before_write")
        with ocp.StandardCheckpointer() as writer:
            writer.save((step / "state").absolute(), arrays)
            failpoint("mid_write")
        failpoint("before_manifest")
        manifest = {
            "update": update,
            "owner": self.owner,
            "arrays": _schema(arrays),
            "files": _seal(step),
        }
        write_json(step / MANIFEST, {"sha256": _json_digest(manifest), **manifest})
        sync_directory(self.path)
        failpoint("before_clean")
        self._clean(update)

    def _clean(self, update: int) -> None:
        """Keep this update's step and those before it; the rest goes only now that it is safe."""
        past = [step for step in self.steps() if _update(step) <= update]
        complete = [step for step in past if (step / MANIFEST).exists()]
        for step in set(self.steps()) - set(complete[-self.keep :]):
            _remove(step)

    def steps(self) -> list[Path]:
        """Every step directory, oldest first, complete or not."""
        found = self.path.iterdir() if self.path.is_dir() else []
        return sorted((p for p in found if p.name.isdecimal() and p.is_dir()), key=_update)

    def newest(self) -> int | None:
        """The update of the last step, if there is one and it is good."""
        try:
            return self._verified(self.steps()[-1])["update"]
        except (IndexError, CheckpointError):
            return None

    def restore(self, template: State) -> tuple[int, State] | None:
        """The newest good step, in the form of a template of shapes; None if none was saved."""
        problems = []
        for step in reversed(self.steps()):
            if not (step / MANIFEST).exists():
                continue  # a crash while saving: the step never was
            try:
                return self._load(step, template)
            except CheckpointError as error:
                problems.append(str(error))
                warnings.warn(f"{error}; using the checkpoint before it", stacklevel=2)
        if problems:
            raise CheckpointError("\n".join(["no good checkpoint is left:", *problems]))
        return None

    def _load(self, step: Path, template: State) -> tuple[int, State]:
        manifest = self._verified(step)
        wanted = jax.eval_shape(_flatten, template)
        if manifest["arrays"] != _schema(wanted):
            raise CheckpointError(f"{step}: its arrays are not those of this experiment")
        here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        like = {name: array.update(sharding=here) for name, array in wanted.items()}
        try:
            with ocp.StandardCheckpointer() as reader:
                arrays = reader.restore((step / "state").absolute(), like)
        except Exception as error:
            raise CheckpointError(f"{step}: {error}") from error
        self._newest = manifest["update"]
        return self._newest, _unflatten(template, arrays)

    def _verified(self, step: Path) -> dict[str, Any]:
        """The manifest of a step that is this run's and whole."""
        manifest = _read_manifest(step / MANIFEST)
        if manifest["owner"] != self.owner:
            raise CheckpointError(
                f"{step} belongs to run {manifest['owner']}, this is run {self.owner}"
            )
        if manifest["update"] != _update(step):
            raise CheckpointError(f"{step} holds update {manifest['update']}")
        files = manifest["files"]
        present = {str(file.relative_to(step)) for file in _files(step)}
        for name in sorted(present ^ set(files)):
            raise CheckpointError(f"{step / name} is {'missing' if name in files else 'strange'}")
        for name, expected in files.items():
            if _digest(step / name) != expected:
                raise CheckpointError(f"{step / name} is damaged")
        return manifest


def _update(step: Path) -> int:
    return int(step.name)


def _remove(step: Path) -> None:
    """Take a step back: its manifest first, so that half a step never counts."""
    (step / MANIFEST).unlink(missing_ok=True)
    failpoint("mid_remove")
    shutil.rmtree(step, ignore_errors=True)


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text())
        whole = manifest.pop("sha256") == _json_digest(manifest)
        whole &= all(isinstance(manifest[name], kind) for name, kind in FIELDS.items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if not whole:
        raise CheckpointError(f"{path} is damaged")
    return manifest


def _json_digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _files(step: Path) -> list[Path]:
    return sorted(p for p in step.rglob("*") if p.is_file() and p.name != MANIFEST)


def _seal(step: Path) -> dict[str, list]:
    """Size and hash of every file, once all of them are on disk."""
    digests = {}
    for file in _files(step):
        with open(file, "rb") as handle:
            os.fsync(handle.fileno())
        digests[str(file.relative_to(step))] = _digest(file)
    for folder in [*(p for p in step.rglob("*") if p.is_dir()), step]:
        sync_directory(folder)
    return digests


def _digest(file: Path) -> list:
    try:
        with open(file, "rb") as handle:
            return [file.stat().st_size, hashlib.file_digest(handle, "sha256").hexdigest()]
    except OSError as error:
        raise CheckpointError(f"{file} cannot be read: {error}") from error


def _flatten(state: PyTree) -> dict[str, Array]:
    """Named arrays; random keys as the numbers behind them."""
    leaves = jax.tree_util.tree_flatten_with_path(state)[0]
    return {jax.tree_util.keystr(path): _raw(leaf) for path, leaf in leaves}


def _raw(leaf: Array) -> Array:
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf


def _unflatten(template: State, arrays: dict[str, Array]) -> State:
    def restored(path, leaf: Array) -> Array:
        array = arrays[jax.tree_util.keystr(path)]
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return jax.random.wrap_key_data(array) if is_key else array

    return jax.tree_util.tree_map_with_path(restored, template)


def _schema(arrays: dict[str, Array]) -> dict[str, list]:
    return {name: [str(a.dtype), list(a.shape)] for name, a in sorted(arrays.items())}


def digest(tree: PyTree) -> str:
    """SHA-256 over the bytes of every array in a tree."""
    total = hashlib.sha256()
    for name, array in sorted(_flatten(tree).items()):
        total.update(name.encode())
        total.update(jax.device_get(array).tobytes())
    return total.hexdigest()
