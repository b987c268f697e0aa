"""Exact resets: every world once, nothing lost, the true last observation kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.vector import VectorEnv
from tests.probes import DeadlyChain

STEPS, ENVS = 120, 5


def play(envs, key):
    """How a scan over random actions began and ended, and what it saw."""
    key_worlds, key_steps = jax.random.split(key)

    def step(state, key):
        action = jax.random.randint(key, (ENVS,), 0, 2)
        after, answer = envs.step(state, action, key)
        pool = (after.pool.used, after.pool.generated)
        return after, (state.obs, action, answer, after.obs, pool)

    first = envs.init(key_worlds)
    return first, *jax.lax.scan(step, first, jax.random.split(key_steps, STEPS))


@pytest.fixture(scope="module", params=[4, 16])
def history(request):
    """The same, what was seen as numpy."""
    envs = VectorEnv(DeadlyChain(), ENVS, block=request.param)
    first, final, seen = play(envs, jax.random.key(1))
    return request.param, first, final, jax.tree.map(np.asarray, seen)


def test_no_world_is_used_twice(history):
    block, first, final, (obs, *_) = history
    worlds = [*np.asarray(first.obs)[:, 1]]
    for t in range(1, STEPS):
        changed = obs[t][:, 1] != obs[t - 1][:, 1]
        worlds += [*obs[t][changed, 1]]
    assert len(worlds) == len(set(worlds)) > 50


def test_worlds_come_in_the_order_they_were_numbered(history):
    block, first, final, _ = history
    keys = jax.vmap(jax.random.fold_in, (None, 0))(
        first.pool.key, jnp.arange(ENVS, dtype=jnp.uint32)
    )
    expected = jax.vmap(DeadlyChain().reset)(keys).obs
    assert (np.asarray(first.obs) == np.asarray(expected)).all()


def test_generated_equals_used_plus_pool(history):
    block, _, final, (_, _, answer, _, (used, generated)) = history
    ended = (answer.terminated | answer.truncated).sum(axis=1)
    assert (used == ENVS + np.cumsum(ended)).all()
    assert (generated % block == 0).all()
    left = generated - used
    assert ((left >= 0) & (left < block)).all()  # no more is made than a block


def test_the_answer_is_from_before_the_reset(history):
    _, _, _, (obs, action, answer, after, _) = history
    moved = np.clip(obs[..., 0].astype(int) + 2 * action - 1, 0, DeadlyChain.length - 1)
    assert (answer.obs[..., 0] == moved).all()
    assert (answer.obs[..., 1] == obs[..., 1]).all()  # still the same world
    ended = answer.terminated | answer.truncated
    assert (after[~ended] == answer.obs[~ended]).all()
    assert (after[ended][:, 1] != answer.obs[ended][:, 1]).all()
    assert (obs[1:] == after[:-1]).all()


def test_death_and_time_are_kept_apart(history):
    _, _, _, (_, _, answer, _, _) = history
    assert (answer.terminated == (answer.obs[..., 0] == DeadlyChain.length - 1)).all()
    assert answer.terminated.any() and answer.truncated.any()
    assert not (answer.terminated & answer.truncated).any()


def test_runs_side_by_side_are_those_that_each_would_be_alone():
    """Every run has its own worlds from a pool of its own, however often the others end."""
    envs = VectorEnv(DeadlyChain(), ENVS, block=4)
    keys = jax.random.split(jax.random.key(1), 3)
    together = jax.vmap(lambda key: play(envs, key))(keys)
    used = np.asarray(together[1].pool.used)
    assert len(set(used)) == 3  # so some end while others do not
    for run, key in enumerate(keys):
        own, alone = jax.tree.map(lambda x: x[run], together), play(envs, key)  # noqa: B023
        for one, other in zip(*map(jax.tree.leaves, (own, alone)), strict=True):
            if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
                one, other = map(jax.random.key_data, (one, other))
            np.testing.assert_array_equal(one, other)


def test_runs_that_share_something_are_side_by_side_too():
    """Only the actions differ: what is the same for all comes without an axis of runs."""
    envs = VectorEnv(DeadlyChain(), ENVS, block=4)
    state = envs.init(jax.random.key(1))
    actions = jnp.array([[0] * ENVS, [1] * ENVS])

    def walk(action):
        def step(state, key):
            return envs.step(state, action, key)

        final, answers = jax.lax.scan(step, state, jax.random.split(jax.random.key(2), STEPS))
        return final.obs, final.pool.used, answers

    together = jax.vmap(walk)(actions)
    for run, action in enumerate(actions):
        own = jax.tree.map(lambda x: x[run], together)  # noqa: B023
        jax.tree.map(np.testing.assert_array_equal, own, walk(action))
