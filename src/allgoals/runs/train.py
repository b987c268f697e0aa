"""Drives a run: jitted chunks of updates, and between them it logs, evaluates and saves."""

import io
import math
import shlex
import time
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.errors import NumericalError
from allgoals.experiment import Experiment
from allgoals.runs.agent import Agent, build_evaluator
from allgoals.runs.checkpoint import digest
from allgoals.runs.directory import RunDirectory
from allgoals.runs.environment import describe_environment
from allgoals.runs.memory import check_memory
from allgoals.runs.pictures import layout, value_table
from allgoals.runs.setup import build_checkpoints, build_trainer
from allgoals.runs.signals import Signals
from allgoals.training import TrainState
from allgoals.types import Key, PyTree, Task
from allgoals.validation import build_task, surprises

METRICS, EVALUATIONS = "metrics.jsonl", "evaluations.jsonl"
EVALUATION = 2  # tells its keys from those of acting and learning, which are 0 and 1


class Observer:
    """Is told what happens; the command line shows it, the library only warns."""

    def compiling(self, task: Task, total_steps: int) -> None: ...

    def warned(self, text: str) -> None:
        warnings.warn(text, stacklevel=2)

    def compiled(self, memory: int) -> None: ...

    def started(self, update: int) -> None: ...

    def logged(self, row: dict[str, Any]) -> None: ...

    def evaluating(self, done: int, total: int) -> None: ...

    def evaluated(self, row: dict[str, Any]) -> None: ...


