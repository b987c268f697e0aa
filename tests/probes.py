"""Small worlds made for tests."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.goals.base import binary
from allgoals.networks.encoders import OneHotCoordinates
from allgoals.types import Array, Discrete, GoalSet, Reset, Step, Task


class ChainState(NamedTuple):
    world: Array  # a number drawn from the world's key
    position: Array
    time: Array


class Chain:
    """Walk on 0..9 from a start that each world draws; the right end kills, time cuts at 7 steps.

    The observation is (position, world).
    """

    actions = Discrete(2)
    length = 10
    max_steps = 7

    def reset(self, key):
        world = jax.random.bits(key, (), jnp.uint32)
        position = jnp.int32(world % 4)
        state = ChainState(world, position, jnp.int32(0))
        return Reset(state, self.observe(state))

    def step(self, state, action, key):
        del key
        position = jnp.clip(state.position + 2 * action - 1, 0, self.length - 1)
        state = ChainState(state.world, position, state.time + 1)
        terminated = position == self.length - 1
        truncated = (state.time >= self.max_steps) & ~terminated
        return Step(state, self.observe(state), terminated, truncated)

    def observe(self, state):
        return jnp.stack([state.position.astype(jnp.uint32), state.world])


class DeadlyChain(Chain):
    """Shorter, so that random walks die often."""

    length = 5


def chain_task(env=None) -> Task:
    """Goals: stand on each cell. Several worlds begin where a goal already holds."""
    env = env or DeadlyChain()

    def outcome(obs):
        return binary(obs[..., :1] == jnp.arange(env.length, dtype=jnp.uint32))

    goals = GoalSet(
        names=tuple(f"cell/{i}" for i in range(env.length)),
        features=jnp.stack([jnp.arange(env.length)] * 2, axis=1),
        outcome=outcome,
        bounded=True,
        reachable=None,
    )
    return Task("chain", env, goals, OneHotCoordinates(env.length))
