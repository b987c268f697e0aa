"""Which goal is commanded next, and how often each was reached."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.types import Array, Key


class GoalTracker(NamedTuple):
    """What the run knows of its goals; an episode scores its first goal only."""

    seen: Array  # [G] true of a first observation of the run, or of one that an action led to
    successes: Array  # [G] decayed count
    failures: Array  # [G] decayed count

    @classmethod
    def create(cls, num_goals: int) -> "GoalTracker":
        zeros = jnp.zeros(num_goals)
        return cls(jnp.zeros(num_goals, bool), zeros, zeros)

    def observe(self, done: Array) -> "GoalTracker":  # done [N, G]
        return self._replace(seen=self.seen | done.any(axis=0))

    def score(self, goal: Array, success: Array, failure: Array, decay: float) -> "GoalTracker":
        """Count this step's scored episodes; a goal's past fades only when it is tried again."""
        zeros = jnp.zeros_like(self.successes)
        won, lost = zeros.at[goal].add(success), zeros.at[goal].add(failure)
        fade = decay ** (won + lost)
        return self._replace(
            successes=self.successes * fade + won, failures=self.failures * fade + lost
        )

    @property
    def tried(self) -> Array:  # [G]
        return self.successes + self.failures > 0

    @property
    def success_rate(self) -> Array:  # [G], 0 where never tried
        return self.successes / jnp.maximum(self.successes + self.failures, 1e-8)


GoalSampler = Callable[[Key, GoalTracker, int], Array]  # -> [n] goal indices


def uniform(key: Key, tracker: GoalTracker, n: int) -> Array:
    return jax.random.randint(key, (n,), 0, tracker.seen.shape[0])


def seen_only(key: Key, tracker: GoalTracker, n: int) -> Array:
    """The paper's autocurriculum: uniform over goals observed so far (all, before any is)."""
    eligible = tracker.seen | ~tracker.seen.any()
    return uniform_from_mask(key, eligible, (n,))


def uniform_from_mask(key: Key, mask: Array, shape: tuple[int, ...]) -> Array:
    """Indices of true entries of mask [..., G], uniform, with one random number each.

    `shape` must broadcast with the leading axes of the mask; an empty mask gives index 0.
    """
    ranks = jnp.cumsum(mask, axis=-1)  # [..., G]
    draw = jax.random.uniform(key, shape) * ranks[..., -1]  # [...] in [0, number of true)
    draw = jnp.minimum(draw.astype(jnp.int32), ranks[..., -1] - 1)
    return (ranks <= draw[..., None]).sum(axis=-1)


SAMPLERS: dict[str, GoalSampler] = {"seen_only": seen_only, "uniform": uniform}
