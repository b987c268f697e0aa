"""Experiments by name: "craftax/leo/paper" is a task, an algorithm and sizes that suit both.

Sizes are `laptop` (two cores, minutes; the default) and, but for the gridworld and the points,
`paper` (the paper's own, for a GPU): there the algorithms' defaults hold, which are the paper's
tuned values or, on the ant mazes, the benchmark's.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

from allgoals.algorithms import ALGORITHMS, CONTINUOUS, DISCRETE
from allgoals.algorithms.base import Algorithm
from allgoals.errors import unknown
from allgoals.experiment import EvaluationOptions, Experiment, MazeGoalOptions
from allgoals.goals.maze import MazeGoals
from allgoals.tasks import TASKS
from allgoals.types import Discrete


def resized(name: str, q: dict, ppo: dict) -> Algorithm:
    """The algorithm with some fields of its Q-learning and PPO parts changed."""
    algorithm = ALGORITHMS[name]
    changes = {"leo": q, "pqn": q, "ppo": ppo}
    if name in ("dual_leo_pqn", "dual_leo_ppo"):
        parts = [part for part in changes if hasattr(algorithm, part)]
        return replace(
            algorithm,
            **{part: replace(getattr(algorithm, part), **changes[part]) for part in parts},
        )
    return replace(algorithm, **(ppo if name == "ppo" else q))


def _gridworld_laptop(task: str, name: str) -> Experiment:
    q = dict(
        width=128, layers=2, learning_rate=3e-3, gamma=0.95, minibatch_size=512, epochs=2,
        epsilon_start=1.0, epsilon_end=0.05, epsilon_decay=0.5,
    )  # fmt: skip
    ppo = dict(
        width=128, actor_layers=1, critic_layers=1, learning_rate=1e-3, gamma=0.95,
        epochs=4, num_minibatches=8, entropy_coefficient=0.01,
    )  # fmt: skip
    algorithm = resized(name, q, ppo)
    if name == "dual_leo_pqn":
        algorithm = replace(algorithm, alpha=0.5)
    return Experiment(task, name, TASKS[task][0](), algorithm, steps=1_000_000)


LAPTOP_STEPS = {"craftax-classic": 3_000_000, "craftax": 1_000_000}
LAPTOP_EVALUATION = {  # so that judging takes less time than training
    "craftax-classic": EvaluationOptions(times=8, episodes=2, max_steps=512, num_envs=272),
    "craftax": EvaluationOptions(times=3, episodes=1, max_steps=512, num_envs=256),
}
FEWER = {"naive_all_goals": 30}  # it learns from every step once per goal, so it gets fewer steps
MORE_ROWS = {  # relabelling multiplies the rows of a rollout
    "pqn_her": dict(minibatch_size=384),
    "naive_all_goals": dict(minibatch_size=4096, epochs=1),
}


def _craftax_laptop(task: str, name: str) -> Experiment:
    q = dict(
        width=256, layers=2, conv_features=16, learning_rate=1.5e-3, gamma=0.9,
        initial_value=0.02, minibatch_size=128, epochs=2,
        epsilon_start=1.0, epsilon_end=0.1, epsilon_decay=0.4,
    ) | MORE_ROWS.get(name, {})  # fmt: skip
    ppo = dict(
        width=256, actor_layers=1, critic_layers=1, conv_features=16, learning_rate=5e-4,
        gamma=0.99, epochs=4, num_minibatches=8,
    )  # fmt: skip
    num_envs, num_steps = (128, 32) if name in ("ppo", "dual_leo_ppo") else (1024, 4)
    return Experiment(
        task, name, TASKS[task][0](), resized(name, q, ppo),
        steps=LAPTOP_STEPS[task] // FEWER.get(name, 1),
        num_envs=num_envs, num_steps=num_steps,
        evaluation=LAPTOP_EVALUATION[task],
        log_every=10, checkpoint_every=100,
    )  # fmt: skip


PAPER_STEPS = {"leo": 32, "ppo": 64, "dual_leo_ppo": 64}  # per update; 2 for all that is PQN


def _craftax_paper(task: str, name: str) -> Experiment:
    algorithm = resized(name, dict(normalise_inputs=True), dict(normalise_inputs=True))
    return Experiment(
        task, name, TASKS[task][0](), algorithm,
        steps=1_000_000_000, num_envs=1024, num_steps=PAPER_STEPS.get(name, 2),
        evaluation=EvaluationOptions(times=20, episodes=16, max_steps=512, num_envs=1024),
        log_every=50, checkpoint_every=1000,
    )  # fmt: skip


HARD = ("td3", "td3_her")  # those without a temperature


def _temperature(name: str, alpha: float) -> dict[str, float]:
    return {} if name in HARD else dict(initial_temperature=alpha)


def _off_policy(name: str, agent: dict, replay: dict) -> Algorithm:
    """The algorithm with some fields of what it learns, and of its replay, changed."""
    learns = ALGORITHMS[name].agent
    if name == "dual_leo_sac":
        agent = {part: replace(getattr(learns, part), **agent) for part in ("leo", "sac")}
    return replace(ALGORITHMS[name], agent=replace(learns, **agent), **replay)


def _point_laptop(task: str, name: str) -> Experiment:
    agent = dict(width=128, learning_rate=1e-3, gamma=0.98, batch_size=128)
    agent |= dict(gamma=0.95) if name == "crl" else dict(tau=0.02)  # sharper near the goal
    agent |= dict(exploration_noise=1.5) if name in HARD else {}
    agent |= _temperature(name, 0.001)  # reaching a goal ends the bonus for entropy
    replay = dict(updates=64, replay_size=1_024_000, warm_up=51_200)
    return Experiment(
        task, name, TASKS[task][0](), _off_policy(name, agent, replay),
        steps=1_200_000 if name == "td3" else 800_000, num_envs=64, num_steps=32,
        goals=MazeGoalOptions(maze=MazeGoals(spacing=2.0, ends=True)),
        evaluation=EvaluationOptions(times=5, episodes=8, max_steps=200, num_envs=64),
        log_every=5, checkpoint_every=50,
    )  # fmt: skip


def _ant_laptop(task: str, name: str) -> Experiment:
    agent = dict(learning_rate=3e-4, gamma=0.99) | _temperature(name, 0.1)
    algorithm = _off_policy(name, agent, dict(updates=400, replay_size=512_000, warm_up=12_800))
    return Experiment(
        task, name, TASKS[task][0](), algorithm,
        steps=500_000, num_envs=64, num_steps=100,
        goals=MazeGoalOptions(maze=MazeGoals(spacing=2.0)),
        evaluation=EvaluationOptions(times=5, episodes=8, max_steps=1001, num_envs=64),
        log_every=5, checkpoint_every=10,
    )  # fmt: skip


def _ant_paper(task: str, name: str) -> Experiment:
    """The benchmark's values; its contrastive RL has a rhythm of its own."""
    algorithm, num_steps = ALGORITHMS[name], 50
    if name == "crl":
        algorithm, num_steps = replace(algorithm, warm_up=256_000), 62
    if name.endswith("_her"):  # rows whose episode ends in a window of the length of an episode
        algorithm = replace(algorithm, agent=replace(algorithm.agent, hindsight=0.5))
    return Experiment(
        task, name, TASKS[task][0](), algorithm,
        steps=50_000_000, num_envs=256, num_steps=num_steps,
        goals=MazeGoalOptions(frozen=True),
        evaluation=EvaluationOptions(times=50, episodes=16, max_steps=1001, num_envs=256),
        log_every=10, checkpoint_every=100,
    )  # fmt: skip


