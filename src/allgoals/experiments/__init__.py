"""The paper's figures and tables, one declaration each, for `allgoals reproduce NAME`."""

from allgoals.experiments.all_goals import ALL_GOALS
from allgoals.experiments.ant_maze import ANT_MAZE
from allgoals.experiments.chosen_goals import CHOSEN_GOALS
from allgoals.experiments.components import COMPONENTS
from allgoals.experiments.goal_set_size import GOAL_SET_SIZE
from allgoals.experiments.main import MAIN
from allgoals.experiments.many_goals import MANY_GOALS
from allgoals.experiments.speed import SPEED
from allgoals.experiments.sweep_dual_leo_ppo import SWEEP_DUAL_LEO_PPO
from allgoals.experiments.sweep_dual_leo_pqn import SWEEP_DUAL_LEO_PQN
from allgoals.experiments.sweep_her import SWEEP_HER
from allgoals.experiments.sweep_leo import SWEEP_LEO
from allgoals.experiments.sweep_ppo import SWEEP_PPO
from allgoals.experiments.sweep_pqn import SWEEP_PQN
from allgoals.experiments.uniform_goals import UNIFORM_GOALS
from allgoals.studies.types import Study

IN_ORDER: tuple[Study, ...] = (
    SPEED, MAIN, CHOSEN_GOALS, COMPONENTS, ANT_MAZE, ALL_GOALS,
    SWEEP_PPO, SWEEP_PQN, SWEEP_LEO, SWEEP_DUAL_LEO_PQN, SWEEP_DUAL_LEO_PPO, SWEEP_HER,
    UNIFORM_GOALS, GOAL_SET_SIZE, MANY_GOALS,
)  # fmt: skip
STUDIES: dict[str, Study] = {study.name: study for study in IN_ORDER}
