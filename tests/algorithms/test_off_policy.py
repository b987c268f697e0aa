"""What every agent that learns from replay owes the loop, and what its batches hold."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms import Sac
from allgoals.algorithms.base import Dual
from allgoals.algorithms.off_policy import Memory, draw, hindsight_rows
from allgoals.goals.maze import REACH
from allgoals.goals.samplers import uniform
from allgoals.learning.replay import Ring, Steps
from allgoals.runs.checkpoint import digest
from allgoals.training import Trainer
from allgoals.types import GoalOutcome, Transition
from tests.algorithms.control import NAMES, check_gradients, small, small_task

ENVS, STEPS = 4, 3


ALWAYS = ("sac", "td3", "crl", "leo_sac", "dual_leo_sac")  # the others differ in what they draw
KINDS = [n if n in ALWAYS else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]


@pytest.fixture(scope="module", params=KINDS)
def trainer(request):
    return Trainer(small_task(), small(request.param), uniform, ENVS, STEPS, 8, 0.9)


@pytest.fixture(scope="module")
def trained(trainer):
    """A start, and what eight updates made of it: past the warm-up and once round the replay."""
    start = jax.jit(trainer.init)
    state = start(jax.random.key(0))
    for chunk in (1, 3, 4):
        state, metrics = trainer.advance(state, chunk)
    return start(jax.random.key(0)), state, metrics


def test_actions_fit_the_task(trainer, trained):
    task, (_, state, _) = trainer.task, trained
    obs, goal = state.actor.envs.obs, state.actor.goal
    act = partial(trainer.algorithm.act, task, state.learner, obs, goal, progress=jnp.float32(0.5))
    for explore in (True, False):
        action, _ = act(jax.random.key(0), explore=explore)
        assert action.shape == (ENVS, 2) and (jnp.abs(action) <= 1).all()
    greedy = [act(jax.random.key(i), explore=False)[0] for i in range(2)]
    assert (greedy[0] == greedy[1]).all()
    assert (act(jax.random.key(0), explore=True)[0] != greedy[0]).any()


def test_values_are_one_per_row(trainer, trained):
    state = trained[1]
    value = trainer.algorithm.value(
        trainer.task, state.learner, state.actor.envs.obs, state.actor.goal
    )
    assert value.shape == (ENVS,) and np.isfinite(value).all()


def test_learning_changes_parameters_and_keeps_their_form(trainer, trained):
    before, after, metrics = trained
    changed = jax.tree.map(
        lambda a, b: bool((a != b).any()), before.learner.agent, after.learner.agent
    )
    assert sum(jax.tree.leaves(changed)) > len(jax.tree.leaves(changed)) / 2
    form = partial(jax.tree.map, lambda x: (x.shape, x.dtype))
    assert form(before) == form(after)
    assert all(np.isfinite(value) and value.shape == () for value in metrics.values())


def test_the_same_seed_gives_the_same_bytes_in_chunks_of_any_length(trainer, trained):
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, _ = trainer.advance(state, 8)
    assert digest(state) == digest(trained[1])


def test_nothing_is_learnt_before_the_warm_up(trainer):
    """16 transitions are more than one rollout of 12 and fewer than two."""
    begin = jax.jit(trainer.init)(jax.random.key(0))
    kept = digest(begin.learner.agent)
    state, _ = trainer.advance(begin, 1)
    assert digest(state.learner.agent) == kept
    state, _ = trainer.advance(state, 1)
    assert digest(state.learner.agent) != kept


def test_parts_act_alone(trainer, trained):
    algorithm, state = trainer.algorithm, trained[1]
    parts = algorithm.parts(state.learner)
    assert bool(parts) == isinstance(algorithm.agent, Dual)
    for part, learner in parts.values():
        obs, goal = state.actor.envs.obs, state.actor.goal
        how = dict(explore=False, progress=1.0)
        action, _ = part.act(trainer.task, learner, obs, goal, jax.random.key(0), **how)
        assert action.shape == (ENVS, 2)


def test_actions_are_random_until_the_warm_up_is_over():
    """The untrained policy would squeeze them towards its own mean; these are uniform."""
    task, algorithm = small_task(), small("sac", warm_up=16)
    learner = algorithm.init(task, jax.random.key(0))
    obs = jnp.tile(jnp.array([4.0, 4.0, 0.0, 0.0]), (4000, 1))
    act = partial(algorithm.act, task, learner, obs, jnp.zeros(4000, jnp.int32), progress=0.0)
    action = np.asarray(act(jax.random.key(0), explore=True)[0])
    np.testing.assert_allclose(np.mean(np.abs(action) < 0.5), 0.5, atol=0.03)
    np.testing.assert_allclose(np.mean(np.abs(action) > 0.9), 0.1, atol=0.02)


# Batches against plain loops. Positions count steps, so that goals say where they come from.


def walked(random: np.random.Generator, steps: int, envs: int) -> Transition:
    """Environment n walks along x = 4 n; episodes end by falling, by time, or go on.

    Every row has an action of its own, and a last observation that no other row begins with.
    """
    time = np.arange(steps)[:, None] * np.ones((1, envs), int)
    here = np.stack([4.0 * np.ones((steps, 1)) * np.arange(envs), 0.3 * time], axis=-1)
    there = here + [0.0, 0.3]
    rest = np.zeros((steps, envs, 2))
    kind = random.choice(3, (steps, envs), p=[0.8, 0.1, 0.1])
    return Transition(
        obs=jnp.asarray(np.concatenate([here, rest], -1), jnp.float32),
        action=jnp.asarray(random.uniform(-1, 1, (steps, envs, 2)), jnp.float32),
        goal=jnp.asarray(random.integers(0, 6, (steps, envs))),
        next_obs=jnp.asarray(np.concatenate([there, rest + 0.5], -1), jnp.float32),
        outcome=GoalOutcome(jnp.zeros((steps, envs, 6)), jnp.zeros((steps, envs, 6), bool)),
        terminated=jnp.asarray(kind == 1),
        truncated=jnp.asarray(kind == 2),
        extras=(),
    )


def remembered(rollout: Transition, capacity: int, seam: int) -> Memory:
    """The rollout after `seam` earlier rows, so that the ring has wrapped around by then."""
    one = Steps(*(jax.tree.map(lambda x: x[0, 0], getattr(rollout, f)) for f in Steps._fields))
    envs = rollout.ended.shape[1]
    replay = Ring.create(one, capacity * envs).by_environment(envs)
    early = jax.tree.map(lambda x: x[:seam], rollout)
    replay = replay.add(early).add(rollout)
    return Memory(replay, replay.last_rows())


@pytest.mark.parametrize("reward", ["sparse", "dense"])
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("relabel", ["none", "final", "future", "mixed"])
def test_batches_equal_a_plain_loop(relabel, ends, reward):
    """Each row's goal is its own or one its episode came to; reward and end follow from the next
    state, and only falling, or reaching a goal that ends, leaves no future."""
    task = small_task(ends=ends, reward=reward)
    rollout = walked(np.random.default_rng(0), 30, 3)
    memory = remembered(rollout, 30, seam=7)
    drawn = draw(task, memory, jax.random.key(1), batch_size=1000, relabel=relabel, share=0.5)
    batch = jax.device_get(drawn)
    points = np.asarray(task.goals.space.points)
    host = jax.device_get(rollout)
    relabelled, finals = 0, 0
    for b in range(1000):
        n = round(float(batch.obs[b, 0]) / 4)
        t = round(float(batch.obs[b, 1]) / 0.3)
        last = t
        while last < 29 and not (host.terminated[last, n] or host.truncated[last, n]):
            last += 1
        np.testing.assert_array_equal(batch.action[b], host.action[t, n])
        np.testing.assert_array_equal(batch.next_obs[b], host.next_obs[t, n])
        own = points[host.goal[t, n]]
        seen = host.next_obs[t : last + 1, n, :2]
        goal = batch.goal[b]
        if not np.allclose(goal, own):
            allowed = seen[-1:] if relabel == "final" else seen
            assert relabel != "none" and (np.abs(allowed - goal).max(axis=1) < 1e-5).any()
            relabelled += 1
            finals += np.allclose(goal, seen[-1]) and last - t >= 3
        distance = np.linalg.norm(host.next_obs[t, n, :2] - goal)
        reached = distance < REACH
        expected = reached if reward == "sparse" else pytest.approx(-distance, abs=1e-4)
        assert float(batch.reward[b]) == expected
        assert bool(batch.no_future[b]) == (host.terminated[t, n] or (ends and reached))
    assert relabelled == 0 if relabel == "none" else 0.45 < relabelled / 1000 < 0.55
    if relabel == "mixed":
        assert finals > 0.05 * 1000 and relabelled - finals > 0.1 * 1000


def test_futures_are_uniform_over_the_rest_of_the_episode():
    row, last = jnp.full(30_000, 4), jnp.full(30_000, 8)
    later = np.asarray(hindsight_rows(jax.random.key(0), row, last, "future"))
    share = np.bincount(later, minlength=10) / 30_000
    np.testing.assert_allclose(share[4:9], 0.2, atol=0.01)
    assert share[:4].sum() == 0 and share[9:].sum() == 0


@pytest.mark.parametrize("ends", [False, True])
def test_soft_targets_equal_the_equation(ends):
    """R + gamma (min Q' - alpha log pi), and R alone where there is no future.

    Where pursuits end at their goals, returns lie in [0, 1], and so do the values that count.
    """
    task, agent = small_task(ends=ends), small("sac", gamma=0.7).agent
    learner = agent.init(task, jax.random.key(0))
    slow = jax.tree.map(lambda x: 1.1 * x, learner.target)  # no longer the critics' own
    learner = learner._replace(target=slow)
    memory = remembered(walked(np.random.default_rng(0), 30, 3), 30, seam=7)
    batch = draw(task, memory, jax.random.key(1), batch_size=64, relabel="final", share=1.0)
    key, alpha = jax.random.key(2), 0.3
    target = np.asarray(agent.targets(task, learner, batch, alpha, key))
    mean, deviation = (
        np.asarray(x, np.float64) for x in learner.policy(batch.next_obs, batch.goal)
    )
    noise = np.asarray(jax.random.normal(key, mean.shape), np.float64)
    x = mean + deviation * noise
    density = -0.5 * noise**2 - 0.5 * np.log(2 * np.pi) - np.log(deviation)
    log_pi = (density - np.log(1 - np.tanh(x) ** 2)).sum(-1)
    critics = learner.critics.replace(params=slow)
    q = np.asarray(critics(batch.next_obs, jnp.asarray(np.tanh(x), jnp.float32), batch.goal))
    assert (q.min(axis=0) < 0).any()
    worth = np.clip(q.min(axis=0), 0, 1) if ends else q.min(axis=0)
    future = np.where(batch.no_future, 0.0, worth - alpha * log_pi)
    np.testing.assert_allclose(target, batch.reward + 0.7 * future, atol=1e-4)
    assert np.asarray(batch.no_future).any() and not np.asarray(batch.no_future).all()


def test_the_slow_copy_goes_its_share_of_the_way():
    task = small_task()
    agent = Sac(width=16, batch_size=8, tau=0.25)
    learner = agent.init(task, jax.random.key(0))
    memory = remembered(walked(np.random.default_rng(0), 30, 3), 30, seam=7)
    after, _ = jax.jit(partial(agent.step, task))(learner, memory, jax.random.key(1))
    expected = jax.tree.map(lambda a, b: 0.75 * a + 0.25 * b, learner.target, after.critics.params)
    for a, b in zip(jax.tree.leaves(after.target), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.fixture(scope="module")
def td3():
    """A TD3 whose slow copies are not the networks they follow, and rows to learn from."""
    task, agent = small_task(), small("td3", gamma=0.7, tau=0.25).agent
    learner = agent.init(task, jax.random.key(0))
    learner = learner._replace(
        slow_policy=jax.tree.map(lambda x: 1.1 * x, learner.slow_policy),
        slow_critics=jax.tree.map(lambda x: 0.9 * x, learner.slow_critics),
    )
    return task, agent, learner, remembered(walked(np.random.default_rng(0), 30, 3), 30, seam=7)


@pytest.mark.parametrize("ends", [False, True])
def test_td3_targets_equal_the_equation(td3, ends):
    """The smaller slow critic of the slow policy's action with clipped noise."""
    _, agent, learner, memory = td3
    task = small_task(ends=ends)
    batch = draw(task, memory, jax.random.key(1), batch_size=512, relabel="final", share=1.0)
    key = jax.random.key(2)
    target = np.asarray(agent.targets(task, learner, batch, key))
    slow_policy = learner.policy.replace(params=learner.slow_policy)
    slow_critics = learner.critics.replace(params=learner.slow_critics)
    mean = np.tanh(np.asarray(slow_policy(batch.next_obs, batch.goal)[0]))
    noise = 0.2 * np.asarray(jax.random.normal(key, mean.shape))
    assert (np.abs(noise) > 0.5).any()
    action = np.clip(mean + np.clip(noise, -0.5, 0.5), -1, 1)
    q = np.asarray(slow_critics(batch.next_obs, jnp.asarray(action), batch.goal)).min(axis=0)
    assert (q < 0).any()
    q = np.clip(q, 0, 1) if ends else q
    expected = batch.reward + 0.7 * np.where(batch.no_future, 0.0, q)
    np.testing.assert_allclose(target, expected, atol=1e-5)


def test_the_policy_of_td3_climbs_the_first_critic(td3):
    task, agent, learner, memory = td3
    key = jax.random.key(3)
    after, _ = jax.jit(partial(agent.step, task))(learner, memory, key)
    batch = draw(task, memory, jax.random.split(key)[0], batch_size=8, relabel="none", share=0.0)

    @jax.grad
    def of_policy(params):
        action = jnp.tanh(learner.policy.replace(params=params)(batch.obs, batch.goal)[0])
        return -after.critics(batch.obs, action, batch.goal)[0].mean()

    check_gradients(after.policy, of_policy(learner.policy.params))


@pytest.mark.parametrize("name", ["sac_her", "td3_her"])
def test_hindsight_is_what_the_networks_learn_from(name):
    """With a share of 1 the critics' step is that of a batch whose goals are all final ones."""
    task, agent = small_task(), small(name, hindsight=1.0).agent
    memory = remembered(walked(np.random.default_rng(0), 30, 3), 30, seam=7)
    learner = agent.init(task, jax.random.key(0))
    key = jax.random.key(3)
    after, _ = jax.jit(partial(agent.step, task))(learner, memory, key)
    key_batch, key_learn = jax.random.split(key)
    batch = draw(task, memory, key_batch, batch_size=8, relabel="final", share=1.0)
    if name == "sac_her":
        target = agent.targets(
            task, learner, batch, learner.temperature(), jax.random.split(key_learn)[0]
        )
    else:
        target = agent.targets(task, learner, batch, key_learn)

    @jax.grad
    def of_critics(params):
        q = learner.critics.replace(params=params)(batch.obs, batch.action, batch.goal)
        return 0.5 * jnp.mean(jnp.square(q - target))

    check_gradients(after.critics, of_critics(learner.critics.params))


def test_td3_moves_policy_and_slow_copies_at_every_second_step_only(td3):
    task, agent, learner, memory = td3
    step = jax.jit(partial(agent.step, task))
    for i in range(4):
        before, (learner, _) = learner, step(learner, memory, jax.random.key(i))
        moved = digest(learner.policy.params) != digest(before.policy.params)
        assert moved == (i % 2 == 0)
        assert digest(learner.critics.params) != digest(before.critics.params)
        for name, fast in [("slow_policy", learner.policy), ("slow_critics", learner.critics)]:
            slow = getattr(before, name)
            share = 0.25 * moved
            expected = jax.tree.map(lambda s, f, w=share: (1 - w) * s + w * f, slow, fast.params)
            same = partial(np.testing.assert_allclose, atol=1e-6)
            jax.tree.map(same, getattr(learner, name), expected)


def test_futures_of_contrastive_rl_are_of_the_own_episode():
    """Against a plain loop; how far ahead is geometric, cut at the episode's end."""
    task, agent = small_task(), small("crl", gamma=0.7).agent
    rollout = walked(np.random.default_rng(0), 30, 3)
    agent = replace(agent, batch_size=40_000)
    futures = agent.futures(task, remembered(rollout, 30, seam=7), jax.random.key(1))
    futures, ended = jax.device_get(futures), np.asarray(rollout.ended)
    n = np.round(futures.obs[:, 0] / 4).astype(int)
    t = np.round(futures.obs[:, 1] / 0.3).astype(int)
    ahead = np.round((futures.goal[:, 1] - futures.obs[:, 1]) / 0.3).astype(int) - 1
    np.testing.assert_allclose(futures.goal[:, 0], futures.obs[:, 0])
    np.testing.assert_array_equal(futures.action, np.asarray(rollout.action)[t, n])
    for env in range(3):
        for row in range(30):
            last = row
            while last < 29 and not ended[last, env]:
                last += 1
            drawn = ahead[(n == env) & (t == row)]
            weight = 0.7 ** np.arange(last - row + 1)
            counts = np.bincount(drawn, minlength=len(weight))
            assert len(counts) == len(weight)
            np.testing.assert_allclose(counts / len(drawn), weight / weight.sum(), atol=0.08)
