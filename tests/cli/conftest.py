"""A finished micro run, and the command line called within the test's own process."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from allgoals import api
from allgoals.cli import main
from allgoals.runs.signals import Signals
from tests.runs.micro import micro


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    return api.train(micro(), out=tmp_path_factory.mktemp("finished") / "run").path


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs a command and tells how it ended; pytest keeps its own signals."""
    monkeypatch.setattr(Signals, "listen", lambda self: self)
    monkeypatch.setenv("COLUMNS", "80")

    def called(*words: str | Path) -> SimpleNamespace:
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err, said=said.out + said.err)

    return called
