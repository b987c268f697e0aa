"""The yardstick: a game's own step under random actions; no goals, no network, no resets."""

from collections.abc import Callable

import jax

from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.types import Array, Environment, Key, PyTree


def bare_game(env: Environment, num_envs: int, num_steps: int) -> Callable[[], PyTree]:
    """Plays `num_steps` of `num_envs` copies to their last state; the first call compiles.

    Nobody looks at what the package's step observes, so the compiler leaves that out: a hard one.
    """
    step = _package_step(env) or (lambda key, state, action: env.step(state, action, key)[0])

    def play(state: PyTree, key: Key) -> PyTree:
        def one(state: PyTree, key: Key) -> tuple[PyTree, None]:
            key_action, key_step = jax.random.split(key)
            action = env.actions.sample(key_action, (num_envs,))
            return jax.vmap(step)(jax.random.split(key_step, num_envs), state, action), None

        return jax.lax.scan(one, state, jax.random.split(key, num_steps))[0]

    def begin(key: Key) -> PyTree:
        return jax.lax.map(lambda key: env.reset(key).state, jax.random.split(key, num_envs))

    state, key = jax.jit(begin)(jax.random.key(0)), jax.random.key(1)
    jitted = jax.jit(play)
    return lambda: jax.block_until_ready(jitted(state, key))


def _package_step(env: Environment) -> Callable[[Key, PyTree, Array], PyTree] | None:
    """The `env.step` of the craftax package itself."""
    if isinstance(env, CraftaxClassic):
        from craftax.craftax_classic.envs import craftax_symbolic_env

        game = craftax_symbolic_env.CraftaxClassicSymbolicEnvNoAutoReset()
    elif isinstance(env, Craftax):
        from craftax.craftax.envs import craftax_symbolic_env

        game = craftax_symbolic_env.CraftaxSymbolicEnvNoAutoReset()
    else:
        return None
    return lambda key, state, action: game.step(key, state, action, game.default_params)[1]
