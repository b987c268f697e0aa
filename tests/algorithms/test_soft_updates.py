"""Whole gradient steps of SAC, LEO for SAC and contrastive RL against their equations, written out.

Adam's first moment after one step is a tenth of the gradient, so a step shows its gradients.
"""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms.all_goals import through_all
from allgoals.algorithms.off_policy import draw
from allgoals.learning import squashed
from allgoals.learning.contrastive import contrastive_loss
from tests.algorithms.control import check_gradients, small, small_task
from tests.algorithms.test_off_policy import remembered, walked

ROWS, TAU = 24, 0.25


@pytest.fixture(scope="module")
def memory():
    return remembered(walked(np.random.default_rng(0), 30, 3), 30, seam=7)


def check_slow_copy(before, after, fast):
    expected = jax.tree.map(lambda s, f: (1 - TAU) * s + TAU * f, before, fast)
    jax.tree.map(partial(np.testing.assert_allclose, atol=1e-6), after, expected)


def entropy(learner, batch, key):
    return -squashed.sample(key, *learner.policy(batch.obs, batch.goal))[1].mean()


def check_temperature(before, after, spare):
    """Of alpha times the entropy to spare, by log alpha."""
    assert abs(spare) > 0.1
    check_gradients(after.temperature, {"log": before.temperature() * spare})


MODES = {
    "all goals": {},
    "three goals": dict(goals_per_update=3),
    "offset, late, three goals": dict(offset=True, late_action=True, goals_per_update=3),
}


def naive_leo_sac(agent, bounded, learner, batch, key):
    """Gradients of critics and policy with a pass for every goal, and the policy's entropy."""
    alpha, heads = learner.temperature(), range(len(batch.heads))
    key_next, key_now = jax.random.split(key)

    def one_goal(params, seen, action, k):
        """Both critics through every head, of which one counts. [B]"""
        critics = learner.critics.replace(params=params)
        return critics(seen, action[:, k]).min(axis=0)[:, batch.heads[k]]

    action, log_pi = squashed.sample(key_next, *learner.policy(batch.next_seen, batch.heads))
    worth = [one_goal(learner.target, batch.next_seen, action, k) for k in heads]
    worth = [jnp.clip(q, 0, 1) for q in worth] if bounded else worth
    soft = [worth[k] - alpha * log_pi[:, k] for k in heads]
    target = [
        batch.reward[:, k] + agent.gamma * jnp.where(batch.no_future[:, k], 0, soft[k])
        for k in heads
    ]

    def of_critics(params):
        q = learner.critics.replace(params=params)(batch.seen, batch.action)  # [2, B, G]
        errors = [q[..., batch.heads[k]] - target[k] for k in heads]
        return 0.5 * jnp.mean(jnp.square(jnp.stack(errors)))

    def of_policy(params):
        policy = learner.policy.replace(params=params)(batch.seen, batch.heads)
        action, log_pi = squashed.sample(key_now, *policy)
        q = [one_goal(learner.critics.params, batch.seen, action, k) for k in heads]
        losses = [alpha * log_pi[:, k] - q[k] for k in heads]
        return jnp.mean(jnp.stack(losses)), -log_pi.mean()

    of_policy, entropy = jax.grad(of_policy, has_aux=True)(learner.policy.params)
    return jax.grad(of_critics)(learner.critics.params), of_policy, entropy


@pytest.mark.parametrize("mode", MODES)
def test_a_step_of_leo_sac_is_the_naive_one(memory, mode):
    """Critics follow R + gamma (min Q' - alpha log pi) by actions of their own, the policy climbs
    min Q - alpha log pi, alpha falls with entropy to spare."""
    task = small_task(ends=mode != "three goals")  # returns then lie in [0, 1]
    agent = small("leo_sac", gamma=0.7, tau=TAU, initial_temperature=0.3, **MODES[mode]).agent
    start = jax.jit(partial(agent.init, task))
    step = jax.jit(partial(agent.resampling_step, task))
    naive = jax.jit(partial(naive_leo_sac, agent, task.goals.bounded))
    for seed in range(3):
        learner = start(jax.random.key(seed))
        learner = learner._replace(target=jax.tree.map(lambda x: 1.1 * x, learner.target))
        steps = memory.replay.take(*memory.replay.sample(jax.random.key(seed + 5), ROWS))
        key = jax.random.key(seed)
        batch = through_all(task, steps, key, agent.goals_per_update, agent.offset)
        after, _ = step(learner, batch, key)
        of_critics, of_policy, entropy = naive(learner, batch, key)
        check_gradients(after.critics, of_critics)
        check_gradients(after.policy, of_policy)
        check_slow_copy(learner.target, after.target, after.critics.params)
        spare = entropy - agent.entropy_per_action * 2
        check_temperature(learner, after, spare)


