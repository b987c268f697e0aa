"""Every action's value of every goal, kept only as far as acting and bootstrapping need it."""

import jax
import jax.numpy as jnp

from allgoals.types import Array

WIDE = 256  # goals from which an action's matrix fills a product of its own


def commanded_and_best(
    x: Array, kernel: Array, bias: Array, goal: Array, dtype: str = "float32"
) -> tuple[Array, Array]:  # [B, A], [B, G]
    """Of q = x @ kernel + bias [B, A, G] the goal's own row and the best over actions.

    x [B, H], kernel [A, H, G], bias [A, G], goal [B]; factors are rounded to `dtype`, sums are not.
    Action by action the table is never written out, which pays where memory is slow and matrices
    are wide.
    """
    operands = (x.astype(dtype), kernel.astype(dtype), bias, goal)
    if kernel.shape[2] < WIDE:
        return _at_once(*operands)
    return jax.lax.platform_dependent(*operands, cpu=_by_action, default=_at_once)


def _at_once(x: Array, kernel: Array, bias: Array, goal: Array) -> tuple[Array, Array]:
    q = jnp.einsum("bh,ahg->bag", x, kernel, preferred_element_type=bias.dtype) + bias
    return jnp.take_along_axis(q, goal[:, None, None], axis=2)[..., 0], q.max(axis=1)


def _by_action(x: Array, kernel: Array, bias: Array, goal: Array) -> tuple[Array, Array]:
    def one_action(best: Array, of_action: tuple[Array, Array]) -> tuple[Array, Array]:
        kernel, bias = of_action
        q = jnp.matmul(x, kernel, preferred_element_type=bias.dtype) + bias  # [B, G]
        return jnp.maximum(best, q), jnp.take_along_axis(q, goal[:, None], axis=1)[:, 0]

    lowest = jnp.full((len(x), kernel.shape[2]), -jnp.inf, bias.dtype)
    best, commanded = jax.lax.scan(one_action, lowest, (kernel, bias))
    return commanded.T, best
