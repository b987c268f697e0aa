"""Steps per second of every method with 512 goals."""

from allgoals.bench.sizes import ThroughputSizes
from allgoals.studies.speed import Measured, SpeedStudy

SMALL = ThroughputSizes(num_envs=8, num_steps=8, minibatch_size=32, epochs=1, width=16, layers=1)

SPEED = SpeedStudy(
    name="speed",
    paper="the figure of speeds",
    about="Steps per second of PQN with and without hindsight, LEO, both Dual LEOs and PPO, and of"
    " naive relabelling with all goals, at equal sizes.",
    methods=("pqn", "pqn_her", "leo", "dual_leo_pqn", "dual_leo_ppo", "ppo"),
    measured={
        "smoke": Measured(
            "gridworld",
            SMALL,
            few=(4, 16), goals=189, repeats=1,
        ),
        "laptop": Measured("craftax", ThroughputSizes(), few=(4, 8), goals=512, repeats=3),
        "paper": Measured(
            "craftax", ThroughputSizes(num_envs=1024, width=1024), few=(8, 16), goals=512, repeats=5
        ),
    },
    slowdown=0.34,
    factor=264,
)  # fmt: skip
