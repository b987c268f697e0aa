"""Every action's value of every goal, kept only as far as acting and bootstrapping need it."""

import functools

import jax
import jax.numpy as jnp

from allgoals.types import Array

WIDE = 256  # goals from which the matrices of a few actions fill a product
TOGETHER = 4  # actions of a product


def commanded_and_best(
    x: Array, kernel: Array, bias: Array, goal: Array, dtype: str = "float32"
) -> tuple[Array, Array]:  # [B, A], [B, G]
    """Of q = x @ kernel + bias [B, A, G] the goal's own row and the best over actions.

    x [B, H], kernel [A, H, G], bias [A, G], goal [B]; factors are rounded to `dtype`, sums are not.
    A few actions at a time, products are large and what they write is still near when it is read.
    """
    operands = (x.astype(dtype), kernel.astype(dtype), bias, goal)
    if kernel.shape[2] < WIDE:
        return _at_once(*operands)
    return jax.lax.platform_dependent(*operands, cpu=_in_groups, default=_at_once)


def _at_once(x: Array, kernel: Array, bias: Array, goal: Array) -> tuple[Array, Array]:
    q = jnp.einsum("bh,ahg->bag", x, kernel, preferred_element_type=bias.dtype) + bias
    return jnp.take_along_axis(q, goal[:, None, None], axis=2)[..., 0], q.max(axis=1)


def _in_groups(x: Array, kernel: Array, bias: Array, goal: Array) -> tuple[Array, Array]:
    groups = [slice(i, i + TOGETHER) for i in range(0, len(kernel), TOGETHER)]
    parts = [_at_once(x, kernel[some], bias[some], goal) for some in groups]
    commanded, best = zip(*parts, strict=True)
    return jnp.concatenate(commanded, axis=1), functools.reduce(jnp.maximum, best)
