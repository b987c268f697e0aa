"""Many copies of an environment with exact resets.

Fresh worlds come from a small pool that is refilled, a block at a time, at the moment it runs dry.
World number i is made from `fold_in(key, i)` and handed out once, so none is used twice and
worlds generated = worlds used + worlds in the pool, at every moment.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.types import Array, Environment, Key, Obs, PyTree, Reset, Step


class Pool(NamedTuple):
    worlds: Reset  # [block, ...]
    used: Array  # worlds handed out since the run began
    generated: Array  # worlds made since the run began, a multiple of the block
    key: Key


class VectorState(NamedTuple):
    state: PyTree  # [N, ...]
    obs: Obs  # [N, ...] what the agents see now: the first observation after a reset
    pool: Pool


@dataclass(frozen=True)
class VectorEnv:
    """N environments; `step` returns the observation before any reset."""

    env: Environment
    num_envs: int
    block: int = 16  # worlds generated together; a power of two, so that the counters may wrap

    def init(self, key: Key) -> VectorState:
        world = jax.eval_shape(self.env.reset, key)

        def empty(n: int) -> Reset:
            return jax.tree.map(lambda x: jnp.zeros((n, *x.shape), x.dtype), world)

        pool = Pool(empty(self.block), jnp.uint32(0), jnp.uint32(0), key)
        everyone = jnp.ones(self.num_envs, bool)
        return self._restart(VectorState(*empty(self.num_envs), pool), everyone)

    def step(self, state: VectorState, action: Array, key: Key) -> tuple[VectorState, Step]:
        keys = jax.random.split(key, self.num_envs)
        step = jax.vmap(self.env.step)(state.state, action, keys)
        state = VectorState(step.state, step.obs, state.pool)
        return self._restart(state, step.terminated | step.truncated), step

    def _restart(self, state: VectorState, ended: Array) -> VectorState:
        """Give every ended environment a fresh world; the cost grows with their number."""
        rows = jnp.argsort(~ended, stable=True)  # the ended ones first
        count = ended.sum(dtype=jnp.int32)

        def restart_one(served: Array, state: VectorState) -> VectorState:
            pool = jax.lax.while_loop(_is_empty, self._refill, state.pool)  # a copy-free `if`
            world = jax.tree.map(lambda x: x[pool.used % self.block], pool.worlds)
            row = rows[served]
            now = jax.tree.map(lambda x, new: x.at[row].set(new), Reset(*state[:2]), world)
            return VectorState(*now, pool._replace(used=pool.used + 1))

        return jax.lax.fori_loop(0, count, restart_one, state)

    def _refill(self, pool: Pool) -> Pool:
        numbers = pool.generated + jnp.arange(self.block, dtype=jnp.uint32)
        keys = jax.vmap(jax.random.fold_in, (None, 0))(pool.key, numbers)
        worlds = jax.vmap(self.env.reset)(keys)
        return pool._replace(worlds=worlds, generated=pool.generated + self.block)


def _is_empty(pool: Pool) -> Array:
    return pool.used == pool.generated
