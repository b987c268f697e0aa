"""Gradient steps on shuffled minibatches of a rollout."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from allgoals.types import Array, Key, Metrics, PyTree

Learner = TypeVar("Learner")


def learn_in_minibatches(
    learn: Callable[[Learner, Array, Key], tuple[Learner, Metrics]],
    learner: Learner,
    key: Key,
    *,
    rows: int,
    minibatch_size: int,
    epochs: int,
) -> tuple[Learner, Metrics]:
    """Call `learn(learner, row indices [B], key)` over every row, `epochs` times, freshly shuffled.

    Indices are shuffled, data is not; metrics are means over the steps.
    """

    def shuffled(key: Key) -> Array:
        return jax.random.permutation(key, rows).reshape(-1, minibatch_size)

    key_order, key_steps = jax.random.split(key)
    order = jnp.concatenate([shuffled(each) for each in jax.random.split(key_order, epochs)])
    keys = jax.random.split(key_steps, len(order))

    def step(learner: Learner, of_step: tuple[Array, Key]) -> tuple[Learner, Metrics]:
        return learn(learner, *of_step)

    learner, metrics = jax.lax.scan(step, learner, (order, keys))
    return learner, jax.tree.map(jnp.mean, metrics)


def take_rows(tree: PyTree, *index: Array) -> PyTree:
    """The same rows of every array in a tree."""
    return jax.tree.map(lambda x: x[index], tree)
