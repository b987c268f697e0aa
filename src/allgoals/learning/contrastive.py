"""Energies between representations, and losses that tell pairs from strangers.

phi [B, D] and psi [B, D] belong together row by row; every other row of the batch is a stranger.
"""

from typing import Literal

import jax
import jax.numpy as jnp

from allgoals.types import Array, Metrics

Energy = Literal["norm", "l2", "dot", "cosine"]
Loss = Literal["forward", "backward", "symmetric", "binary"]


def energy(kind: Energy, phi: Array, psi: Array) -> Array:
    """How well they fit: [..., D] twice, broadcast -> [...].

    For "cosine" representations come with their length: 1 for psi, and for phi how much it counts.
    """
    if kind in ("dot", "cosine"):
        return (phi * psi).sum(axis=-1)
    squared = jnp.square(phi - psi).sum(axis=-1)
    return -jnp.sqrt(squared + 1e-6) if kind == "norm" else -squared


def contrastive_loss(
    loss: Loss, kind: Energy, phi: Array, psi: Array, penalty: Array | float
) -> tuple[Array, Metrics]:
    """Rows pick their goal (forward), goals their row (backward), both, or each pair by itself."""
    logits = energy(kind, phi[:, None], psi[None])  # [B, B] row, goal
    own = jnp.diag(logits)
    forward = (jax.nn.logsumexp(logits, axis=1) - own).mean()
    backward = (jax.nn.logsumexp(logits, axis=0) - own).mean()
    pairs = jnp.eye(len(phi))
    each = jax.nn.softplus(jnp.where(pairs == 1, -logits, logits))
    chosen = {
        "forward": forward,
        "backward": backward,
        "symmetric": 0.5 * (forward + backward),
        "binary": each.sum(axis=1).mean(),
    }[loss]
    spread = jnp.square(jax.nn.logsumexp(logits, axis=1)).mean()
    right = (logits.argmax(axis=1) == jnp.arange(len(phi))).mean()
    return chosen + penalty * spread, {"accuracy": right}
