"""No file that is read can run code: what is not plain data is refused."""

import ast
import io
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allgoals import api
from allgoals.errors import AllgoalsError, CheckpointError, UsageError
from allgoals.experiment import from_dict, to_dict
from allgoals.report import write_report
from allgoals.validation import build_task
from tests.runs.micro import micro

SOURCE = Path(__file__).parents[2] / "src" / "allgoals"


class Payload:
    """Makes a file where it is unpickled."""

    def __init__(self, sentinel: Path):
        self.sentinel = str(sentinel)

    def __reduce__(self):
        return os.mkdir, (self.sentinel,)


@pytest.fixture
def sentinel(tmp_path):
    """A place that must stay empty."""
    path = tmp_path / "sentinel"
    yield path
    assert not path.exists()


def as_pickle(sentinel: Path) -> bytes:
    return pickle.dumps(Payload(sentinel))


def as_object_array(sentinel: Path) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, values=np.array([Payload(sentinel)], dtype=object))
    return buffer.getvalue()


def as_array_of_pickle(sentinel: Path) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload(sentinel)], dtype=object))
    return buffer.getvalue()


def report(path: Path) -> None:
    write_report([path], path / "report.html")


def act(path: Path) -> None:
    api.Run(path).policy(np.array([3, 3], np.uint8), 0)


def test_the_payload_would_work(tmp_path):
    pickle.loads(as_pickle(tmp_path / "sentinel"))  # noqa: S301
    assert (tmp_path / "sentinel").exists()


@pytest.mark.parametrize("load", [api.resume, api.evaluate, act, report])
def test_a_configuration_that_is_a_pickle_is_refused(finished, sentinel, load):
    (finished / "config.json").write_bytes(as_pickle(sentinel))
    with pytest.raises(UsageError, match="config.json"):
        load(finished)


@pytest.mark.parametrize("name", ["goals.json", "environment.json", "summary.json", "values.npz"])
@pytest.mark.parametrize("disguise", [as_pickle, as_object_array, as_array_of_pickle])
def test_a_report_of_pickles_is_refused(finished, sentinel, name, disguise):
    (finished / name).write_bytes(disguise(sentinel))
    with pytest.raises(AllgoalsError, match=name):
        report(finished)


def test_rows_that_are_pickles_do_not_count(finished, sentinel):
    for name in ("metrics.jsonl", "evaluations.jsonl"):
        (finished / name).write_bytes(as_pickle(sentinel))
    run = api.Run(finished)
    assert run.metrics == [] and run.evaluations == []
    report(finished)


@pytest.mark.parametrize("load", [api.resume, api.evaluate, act])
@pytest.mark.parametrize("target", ["MANIFEST.json", "_METADATA", "manifest.ocdbt"])
@pytest.mark.filterwarnings("ignore:.*using the checkpoint before it")
def test_checkpoints_that_are_pickles_are_refused(finished, sentinel, load, target):
    for file in finished.glob(f"checkpoints/**/{target}"):
        file.write_bytes(as_pickle(sentinel))
    with pytest.raises(CheckpointError, match=target):
        load(finished)


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": {"class": "os.system", "command": "true"}},
        {"algorithm": {"_target_": "builtins.eval", "_args_": ["1"]}},
        {"algorithm": {"class": "__import__('os')"}},
        {"algorithm": {"class": "Gridworld", "size": 6, "wall_probability": 0.3}},
        {"algorithm": to_dict(micro())["env"]},
        {"env": to_dict(micro())["algorithm"]},
        {"env": to_dict(micro())["env"] | {"size": "6; import os"}},
        {"task": "gridworld.__class__"},
        {"task": ["gridworld"]},
        {"goals": {"class": "Leo"}},
    ],
)
def test_names_in_a_configuration_are_only_names(change):
    with pytest.raises(UsageError):
        build_task(from_dict(to_dict(micro()) | change))


def leaves(data: dict, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where every value of a configuration is."""
    found = [path] if path else []
    inner = data.items() if isinstance(data, dict) else ()
    return found + [leaf for name, value in inner for leaf in leaves(value, (*path, name))]


NUMBERS = st.integers(-3, 40) | st.integers() | st.floats()
JUNK = st.none() | st.booleans() | NUMBERS | st.text(max_size=5) | st.lists(NUMBERS, max_size=3)
CONFIGURATION = to_dict(micro("dual_leo_ppo"))


@settings(max_examples=400, deadline=None)
@given(where=st.sampled_from(leaves(CONFIGURATION)), junk=JUNK | st.dictionaries(st.text(), JUNK))
def test_any_wrong_value_in_a_configuration_is_told(where, junk):
    """Whatever stands there, it makes a valid task or a UsageError, never another failure."""
    data = json.loads(json.dumps(CONFIGURATION))
    *folders, name = where
    place = data
    for folder in folders:
        place = place[folder]
    place[name] = junk
    try:
        build_task(from_dict(json.loads(json.dumps(data))))
    except UsageError as error:
        assert str(error)


FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "imp", "code"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load"}


def dangers(text: str) -> list[str]:
    """What in a program could run what it reads."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module] if (node.module or "").split(".")[0] in FORBIDDEN_MODULES else []
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            found += [name] if name in FORBIDDEN_CALLS else []
            found += [
                k.arg for k in node.keywords if k.arg in ("allow_pickle", "shell") and _true(k)
            ]
    return found


def _true(keyword: ast.keyword) -> bool:
    return not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from marshal import loads", "eval('1')", "import os\nos.system('x')",
     "yaml.load(f)", "np.load(f, allow_pickle=True)", "np.load(f, allow_pickle=x)", "exec(s)"],
)  # fmt: skip
def test_the_scan_finds_what_is_dangerous(text):
    assert dangers(text)


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_the_source_cannot_run_what_it_reads(path):
    assert dangers(path.read_text()) == []
