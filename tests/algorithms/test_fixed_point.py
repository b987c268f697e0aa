"""The values that LEO, PQN and naive relabelling stand still at are those of value iteration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms import Leo, Pqn
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.vector import VectorEnv
from allgoals.goals.samplers import uniform
from allgoals.rollout import collect, start
from allgoals.tasks import make_task
from tests.oracles import distances, optimal_q

GAMMA = 0.9
ENV = Gridworld(size=5, wall_probability=0.3, map_seed=2, max_steps=9)


@pytest.fixture(scope="module")
def table():
    return optimal_q(ENV, GAMMA)


def test_value_iteration_gives_gamma_to_the_distance_less_one(table):
    d = distances(ENV)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(
            table.max(axis=1), np.where(np.isinf(d), 0, GAMMA ** (d - 1)), atol=1e-9
        )
    assert np.isinf(d).any() and (d[np.isfinite(d)] > 5).any()  # a maze with something to it


class TabularModel:
    """Stands where a network would, and knows the optimal values."""

    def __init__(self, table):
        codes = ENV.free_cells[:, 0] * ENV.size + ENV.free_cells[:, 1]
        self.number = jnp.zeros(ENV.size**2, int).at[codes].set(jnp.arange(len(codes)))
        self.table = jnp.asarray(table, jnp.float32)

    def cell(self, position):
        return self.number[position[..., 0].astype(int) * ENV.size + position[..., 1]]

    def __call__(self, obs, goal=None, method=None):
        if method == "features":
            return obs
        q = self.table[self.cell(obs)]  # [..., A, G]
        if method == "best":  # of features, which are observations
            return q.max(axis=-2)
        index = goal if method == "acting" else self.cell(goal)
        commanded = jnp.take_along_axis(q, index[:, None, None], axis=2)[..., 0]
        return (commanded, obs) if method == "acting" else commanded


def experience(algorithm, model):
    """Real transitions of random walks, with time limits, as the loop collects them."""
    task = make_task("gridworld", ENV)
    envs = VectorEnv(ENV, 16)

    def policy(obs, goal, key):
        _, extras = algorithm.q_values(task, model, obs, goal)
        return jax.random.randint(key, goal.shape, 0, 4), extras

    actor = start(task, envs, uniform, jax.random.key(0))
    _, rollout = collect(task, envs, policy, uniform, 0.9, actor, jax.random.key(1), 40)
    assert rollout.truncated.any()
    return task, rollout


def test_leo(table):
    leo, model = Leo(gamma=GAMMA), TabularModel(table)
    task, rollout = experience(leo, model)
    target = leo.targets(model, rollout)
    optimal = table[np.asarray(model.cell(rollout.obs)), np.asarray(rollout.action)]
    np.testing.assert_allclose(target, optimal, atol=1e-6)


@pytest.mark.parametrize("relabel", ["none", "mixed", "all"])
def test_pqn_and_relabelling(table, relabel):
    pqn, model = Pqn(gamma=GAMMA, relabel=relabel), TabularModel(table)
    task, rollout = experience(pqn, model)
    goal, target = pqn.goals_and_targets(task, model, rollout, jax.random.key(2))
    cells, actions = np.asarray(model.cell(rollout.obs)), np.asarray(rollout.action)
    optimal = np.take_along_axis(table[cells, actions], np.asarray(goal), axis=-1)
    np.testing.assert_allclose(target, optimal, atol=1e-6)


def test_other_values_do_not_stand_still(table):
    leo, wrong = Leo(gamma=GAMMA), TabularModel(table * 0.9)
    _, rollout = experience(leo, wrong)
    held = wrong.table[wrong.cell(rollout.obs), rollout.action]
    assert np.abs(np.asarray(leo.targets(wrong, rollout)) - held).max() > 0.05
