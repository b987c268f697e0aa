"""What was saved comes back bit for bit, or is refused; nothing damaged is ever loaded."""

import hashlib
import json
import random
import shutil
import threading
import warnings
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from allgoals.errors import CheckpointError, SaveError
from allgoals.runs import checkpoint, failpoints
from allgoals.runs.checkpoint import MANIFEST, Checkpoints, digest
from allgoals.runs.setup import build_trainer
from allgoals.validation import build_task
from tests.runs.micro import micro

BEFORE_THE_MANIFEST = ["before_write", "mid_write", "before_manifest", "replacing_MANIFEST.json"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
many_cases = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class State(NamedTuple):
    """A state with one array of every kind that a run has."""

    weights: jax.Array
    flags: jax.Array
    pixels: jax.Array
    update: jax.Array
    half: dict[str, jax.Array]
    key: jax.Array
    keys: jax.Array


def make_state(seed: int) -> State:
    key = jax.random.key(seed)
    return State(
        jax.random.normal(key, (3, 2)).at[0, 0].set(-0.0).at[0, 1].set(jnp.inf),
        jnp.array([True, False]),
        jnp.arange(250, 256, dtype=jnp.uint8),
        jnp.int32(-seed),
        {"float16": jnp.full(3, seed, jnp.float16), "bfloat16": jnp.ones((1, 2), jnp.bfloat16)},
        key,
        jax.random.split(key, 3),
    )


TEMPLATE = jax.eval_shape(lambda: make_state(0))


def check_equal(found: State, wanted: State) -> None:
    """The same bits of the same types."""
    assert jax.tree.map(lambda x: (x.dtype, x.shape), found) == jax.tree.map(
        lambda x: (x.dtype, x.shape), wanted
    )
    assert digest(found) == digest(wanted)


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "checkpoints"
    save(path, 4, 8)
    return path


@pytest.fixture
def saved(saved_once, tmp_path) -> Path:
    """Checkpoints of updates 4 and 8, each with its own values."""
    return Path(shutil.copytree(saved_once, tmp_path / "checkpoints"))


def save(path: Path, *updates: int, owner: str = "me") -> None:
    checkpoints = Checkpoints(path, owner)
    for update in updates:
        checkpoints.save(update, make_state(update))
    checkpoints.wait()


def restore(path: Path, template: State = TEMPLATE) -> tuple[int, State, list[str]]:
    """What is restored, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        update, state = Checkpoints(path, "me").restore(template)
    return update, state, [str(w.message) for w in caught if "checkpoint before" in str(w.message)]


def step(path: Path, update: int) -> Path:
    return path / f"{update:012d}"


def files(path: Path, update: int) -> list[Path]:
    return sorted(p for p in step(path, update).rglob("*") if p.is_file())


def complete(path: Path) -> list[int]:
    return sorted(int(manifest.parent.name) for manifest in path.glob(f"*/{MANIFEST}"))


def check_falls_back(path: Path, damaged: Path) -> None:
    """The step before the damaged one is used, and the damaged file is named."""
    update, state, said = restore(path)
    assert update == 4
    check_equal(state, make_state(4))
    assert len(said) == 1 and str(damaged) in said[0]


def test_every_type_and_random_keys_survive(saved):
    update, state, said = restore(saved)
    assert update == 8 and not said
    check_equal(state, make_state(8))
    assert (jax.random.bits(state.key, 9) == jax.random.bits(jax.random.key(8), 9)).all()


def test_a_whole_train_state_survives(tmp_path):
    experiment = micro("dual_leo_ppo")
    trainer = build_trainer(experiment, build_task(experiment))
    state = jax.jit(trainer.init)(jax.random.key(3))
    checkpoints = Checkpoints(tmp_path, "me")
    checkpoints.save(1, state)
    checkpoints.wait()
    update, restored = checkpoints.restore(trainer.shapes)
    assert update == 1 and digest(restored) == digest(state)
    assert jax.tree.structure(restored) == jax.tree.structure(state)


def test_nothing_saved_is_not_an_error(tmp_path):
    assert Checkpoints(tmp_path / "none", "me").restore(TEMPLATE) is None


def test_one_flipped_bit_is_always_found(saved):
    chance = random.Random(0)
    for _ in range(100):
        file = chance.choice(files(saved, 8))
        good = file.read_bytes()
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        file.write_bytes(bad)
        check_falls_back(saved, file)
        file.write_bytes(good)
    assert restore(saved)[0] == 8  # whole again


@pytest.mark.parametrize("damage", ["truncated", "emptied", "deleted"])
def test_every_file_counts(saved, damage):
    for file in files(saved, 8):
        good = file.read_bytes()
        if damage == "deleted":
            file.unlink()
        else:
            file.write_bytes(good[: len(good) // 2 if damage == "truncated" else 0])
        if file.name == MANIFEST and damage == "deleted":
            assert restore(saved)[0] == 4  # as if the save had never ended
        else:
            check_falls_back(saved, file)
        file.write_bytes(good)


def test_a_strange_file_is_refused(saved):
    strange = step(saved, 8) / "state" / "d" / "extra"
    strange.write_bytes(b"")
    check_falls_back(saved, strange)


def test_a_file_that_cannot_be_read_is_refused(saved, monkeypatch):
    target = files(saved, 8)[1]
    original = hashlib.file_digest

    def unreadable(handle, name):
        if handle.name == str(target):
            raise OSError(5, "Input/output error")
        return original(handle, name)

    monkeypatch.setattr(hashlib, "file_digest", unreadable)
    check_falls_back(saved, target)


def test_when_every_step_is_damaged_all_are_named(saved):
    for update in (4, 8):
        files(saved, update)[-1].write_bytes(b"")
    with pytest.warns(UserWarning), pytest.raises(CheckpointError) as error:
        Checkpoints(saved, "me").restore(TEMPLATE)
    assert error.value.exit_code == 65
    assert str(step(saved, 4)) in str(error.value) and str(step(saved, 8)) in str(error.value)


@pytest.fixture
def only_step(saved) -> Path:
    shutil.rmtree(step(saved, 4))
    return step(saved, 8)


def check_refused(only_step: Path, manifest: bytes) -> None:
    (only_step / MANIFEST).write_bytes(manifest)
    with warnings.catch_warnings(), pytest.raises(CheckpointError):
        warnings.simplefilter("ignore")
        Checkpoints(only_step.parent, "me").restore(TEMPLATE)


@many_cases
@given(junk=st.binary(max_size=300))
def test_a_manifest_of_random_bytes_is_refused(only_step, junk):
    check_refused(only_step, junk)


@many_cases
@given(junk=JSON)
def test_a_manifest_of_random_json_is_refused(only_step, junk):
    check_refused(only_step, json.dumps(junk).encode())


def test_a_manifest_nested_without_end_is_refused(only_step):
    check_refused(only_step, b"[" * 100_000)


@many_cases
@given(
    field=st.sampled_from(["update", "owner", "arrays", "files"]), junk=JSON, missing=st.booleans()
)
def test_a_sealed_manifest_with_a_wrong_field_is_refused(
    only_step, saved_once, field, junk, missing
):
    manifest = json.loads((step(saved_once, 8) / MANIFEST).read_text())
    manifest.pop("sha256")
    assume(missing or junk != manifest[field])
    manifest[field] = junk
    if missing:
        del manifest[field]
    sealed = {"sha256": checkpoint._json_digest(manifest), **manifest}
    check_refused(only_step, json.dumps(sealed).encode())


def test_a_step_of_another_run_is_refused_with_both_names(saved, tmp_path):
    save(tmp_path / "other", 12, owner="stranger")
    shutil.copytree(step(tmp_path / "other", 12), step(saved, 12))
    update, _, said = restore(saved)
    assert update == 8
    assert len(said) == 1 and "run stranger, this is run me;" in said[0]


def test_a_step_under_another_number_is_refused(saved):
    shutil.move(step(saved, 8), step(saved, 12))
    update, _, said = restore(saved)
    assert update == 4 and "holds update 8" in said[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": jax.ShapeDtypeStruct((3, 2), jnp.bfloat16)},
        {"weights": jax.ShapeDtypeStruct((2, 3), jnp.float32)},
        {"flags": jax.ShapeDtypeStruct((2,), jnp.uint8)},
        {"half": {"float16": TEMPLATE.half["float16"]}},
        {"half": TEMPLATE.half | {"more": TEMPLATE.weights}},
    ],
    ids=["type", "shape", "bool", "fewer", "more"],
)
def test_a_template_of_another_form_is_refused(saved, changes):
    with pytest.warns(UserWarning), pytest.raises(CheckpointError, match="arrays are not those"):
        Checkpoints(saved, "me").restore(TEMPLATE._replace(**changes))


def test_a_step_without_a_manifest_never_was(saved):
    (step(saved, 8) / MANIFEST).unlink()
    update, _, said = restore(saved)
    assert update == 4 and not said


@pytest.fixture
def fail_at(monkeypatch):
    """Makes the next save fail at a named place."""

    def fail(name: str) -> None:
        monkeypatch.setattr(failpoints, "_passed", {})
        monkeypatch.setenv("ALLGOALS_FAILPOINT", f"{name}=raise")

    return fail


@pytest.mark.parametrize("place", [*BEFORE_THE_MANIFEST, "before_clean"])
def test_old_steps_stay_until_a_newer_one_is_sealed(saved, fail_at, place):
    fail_at(place)
    with pytest.raises(SaveError, match="bytes free"):
        save(saved, 12)
    assert complete(saved) == ([4, 8] if place in BEFORE_THE_MANIFEST else [4, 8, 12])
    fail_at("nowhere")
    save(saved, 16)
    assert complete(saved) == ([8, 16] if place in BEFORE_THE_MANIFEST else [12, 16])
    assert len(list(saved.iterdir())) == 2  # and the failed one is gone
    check_equal(restore(saved)[1], make_state(16))


def test_a_step_is_removed_only_when_two_newer_are_complete(saved, monkeypatch):
    seen = {}
    remove = checkpoint._remove
    monkeypatch.setattr(
        checkpoint, "_remove", lambda p: (seen.setdefault(p.name, complete(saved)), remove(p))
    )
    save(saved, 12)
    assert seen[step(saved, 4).name] == [4, 8, 12]
    assert complete(saved) == [8, 12]


@pytest.mark.parametrize("place", BEFORE_THE_MANIFEST)
def test_a_failed_save_is_never_silent(tmp_path, fail_at, place):
    checkpoints = Checkpoints(tmp_path, "me")
    fail_at(place)
    checkpoints.save(1, make_state(1))  # fails in the background
    with pytest.raises(SaveError) as error:
        checkpoints.save(2, make_state(2))
    assert error.value.exit_code == 74 and place in str(error.value)
    checkpoints.save(1, make_state(1))  # the place fails once only
    checkpoints.wait()
    assert complete(tmp_path) == [1]


def test_a_state_given_away_while_it_is_saved_is_saved_as_it_was(tmp_path, monkeypatch):
    gone = threading.Event()
    monkeypatch.setattr(
        checkpoint, "failpoint", lambda name: name == "before_write" and gone.wait(30)
    )
    overwrite = jax.jit(lambda x: {"a": x["a"] * 0 - 1}, donate_argnums=0)
    state = {"a": jnp.arange(100_000.0)}
    template = jax.eval_shape(lambda: state)
    checkpoints = Checkpoints(tmp_path, "me")
    checkpoints.save(1, state)
    after = jax.block_until_ready(overwrite(state))
    assert state["a"].is_deleted() and after["a"][5] == -1
    gone.set()
    checkpoints.wait()
    np.testing.assert_array_equal(checkpoints.restore(template)[1]["a"], np.arange(100_000.0))


def test_a_good_step_is_not_written_again(saved):
    before = {file: file.stat().st_ino for file in files(saved, 8)}
    checkpoints = Checkpoints(saved, "me")
    checkpoints.restore(TEMPLATE)
    checkpoints.save(8, make_state(8))
    checkpoints.wait()
    assert {file: file.stat().st_ino for file in files(saved, 8)} == before


def test_damaged_steps_do_not_push_out_a_good_one(saved):
    """Steps 4, 8 and 12, the last two damaged, then a save at 6: both 4 and 6 must stay."""
    checkpoints = Checkpoints(saved, "me", keep=3)
    checkpoints.save(12, make_state(12))
    checkpoints.wait()
    for update in (8, 12):
        files(saved, update)[1].write_bytes(b"")
    again = Checkpoints(saved, "me")
    with pytest.warns(UserWarning, match="before it"):
        assert again.restore(TEMPLATE)[0] == 4
    again.save(6, make_state(6))
    again.wait()
    assert complete(saved) == [4, 6]
    assert restore(saved)[0] == 6
