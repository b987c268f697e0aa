"""Every algorithm by name, with the hyperparameters of the paper or of the ants' benchmark."""

from allgoals.algorithms.base import Algorithm, Dual
from allgoals.algorithms.crl import Crl
from allgoals.algorithms.dual_leo_ppo import DualLeoPpo
from allgoals.algorithms.dual_leo_pqn import DualLeoPqn
from allgoals.algorithms.dual_leo_sac import DualLeoSac
from allgoals.algorithms.leo import Leo
from allgoals.algorithms.leo_sac import LeoSac
from allgoals.algorithms.off_policy import OffPolicy
from allgoals.algorithms.ppo import Ppo
from allgoals.algorithms.pqn import Pqn
from allgoals.algorithms.sac import Sac
from allgoals.algorithms.td3 import Td3

DISCRETE: dict[str, Algorithm] = {
    "ppo": Ppo(),
    "pqn": Pqn(),
    "pqn_her": Pqn(relabel="mixed", minibatch_size=2048, learning_rate=1e-4),
    "naive_all_goals": Pqn(relabel="all"),
    "leo": Leo(),
    "dual_leo_pqn": DualLeoPqn(),
    "dual_leo_ppo": DualLeoPpo(),
}
CONTINUOUS: dict[str, Algorithm] = {
    "sac": OffPolicy(Sac()),
    "sac_her": OffPolicy(Sac(relabel="final")),
    "td3": OffPolicy(Td3()),
    "td3_her": OffPolicy(Td3(relabel="final")),
    "crl": OffPolicy(Crl()),
    "leo_sac": OffPolicy(LeoSac()),
    "dual_leo_sac": OffPolicy(DualLeoSac()),
}
ALGORITHMS = DISCRETE | CONTINUOUS

__all__ = [
    "ALGORITHMS", "CONTINUOUS", "DISCRETE", "Algorithm", "Crl", "Dual", "DualLeoPpo", "DualLeoPqn",
    "DualLeoSac", "Leo", "LeoSac", "OffPolicy", "Ppo", "Pqn", "Sac", "Td3",
]  # fmt: skip
