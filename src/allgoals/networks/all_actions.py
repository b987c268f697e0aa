"""Every action's value of every goal, kept only as far as acting and bootstrapping need it."""

import jax
import jax.numpy as jnp

from allgoals.types import Array

WIDE = 256  # goals from which the matrix of one action fills a product


def commanded_and_best(
    x: Array, kernel: Array, bias: Array, goal: Array, dtype: str = "float32"
) -> tuple[Array, Array]:  # [B, A], [B, G]
    """Of q = x @ kernel + bias [B, A, G] the goal's own row and the best over actions.

    x [B, H], kernel [A, H, G], bias [A, G], goal [B]; factors are rounded to `dtype`, sums are not.
    One action after the other, what a product writes is still near when it is read.
    """
    operands = (x.astype(dtype), kernel.astype(dtype), bias, goal)
    if kernel.shape[2] < WIDE:
        return _at_once(*operands)
    return jax.lax.platform_dependent(*operands, cpu=_one_by_one, default=_at_once)


def _at_once(x: Array, kernel: Array, bias: Array, goal: Array) -> tuple[Array, Array]:
    q = jnp.einsum("bh,ahg->bag", x, kernel, preferred_element_type=bias.dtype) + bias
    return jnp.take_along_axis(q, goal[:, None, None], axis=2)[..., 0], q.max(axis=1)


def _one_by_one(x: Array, kernel: Array, bias: Array, goal: Array) -> tuple[Array, Array]:
    def action(best: Array, of_action: tuple[Array, Array]) -> tuple[Array, Array]:
        kernel, bias = of_action
        q = jnp.matmul(x, kernel, preferred_element_type=bias.dtype) + bias  # [B, G]
        return jnp.maximum(best, q), jnp.take_along_axis(q, goal[:, None], axis=1)[:, 0]

    worst = jnp.full((len(x), bias.shape[1]), -jnp.inf, bias.dtype)
    best, commanded = jax.lax.scan(action, worst, (kernel, bias))
    return commanded.T, best
