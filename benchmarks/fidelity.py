"""What our departures from the official code measure: LEO on the gridworld, right and as it was.

Run: python benchmarks/fidelity.py [--seeds 3] [--steps 300000]
"""

import argparse
from dataclasses import replace
from functools import cached_property

import jax
import numpy as np

from allgoals.envs.vector import VectorEnv
from allgoals.goals.samplers import seen_only
from allgoals.presets import preset
from allgoals.runs.agent import Agent, build_evaluator
from allgoals.runs.cache import enable_compile_cache
from allgoals.training import Trainer
from allgoals.validation import build_task


class LimitsTerminate(VectorEnv):
    """A time limit counts as the end of all value."""

    def step(self, state, action, key):
        state, step = super().step(state, action, key)
        ended = step.terminated | step.truncated
        return state, step._replace(terminated=ended, truncated=step.truncated & False)


class ResetsLeak(LimitsTerminate):
    """And the last observation of an episode is lost: the next one's first stands in its place."""

    def step(self, state, action, key):
        state, step = super().step(state, action, key)
        return state, step._replace(obs=state.obs)


VARIANTS = {
    "ours": VectorEnv,
    "time limits terminate": LimitsTerminate,
    "... and rewards of the reset observation": ResetsLeak,
}


class VariantTrainer(Trainer):
    """A trainer over another kind of vector environment."""

    kind = VectorEnv

    @cached_property
    def envs(self):
        return self.kind(self.task.env, self.num_envs)


def success(kind: type, max_steps: int, steps: int, seed: int) -> float:
    experiment = preset("gridworld/leo")
    env = replace(experiment.env, max_steps=max_steps)
    experiment = replace(experiment, env=env, steps=steps)
    task = build_task(experiment)
    trainer = type("Variant", (VariantTrainer,), {"kind": kind})(
        task, experiment.algorithm, seen_only, 64, 32, experiment.total_updates, 0.9
    )
    state = jax.jit(trainer.init)(jax.random.key(seed))
    state, _ = trainer.advance(state, experiment.total_updates)
    evaluation = replace(experiment.evaluation, max_steps=200)
    fair = task._replace(env=replace(env, max_steps=200))  # all variants are judged alike
    agent = Agent(fair, experiment.algorithm, state.learner, 1.0)
    return agent.evaluate(build_evaluator(fair, evaluation), 1)["mean_reachable"]["agent"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=300_000)
    words = parser.parse_args()
    enable_compile_cache()
    for max_steps in (200, 25):
        for name, kind in VARIANTS.items():
            rates = [success(kind, max_steps, words.steps, seed) for seed in range(words.seeds)]
            print(
                f"time limit {max_steps:3}  {name:42} mean success {np.mean(rates):.3f}"
                f"  seeds {' '.join(f'{rate:.3f}' for rate in rates)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
