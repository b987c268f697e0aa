"""Collecting, against the story of each environment told by a plain loop."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.vector import VectorEnv
from allgoals.goals.samplers import uniform
from allgoals.presets import preset
from allgoals.rollout import collect, start
from allgoals.runs.setup import build_trainer
from allgoals.validation import build_task
from tests.probes import DeadlyChain, chain_task
from tests.runs.micro import micro

STEPS, ENVS = 60, 6


def policy(obs, goal, key):
    """Random, and it asks to have its observation back."""
    return jax.random.randint(key, goal.shape, 0, 2), {"saw": obs, "told": goal}


@pytest.fixture(scope="module")
def story():
    task, envs = chain_task(), VectorEnv(DeadlyChain(), ENVS)
    actor = start(task, envs, uniform, jax.random.key(0))
    after, rollout = collect(task, envs, policy, uniform, 0.9, actor, jax.random.key(1), STEPS)
    return task, actor, after, jax.tree.map(np.asarray, rollout)


def test_stored_last_observations_are_true(story):
    """Where an episode ends, next_obs is still of its own world, and it is what was judged."""
    _, _, _, rollout = story
    assert (rollout.next_obs[..., 1] == rollout.obs[..., 1]).all()
    position = rollout.next_obs[..., 0]
    truth = position[..., None] == np.arange(DeadlyChain.length)
    assert (rollout.outcome.done == truth).all()


def test_nothing_of_the_next_episode_leaks_into_rewards(story):
    """Worlds begin on cells 0..3, so a reset observation would satisfy one of those goals."""
    _, _, _, rollout = story
    died = rollout.terminated
    assert died.sum() > 10
    assert not rollout.outcome.reward[died][:, :4].any()
    assert rollout.outcome.reward[died][:, 4].all()


def test_goals_stand_until_reached_or_ended(story):
    _, _, after, rollout = story
    reached = np.take_along_axis(rollout.outcome.done, rollout.goal[..., None], -1)[..., 0]
    moves_on = reached | rollout.ended
    kept = rollout.goal[1:] == rollout.goal[:-1]
    assert kept[~moves_on[:-1]].all()
    assert 0.05 < kept[moves_on[:-1]].mean() < 0.5  # one in five draws repeats by chance
    assert (rollout.extras["told"] == rollout.goal).all()
    assert (rollout.extras["saw"] == rollout.obs).all()


def test_observations_follow_each_other(story):
    _, actor, after, rollout = story
    assert (rollout.obs[0] == np.asarray(actor.envs.obs)).all()
    same = ~rollout.ended[:-1]
    assert (rollout.obs[1:][same] == rollout.next_obs[:-1][same]).all()
    assert (rollout.obs[1:][~same][:, 1] != rollout.next_obs[:-1][~same][:, 1]).all()


def test_only_the_first_goal_of_an_episode_is_scored(story):
    _, _, after, rollout = story
    won, lost = np.zeros(5), np.zeros(5)
    decayed = np.zeros((2, 5))
    first = np.ones(ENVS, bool)
    for t in range(STEPS):
        events = np.zeros((2, 5))
        for n in range(ENVS):
            goal = rollout.goal[t, n]
            reached, ended = rollout.outcome.done[t, n, goal], rollout.ended[t, n]
            if first[n] and (reached or ended):
                events[0 if reached else 1, goal] += 1
            first[n] = ended or (first[n] and not reached)
        won, lost = won + events[0], lost + events[1]
        decayed = decayed * 0.9 ** events.sum(0) + events
    tracker = after.tracker
    np.testing.assert_allclose(tracker.successes, decayed[0], rtol=1e-5)
    np.testing.assert_allclose(tracker.failures, decayed[1], rtol=1e-5)
    assert won.sum() > 10 and lost.sum() > 10


def test_seen_goals_are_those_some_observation_satisfied(story):
    task, actor, after, rollout = story
    first = np.asarray(task.goals.outcome(actor.envs.obs).done).any(0)
    assert (np.asarray(after.tracker.seen) == (rollout.outcome.done.any((0, 1)) | first)).all()
    assert (np.asarray(actor.tracker.seen) == first).all() and not first.all()


def test_arbitrary_rewards_and_pseudo_terminations():
    """A goal set whose reward and done differ passes through untouched."""
    task = chain_task()
    plain_outcome = task.goals.outcome

    def outcome(obs):
        plain = plain_outcome(obs)
        return plain._replace(reward=-jnp.abs(obs[..., :1] - jnp.arange(5.0)))

    task = task._replace(goals=task.goals._replace(outcome=outcome, bounded=False))
    envs = VectorEnv(DeadlyChain(), ENVS)
    actor = start(task, envs, uniform, jax.random.key(0))
    _, rollout = collect(task, envs, policy, uniform, 0.9, actor, jax.random.key(1), 5)
    distance = np.abs(np.asarray(rollout.next_obs)[..., :1].astype(float) - np.arange(5))
    np.testing.assert_allclose(rollout.outcome.reward, -distance)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_run_keeps_its_goals_if_that_is_asked_for(frozen):
    """From the option of an experiment to the rollouts of its trainer."""
    goals = replace(preset("point-u-maze/sac").goals, frozen=frozen)
    experiment = micro("sac", goals=goals, num_steps=32)  # an episode and a half
    trainer = build_trainer(experiment, build_task(experiment))
    state = trainer.init(jax.random.key(0))
    _, rollout = trainer.collect(trainer.algorithm, state, jax.random.key(1), 0.0)
    assert (rollout.goal == rollout.goal[0]).all() == frozen and rollout.ended.any()


@pytest.mark.parametrize(("ends", "frozen"), [(False, False), (True, True), (False, True)])
def test_goals_that_do_not_end_or_never_change(ends, frozen):
    """A goal that does not end stands to the end of its episode and is scored once in it."""
    task = chain_task()
    task = task._replace(goals=task.goals._replace(ends=ends))
    envs = VectorEnv(DeadlyChain(), ENVS)
    actor = start(task, envs, uniform, jax.random.key(0))
    after, rollout = collect(
        task, envs, policy, uniform, 1.0, actor, jax.random.key(1), STEPS, frozen
    )
    rollout = jax.tree.map(np.asarray, rollout)
    kept = rollout.goal[1:] == rollout.goal[:-1]
    assert kept[~rollout.ended[:-1]].all()
    assert kept.all() if frozen else not kept[rollout.ended[:-1]].all()
    won = lost = 0
    for n in range(ENVS):
        reached = False
        for t in range(STEPS):
            now = rollout.outcome.done[t, n, rollout.goal[t, n]]
            won += now and not reached
            reached |= now
            lost += rollout.ended[t, n] and not reached
            reached &= not rollout.ended[t, n]
    assert won > 10 and lost > 10
    assert (float(after.tracker.successes.sum()), float(after.tracker.failures.sum())) == (
        won,
        lost,
    )
