"""Every action's value of every goal, of which acting needs a row and bootstrapping the best."""

import jax
import jax.numpy as jnp

from allgoals.types import Array

ROWS = 2048  # multiplied with the heads at once, at most


def commanded(x: Array, kernel: Array, bias: Array, goal: Array) -> Array:  # [B, A]
    """The goal's own row of q = x @ kernel + bias [B, A, G], from that goal's head alone.

    x [B, H], kernel [A, H, G], bias [A, G], goal [B]. A rollout reorders the head once, not at each
    step: what the compiler moves out of a loop is a concatenation, and not a transposition alone.
    """
    head = jnp.concatenate([kernel.transpose(2, 0, 1), bias.T[..., None]], axis=-1)  # [G, A, H + 1]
    x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=-1)
    return jnp.einsum("bah,bh->ba", head[goal], x)


def best(x: Array, kernel: Array, bias: Array, dtype: str = "float32") -> Array:  # [..., G]
    """The maximum over actions of q = x @ kernel + bias, for any number of rows x [..., H].

    Factors are rounded to `dtype`, sums are not.
    """
    rows, kernel = x.reshape(-1, x.shape[-1]).astype(dtype), kernel.astype(dtype)
    of_rows = jax.lax.map(lambda row: _best(row, kernel, bias), rows, batch_size=ROWS)
    return of_rows.reshape(*x.shape[:-1], -1)


def _best(x: Array, kernel: Array, bias: Array) -> Array:  # [H] -> [G]
    return jax.lax.platform_dependent(x, kernel, bias, cpu=_one_by_one, default=_at_once)


def _at_once(x: Array, kernel: Array, bias: Array) -> Array:
    q = jnp.einsum("h,ahg->ag", x, kernel, preferred_element_type=bias.dtype) + bias
    return q.max(axis=0)


def _one_by_one(x: Array, kernel: Array, bias: Array) -> Array:
    """One action after the other: what the rows' product writes is still near when it is read."""

    def action(best: Array, of_action: tuple[Array, Array]) -> tuple[Array, None]:
        kernel, bias = of_action
        q = jnp.matmul(x, kernel, preferred_element_type=bias.dtype) + bias
        return jnp.maximum(best, q), None

    worst = jnp.full(bias.shape[1], -jnp.inf, bias.dtype)
    return jax.lax.scan(action, worst, (kernel, bias))[0]