class Driver:
    """Carries one run on, from wherever it stands; holds its directory."""

    def __init__(
        self, directory: RunDirectory, experiment: Experiment, observer: Observer, signals: Signals
    ):
        self.directory, self.experiment = directory, experiment
        self.observer, self.signals = observer, signals
        self.task = build_task(experiment)
        self.trainer = build_trainer(experiment, self.task)
        self.checkpoints = build_checkpoints(directory, experiment, self.task)
        self.evaluator = build_evaluator(self.task, experiment.evaluation)
        self.evaluate_at = evaluation_points(
            experiment.total_updates, experiment.log_every, experiment.evaluation.times
        )
        self.seconds = 0.0  # spent on training since the run began
        self.directories = [directory]

    def parts(self, tree: PyTree) -> Iterator[PyTree]:
        """What belongs to each directory, of a state or of metrics."""
        yield tree

    def train(self) -> dict[str, Any]:
        """Train to the end from wherever the run stands, and return its summary."""
        try:
            return self._finished() or self._train()
        finally:
            self.checkpoints.close()

    def _finished(self) -> dict[str, Any] | None:
        """The summary of a run that came to its end and whose last checkpoint is good."""
        summary = self.directory.read("summary.json")
        if not isinstance(summary, dict):  # before the checkpoint, which takes long to read
            return None
        return summary if self.checkpoints.newest() == self.experiment.total_updates else None

    def _train(self) -> dict[str, Any]:
        self.observer.compiling(self.task, self.experiment.total_steps)
        for text in surprises(self.experiment, self.task):
            self.observer.warned(text)
        self._describe()
        self.observer.compiled(check_memory(self.experiment, self.trainer, self.evaluator))
        update, state = self.checkpoints.restore(self.trainer.shapes) or self._initial()
        self._forget_after(update)
        self.observer.started(update)
        with self.signals.saving():
            self._evaluate_if_due(update, state)
            while update < self.experiment.total_updates:
                update, state = self._advance(update, state)
                self._evaluate_if_due(update, state)
                self._stop_if_asked(update, state)
            return self._finish(update, state)

    def _initial(self) -> tuple[int, TrainState]:
        return 0, jax.jit(self.trainer.init)(jax.random.key(self.experiment.seed))

    def _describe(self) -> None:
        reachable = self.task.goals.reachable
        goals = {
            "names": self.task.goals.names,
            "reachable": None if reachable is None else np.asarray(reachable).tolist(),
            "layout": layout(self.task),
        }
        for directory in self.directories:
            starts = directory.read("environment.json")
            earlier = starts if isinstance(starts, list) else []
            directory.write("environment.json", [*earlier, describe_environment()])
            directory.write("goals.json", goals)

    def _forget_after(self, update: int) -> None:
        """Drop what a later point of the run wrote: it will be written again."""
        for directory in self.directories:
            for name in (METRICS, EVALUATIONS):
                directory.keep_rows(name, lambda row: row["update"] <= update)
        rows = self.directories[0].rows(METRICS)
        self.seconds = rows[-1].get("seconds", 0.0) if rows else 0.0

    def _advance(self, update: int, state: TrainState) -> tuple[int, TrainState]:
        """As many updates as one line of metrics speaks of."""
        experiment = self.experiment
        begin = time.perf_counter()
        count = min(experiment.log_every, experiment.total_updates - update)
        state, metrics = self.trainer.advance(state, count)
        metrics = jax.device_get(metrics)
        elapsed = time.perf_counter() - begin
        self.seconds += elapsed
        before, update = update, update + count
        row = {
            "update": update,
            "steps": update * experiment.steps_per_update,
            "seconds": round(self.seconds, 3),
            "steps_per_second": round(count * experiment.steps_per_update / elapsed, 1),
        }
        for directory, own in zip(self.directories, self.parts(metrics), strict=True):
            numbers = {name: float(value) for name, value in own.items()}
            check_finite(numbers, update)
            directory.append(METRICS, row | numbers)
        self.observer.logged(row | {name: float(np.mean(x)) for name, x in metrics.items()})
        if update // experiment.checkpoint_every > before // experiment.checkpoint_every:
            self._save(update, state)
        return update, state

    def _save(self, update: int, state: TrainState) -> None:
        if not all_finite(state.learner):
            raise NumericalError(f"a parameter is not finite at update {update}; it is not saved")
        self.checkpoints.save(update, state)

    def _evaluate_if_due(self, update: int, state: TrainState) -> None:
        if update not in self.evaluate_at:
            return
        options = self.experiment.evaluation
        at_end = update == self.experiment.total_updates
        for directory, own in zip(self.directories, self.parts(state), strict=True):
            if update in (row["update"] for row in directory.rows(EVALUATIONS)):
                continue
            results = self._agent(update, own).evaluate(
                self.evaluator,
                (at_end and options.last_episodes) or options.episodes,
                evaluation_key(own, update),
                on_batch=self._between_batches(update, state),
            )
            row = {"update": update, "steps": update * self.experiment.steps_per_update, **results}
            directory.append(EVALUATIONS, row)
            self.observer.evaluated(row)

    def _between_batches(self, update: int, state: TrainState):
        def report(done: int, total: int) -> None:
            self._stop_if_asked(update, state)
            self.observer.evaluating(done, total)

        return report

    def _stop_if_asked(self, update: int, state: TrainState) -> None:
        if not self.signals.received:
            return
        self._save(update, state)
        self.checkpoints.wait()
        raise self.signals.interruption(f"saved at update {update}; {self.how_to_continue}")

    @property
    def how_to_continue(self) -> str:
        path = shlex.quote(str(self.directory.path))
        return f"continue with:\n  allgoals train --resume {path}"

    def _finish(self, update: int, state: TrainState) -> dict[str, Any]:
        self._save(update, state)
        self.checkpoints.wait()
        for directory, own in zip(self.directories, self.parts(state), strict=True):
            summary = self._conclude(directory, update, own)
        return summary

    def _conclude(self, directory: RunDirectory, update: int, state: TrainState) -> dict[str, Any]:
        """What is written when all is learnt, the summary last."""
        table = value_table(self.task, self.experiment.algorithm, state.learner)
        if table is not None:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, values=table)
            directory.write_bytes("values.npz", buffer.getvalue())
        rows = directory.rows(EVALUATIONS)
        summary = {
            "update": update,
            "steps": update * self.experiment.steps_per_update,
            "seconds": round(self.seconds, 3),
            "parameters_sha256": digest(state.learner),
            "evaluation": rows[-1].get("mean_reachable") if rows else None,
        }
        directory.write("summary.json", summary)
        return summary

    def _agent(self, update: int, state: TrainState) -> Agent:
        progress = update / self.experiment.total_updates
        return Agent(self.task, self.experiment.algorithm, state.learner, progress)


def evaluation_key(state: TrainState, update: int) -> Key:
    """Of an evaluation's worlds: other ones for every run, and at every update."""
    return jax.random.fold_in(jax.random.fold_in(state.key, update), EVALUATION)


def evaluation_points(total: int, log_every: int, times: int) -> set[int]:
    """The updates, all of them ends of a log interval, after which the run is evaluated."""
    times = min(times, total)
    ideal = (math.ceil(total * i / times) for i in range(1, times + 1))
    return {min(total, math.ceil(point / log_every) * log_every) for point in ideal}


def check_finite(metrics: dict[str, float], update: int) -> None:
    bad = [name for name, value in metrics.items() if not math.isfinite(value)]
    if bad:
        raise NumericalError(
            f"{', '.join(bad)}: not finite at update {update}\n"
            "a smaller --algorithm.learning-rate usually helps; nothing of this was saved"
        )


@jax.jit
def all_finite(tree: PyTree) -> jax.Array:
    leaves = [x for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.floating)]
    return jnp.all(jnp.stack([jnp.isfinite(x).all() for x in leaves]))
