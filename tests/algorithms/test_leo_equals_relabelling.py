"""LEO's loss and gradient are those of relabelling every transition with every goal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms.leo import Leo, all_goals_loss, choose_heads
from allgoals.algorithms.pqn import Pqn, one_goal_loss
from allgoals.envs.gridworld import Gridworld
from allgoals.tasks import make_task
from tests.rollouts import random_rollout

GOALS, ACTIONS = 7, 4
MIXES = {
    "as drawn": lambda action: action,
    "one absent": lambda action: jnp.where(action == 2, 1, action),
    "one fills all": lambda action: jnp.full_like(action, 3),
}


@pytest.fixture(scope="module")
def task():
    env = Gridworld(size=6, wall_probability=0.0)
    return make_task("gridworld", env, subset=GOALS)


class Curried:
    """The all-goals network used as one that is told its goal: Q(s, g) is row g of Q(s)."""

    def __init__(self, model):
        self.model = model

    def __call__(self, obs, goal_index):
        q = self.model(obs)  # [B, A, G]
        return jnp.take_along_axis(q, goal_index[:, None, None], axis=2)[..., 0]


def with_features(rollout, model):
    """As if the model had acted."""
    return rollout._replace(extras=jax.vmap(lambda obs: model(obs, method="features"))(rollout.obs))


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("seed", range(3))
def test_loss_and_gradient(task, mix, seed):
    leo = Leo(width=32, layers=2)
    model = leo.init(task, jax.random.key(seed))
    rollout = random_rollout(seed, goals=GOALS, actions=ACTIONS)
    obs = rollout.obs.reshape(-1, 2)
    action = MIXES[mix](rollout.action.reshape(-1))
    rollout = with_features(rollout, model)
    target = leo.targets(model, rollout).reshape(-1, GOALS)
    heads = jnp.ones(GOALS, bool)

    def all_at_once(params):
        return all_goals_loss(model.replace(params=params), obs, action, target, heads)[0]

    def relabelled(params):
        every = jnp.tile(jnp.arange(GOALS), len(obs))
        rows = jnp.repeat(jnp.arange(len(obs)), GOALS)
        net = Curried(model.replace(params=params))
        return one_goal_loss(net, obs[rows], every, action[rows], target.reshape(-1))[0]

    ours, our_gradient = jax.value_and_grad(all_at_once)(model.params)
    naive, naive_gradient = jax.value_and_grad(relabelled)(model.params)
    np.testing.assert_allclose(ours, naive, rtol=1e-5)
    largest = max(float(jnp.abs(g).max()) for g in jax.tree.leaves(naive_gradient))
    for a, b in zip(jax.tree.leaves(our_gradient), jax.tree.leaves(naive_gradient), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * largest)


@pytest.mark.parametrize("seed", range(3))
def test_targets(task, seed):
    """Against a plain loop over transitions and goals."""
    leo = Leo(width=32, layers=2, gamma=0.9)
    model = leo.init(task, jax.random.key(seed))
    rollout = random_rollout(seed, goals=GOALS, actions=ACTIONS)
    rollout = with_features(rollout, model)
    ours = np.asarray(leo.targets(model, rollout))
    best = np.asarray(jax.vmap(lambda obs: model(obs).max(axis=1))(rollout.next_obs), np.float64)
    reward, done = np.asarray(rollout.outcome.reward), np.asarray(rollout.outcome.done)
    for t, n, g in np.ndindex(ours.shape):
        over = done[t, n, g] or rollout.terminated[t, n]
        plain = float(reward[t, n, g]) + (0.0 if over else 0.9 * best[t, n, g])
        assert ours[t, n, g] == pytest.approx(plain, rel=1e-4, abs=1e-5)


def test_naive_relabelling_takes_every_goal_of_every_transition(task):
    naive = Pqn(width=16, layers=1, relabel="all")
    model = naive.init(task, jax.random.key(0))
    rollout = random_rollout(0, goals=GOALS, actions=ACTIONS)
    goal, target = naive.goals_and_targets(task, model, rollout, jax.random.key(0))
    assert goal.shape == target.shape == (9, 5, GOALS)
    assert (goal == jnp.arange(GOALS)).all()
    for t, n, g in [(3, 2, 4), (0, 0, 0), (8, 4, 6), (5, 1, 3)]:
        value = float(naive.value(task, model, rollout.next_obs[t, n][None], jnp.array([g]))[0])
        over = bool(rollout.outcome.done[t, n, g] | rollout.terminated[t, n])
        plain = float(rollout.outcome.reward[t, n, g]) + (0.0 if over else 0.995 * value)
        assert float(target[t, n, g]) == pytest.approx(plain, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 1.0])
def test_many_goals_updates_learn_a_fixed_share_of_the_heads(task, fraction):
    heads = [choose_heads(jax.random.key(i), 40, fraction) for i in range(30)]
    assert {int(h.sum()) for h in heads} == {round(40 * fraction)}
    assert choose_heads(jax.random.key(0), 3, fraction).sum() >= 1  # never none
    if fraction < 1:
        assert len({tuple(h.tolist()) for h in heads}) > 25
        assert np.any(heads, axis=0).all() or fraction == 0.1


def test_masked_heads_get_no_gradient(task):
    leo = Leo(width=16, layers=1)
    model = leo.init(task, jax.random.key(0))
    rollout = random_rollout(0, goals=GOALS, actions=ACTIONS)
    obs, action = rollout.obs.reshape(-1, 2), rollout.action.reshape(-1)
    heads = jnp.arange(GOALS) < 3

    def loss(params):
        target = jnp.zeros((len(obs), GOALS))
        return all_goals_loss(model.replace(params=params), obs, action, target, heads)[0]

    gradient = jax.grad(loss)(model.params)["kernel"]  # [A, H, G]
    assert (gradient[..., 3:] == 0).all() and (gradient[..., :3] != 0).any(axis=(0, 1)).all()
