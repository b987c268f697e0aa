"""Many copies of an environment with exact resets.

Fresh worlds come from a small pool that is refilled, a block at a time, at the moment it runs dry.
World number i is made from `fold_in(key, i)` and handed out once, so none is used twice and
worlds generated = worlds used + worlds in the pool, at every moment.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

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
        step = self.advance(state.state, action, key)
        state = VectorState(step.state, step.obs, state.pool)
        return self._restart(state, step.terminated | step.truncated), step

    def advance(self, state: PyTree, action: Array, key: Key) -> Step:
        """A step of every environment, even of one whose episode is over."""
        return jax.vmap(self.env.step)(state, action, jax.random.split(key, self.num_envs))

    def _restart(self, state: VectorState, ended: Array) -> VectorState:
        """Give every ended environment a fresh world; the cost grows with their number.

        So under vmap, too, which would make the loop's condition a mask that copies all states at
        every turn: one loop serves the ended environments of all runs instead.
        """

        @custom_vmap
        def restart(state: VectorState, ended: Array) -> VectorState:
            runs = jax.tree.map(lambda x: x[None], (state, ended))
            return jax.tree.map(lambda x: x[0], self._serve(*runs))

        @restart.def_vmap
        def of_runs(runs: int, mapped: PyTree, *inputs: PyTree) -> tuple[VectorState, PyTree]:
            def along_runs(x: Array, mapped: bool) -> Array:
                return x if mapped else jnp.broadcast_to(x, (runs, *x.shape))

            state = self._serve(*jax.tree.map(along_runs, inputs, tuple(mapped)))
            return state, jax.tree.map(lambda _: True, state)

        return restart(state, ended)

    def _serve(self, state: VectorState, ended: Array) -> VectorState:
        """Restart in several runs [R, N, ...], each of which has a pool of its own."""
        rows = jnp.argsort(~ended.reshape(-1), stable=True)  # the ended ones first
        count = ended.sum(dtype=jnp.int32)

        def restart_one(served: Array, state: VectorState) -> VectorState:
            run, row = jnp.divmod(rows[served], self.num_envs)
            pool = jax.lax.while_loop(  # a copy-free `if`
                lambda pool: pool.used[run] == pool.generated[run],
                partial(self._refill, run), state.pool,
            )  # fmt: skip
            world = jax.tree.map(lambda x: x[run, pool.used[run] % self.block], pool.worlds)
            now = jax.tree.map(lambda x, new: x.at[run, row].set(new), Reset(*state[:2]), world)
            return VectorState(*now, pool._replace(used=pool.used.at[run].add(1)))

        return jax.lax.fori_loop(0, count, restart_one, state)

    def _refill(self, run: Array, pool: Pool) -> Pool:
        numbers = pool.generated[run] + jnp.arange(self.block, dtype=jnp.uint32)
        keys = jax.vmap(jax.random.fold_in, (None, 0))(pool.key[run], numbers)
        worlds = jax.tree.map(
            lambda x, new: x.at[run].set(new), pool.worlds, jax.vmap(self.env.reset)(keys)
        )
        return pool._replace(worlds=worlds, generated=pool.generated.at[run].add(self.block))
