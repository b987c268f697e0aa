"""One goal per free cell of the gridworld: stand there."""

import jax.numpy as jnp

from allgoals.envs.gridworld import Gridworld
from allgoals.goals.base import binary
from allgoals.types import GoalOutcome, GoalSet, Obs


def position_goals(env: Gridworld) -> GoalSet:
    cells = env.free_cells  # [G, 2]
    codes = cells[:, 0] * env.size + cells[:, 1]  # [G]

    def outcome(obs: Obs) -> GoalOutcome:
        x, y = obs[..., 0].astype(jnp.int32), obs[..., 1].astype(jnp.int32)
        return binary((x * env.size + y)[..., None] == codes)

    return GoalSet(
        names=tuple(f"position/{x}-{y}" for x, y in cells),
        features=cells.astype("uint8"),
        outcome=outcome,
        bounded=True,
        reachable=env.distance[cells[:, 0], cells[:, 1]] >= 0,
    )
