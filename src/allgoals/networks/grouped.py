"""Multiply every row with the matrix of its own group: the heart of the chosen-action head.

The all-goals loss needs Q(s, a, g) for the taken action and every goal: one matrix of A.
Rows are sorted by action and cut into blocks of one action each; a block is one matrix product.
Exact for any mix of actions, at the cost of rows / block + A products.
"""

import jax
import jax.numpy as jnp

from allgoals.types import Array


def grouped_matmul(x: Array, kernel: Array, group: Array) -> Array:
    """y[i] = x[i] @ kernel[group[i]], x [B, H], kernel [A, H, G], group [B] -> [B, G].

    Blocks pay where arithmetic is dear; elsewhere all products are taken and one is kept.
    """
    return jax.lax.platform_dependent(x, kernel, group, cpu=_in_blocks, default=_all_then_take)


def _all_then_take(x: Array, kernel: Array, group: Array) -> Array:
    every = jnp.einsum("bh,ahg->bag", x, kernel)
    return jnp.take_along_axis(every, group[:, None, None], axis=1)[:, 0]


def _blocks(group: Array, num_groups: int) -> tuple[Array, Array, Array]:
    """Rows of each block [blocks, size] (B where empty), its group [blocks], and how many count."""
    rows = group.shape[0]
    size = 16 if num_groups > 32 else 32
    count = jnp.zeros(num_groups, jnp.int32).at[group].add(1)
    blocks = -(-count // size)  # per group
    first_row, first_block = jnp.cumsum(count) - count, jnp.cumsum(blocks) - blocks

    order = jnp.argsort(group, stable=True)
    owner = group[order]
    rank = jnp.arange(rows) - first_row[owner]  # position within its group
    slot = (first_block[owner] + rank // size) * size + rank % size

    most = -(-rows // size) + num_groups
    table = jnp.full(most * size, rows, jnp.int32).at[slot].set(order.astype(jnp.int32))
    of_block = jnp.searchsorted(jnp.cumsum(blocks), jnp.arange(most), side="right")
    return table.reshape(most, size), jnp.minimum(of_block, num_groups - 1), blocks.sum()


def _padded(x: Array) -> Array:
    return jnp.concatenate([x, jnp.zeros_like(x[:1])])  # row B stands for empty slots


@jax.custom_vjp
def _in_blocks(x: Array, kernel: Array, group: Array) -> Array:
    return _forward(x, kernel, group)[0]


def _forward(x: Array, kernel: Array, group: Array):
    table, of_block, used = _blocks(group, kernel.shape[0])
    padded = _padded(x)

    def one_block(i: Array, y: Array) -> Array:
        return y.at[table[i]].set(padded[table[i]] @ kernel[of_block[i]])

    y = jnp.zeros((len(padded), kernel.shape[2]), x.dtype)
    y = jax.lax.fori_loop(0, used, one_block, y)
    return y[:-1], (padded, kernel, table, of_block, used)


def _backward(saved, dy: Array):
    padded, kernel, table, of_block, used = saved
    dy = _padded(dy)

    def one_block(i: Array, grads: tuple[Array, Array]) -> tuple[Array, Array]:
        dx, dkernel = grads
        rows, a = table[i], of_block[i]
        dx = dx.at[rows].set(dy[rows] @ kernel[a].T)
        return dx, dkernel.at[a].add(padded[rows].T @ dy[rows])

    zeros = (jnp.zeros_like(padded), jnp.zeros_like(kernel))
    dx, dkernel = jax.lax.fori_loop(0, used, one_block, zeros)
    return dx[:-1], dkernel, None


_in_blocks.defvjp(_forward, _backward)
