"""Trials of a sweep, shared by any number of workers through a database.

Trial i has the same parameters whoever takes it, so what the database decides is only who does.
Every claim is a trial of optuna's that its worker creates, with its index; of two claims to one
index the earlier counts. A worker shows that it lives by counting in its claim; where others see
no change for `grace` seconds, the claim fails and the index is free again. So each index is
finished once.
"""

import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from allgoals.errors import RunInUse, UsageError
from allgoals.runs.environment import without_password

Space = dict[str, tuple]  # values of every parameter
PATIENCE = 0.5  # seconds between looks at what others do
SMALL = 1000  # sets of values
ATTEMPTS = 5  # at making the tables, which others may be making at the same moment
MET = ("exist", "unique", "duplicate")  # what databases say when two make the same thing
INSTALL = "sweeps need optuna: pip install 'allgoals[studies]'"


def parameters(space: Space, index: int, seed: int = 0) -> dict[str, Any]:
    """What trial `index` is about: every value as likely as any other.

    Of a small space no set is drawn again before all others were.
    """
    sets = math.prod(map(len, space.values()))
    if sets <= SMALL:
        place = np.random.default_rng(seed).permutation(sets)[index % sets]
        chosen = np.unravel_index(place, [len(values) for values in space.values()])
    else:
        random = np.random.default_rng([seed, index])
        chosen = [random.integers(len(values)) for values in space.values()]
    return {name: values[i] for (name, values), i in zip(space.items(), chosen, strict=True)}


@dataclass(frozen=True)
class Finished:
    index: int
    parameters: dict[str, Any]
    value: float


@dataclass(frozen=True)
class Trials:
    """The trials of one sweep in a database."""

    storage: str  # URL
    name: str
    space: Space
    count: int
    grace: float = 60.0  # seconds without a sign of life after which a worker counts as dead
    _signs: dict[int, tuple[Any, float]] = field(default_factory=dict)  # last seen, and when

    @cached_property
    def study(self):
        try:
            import optuna
        except ImportError:
            raise UsageError(INSTALL) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        patient = {"connect_args": {"timeout": 60}} if self.storage.startswith("sqlite") else {}
        where = f"--storage {without_password(self.storage)}"
        for attempt in range(ATTEMPTS):
            try:
                storage = optuna.storages.RDBStorage(self.storage, engine_kwargs=patient)
                return optuna.create_study(
                    storage=storage, study_name=self.name, direction="maximize", load_if_exists=True
                )
            except ImportError as error:
                raise UsageError(f"{where}: {error.__cause__ or error}") from None  # which driver
            except ValueError as error:  # of the URL
                raise UsageError(f"{where}: {error}") from None
            except Exception as error:  # the database's own, of which there is no end
                met = any(word in str(error).lower() for word in MET)
                if attempt + 1 == ATTEMPTS or not met:
                    first = str(error).splitlines()[0] if str(error) else type(error).__name__
                    raise UsageError(f"{where}: {first}") from None
                time.sleep(PATIENCE)

    def check(self, settings: str) -> None:
        """Connects, and complains of trials that were made with other settings."""
        first = self.study.user_attrs.get("settings")
        if first is None:
            self.study.set_user_attr("settings", settings)
        elif first != settings:
            raise UsageError(
                f"{self.name}: its trials were begun with other settings, or by another version;"
                " choose another --out or --storage"
            )

    def work(self, evaluate: Callable[[int, dict[str, Any]], float]) -> None:
        """Takes trials that nobody has, until all are finished."""
        while missing := self._missing():
            self._bury_the_dead()
            free = missing - {trial.user_attrs["index"] for trial in self._in_state("RUNNING")}
            claim = self._claim(min(free)) if free else None
            if claim is None or not self._carry_out(claim, evaluate):
                time.sleep(PATIENCE)
        for claim in self._in_state("RUNNING"):  # to what another finished, by workers that died
            self._fail(claim)

    def finished(self) -> list[Finished]:
        """One per index, in order."""
        found = {
            trial.user_attrs["index"]: trial for trial in reversed(self._in_state("COMPLETE"))
        }  # of two the earlier
        return [Finished(i, dict(found[i].params), found[i].value) for i in sorted(found)]

    def _missing(self) -> set[int]:
        return set(range(self.count)) - {one.index for one in self.finished()}

    def _in_state(self, *names: str) -> list:
        from optuna.trial import TrialState

        states = [TrialState[name] for name in names]
        found = self.study.get_trials(deepcopy=False, states=states)
        return [trial for trial in found if "index" in trial.user_attrs]

    def _claim(self, index: int):
        """A trial of one's own; None if the index is finished or an earlier claim to it stands."""
        import optuna
        from optuna.distributions import CategoricalDistribution

        token = uuid.uuid4().hex
        claim = optuna.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=parameters(self.space, index),
            distributions={k: CategoricalDistribution(of) for k, of in self.space.items()},
            user_attrs={"index": index, "token": token},
        )
        self.study.add_trial(claim)
        claims = [
            trial
            for trial in self._in_state("RUNNING", "COMPLETE")
            if trial.user_attrs["index"] == index
        ]
        ours = next((trial for trial in claims if trial.user_attrs.get("token") == token), None)
        if ours is None:  # failed already, by one who saw that all is finished
            return None
        if any(one.state.is_finished() or one.number < ours.number for one in claims):
            self._fail(ours)
            return None
        return ours

    def _carry_out(self, claim, evaluate: Callable[[int, dict[str, Any]], float]) -> bool:
        """Whether it is finished; not if another is at it."""
        import optuna

        try:
            with _alive(optuna.trial.Trial(self.study, claim._trial_id), self.grace / 4):
                value = evaluate(claim.user_attrs["index"], dict(claim.params))
        except RunInUse:  # by a worker that was thought dead
            self._fail(claim)
            return False
        except BaseException:
            self._fail(claim)
            raise
        self.study.tell(claim.number, value, skip_if_finished=True)
        return True

    def _fail(self, claim) -> None:
        from optuna.trial import TrialState

        self.study.tell(claim.number, state=TrialState.FAIL, skip_if_finished=True)

    def _bury_the_dead(self) -> None:
        now = time.monotonic()
        for trial in self._in_state("RUNNING"):
            sign = trial.user_attrs.get("alive")
            before, since = self._signs.get(trial.number, (None, now))
            self._signs[trial.number] = (sign, since if sign == before else now)
            if now - self._signs[trial.number][1] > self.grace:
                self._fail(trial)


@contextmanager
def _alive(trial, interval: float) -> Iterator[None]:
    """While this lasts, the trial shows that its worker lives."""
    over = threading.Event()

    def beat() -> None:
        count = 0
        while not over.wait(interval):
            count += 1
            with suppress(Exception):  # a database that is busy now may not be at the next beat
                trial.set_user_attr("alive", count)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
