"""Rollouts of random numbers, for tests of what is computed from them."""

import jax.numpy as jnp
import numpy as np

from allgoals.types import GoalOutcome, Rollout


def random_rollout(
    seed: int,
    steps: int = 9,
    envs: int = 5,
    goals: int = 7,
    actions: int = 4,
    achieved: float = 0.2,
) -> Rollout:
    """Consistent as the loop makes them: where nothing ended, next_obs is the next row's obs."""
    random = np.random.default_rng(seed)
    terminated = random.random((steps, envs)) < 0.12
    truncated = (random.random((steps, envs)) < 0.12) & ~terminated
    obs = random.integers(0, 6, (steps + 1, envs, 2)).astype(np.uint8)
    final = random.integers(0, 6, (steps, envs, 2)).astype(np.uint8)
    ended = terminated | truncated
    next_obs = np.where(ended[..., None], final, obs[1:])
    done = random.random((steps, envs, goals)) < achieved
    goal = random.integers(0, goals, (steps, envs))
    for t in range(1, steps):  # a goal stands until it is reached or the episode ends
        reached = np.take_along_axis(done[t - 1], goal[t - 1][:, None], 1)[:, 0]
        goal[t] = np.where(reached | ended[t - 1], goal[t], goal[t - 1])
    reward = random.normal(size=done.shape).astype(np.float32)  # owes nothing to done
    return Rollout(
        obs=jnp.array(obs[:-1]),
        action=jnp.array(random.integers(0, actions, (steps, envs))),
        goal=jnp.array(goal),
        next_obs=jnp.array(next_obs),
        outcome=GoalOutcome(jnp.array(reward), jnp.array(done)),
        terminated=jnp.array(terminated),
        truncated=jnp.array(truncated),
        extras=None,
    )
