"""What every registered algorithm owes the loop: a new one is tested by being registered."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms import ALGORITHMS, Dual, DualLeoPpo, Ppo
from allgoals.goals.samplers import seen_only
from allgoals.runs.agent import Agent
from allgoals.runs.checkpoint import digest
from allgoals.training import Trainer
from allgoals.types import GoalOutcome
from tests.algorithms.small import NAMES, small, small_task

ENVS, STEPS = 8, 4


@pytest.fixture(scope="module", params=NAMES)
def trainer(request):
    task = small_task()
    return Trainer(task, small(request.param), seen_only, ENVS, STEPS, 6, 0.9)


@pytest.fixture(scope="module")
def trained(trainer):
    """A start, and what six updates made of it in chunks of 1, 2 and 3."""
    start = jax.jit(trainer.init)
    state = start(jax.random.key(0))
    for chunk in (1, 2, 3):
        state, metrics = trainer.advance(state, chunk)
    return start(jax.random.key(0)), state, metrics


def test_actions_fit_the_task(trainer, trained):
    task, (_, state, _) = trainer.task, trained
    obs, goal = state.actor.envs.obs, state.actor.goal
    act = partial(trainer.algorithm.act, task, state.learner, obs, goal, progress=jnp.float32(0.5))
    for explore in (True, False):
        action, _ = act(jax.random.key(0), explore=explore)
        assert action.shape == (ENVS,) and jnp.issubdtype(action.dtype, jnp.integer)
        assert ((action >= 0) & (action < task.num_actions)).all()


def test_values_are_followed_without_exploration_and_policies_sampled(trainer, trained):
    task, (_, state, _) = trainer.task, trained
    obs, goal = state.actor.envs.obs, state.actor.goal
    act = partial(trainer.algorithm.act, task, state.learner, obs, goal, progress=jnp.float32(0.5))
    judged = jnp.stack([act(jax.random.key(i), explore=False)[0] for i in range(6)])  # [6, N]
    if isinstance(trainer.algorithm, Ppo | DualLeoPpo):
        training = jnp.stack([act(jax.random.key(i), explore=True)[0] for i in range(6)])
        assert (judged == training).all() and (judged != judged[0]).any()
        agent = Agent(task, trainer.algorithm, state.learner, 0.5)
        assert len({int(agent.policy([0, 0], 0)) for _ in range(20)}) > 1  # a draw for each call
    else:
        assert (judged == judged[0]).all()


def test_values_are_one_per_row_and_bounded(trainer, trained):
    state = trained[1]
    value = trainer.algorithm.value(
        trainer.task, state.learner, state.actor.envs.obs, state.actor.goal
    )
    assert value.shape == (ENVS,) and ((value > 0) & (value < 1)).all()


def test_learning_changes_parameters_and_keeps_their_form(trainer, trained):
    before, after, _ = trained
    changed = jax.tree.map(lambda a, b: bool((a != b).any()), before.learner, after.learner)
    assert sum(jax.tree.leaves(changed)) > len(jax.tree.leaves(changed)) / 2
    form = partial(jax.tree.map, lambda x: (x.shape, x.dtype))
    assert form(before) == form(after)
    assert int(after.update) == 6


def test_metrics_are_finite_and_named_by_part(trained):
    metrics = trained[2]
    assert all(np.isfinite(value) and value.shape == () for value in metrics.values())
    assert all(name.count("/") == 1 for name in metrics)
    assert any(name.endswith("/loss") for name in metrics)


def test_the_same_seed_gives_the_same_bytes_in_chunks_of_any_length(trainer, trained):
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, _ = trainer.advance(state, 6)
    assert digest(state) == digest(trained[1])


def test_another_seed_gives_others(trainer, trained):
    state = jax.jit(trainer.init)(jax.random.key(1))
    state, _ = trainer.advance(state, 6)
    assert digest(state.learner) != digest(trained[1].learner)


def test_one_program_serves_every_length_and_every_traced_hyperparameter(trainer, trained):
    first = [f.name for f in dataclasses.fields(trainer.algorithm) if f.type is float][0]
    other = dataclasses.replace(trainer.algorithm, **{first: 0.5})
    state = jax.jit(trainer.init)(jax.random.key(0))
    trainer.program(other, 12, state, 2)  # a compiled program refuses what it was not made for


def test_traced_hyperparameters_still_count(trainer, trained):
    """The program must read them, not remember the first ones."""
    algorithm = trainer.algorithm
    part = next((f for f in dataclasses.fields(algorithm) if f.name == "leo"), None)
    fast = (
        dataclasses.replace(algorithm, leo=dataclasses.replace(algorithm.leo, learning_rate=0.1))
        if part
        else dataclasses.replace(algorithm, learning_rate=0.1)
    )
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, _ = trainer.program(fast, 6, state, 6)
    assert digest(state.learner) != digest(trained[1].learner)


def test_parts_act_alone(trainer, trained):
    algorithm, learner = trainer.algorithm, trained[1].learner
    if not isinstance(algorithm, Dual):
        pytest.skip("a single algorithm")
    parts = algorithm.parts(learner)
    assert set(parts) == {"leo", "uvfa"}
    obs, goal = trained[1].actor.envs.obs, trained[1].actor.goal
    for part, of_part in parts.values():
        action, _ = part.act(
            trainer.task, of_part, obs, goal, jax.random.key(0), explore=False, progress=1.0
        )
        assert action.shape == (ENVS,)


def test_divisions_name_fields_that_exist(trainer):
    for name, (rows, divisor) in trainer.algorithm.divisions(32, 9).items():
        value = trainer.algorithm
        for field in name.split("."):
            value = getattr(value, field)
        assert value == divisor and rows % 32 == 0


@pytest.mark.parametrize("name", ["leo", "pqn_her", "ppo"])
def test_rewards_of_any_kind(name):
    """Dense, negative rewards without an end: values are not squeezed into 0..1."""
    task = small_task()
    plain = task.goals.outcome

    def outcome(obs):
        done = plain(obs).done
        return GoalOutcome(reward=done - 2.0, done=done & False)

    task = task._replace(goals=task.goals._replace(outcome=outcome, bounded=False))
    algorithm = small(name, learning_rate=1e-2)
    trainer = Trainer(task, algorithm, seen_only, ENVS, STEPS, 60, 0.9)
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, metrics = trainer.advance(state, 60)
    value = algorithm.value(task, state.learner, state.actor.envs.obs, state.actor.goal)
    assert np.isfinite(list(metrics.values())).all()
    assert float(value.mean()) < 0  # a sigmoid could not say so


def test_defaults_are_the_papers():
    leo, pqn, ppo = ALGORITHMS["leo"], ALGORITHMS["pqn"], ALGORITHMS["ppo"]
    assert (leo.width, leo.layers, leo.gamma, leo.epochs, leo.minibatch_size) == (
        1024,
        4,
        0.99,
        2,
        512,
    )
    assert (leo.epsilon_start, leo.epsilon_end, leo.epsilon_decay) == (0.2, 0.01, 0.2)
    assert (pqn.width, pqn.layers, pqn.gamma, pqn.epochs, pqn.minibatch_size) == (
        1024,
        4,
        0.995,
        1,
        256,
    )
    assert (pqn.epsilon_start, pqn.epsilon_end, pqn.epsilon_decay) == (0.2, 0.01, 0.5)
    layers = (ppo.embedding_layers, ppo.actor_layers, ppo.critic_layers)
    assert (ppo.width, layers, ppo.gamma, ppo.gae_lambda) == (1024, (1, 2, 4), 0.995, 0.95)
    assert (ppo.epochs, ppo.num_minibatches, ppo.entropy_coefficient) == (1, 32, 0.005)
    assert (ppo.clip, ppo.value_coefficient) == (0.2, 0.5)
    assert all(a.max_grad_norm == 1.0 for a in (leo, pqn, ppo))
    assert all(a.learning_rate == 2e-4 and a.learning_rate_decay for a in (leo, pqn, ppo))
    her, dual, cloning = (ALGORITHMS[n] for n in ("pqn_her", "dual_leo_pqn", "dual_leo_ppo"))
    assert (her.relabel, her.random_goals, her.positive_goals) == ("mixed", 1, 1)
    assert (her.relabel_level, her.minibatch_size, her.learning_rate) == ("trajectory", 2048, 1e-4)
    assert (dual.acting, dual.alpha, dual.anneal_alpha) == ("linear_combination", 0.3, False)
    assert (cloning.policy_cloning, cloning.value_cloning, cloning.anneal_cloning) == (
        0.1,
        0.0,
        True,
    )