def test_an_advantage_step_follows_its_equations(memory):
    """Critics follow R + gamma V'(s'), V an expectile of min Q, the policy the action taken, as
    much as it is better than usual; V' follows V."""
    task = small_task(ends=True)
    fields = dict(gamma=0.7, tau=TAU, expectile=0.8, goals_per_update=3)
    agent = small("leo_sac, advantage", **fields).agent
    learner = jax.jit(partial(agent.init, task))(jax.random.key(0))
    learner = learner._replace(target=jax.tree.map(lambda x: 1.1 * x, learner.target))
    steps = memory.replay.take(*memory.replay.sample(jax.random.key(5), ROWS))
    batch = through_all(task, steps, jax.random.key(1), agent.goals_per_update, told=False)
    after, _ = jax.jit(partial(agent.advantage_step, task))(learner, batch)
    heads = batch.heads

    next_value = learner.value.replace(params=learner.target)(batch.next_seen)[:, heads]
    assert (next_value < 0).any()
    next_value = np.clip(next_value, 0, 1)  # where returns lie
    target = batch.reward + 0.7 * np.where(batch.no_future, 0, next_value)
    q = learner.critics(batch.seen, batch.action)[..., heads].min(axis=0)
    advantage = np.asarray(q - learner.value(batch.seen)[:, heads], np.float64)
    scale = agent.advantage_temperature * (advantage.std(axis=0) + 1e-6)
    weight = np.minimum(np.exp((advantage - advantage.mean(axis=0)) / scale), 100.0)

    @jax.grad
    def of_critics(params):
        each = learner.critics.replace(params=params)(batch.seen, batch.action)[..., heads]
        return 0.5 * jnp.square(each - target).mean()

    @jax.grad
    def of_value(params):
        error = q - learner.value.replace(params=params)(batch.seen)[:, heads]
        return (jnp.where(error > 0, 0.8, 0.2) * jnp.square(error)).mean()

    @jax.grad
    def of_policy(params):
        mean, deviation = learner.policy.replace(params=params)(batch.seen, heads)
        return -(weight * squashed.log_density(mean, deviation, batch.action[:, None])).mean()

    check_gradients(after.critics, of_critics(learner.critics.params))
    check_gradients(after.value, of_value(learner.value.params))
    check_gradients(after.policy, of_policy(learner.policy.params))
    check_slow_copy(learner.target, after.target, after.value.params)


def test_a_step_of_sac_follows_its_equations(memory):
    task = small_task()
    agent = small("sac", initial_temperature=0.3).agent
    learner = jax.jit(partial(agent.init, task))(jax.random.key(0))
    batch = draw(task, memory, jax.random.key(1), batch_size=ROWS, relabel="final", share=0.5)
    key = jax.random.key(2)

    @jax.jit
    def step(agent):
        return agent.learn(task, learner, batch, key, partial(agent.worth, learner, batch))[0]

    after = step(agent)
    key_next, key_now = jax.random.split(key)
    target = agent.targets(task, learner, batch, 0.3, key_next)

    @jax.jit
    @jax.grad
    def of_critics(params):
        q = learner.critics.replace(params=params)(batch.obs, batch.action, batch.goal)
        return 0.5 * jnp.mean(jnp.square(q - target))

    @jax.jit
    @jax.grad
    def of_policy(params):
        policy = learner.policy.replace(params=params)
        action, log_pi = squashed.sample(key_now, *policy(batch.obs, batch.goal))
        q = jnp.minimum(*learner.critics(batch.obs, action, batch.goal))
        return jnp.mean(0.3 * log_pi - q)

    check_gradients(after.critics, of_critics(learner.critics.params))
    check_gradients(after.policy, of_policy(learner.policy.params))
    for wanted in (-3.0, 3.0):  # less entropy than there is, and more
        after = step(replace(agent, entropy_per_action=wanted))
        check_temperature(learner, after, entropy(learner, batch, key_now) - 2 * wanted)
        assert (after.temperature() < 0.3) == (wanted < 0)


