"""What a budget makes of a preset.

`smoke` proves the machinery: small mazes stand for Craftax and for the ants, a run takes seconds.
`laptop` is sized for two cores. `paper` is the paper's own size.
"""

from collections.abc import Callable
from dataclasses import replace

from allgoals.envs.gridworld import Gridworld
from allgoals.experiment import EvaluationOptions, Experiment
from allgoals.presets import preset, resized
from allgoals.studies.types import Budget

LABELS = {
    "ppo": "PPO",
    "pqn": "PQN",
    "pqn_her": "PQN + HER",
    "leo": "LEO",
    "dual_leo_pqn": "Dual LEO (PQN)",
    "dual_leo_ppo": "Dual LEO (PPO)",
    "sac": "SAC",
    "sac_her": "SAC + HER",
    "td3": "TD3",
    "td3_her": "TD3 + HER",
    "crl": "CRL",
    "leo_sac": "SAC + LEO",
    "dual_leo_sac": "SAC + Dual LEO",
}
SIX = ("ppo", "pqn", "pqn_her", "leo", "dual_leo_pqn", "dual_leo_ppo")
CRAFTAX: dict[Budget, tuple[str, ...]] = {
    "smoke": ("gridworld",),
    "laptop": ("craftax-classic",),
    "paper": ("craftax-classic", "craftax"),
}
FULL_CRAFTAX: dict[Budget, str] = {  # what stands for it
    "smoke": "gridworld",
    "laptop": "craftax-classic",
    "paper": "craftax",
}
CHAIN = "block_map/PLANT_left"  # the shortest chain of steps: collect a sapling, then plant it
CHOSEN_AFTER: dict[Budget, str] = {
    "laptop": "Goals at which the paper looks, such as coal and stone pickaxes, are reached by"
    " nobody so early. The plants beside the player stand for them: they were chosen after runs had"
    " been seen in which LEO had begun to reach them, so what is said of them illustrates and does"
    " not test."
}
MAZE_STEPS = 800_000  # of a run on a point maze
LAPTOP_STEPS = 300_000  # of a run on Craftax, so that a study of 18 takes about an hour


def craftax(budget: Budget, task: str, name: str) -> Experiment:
    """An algorithm for discrete actions, on Craftax or what stands for it."""
    if budget == "paper":
        return preset(f"{task}/{name}/paper")
    if budget == "smoke":
        return _smallest(name)
    return replace(
        preset(f"{task}/{name}"),
        steps=LAPTOP_STEPS,
        checkpoint_every=15,
        evaluation=EvaluationOptions(
            times=3, episodes=2, last_episodes=4, max_steps=512, num_envs=136
        ),
    )


def _smallest(name: str) -> Experiment:
    size = dict(width=32, learning_rate=1e-3)
    rows = 192 if name == "pqn_her" else 64
    q = size | dict(layers=1, minibatch_size=rows, epochs=1)
    ppo = size | dict(actor_layers=1, critic_layers=1, epochs=1, num_minibatches=4)
    return replace(
        preset(f"gridworld/{name}"),
        env=Gridworld(size=5, wall_probability=0.1, max_steps=20),
        algorithm=resized(name, q, ppo),
        steps=4096, num_envs=16, num_steps=16, log_every=4,
        evaluation=EvaluationOptions(times=2, episodes=1, max_steps=20, num_envs=25),
    )  # fmt: skip


def maze(budget: Budget, task: str, name: str) -> Experiment:
    """An algorithm for continuous actions, on an ant maze or the point maze that stands for it."""
    if budget == "paper":
        return preset(f"{task}/{name}/paper")
    laptop = preset(f"{task}/{name}")
    if budget == "laptop":
        return replace(laptop, steps=MAZE_STEPS)
    small = replace(laptop.algorithm, updates=2, replay_size=4096, warm_up=256)
    return replace(
        laptop, algorithm=small, steps=2048, num_envs=16, num_steps=16, log_every=4,
        evaluation=EvaluationOptions(times=2, episodes=1, max_steps=20, num_envs=6),
    )  # fmt: skip


TRIALS: dict[Budget, int] = {"smoke": 3, "laptop": 100, "paper": 100}
SWEPT_STEPS: dict[Budget, int] = {"smoke": 1024, "laptop": 400_000, "paper": 200_000_000}


def swept(name: str) -> Callable[[Budget], Experiment]:
    """What trials of a sweep begin from, by budget."""

    def base(budget: Budget) -> Experiment:
        experiment = craftax(budget, FULL_CRAFTAX[budget], name)
        once = replace(experiment.evaluation, times=1, last_episodes=None)
        changes = dict(steps=SWEPT_STEPS[budget], evaluation=once)
        # so many that every set of values divides the rows of a rollout
        return replace(experiment, **changes, num_envs=512 if budget == "smoke" else 1024)

    return base
