"""SAC with hindsight and LEO for SAC on ant-u-maze: train, judge, print a table, draw the curves.

Run: python benchmarks/ants.py FOLDER [--steps 300000] [--seeds 0] [--figure FILE]
Stopped at any moment, the same command goes on where it was.
"""

from dataclasses import replace

from compare import main
from mazes import MAZES

SUBJECTS = ("sac_her", "leo_sac, late action")

if __name__ == "__main__":
    subjects = {name: MAZES.subjects[name] for name in SUBJECTS}
    ants = replace(MAZES, task="ant-u-maze", subjects=subjects, max_steps=1001, live=True)
    main(ants, __doc__)
