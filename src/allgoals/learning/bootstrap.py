"""What the network says of the states arrived at, with as few passes as that takes."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from allgoals.types import Array


def next_values(value: Array, ended: Array, needed: Array, evaluate: Callable) -> Array:
    """V(s_{t+1}) for every row of a rollout, or what it is computed from.

    Acting at t+1 already computed `value[t + 1]` [T, N, ...] with the parameters of this rollout.
    Only the last row, and rows that `ended` where the value is still `needed` [T, N] (a time limit
    was hit), get a pass of their own: `evaluate(t [N], n [N]) -> [N, ...]`, N rows at a time.
    """
    steps, envs = ended.shape
    own = (ended & needed).at[-1].set(True).reshape(-1)  # [T * N]
    rows = jnp.argsort(~own, stable=True)  # those with a pass of their own first
    shifted = jnp.concatenate([value[1:], value[-1:]])

    def one_pass(i: Array, values: Array) -> Array:
        block = jax.lax.dynamic_slice_in_dim(rows, i * envs, envs)
        t, n = jnp.unravel_index(block, (steps, envs))
        fresh = evaluate(t, n)
        keep = own[block].reshape(-1, *[1] * (fresh.ndim - 1))
        return values.at[t, n].set(jnp.where(keep, fresh, values[t, n]))

    return jax.lax.fori_loop(0, -(-own.sum() // envs), one_pass, shifted)
