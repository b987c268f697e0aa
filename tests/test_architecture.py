"""Imports point downward only, and algorithms stay short."""

import ast
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "allgoals"

# Each layer may import itself and the layers named here.
CORE = {"types"}
ALLOWED = {
    "types": set(),
    "errors": set(),
    "envs": CORE,
    "goals": CORE | {"errors", "envs"},
    "networks": CORE,
    "learning": CORE,
    "algorithms": CORE | {"goals", "networks", "learning"},
    "rollout": CORE | {"envs", "goals"},
    "evaluation": CORE | {"envs", "goals"},
    "training": CORE | {"envs", "goals", "algorithms", "rollout"},
    "tasks": CORE | {"errors", "envs", "goals", "networks"},
    "experiment": CORE | {"errors", "envs", "goals", "algorithms"},
    "validation": CORE | {"errors", "experiment", "algorithms", "goals", "tasks"},
    "presets": CORE | {"errors", "experiment", "algorithms", "goals", "tasks"},
    "report": {"errors", "runs.directory"},
}
LIBRARY = {*ALLOWED, "evaluation", "runs"}
ALLOWED["runs"] = LIBRARY - {"report", "presets"}
ALLOWED["render"] = LIBRARY - {"report", "presets"}
ALLOWED["bench"] = LIBRARY - {"report"}
ALLOWED["api"] = LIBRARY - {"report"}
ALLOWED["studies"] = LIBRARY | {"bench", "api"}
ALLOWED["experiments"] = ALLOWED["studies"] | {"studies"}
ALLOWED["cli"] = LIBRARY | {"render", "bench", "api", "studies", "experiments", "", "__version__"}
ALLOWED[""] = {"api", "cli"}


def layer(path: Path) -> str:
    name = path.relative_to(SOURCE).with_suffix("").parts[0]
    return "" if name.startswith("__") else name


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name == "allgoals" or name.startswith("allgoals.")}


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_point_downward(path):
    here = layer(path)
    for name in imports(path):
        inner = name.removeprefix("allgoals").removeprefix(".")
        top = inner.split(".")[0]
        allowed = ALLOWED[here]
        assert top == here or top in allowed or inner in allowed, f"{here or 'allgoals'} -> {inner}"


def test_the_loop_knows_no_algorithm_by_name():
    for module in ("training.py", "rollout.py", "evaluation.py"):
        names = imports(SOURCE / module)
        assert not any(
            n.startswith("allgoals.algorithms.") and n != "allgoals.algorithms.base" for n in names
        )


def test_reports_do_not_import_jax():
    for path in (SOURCE / "report").rglob("*.py"):
        assert "jax" not in path.read_text().replace("never imports jax", "")


@pytest.mark.parametrize("path", sorted((SOURCE / "algorithms").glob("*.py")), ids=lambda p: p.name)
def test_an_algorithm_reads_in_one_sitting(path):
    assert len(path.read_text().splitlines()) < 200


def test_nothing_is_called_back_from_inside_jit():
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert (
            "io_callback" not in text
            and "pure_callback" not in text
            and "debug.callback" not in text
        )


def test_no_source_is_ignored():
    """A file that git ignores is in no clone and no wheel."""
    root = SOURCE.parent.parent
    files = [str(p) for folder in ("src", "tests") for p in (root / folder).rglob("*.py")]
    command = ["git", "-C", str(root), "check-ignore", "--no-index", "--stdin"]
    if not (root / ".git").exists():
        pytest.skip("not a checkout")
    answer = subprocess.run(command, input="\n".join(files), capture_output=True, text=True)
    assert answer.stdout == ""
