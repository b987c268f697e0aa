"""What can be done with any goal set."""

import jax
import numpy as np

from allgoals.types import Array, GoalOutcome, GoalSet, Obs


def binary(achieved: Array) -> GoalOutcome:
    """Reward 1 and pseudo-termination on reaching the goal: one array serves both."""
    return GoalOutcome(reward=achieved, done=achieved)


def subset(goals: GoalSet, indices: np.ndarray) -> GoalSet:
    """Only the goals at `indices`, in that order."""

    def outcome(obs: Obs) -> GoalOutcome:
        return jax.tree.map(lambda x: x[..., indices], goals.outcome(obs))

    space = goals.space and goals.space._replace(
        points=goals.space.points[indices], nearest=goals.space.nearest[indices]
    )
    return goals._replace(
        space=space,
        names=tuple(goals.names[i] for i in indices),
        features=jax.tree.map(lambda x: x[indices], goals.features),
        outcome=outcome,
        reachable=None if goals.reachable is None else goals.reachable[indices],
    )


def random_subset(goals: GoalSet, size: int, include: tuple[str, ...], seed: int) -> GoalSet:
    """A seeded random choice of `size` goals that holds those named in `include`."""
    always = [goals.names.index(name) for name in include]
    others = np.setdiff1d(np.arange(len(goals.names)), always)
    drawn = np.random.default_rng(seed).permutation(others)[: size - len(always)]
    return subset(goals, np.sort(np.concatenate([always, drawn]).astype(int)))
