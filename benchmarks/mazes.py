"""All agents for continuous actions on point-u-maze: train, judge, print a table, draw the curves.

Run: python benchmarks/mazes.py FOLDER [--seeds 0 1 2] [--only sac leo_sac] [--figure FILE]
Stopped at any moment, the same command goes on where it was.
"""

from compare import Comparison, main

from allgoals.algorithms import CONTINUOUS

MODES = {
    "leo_sac, 8 goals": ["leo_sac", "--algorithm.agent.goals-per-update", "8"],
    "leo_sac, late action": ["leo_sac", "--algorithm.agent.late-action"],
    "leo_sac, advantage": ["leo_sac", "--algorithm.agent.policy-update", "advantage"],
}
MAZES = Comparison(
    task="point-u-maze",
    subjects={name: [name] for name in CONTINUOUS} | MODES,
    rows={"all 6 goals": ".*", "nearest": "cell/1-2", "middle (2)": "cell/(1|2)-3",
          "farthest": "cell/3-1"},
    max_steps=200,
    label="success, mean over 6 goals",
)  # fmt: skip

if __name__ == "__main__":
    main(MAZES, __doc__)
