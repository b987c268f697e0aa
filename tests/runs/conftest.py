"""A finished micro run, made once."""

import shutil
from pathlib import Path

import pytest

from allgoals import api
from tests.runs.micro import micro


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory) -> Path:
    return api.train(micro(), out=tmp_path_factory.mktemp("finished") / "run").path


@pytest.fixture
def finished(finished_once, tmp_path) -> Path:
    """A copy of the finished run, to do with as a test likes."""
    return Path(shutil.copytree(finished_once, tmp_path / "run"))


@pytest.fixture
def reference(tmp_path):
    """The same experiment, never interrupted."""
    return lambda experiment: api.train(experiment, out=tmp_path / "reference").path