SIZES: dict[str, dict[str, Callable[[str, str], Experiment]]] = {
    "gridworld": {"laptop": _gridworld_laptop},
    "craftax-classic": {"laptop": _craftax_laptop, "paper": _craftax_paper},
    "craftax": {"laptop": _craftax_laptop, "paper": _craftax_paper},
    "point-u-maze": {"laptop": _point_laptop},
    "point-big-maze": {"laptop": _point_laptop},
    "ant-u-maze": {"laptop": _ant_laptop, "paper": _ant_paper},
    "ant-big-maze": {"laptop": _ant_laptop, "paper": _ant_paper},
    "ant-hardest-maze": {"laptop": _ant_laptop, "paper": _ant_paper},
}


def algorithms_for(task: str) -> dict[str, Algorithm]:
    """Those that choose the kind of action the task's environment takes."""
    actions = TASKS[task][0].actions
    return DISCRETE if isinstance(actions, Discrete) else CONTINUOUS


def preset(name: str) -> Experiment:
    """The experiment called TASK/ALGORITHM or TASK/ALGORITHM/SIZE."""
    task, algorithm, size, *more = [*name.split("/"), "", ""]
    if not algorithm:
        raise unknown("experiment", name, names())
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, algorithms_for(task))
    if algorithm not in algorithms_for(task):
        raise unknown(f"algorithm for {task}", algorithm, algorithms_for(task))
    if any(more) or (size and size not in SIZES[task]):
        raise unknown(f"size of {task}", "/".join([size, *more]).rstrip("/"), SIZES[task])
    return SIZES[task][size or "laptop"](task, algorithm)


def command(experiment: Experiment) -> list[str]:
    """The words that train it: `allgoals train`, the nearest preset, and what differs from that.

    Empty, if it is made of other parts than any preset of its name.
    """
    task, name = experiment.task, experiment.name
    sizes = SIZES[task] if name in algorithms_for(task) else ()
    presets = {f"{task}/{name}/{size}".removesuffix("/laptop"): SIZES[task][size](task, name)
               for size in sizes}  # fmt: skip
    alike = [size for size, one in presets.items() if _classes(one) == _classes(experiment)]
    found = [[size, *_options(experiment, presets[size])] for size in alike]
    return ["allgoals", "train", *min(found, key=len)] if found else []


def _classes(record: Any) -> list[type]:
    """Of a record and of those within it."""
    if not dataclasses.is_dataclass(record):
        return []
    inner = [_classes(getattr(record, field.name)) for field in dataclasses.fields(record)]
    return [type(record), *chain.from_iterable(inner)]


def _options(given: Any, default: Any, *path: str) -> list[str]:
    """The words that make one record of another of its class."""
    if dataclasses.is_dataclass(given):
        names = [field.name for field in dataclasses.fields(given)]
        parts = [_options(getattr(given, n), getattr(default, n), *path, n) for n in names]
        return list(chain.from_iterable(parts))
    if given == default:
        return []
    *groups, name = (part.replace("_", "-") for part in path)
    values = map(str, given if isinstance(given, tuple) else (given,))
    if isinstance(given, bool):
        name, values = (name if given else f"no-{name}"), ()
    return ["--" + ".".join([*groups, name]), *values]


def names() -> list[str]:
    return [f"{task}/{algorithm}" for task in TASKS for algorithm in algorithms_for(task)]
