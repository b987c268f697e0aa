"""Multiply every row with the matrix of its own group: the heart of the chosen-action head.

The all-goals loss needs Q(s, a, g) for the taken action and every goal: one matrix of A.
Every group has slots for its share of the rows, and all slots are one batched product; the rows
that find no slot follow in blocks of one group each. Exact for any mix of groups.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.types import Array

BLOCK = 64  # rows of a block


def grouped_matmul(x: Array, kernel: Array, group: Array) -> Array:
    """y[i] = x[i] @ kernel[group[i]], x [B, H], kernel [A, H, G], group [B] -> [B, G].

    Groups pay where arithmetic is dear; elsewhere all products are taken and one is kept.
    """
    return jax.lax.platform_dependent(x, kernel, group, cpu=_by_group, default=_all_then_take)


def _all_then_take(x: Array, kernel: Array, group: Array) -> Array:
    every = jnp.einsum("bh,ahg->bag", x, kernel)
    return jnp.take_along_axis(every, group[:, None, None], axis=1)[:, 0]


class _Places(NamedTuple):
    """Where rows stand. Row B, of zeros, stands in every slot that is left empty."""

    slots: Array  # [A, S] rows in the slots of each group
    slot: tuple[Array, Array]  # group and slot of a row [B], the last of its group if it found none
    blocks: Array  # rows that found no slot are so many blocks
    block: Array  # [blocks at most, BLOCK] their rows
    of_block: Array  # [blocks at most] their group


def _places(group: Array, num_groups: int) -> _Places:
    rows, slots = len(group), _share(len(group), num_groups)
    count = (group[:, None] == jnp.arange(num_groups)).sum(axis=0)
    end = jnp.cumsum(count)  # of each group, when rows are in order
    order = jnp.argsort(group, stable=True)
    rank = jnp.argsort(order) - (end - count)[group]  # of a row within its group

    def rows_of(group: Array, first: Array, how_many: int) -> Array:
        """So many rows of each group, beginning with its `first`. [..., how_many]"""
        place = ((end - count)[group] + first)[..., None] + jnp.arange(how_many)
        return jnp.where(place < end[group][..., None], order[place], rows)

    every = jnp.arange(num_groups)
    blocks = -(-jnp.maximum(count - slots, 0) // BLOCK)  # of each group
    last_block = jnp.cumsum(blocks)
    most = jnp.arange(rows // BLOCK + num_groups)
    of_block = jnp.minimum(jnp.searchsorted(last_block, most, side="right"), num_groups - 1)
    first = slots + (most - (last_block - blocks)[of_block]) * BLOCK
    return _Places(
        rows_of(every, jnp.zeros_like(every), slots),
        (group, jnp.minimum(rank, slots - 1)),
        blocks.sum(), rows_of(of_block, first, BLOCK), of_block,
    )  # fmt: skip


def _share(rows: int, num_groups: int) -> int:
    """Slots of each group: as many as it has rows on average, in eights."""
    return -(-rows // (8 * num_groups)) * 8


def _padded(x: Array) -> Array:
    return jnp.concatenate([x, jnp.zeros_like(x[:1])])


@jax.custom_vjp
def _by_group(x: Array, kernel: Array, group: Array) -> Array:
    return _forward(x, kernel, group)[0]


def _forward(x: Array, kernel: Array, group: Array):
    places, x = _places(group, len(kernel)), _padded(x)
    in_slots = jnp.einsum("ash,ahg->asg", x[places.slots], kernel)

    def one_block(i: Array, y: Array) -> Array:
        rows = places.block[i]
        return y.at[rows].set(x[rows] @ kernel[places.of_block[i]])

    y = _padded(in_slots[places.slot])
    y = jax.lax.fori_loop(0, places.blocks, one_block, y)
    return y[:-1], (x, kernel, places)


def _backward(saved: tuple[Array, Array, _Places], dy: Array):
    x, kernel, places = saved
    dy = _padded(dy)
    dy_slots = dy[places.slots]
    a, s = places.slot
    dx = jnp.einsum("ahg,asg->ahs", kernel, dy_slots)[a, :, s]  # faster than a product "ash"

    def one_block(i: Array, grads: tuple[Array, Array]) -> tuple[Array, Array]:
        dx, dkernel = grads
        rows, a = places.block[i], places.of_block[i]
        dx = dx.at[rows].set(dy[rows] @ kernel[a].T)
        return dx, dkernel.at[a].add(x[rows].T @ dy[rows])

    dkernel = jnp.einsum("ash,asg->ahg", x[places.slots], dy_slots)
    dx, dkernel = jax.lax.fori_loop(0, places.blocks, one_block, (_padded(dx), dkernel))
    return dx[:-1], dkernel, None


_by_group.defvjp(_forward, _backward)