def test_a_step_of_contrastive_rl_follows_its_equations(memory):
    task, agent = small_task(), small("crl", initial_temperature=0.3, energy="l2").agent
    learner = jax.jit(partial(agent.init, task))(jax.random.key(0))
    key = jax.random.key(2)
    after, _ = jax.jit(partial(agent.step, task))(learner, memory, key)
    key_batch, key_now = jax.random.split(key)
    batch = agent.futures(task, memory, key_batch)

    @jax.jit
    @jax.grad
    def of_critic(params):
        pair = learner.critic.replace(params=params)(batch.obs, batch.action, batch.goal)
        return contrastive_loss("forward", "l2", *pair, agent.logsumexp_penalty)[0]

    @jax.jit
    @jax.grad
    def of_policy(params):
        policy = learner.policy.replace(params=params)
        action, log_pi = squashed.sample(key_now, *policy(batch.obs, batch.goal))
        phi, psi = learner.critic(batch.obs, action, batch.goal)
        return jnp.mean(0.3 * log_pi + jnp.square(phi - psi).sum(axis=-1))

    check_gradients(after.critic, of_critic(learner.critic.params))
    check_gradients(after.policy, of_policy(learner.policy.params))
    spare = entropy(learner, batch, key_now) - agent.entropy_per_action * 2
    check_temperature(learner, after, spare)


def test_a_step_of_dual_leo_sac_seeks_the_mix_of_its_critics(memory):
    """LEO's part takes its own step; the critics told their goal learn as in SAC."""
    task, agent = small_task(), small("dual_leo_sac", weight=0.25).agent
    learner = jax.jit(partial(agent.init, task))(jax.random.key(0))
    key = jax.random.key(2)
    after, _ = jax.jit(partial(agent.step, task))(learner, memory, key)
    key_leo, key_batch, key_sac = jax.random.split(key, 3)
    batch = agent.sac.draw(task, memory, key_batch)
    _, key_now = jax.random.split(key_sac)
    alpha, uvfa = learner.uvfa.temperature(), learner.uvfa
    grid = task.goals.space.grid
    heads = np.linalg.norm(np.asarray(batch.goal)[:, None] - grid, axis=-1).argmin(axis=1)

    @jax.grad
    def of_policy(params):
        policy = uvfa.policy.replace(params=params)
        action, log_pi = squashed.sample(key_now, *policy(batch.obs, batch.goal))
        q_uvfa = jnp.minimum(*uvfa.critics(batch.obs, action, batch.goal))
        q_leo = jnp.minimum(*learner.leo.critics(batch.obs, action))[jnp.arange(len(heads)), heads]
        return jnp.mean(alpha * log_pi - (0.25 * q_leo + 0.75 * q_uvfa))

    check_gradients(after.uvfa.policy, of_policy(uvfa.policy.params))
    leo, _ = jax.jit(partial(agent.leo.step, task))(learner.leo, memory, key_leo)
    same = partial(np.testing.assert_allclose, atol=1e-6)
    jax.tree.map(same, after.leo.critics.params, leo.critics.params)
    jax.tree.map(same, after.leo.policy.params, leo.policy.params)


def test_a_step_looks_at_as_many_goals_as_it_is_told(memory):
    """Heads that were not drawn have no gradient."""
    task = small_task()
    for some, looked_at in ((0, 7), (3, 3)):
        agent = small("leo_sac", goals_per_update=some).agent
        learner = jax.jit(partial(agent.init, task))(jax.random.key(0))
        after, _ = jax.jit(partial(agent.step, task))(learner, memory, jax.random.key(1))
        moments = [m for m in jax.tree.leaves(after.critics.opt_state.mu) if m.shape[-1] == 7]
        moved = sum(np.abs(np.asarray(m)).reshape(-1, 7).sum(axis=0) for m in moments)
        assert moments and (moved > 0).sum() == looked_at
