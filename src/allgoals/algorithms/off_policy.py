"""What agents that learn from replay share: the replay, batches seen through goals, slow copies.

Rows are drawn uniformly, and goals in hindsight are points that the row's own episode came to: at
its end ("final"), any time after the row ("future"), or half of each ("mixed").
"""

from collections.abc import Mapping
from functools import partial
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import Dual, example_inputs, hyperparameters
from allgoals.learning.replay import Replay, Ring, Steps
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task

Relabel = Literal["none", "final", "future", "mixed"]


class Memory(NamedTuple):
    """The replay by environment, and where the episode of each row ends."""

    replay: Replay  # [C, N, ...]
    last_rows: Array  # [C, N]


class OffPolicyAgent(Protocol):
    """What is learnt from replay: networks, how they act, and one gradient step."""

    def init(self, task: Task, key: Key) -> PyTree: ...

    def act(
        self, task: Task, learner: PyTree, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]: ...  # fmt: skip

    def value(self, task: Task, learner: PyTree, obs: Obs, goal: Array) -> Array: ...

    def step(
        self, task: Task, learner: PyTree, memory: Memory, key: Key
    ) -> tuple[PyTree, Metrics]: ...


A = TypeVar("A", bound=OffPolicyAgent)


class OffPolicyLearner(NamedTuple):
    agent: PyTree
    replay: Ring


@hyperparameters
class OffPolicy(Generic[A]):
    """Makes an algorithm of an agent: keeps its rollouts and has it take gradient steps on them."""

    agent: A
    updates: int = 1000  # gradient steps per rollout
    replay_size: int = 2_560_000  # transitions kept
    warm_up: int = 100_000  # transitions of random actions before learning begins

    def init(self, task: Task, key: Key) -> OffPolicyLearner:
        return OffPolicyLearner(self.agent.init(task, key), empty_ring(task, self.replay_size))

    def act(
        self, task: Task, learner: OffPolicyLearner, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        how = dict(explore=explore, progress=progress)
        action, extras = self.agent.act(task, learner.agent, obs, goal, key, **how)
        if explore:
            warm = learner.replay.added >= -(-self.warm_up // len(goal))
            action = jnp.where(warm, action, task.env.actions.sample(key, goal.shape))
        return action, extras

    def value(self, task: Task, learner: OffPolicyLearner, obs: Obs, goal: Array) -> Array:
        return self.agent.value(task, learner.agent, obs, goal)

    def parts(self, learner: OffPolicyLearner) -> Mapping[str, tuple[OffPolicyAgent, PyTree]]:
        return self.agent.parts(learner.agent) if isinstance(self.agent, Dual) else {}

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        del transitions, num_goals
        return {}  # rows are drawn, not divided

    def update(
        self, task: Task, learner: OffPolicyLearner, rollout: Rollout, key: Key, *, progress: Array
    ) -> tuple[OffPolicyLearner, Metrics]:
        """Keeps the rollout, then takes `updates` gradient steps; none before `warm_up`."""
        del progress
        envs = rollout.ended.shape[1]
        replay = learner.replay.by_environment(envs).add(rollout)
        memory = Memory(replay, replay.last_rows())
        learn = partial(self.agent.step, task)
        shapes = jax.eval_shape(learn, learner.agent, memory, key)[1]
        zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

        def one(i: Array, carry: tuple[PyTree, Metrics]) -> tuple[PyTree, Metrics]:
            agent, sums = carry
            agent, metrics = learn(agent, memory, jax.random.fold_in(key, i))
            return agent, jax.tree.map(jnp.add, sums, metrics)

        steps = jnp.where(replay.added >= -(-self.warm_up // envs), self.updates, 0)
        agent, sums = jax.lax.fori_loop(0, steps, one, (learner.agent, zeros))
        means = jax.tree.map(lambda x: x / self.updates, sums)
        return OffPolicyLearner(agent, replay.ring()), means


def empty_ring(task: Task, transitions: int) -> Ring:
    obs = jax.tree.map(lambda x: x[0], example_inputs(task)[0])
    nothing = jnp.bool_(False)
    action = jnp.zeros(task.env.actions.size)
    return Ring.create(Steps(obs, action, jnp.int32(0), obs, nothing, nothing), transitions)


class Batch(NamedTuple):
    """Transitions, each seen through one goal. [B, ...]"""

    obs: Obs
    action: Array
    next_obs: Obs
    goal: Array  # [B, D] a point
    reward: Array
    no_future: Array  # the state arrived at has no further value


def draw(
    task: Task, memory: Memory, key: Key,
    *, batch_size: int, relabel: Relabel, share: Array | float,
) -> Batch:  # fmt: skip
    """Rows of the replay; a `share` of them see a point their own episode came to as their goal."""
    space, replay = task.goals.space, memory.replay
    key_rows, key_hindsight, key_share = jax.random.split(key, 3)
    row, env = replay.sample(key_rows, batch_size)
    steps = replay.take(row, env)
    goal = jnp.asarray(space.points)[steps.goal]
    if relabel != "none":
        later = hindsight_rows(key_hindsight, row, memory.last_rows[row, env], relabel)
        seen = space.project(replay.take(later, env).next_obs)
        relabelled = jax.random.bernoulli(key_share, share, row.shape)
        goal = jnp.where(relabelled[:, None], seen, goal)
    outcome = space.outcome(space.project(steps.next_obs), goal)
    no_future = (outcome.done & task.goals.ends) | steps.terminated
    return Batch(steps.obs, steps.action, steps.next_obs, goal, outcome.reward, no_future)


def hindsight_rows(key: Key, row: Array, last: Array, relabel: Relabel) -> Array:
    """The row whose end each row is relabelled with, of its own episode and not before it. [B]"""
    key_row, key_which = jax.random.split(key)
    future = jax.random.randint(key_row, row.shape, row, last + 1)
    if relabel == "mixed":
        return jnp.where(jax.random.bernoulli(key_which, 0.5, row.shape), last, future)
    return last if relabel == "final" else future


def slowly(slow: PyTree, fast: PyTree, share: Array | float) -> PyTree:
    """A copy that follows: each time it goes `share` of the way."""
    return jax.tree.map(lambda s, f: s + share * (f - s), slow, fast)
