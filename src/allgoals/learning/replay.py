"""Replay: the last steps of N environments, as a ring that lives in the learner.

Rows are spoken of by age: row 0 is the oldest step that is still held. Steps of one environment
follow one another, so an episode is a run of rows that ends where it terminated, where it was
truncated, or at the newest row if it still goes on.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.types import Array, Key, Obs, Rollout


class Steps(NamedTuple):
    """What is kept of transitions. [..., N]"""

    obs: Obs
    action: Array
    goal: Array
    next_obs: Obs
    terminated: Array
    truncated: Array


class Ring(NamedTuple):
    """A replay as it is kept: rows of all environments one after the other."""

    steps: Steps  # [C N, ...]
    added: Array  # steps of each environment, since the run began

    @classmethod
    def create(cls, one: Steps, transitions: int) -> "Ring":
        """An empty ring of transitions like `one`."""
        rows = jax.tree.map(lambda x: jnp.zeros((transitions, *x.shape), x.dtype), one)
        return cls(rows, jnp.int32(0))

    def by_environment(self, num_envs: int) -> "Replay":
        shape = (-1, num_envs)
        steps = jax.tree.map(lambda x: x.reshape(*shape, *x.shape[1:]), self.steps)
        return Replay(steps, self.added)


class Replay(NamedTuple):
    steps: Steps  # [C, N, ...]
    added: Array  # steps of each environment, since the run began

    def ring(self) -> Ring:
        return Ring(jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), self.steps), self.added)

    @property
    def capacity(self) -> int:
        return self.steps.terminated.shape[0]

    @property
    def size(self) -> Array:
        """How many rows are held."""
        return jnp.minimum(self.added, self.capacity)

    def add(self, rollout: Rollout) -> "Replay":
        """Keep a rollout [T, N], T at most the capacity, in place of the oldest rows."""
        new = Steps(*(getattr(rollout, name) for name in Steps._fields))
        place = (self.added + jnp.arange(len(rollout.terminated))) % self.capacity
        ring = jax.tree.map(lambda old, x: old.at[place].set(x), self.steps, new)
        return Replay(ring, _wrapped(self.added + len(place), self.capacity))

    def take(self, row: Array, env: Array) -> Steps:
        place = (self.added - self.size + row) % self.capacity
        return jax.tree.map(lambda x: x[place, env], self.steps)

    def sample(self, key: Key, batch: int) -> tuple[Array, Array]:
        """Rows and environments, uniform over all that is held. [B] each"""
        key_row, key_env = jax.random.split(key)
        num_envs = self.steps.terminated.shape[1]
        row = jax.random.randint(key_row, (batch,), 0, self.size)
        return row, jax.random.randint(key_env, (batch,), 0, num_envs)

    def last_rows(self) -> Array:
        """The row at which the episode of each row ends, as far as it is held. [C, N]"""
        row = jnp.arange(self.capacity)[:, None]
        place = (self.added - self.size + row[:, 0]) % self.capacity
        ended = (self.steps.terminated | self.steps.truncated)[place]
        last = jnp.where(ended | (row == self.size - 1), row, self.capacity)
        return jax.lax.cummin(last, reverse=True)


def _wrapped(added: Array, capacity: int) -> Array:
    """The count, kept small: beyond the first round only its place on the ring matters."""
    return jnp.where(added >= 2 * capacity, added - capacity, added)
