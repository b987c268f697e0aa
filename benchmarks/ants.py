"""SAC with hindsight and LEO for SAC on ant-u-maze: train, judge, print a table, draw the curves.

Run: python benchmarks/ants.py FOLDER [--steps 300000] [--seeds 0] [--figure FILE]
Stopped at any moment, the same command goes on where it was.
"""

from compare import Comparison, main

ANTS = Comparison(
    task="ant-u-maze",
    subjects={
        "sac_her": ["sac_her"],
        "leo_sac, late action": ["leo_sac", "--algorithm.agent.late-action"],
    },
    rows={"all 6 goals": ".*", "nearest": "cell/1-2", "middle (2)": "cell/(1|2)-3",
          "farthest": "cell/3-1"},
    max_steps=1001,
    label="success, mean over 6 goals",
)  # fmt: skip

if __name__ == "__main__":
    main(ANTS, __doc__)
