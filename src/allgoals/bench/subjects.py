"""What can be timed on a task: algorithms at equal sizes, so that their speeds can be compared."""

import numpy as np

from allgoals.algorithms import (
    Crl,
    DualLeoPpo,
    DualLeoPqn,
    DualLeoSac,
    Leo,
    LeoSac,
    OffPolicy,
    Ppo,
    Pqn,
    Sac,
    Td3,
)
from allgoals.algorithms.base import Algorithm
from allgoals.algorithms.off_policy import OffPolicyAgent
from allgoals.bench.sizes import ThroughputSizes
from allgoals.goals.maze import grid_points, nearest
from allgoals.presets import algorithms_for
from allgoals.tasks import make_task
from allgoals.types import Task

FINEST = 0.5  # spacing of the grid that goals are taken from
MODES = {  # of LEO for SAC
    "leo_sac": {},
    "leo_sac_some": dict(goals_per_update=16),
    "leo_sac_late": dict(late_action=True),
    "leo_sac_advantage": dict(policy_update="advantage"),
}


def names(task: str, sizes: ThroughputSizes) -> list[str]:
    """By default: the paper's six or, where actions are continuous, all; LEO's at each grid."""
    if "sac" not in algorithms_for(task):
        return [name for name in discrete(sizes) if name != "naive_all_goals"]
    of_leo = [f"{mode}-{goals}" for goals in sizes.grid for mode in (*MODES, "dual_leo_sac")]
    return [*told(sizes), *of_leo]


def subject(task: str, name: str, sizes: ThroughputSizes) -> tuple[Task, Algorithm]:
    """The task and the algorithm that a name means."""
    if "sac" not in algorithms_for(task):
        return make_task(task), discrete(sizes)[name]
    name, _, goals = name.partition("-")
    if not goals:
        return make_task(task), told(sizes)[name]
    return with_grid(make_task(task), int(goals)), of_all_goals(name, sizes)


def discrete(sizes: ThroughputSizes) -> dict[str, Algorithm]:
    network = dict(width=sizes.width, conv_features=sizes.conv_features)
    shared = dict(
        network, layers=sizes.layers, minibatch_size=sizes.minibatch_size, epochs=sizes.epochs
    )
    leo, pqn = Leo(**shared, all_actions_in=sizes.all_actions_in), Pqn(**shared)
    minibatches = sizes.rows // sizes.minibatch_size
    ppo = Ppo(**network, epochs=sizes.epochs, num_minibatches=minibatches)
    return {
        "ppo": ppo,
        "pqn": pqn,
        "pqn_her": Pqn(**shared, relabel="mixed"),
        "leo": leo,
        "dual_leo_pqn": DualLeoPqn(leo=leo, pqn=pqn),
        "dual_leo_ppo": DualLeoPpo(leo=leo, ppo=ppo),
        "naive_all_goals": Pqn(**shared, relabel="all"),
    }


def told(sizes: ThroughputSizes) -> dict[str, Algorithm]:
    """Agents for continuous actions that are told their goal."""
    agent = dict(width=sizes.width, batch_size=sizes.batch_size)
    agents = {
        "sac": Sac(**agent),
        "sac_her": Sac(**agent, relabel="final"),
        "td3": Td3(**agent),
        "td3_her": Td3(**agent, relabel="final"),
        "crl": Crl(**agent),
    }
    return {name: _off_policy(agent, sizes) for name, agent in agents.items()}


def of_all_goals(name: str, sizes: ThroughputSizes) -> Algorithm:
    agent = dict(width=sizes.width, batch_size=sizes.batch_size)
    if name == "dual_leo_sac":
        return _off_policy(DualLeoSac(leo=LeoSac(**agent), sac=Sac(**agent)), sizes)
    return _off_policy(LeoSac(**agent, **MODES[name]), sizes)


def _off_policy(agent: OffPolicyAgent, sizes: ThroughputSizes) -> OffPolicy:
    """With a replay that is full after two rollouts, learning from the first one on."""
    return OffPolicy(agent, updates=sizes.updates, replay_size=2 * sizes.rows, warm_up=0)


def most_goals(task: str) -> int:
    return len(grid_points(make_task(task).env.maze, FINEST))


def with_grid(task: Task, goals: int) -> Task:
    """The task with so many goals on LEO's grid."""
    space = task.goals.space
    grid = grid_points(task.env.maze, FINEST)[:goals]
    space = space._replace(grid=np.asarray(grid), nearest=nearest(space.points, grid))
    return task._replace(goals=task.goals._replace(space=space))
