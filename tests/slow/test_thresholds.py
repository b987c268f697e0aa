"""Every algorithm learns: the real loop on small mazes, and values against value iteration.

Thresholds: a random walk of 50 steps reaches a third of this maze's goals (measured: 0.34 mean over
goals); 0.9 asks for a policy that goes where it is told. Seeds are fixed, so a failure is a change.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms import DISCRETE, Leo, Pqn
from allgoals.envs.gridworld import Gridworld
from allgoals.goals.samplers import SAMPLERS
from allgoals.presets import preset
from allgoals.runs.agent import Agent, build_evaluator
from allgoals.runs.setup import build_trainer
from allgoals.tasks import make_task
from allgoals.training import Trainer
from allgoals.validation import build_task
from tests.oracles import optimal_q

pytestmark = pytest.mark.slow
MAZE = Gridworld(size=7, wall_probability=0.25, map_seed=1, max_steps=50)
THRESHOLD = 0.9
STEPS = {"naive_all_goals": 60_000}  # it learns G times from each


def success(experiment) -> float:
    """Mean success over reachable goals after the whole of an experiment."""
    task = build_task(experiment)
    trainer = build_trainer(experiment, task)
    state = jax.jit(trainer.init)(jax.random.key(experiment.seed))
    state, _ = trainer.advance(state, experiment.total_updates)
    agent = Agent(task, experiment.algorithm, state.learner, 1.0)
    result = agent.evaluate(build_evaluator(task, experiment.evaluation), 1)
    return result["mean_reachable"]["agent"]


@pytest.mark.parametrize("name", DISCRETE)
def test_learns_a_small_maze(name):
    experiment = preset(f"gridworld/{name}")
    experiment = replace(
        experiment, env=MAZE, steps=STEPS.get(name, 400_000), num_envs=32, num_steps=16
    )
    assert success(experiment) >= THRESHOLD


# TD3 without hindsight was at 0.33 on one processor and at 0.5 or more on another after 480,000
# steps, since they round differently: it is given all of its preset's.
SOONER = {"sac": 330_000, "sac_her": 330_000, "crl": 330_000, "td3": 1_200_000, "td3_her": 480_000,
          "leo_sac": 330_000}  # fmt: skip
MODES = [dict(goals_per_update=8), dict(late_action=True), dict(policy_update="advantage")]


@pytest.mark.parametrize("name", SOONER)
def test_learns_a_maze_of_points(name):
    """Half of the goals, where a random policy reaches 0.12; the other half lies round the corner.

    Whole presets of all agents and modes reach 0.8 or more (docs/results.md); these are cut short.
    """
    assert success(replace(preset(f"point-u-maze/{name}"), steps=SOONER[name])) >= 0.5


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: next(iter(mode)))
def test_faster_modes_learn_a_maze_of_points(mode):
    experiment = replace(preset("point-u-maze/leo_sac"), steps=480_000)
    agent = replace(experiment.algorithm.agent, **mode)
    algorithm = replace(experiment.algorithm, agent=agent)
    assert success(replace(experiment, algorithm=algorithm)) >= 0.5


def test_the_demo_reaches_any_cell_of_its_maze():
    """`make demo` promises 0.95; seed 0 measured 0.989."""
    assert success(preset("gridworld/dual_leo_pqn")) >= 0.95


@pytest.mark.parametrize(
    ("name", "algorithm", "updates"),
    [("leo", Leo, 400), ("pqn", Pqn, 6000), ("naive_all_goals", Pqn, 400)],
)
def test_learned_values_are_those_of_value_iteration(name, algorithm, updates):
    """Every state, action and goal, from random behaviour, within 0.05: a sigmoid never is 1."""
    env = Gridworld(size=4, wall_probability=0.2, map_seed=0, max_steps=20)
    task = make_task("gridworld", env)
    sizes = dict(width=64, layers=2, minibatch_size=128, epochs=2, learning_rate=3e-3, gamma=0.9)
    behaviour = dict(epsilon_start=1.0, epsilon_end=1.0)
    relabel = dict(relabel="all") if name == "naive_all_goals" else {}
    trainer = Trainer(
        task, algorithm(**sizes, **behaviour, **relabel), SAMPLERS["uniform"], 32, 16, updates, 0.9
    )
    state = jax.jit(trainer.init)(jax.random.key(0))
    state, _ = trainer.advance(state, updates)
    optimal = optimal_q(env, 0.9)  # [S, A, G]
    cells = jnp.asarray(env.free_cells, jnp.uint8)
    learned = np.stack(
        [
            trainer.algorithm.q_values(task, state.learner, cells, jnp.full(len(cells), g))[0]
            for g in range(task.num_goals)
        ],
        axis=-1,
    )
    visited = task.goals.reachable  # states, like goals, are the free cells
    error = np.abs(learned - optimal)[visited]
    assert error.max() < 0.05, error.max()
