"""A network with its parameters and its optimiser."""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import struct

from allgoals.types import Array, Key, Metrics, PyTree

OPTIMISERS = {
    "adam": optax.scale_by_adam(eps=1e-5),  # as PPO is used to
    "adam_fine": optax.scale_by_adam(),  # gradients that many goals share are small
    "radam": optax.scale_by_radam(),
}


@struct.dataclass
class Model:
    """Call it to evaluate; `learn` takes one gradient step."""

    params: PyTree
    stats: PyTree  # what the network keeps of its inputs, {} for most
    opt_state: PyTree
    name: str = struct.field(pytree_node=False)  # its metrics are `name/...`
    network: nn.Module = struct.field(pytree_node=False)
    optimiser: str = struct.field(pytree_node=False)

    @classmethod
    def create(
        cls, name: str, network: nn.Module, optimiser: str, key: Key, *inputs: Any
    ) -> "Model":
        variables = network.init(key, *inputs)
        params, stats = variables["params"], variables.get("stats", {})
        return cls(params, stats, OPTIMISERS[optimiser].init(params), name, network, optimiser)

    def __call__(self, *inputs: Any, method: str | None = None) -> Any:
        variables = {"params": self.params, "stats": self.stats}
        return self.network.apply(variables, *inputs, method=method)

    def learn(
        self,
        loss: Callable[["Model | Pupil"], tuple[Array, Metrics]],
        learning_rate: Array,
        max_grad_norm: Array,
    ) -> tuple["Model", Metrics]:
        """Descend `loss(model) -> (loss, metrics)` by one step with clipped gradients."""

        def of_params(params: PyTree) -> tuple[Array, tuple[Metrics, PyTree]]:
            pupil = Pupil(self.replace(params=params))
            value, metrics = loss(pupil)
            return value, (metrics, pupil.model.stats)

        (value, (metrics, stats)), grads = jax.value_and_grad(of_params, has_aux=True)(self.params)
        norm = optax.tree.norm(grads)
        shrink = jnp.minimum(1.0, max_grad_norm / jnp.maximum(norm, 1e-12))
        grads = jax.tree.map(lambda g: g * shrink, grads)
        updates, opt_state = OPTIMISERS[self.optimiser].update(grads, self.opt_state)
        params = jax.tree.map(lambda p, u: p - learning_rate * u, self.params, updates)
        metrics = {"loss": value, "gradient_norm": norm, **metrics}
        named = {f"{self.name}/{key}": value for key, value in metrics.items()}
        return self.replace(params=params, stats=stats, opt_state=opt_state), named


class Pupil:
    """A model in the midst of a gradient step: it takes note of the inputs it is called with."""

    def __init__(self, model: Model):
        self.model = model

    def __call__(self, *inputs: Any, method: str | None = None) -> Any:
        model = self.model
        variables = {"params": model.params, "stats": model.stats}
        out, changed = model.network.apply(variables, *inputs, method=method, mutable=["stats"])
        self.model = model.replace(stats=changed.get("stats", {}))
        return out
