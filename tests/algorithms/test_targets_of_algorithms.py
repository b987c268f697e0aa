"""PQN's and PPO's targets and losses, and how dual agents mix, against plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms import DualLeoPpo, DualLeoPqn, Pqn
from allgoals.envs.gridworld import Gridworld
from allgoals.tasks import make_task
from tests.algorithms.small import small
from tests.rollouts import random_rollout

GOALS = 7


@pytest.fixture(scope="module")
def task():
    return make_task("gridworld", Gridworld(size=6, wall_probability=0.0), subset=GOALS)


def over_rows(function, *arrays):
    """Apply a function of [B, ...] arrays to [T, N, ...] ones."""
    flat = [a.reshape(-1, *a.shape[2:]) for a in arrays]
    return function(*flat).reshape(arrays[0].shape[:2])


def commanded(rollout):
    """Reward and done of the commanded goal. [T, N] each"""
    index = np.asarray(rollout.goal)[..., None]
    return (np.take_along_axis(np.asarray(x), index, -1)[..., 0] for x in rollout.outcome)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("q_lambda", [0.0, 0.7])
def test_commanded_targets(task, seed, q_lambda):
    pqn = Pqn(width=16, layers=1, gamma=0.9, q_lambda=q_lambda)
    model = pqn.init(task, jax.random.key(seed))
    rollout = random_rollout(seed, goals=GOALS)

    def value(obs, goal):
        return pqn.value(task, model, obs, goal)

    rollout = rollout._replace(extras=over_rows(value, rollout.obs, rollout.goal))
    ours = np.asarray(pqn.commanded_targets(task, model, rollout))
    future = np.asarray(over_rows(value, rollout.next_obs, rollout.goal), np.float64)
    reward, done = commanded(rollout)
    steps, envs = done.shape
    for n in range(envs):
        returns = None
        for t in reversed(range(steps)):
            ahead = future[t, n]
            if t < steps - 1 and not done[t, n] and not rollout.ended[t, n]:
                ahead = (1 - q_lambda) * ahead + q_lambda * returns
            over = done[t, n] or rollout.terminated[t, n]
            returns = float(reward[t, n]) + (0.0 if over else 0.9 * ahead)
            assert ours[t, n] == pytest.approx(returns, rel=1e-4, abs=1e-5), (t, n)


@pytest.mark.parametrize("strategy", ["none", "random", "positive", "mixed"])
@pytest.mark.parametrize("level", ["transition", "trajectory"])
def test_relabelled_rows(task, strategy, level):
    pqn = Pqn(
        width=16, layers=1, relabel=strategy, random_goals=2, positive_goals=3, relabel_level=level
    )
    model = pqn.init(task, jax.random.key(0))
    rollout = random_rollout(1, goals=GOALS)
    rollout = rollout._replace(
        extras=over_rows(lambda o, g: pqn.value(task, model, o, g), rollout.obs, rollout.goal)
    )
    goal, target = pqn.goals_and_targets(task, model, rollout, jax.random.key(5))
    expected = {"none": 1, "random": 3, "positive": 4, "mixed": 6}[strategy]
    assert goal.shape == target.shape == (9, 5, expected)
    assert pqn.divisions(45, GOALS)["minibatch_size"][0] == 45 * expected
    assert (goal[..., 0] == rollout.goal).all()
    done = np.asarray(rollout.outcome.done)
    for t, n, k in np.ndindex(9, 5, expected):
        g = int(goal[t, n, k])
        over = done[t, n, g] or rollout.terminated[t, n]
        value = float(pqn.value(task, model, rollout.next_obs[t, n][None], jnp.array([g]))[0])
        plain = float(rollout.outcome.reward[t, n, g]) + (0.0 if over else 0.995 * value)
        assert float(target[t, n, k]) == pytest.approx(plain, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_advantages(task, seed):
    ppo = small("ppo", gamma=0.9, gae_lambda=0.8)
    model = ppo.init(task, jax.random.key(seed))
    rollout = random_rollout(seed, goals=GOALS)

    def value(obs, goal):
        return ppo.value(task, model, obs, goal)

    now = over_rows(value, rollout.obs, rollout.goal)
    rollout = rollout._replace(extras={"value": now, "log_prob": now})
    ours = np.asarray(ppo.advantages(task, model, rollout))
    future = np.asarray(over_rows(value, rollout.next_obs, rollout.goal), np.float64)
    reward, done = commanded(rollout)
    for n in range(5):
        later = 0.0
        for t in reversed(range(9)):
            over = done[t, n] or rollout.terminated[t, n]
            delta = float(reward[t, n]) + (0.0 if over else 0.9 * future[t, n]) - float(now[t, n])
            cut = done[t, n] or rollout.ended[t, n]
            later = delta + (0.0 if cut else 0.9 * 0.8 * later)
            assert ours[t, n] == pytest.approx(later, abs=1e-5)


def test_the_clipped_loss(task):
    ppo = small("ppo", clip=0.2, entropy_coefficient=0.03, value_coefficient=0.7)
    random = np.random.default_rng(0)
    logits, value = random.normal(size=(6, 4)), random.random(6)
    old, advantage, target = random.normal(size=6) - 1, random.normal(size=6), random.random(6)
    action = random.integers(0, 4, 6)
    batch = random_rollout(0)._replace(
        action=jnp.array(action), extras={"log_prob": jnp.array(old)}
    )
    ours, metrics = ppo.loss(
        jnp.array(logits), jnp.array(value), batch, jnp.array(advantage), jnp.array(target)
    )
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    ratio = np.exp(log_p[np.arange(6), action] - old)
    a = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy = np.mean(
        [max(-r * x, -np.clip(r, 0.8, 1.2) * x) for r, x in zip(ratio, a, strict=True)]
    )
    entropy = -(np.exp(log_p) * log_p).sum(-1).mean()
    plain = policy + 0.7 * 0.5 * np.mean((value - target) ** 2) - 0.03 * entropy
    assert float(ours) == pytest.approx(plain, rel=1e-5)
    assert float(metrics["clipped"]) == pytest.approx((np.abs(ratio - 1) > 0.2).mean())


@pytest.mark.parametrize(
    ("acting", "anneal", "expected"),
    [
        ("max", False, [0.8, 0.5]),
        ("min", False, [0.2, 0.1]),
        ("linear_combination", False, [0.25 * 0.2 + 0.75 * 0.8, 0.25 * 0.5 + 0.75 * 0.1]),
        ("linear_combination", True, [0.1 * 0.2 + 0.9 * 0.8, 0.1 * 0.5 + 0.9 * 0.1]),
    ],
)
def test_mixing(acting, anneal, expected):
    dual = DualLeoPqn(acting=acting, alpha=0.25, anneal_alpha=anneal)
    mixed = dual.mix(jnp.array([0.2, 0.5]), jnp.array([0.8, 0.1]), jnp.float32(0.6))
    np.testing.assert_allclose(mixed, expected, rtol=1e-5)


@pytest.mark.parametrize("teacher", ["greedy", "softmax"])
@pytest.mark.parametrize("anneal", [True, False])
def test_cloning(teacher, anneal):
    dual = DualLeoPpo(
        policy_cloning=0.4,
        value_cloning=0.6,
        anneal_cloning=anneal,
        teacher=teacher,
        temperature=0.2,
    )
    random = np.random.default_rng(0)
    q, logits, value = random.random((3, 2, 4)), random.normal(size=(5, 4)), random.random(5)
    t, n = np.array([0, 1, 2, 0, 1]), np.array([0, 1, 0, 1, 1])
    loss, metrics = dual.cloning_loss(jnp.array(q), jnp.float32(0.25))(
        jnp.array(logits), jnp.array(value), t, n
    )
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    rows = q[t, n]
    soft = np.exp(rows / 0.2) / np.exp(rows / 0.2).sum(-1, keepdims=True)
    target = np.eye(4)[rows.argmax(-1)] if teacher == "greedy" else soft
    policy = -(target * log_p).sum(-1).mean()
    of_value = ((value - rows.max(-1)) ** 2).mean()
    scale = 0.75 if anneal else 1.0
    assert float(loss) == pytest.approx(scale * (0.4 * policy + 0.6 * of_value), rel=1e-5)


def test_parts_of_a_dual_agent_learn_as_they_would_alone(task):
    """Nothing passes between the networks but the stream of data."""
    dual = small("dual_leo_pqn")
    learner = dual.init(task, jax.random.key(0))
    rollout = random_rollout(0, steps=4, envs=8, goals=GOALS)
    obs, goal = rollout.obs.reshape(-1, 2), rollout.goal.reshape(-1)
    _, extras = dual.q_values(task, learner, obs, goal, jnp.ones(()))
    extras = jax.tree.map(lambda x: x.reshape(4, 8, *x.shape[1:]), extras)
    key = jax.random.key(7)
    both, _ = dual.update(task, learner, rollout._replace(extras=extras), key, progress=0.5)
    key_leo, key_pqn = jax.random.split(key)
    leo, _ = dual.leo.update(
        task, learner.leo, rollout._replace(extras=extras.leo), key_leo, progress=0.5
    )
    pqn, _ = dual.pqn.update(
        task, learner.uvfa, rollout._replace(extras=extras.uvfa), key_pqn, progress=0.5
    )
    for a, b in zip(jax.tree.leaves(both), jax.tree.leaves((leo, pqn)), strict=True):
        np.testing.assert_array_equal(a, b)
