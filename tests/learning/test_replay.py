"""The ring against plain lists, over episodes that end by falling, by time and at its seam."""

from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.learning.replay import Ring, Steps
from allgoals.types import GoalOutcome, Transition

ENVS = 3


def rollout(start: int, steps: int, random: np.random.Generator) -> Transition:
    """Observations count the steps; each environment's episodes end at random."""
    time = (start + np.arange(steps))[:, None] * np.ones((1, ENVS), int)
    label = 10.0 * time + np.arange(ENVS)
    kind = random.choice(3, (steps, ENVS), p=[0.7, 0.15, 0.15])
    return Transition(
        obs=jnp.asarray(label)[..., None],
        action=jnp.asarray(-label)[..., None],
        goal=jnp.asarray(time % 5),
        next_obs=jnp.asarray(label + 0.5)[..., None],
        outcome=GoalOutcome(jnp.zeros((steps, ENVS, 1)), jnp.zeros((steps, ENVS, 1), bool)),
        terminated=jnp.asarray(kind == 1),
        truncated=jnp.asarray(kind == 2),
        extras=(),
    )


@pytest.mark.parametrize("capacity, lengths", [(8, [3, 3, 3, 3, 3, 3]), (7, [7, 2, 5]), (10, [4])])
def test_rows_and_ends_of_episodes_equal_plain_lists(capacity, lengths):
    random = np.random.default_rng(capacity)
    held = deque(maxlen=capacity)
    replay, start = None, 0
    for length in lengths:
        new = rollout(start, length, random)
        if replay is None:
            one = Steps(*(jax.tree.map(lambda x: x[0, 0], getattr(new, f)) for f in Steps._fields))
            replay = Ring.create(one, capacity * ENVS).by_environment(ENVS)
        replay = replay.add(new)
        held.extend(jax.tree.map(lambda x, t=t: x[t], new) for t in range(length))
        start += length

        assert int(replay.size) == len(held)
        row, env = np.meshgrid(np.arange(len(held)), np.arange(ENVS), indexing="ij")
        taken = replay.take(jnp.asarray(row), jnp.asarray(env))
        for name in Steps._fields:
            expected = np.stack([np.asarray(getattr(step, name)) for step in held])
            np.testing.assert_array_equal(getattr(taken, name), expected)

        last = np.asarray(replay.last_rows())
        for n in range(ENVS):
            for t in range(len(held)):
                end = t
                while not (held[end].terminated[n] or held[end].truncated[n]):
                    if end == len(held) - 1:
                        break
                    end += 1
                assert last[t, n] == end


def test_samples_are_uniform_over_what_is_held():
    random = np.random.default_rng(0)
    new = rollout(0, 5, random)
    one = Steps(*(jax.tree.map(lambda x: x[0, 0], getattr(new, f)) for f in Steps._fields))
    replay = Ring.create(one, 8 * ENVS).by_environment(ENVS).add(new)
    row, env = replay.sample(jax.random.key(0), 30_000)
    counts = np.zeros((8, ENVS))
    np.add.at(counts, (np.asarray(row), np.asarray(env)), 1)
    assert (counts[5:] == 0).all()
    np.testing.assert_allclose(counts[:5] / 30_000, 1 / 15, atol=0.01)


def test_the_count_stays_small_over_many_rounds():
    random = np.random.default_rng(0)
    new = rollout(0, 5, random)
    one = Steps(*(jax.tree.map(lambda x: x[0, 0], getattr(new, f)) for f in Steps._fields))
    replay = Ring.create(one, 8 * ENVS).by_environment(ENVS)
    for _ in range(100):
        replay = replay.add(new)
    assert int(replay.added) < 16 and int(replay.size) == 8
