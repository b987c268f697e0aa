"""Schedules: functions of progress, which runs from 0 to 1 over training."""

import jax.numpy as jnp

from allgoals.types import Array


def linear(start: Array, end: Array, duration: Array, progress: Array) -> Array:
    """From `start` to `end` over the first `duration` of training, then constant."""
    return start + (end - start) * jnp.minimum(progress / duration, 1.0)


def annealed(value: Array, anneal: bool, progress: Array) -> Array:
    """`value`, falling linearly to 0 over the run if `anneal`."""
    return value * (1.0 - progress) if anneal else value * jnp.ones_like(progress)
