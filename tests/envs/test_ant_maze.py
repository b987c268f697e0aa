"""The ant: the benchmark's body, observations, falls and time limit."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

WITHOUT_BRAX = """
import sys
sys.modules.update(brax=None, mujoco=None)
from allgoals.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("words", ["train ant-u-maze/sac", "goals ant-u-maze"])
def test_without_brax_one_line_says_what_to_install(words, tmp_path):
    code, told = without_brax(words, tmp_path)
    assert code == 2
    assert told == "allgoals: ant-u-maze needs brax: pip install 'allgoals[control]'\n"
    assert not list(tmp_path.iterdir())


def test_without_brax_everything_else_works(tmp_path):
    assert without_brax("goals point-u-maze", tmp_path) == (0, "")
    micro = "--steps 64 --num-envs 4 --num-steps 8 --evaluation.times 0 --algorithm.updates 1"
    micro += " --algorithm.replay-size 64 --algorithm.warm-up 16 --log-every 1"
    assert without_brax(f"train point-u-maze/sac {micro} --out run", tmp_path)[0] == 0
    assert (tmp_path / "run" / "summary.json").exists()


def without_brax(words: str, where) -> tuple[int, str]:
    """The exit code, and what the command said on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_BRAX, *words.split()],
        cwd=where, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def ants():
    """Eight ants and a compiled step, shared: compiling one takes half a minute."""
    pytest.importorskip("brax")
    from allgoals.envs.ant_maze import AntUMaze

    env = AntUMaze(max_steps=40)
    begin = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 8))
    return env, begin, jax.jit(jax.vmap(env.step, (0, 0, None)))


def test_an_episode_begins_at_the_start_in_a_noisy_pose(ants):
    _, begin, _ = ants
    obs = np.asarray(begin.obs)
    assert obs.shape == (8, 29) and obs.dtype == np.float32
    np.testing.assert_array_equal(obs[:, :2], 4.0)
    pose = np.array([0.55, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1])
    assert (np.abs(obs[:, 2:15] - pose) <= 0.1 + 1e-6).all() and obs[:, 2:15].std(axis=0).min() > 0
    assert 0.05 < obs[:, 15:].std() < 0.15


def test_observations_are_pose_and_velocities_and_actions_matter(ants):
    env, begin, step = ants
    still = step(begin.state, jnp.zeros((8, 8)), jax.random.key(0))
    moved = step(begin.state, jnp.ones((8, 8)), jax.random.key(0))
    body = still.state.body
    np.testing.assert_array_equal(still.obs, jnp.concatenate([body.q, body.qd], axis=1))
    assert np.abs(np.asarray(still.obs - moved.obs)).max() > 0.1
    beyond = step(begin.state, 5 * jnp.ones((8, 8)), jax.random.key(0))  # actions are clipped
    np.testing.assert_array_equal(beyond.obs, moved.obs)


def test_falls_terminate_and_time_truncates(ants):
    env, begin, step = ants
    state, random = begin.state, np.random.default_rng(0)
    for t in range(1, env.max_steps + 1):
        after = step(state, jnp.asarray(random.uniform(-1, 1, (8, 8)), jnp.float32), None)
        height = np.asarray(after.obs[:, 2])
        np.testing.assert_array_equal(after.terminated, (height < 0.2) | (height > 1.0))
        assert (np.asarray(after.truncated) == (t == env.max_steps)).all()
        state = after.state
    for by in (3.0, -0.6):  # far up, and into the ground, from which one or the other jumps
        moved = begin.state._replace(body=_raised(begin.state.body, by))
        after = step(moved, jnp.zeros((8, 8)), None)
        height = np.asarray(after.obs[:, 2])
        fallen = height > 1.0 if by > 0 else height < 0.2
        assert fallen.sum() > 4
        np.testing.assert_array_equal(after.terminated, fallen)


def test_physics_that_burst_are_a_fall(ants):
    """A body with a number that is none ends its episode, where it last was; others go on."""
    _, begin, step = ants
    body = begin.state.body
    speed = body.xd_i.vel.at[0].set(jnp.nan)
    burst = begin.state._replace(body=body.replace(xd_i=body.xd_i.replace(vel=speed)))
    after = step(burst, jnp.zeros((8, 8)), None)
    np.testing.assert_array_equal(after.terminated, np.arange(8) == 0)
    assert np.isfinite(after.obs).all()
    np.testing.assert_array_equal(after.obs[0], begin.obs[0])


def _raised(body, by: float):
    """The same pose, higher up."""
    up = body.x.pos.at[..., 2].add(by)
    inner = body.x_i.pos.at[..., 2].add(by)
    return body.replace(
        q=body.q.at[:, 2].add(by), x=body.x.replace(pos=up), x_i=body.x_i.replace(pos=inner)
    )


def test_an_ant_stays_out_of_walls(ants):
    """Pushed by random actions for 40 steps, no torso is ever inside a wall."""
    env, begin, step = ants
    state, random = begin.state, np.random.default_rng(1)
    for _ in range(40):
        after = step(state, jnp.asarray(random.choice([-1.0, 1.0], (8, 8)), jnp.float32), None)
        state = after.state
        assert env.maze.is_free(np.asarray(after.obs[:, :2])).all()
