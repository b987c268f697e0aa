"""Every algorithm by name, with the paper's hyperparameters."""

from allgoals.algorithms.base import Algorithm, Dual
from allgoals.algorithms.dual_leo_ppo import DualLeoPpo
from allgoals.algorithms.dual_leo_pqn import DualLeoPqn
from allgoals.algorithms.leo import Leo
from allgoals.algorithms.ppo import Ppo
from allgoals.algorithms.pqn import Pqn

ALGORITHMS: dict[str, Algorithm] = {
    "ppo": Ppo(),
    "pqn": Pqn(),
    "pqn_her": Pqn(relabel="mixed", minibatch_size=2048, learning_rate=1e-4),
    "naive_all_goals": Pqn(relabel="all"),
    "leo": Leo(),
    "dual_leo_pqn": DualLeoPqn(),
    "dual_leo_ppo": DualLeoPpo(),
}

__all__ = ["ALGORITHMS", "Algorithm", "Dual", "DualLeoPpo", "DualLeoPqn", "Leo", "Ppo", "Pqn"]
