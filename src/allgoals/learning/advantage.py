"""Learning from the action that was taken, by how much better it was than usual."""

import jax.numpy as jnp

from allgoals.learning import squashed
from allgoals.types import Array, Metrics

MOST_WEIGHT = 100.0


def expectile_loss(error: Array, expectile: Array) -> tuple[Array, Metrics]:
    """Squares that weigh `expectile` where V is too low and 1 - expectile where it is too high."""
    weight = jnp.where(error > 0, expectile, 1 - expectile)
    return (weight * jnp.square(error)).mean(), {}


def weights(advantage: Array, temperature: Array) -> Array:
    """exp(advantage / temperature), each goal's advantages by their own mean and spread. [B, K]"""
    middle, spread = advantage.mean(axis=0), advantage.std(axis=0) + 1e-6  # [K]
    return jnp.minimum(jnp.exp((advantage - middle) / (temperature * spread)), MOST_WEIGHT)


def weighted_loss(
    policy: tuple[Array, Array], action: Array, weight: Array
) -> tuple[Array, Metrics]:
    """-weight log pi(a | s): policies [B, K, A] as mean and deviation, action [B, A]."""
    log_pi = squashed.log_density(*policy, action[:, None])
    return -(weight * log_pi).mean(), {"weight": weight.mean()}
