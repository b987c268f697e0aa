"""The ant: the benchmark's body, observations, falls and time limit."""

import subprocess
import sys
from pathlib import Path

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


def test_ants_thrown_at_a_wall_are_stopped(ants):
    """Towards the wall at x = 2, fast enough to be far beyond it after two seconds."""
    env, begin, step = ants
    system, physics = env.physics
    pose = jnp.tile(jnp.asarray(system.init_q, jnp.float32), (8, 1))
    pose = pose.at[:, 0].set(jnp.linspace(3.2, 4.0, 8)).at[:, 1].set(4.0)
    speed = jnp.zeros((8, 14)).at[:, 0].set(-8.0)
    thrown = jax.jit(jax.vmap(lambda pose, speed: physics.init(system, pose, speed)))(pose, speed)
    state = begin.state._replace(body=thrown)
    nearest = np.full(8, np.inf)
    for _ in range(40):
        after = step(state, jnp.zeros((8, 8)), None)
        state = after.state
        assert env.maze.is_free(np.asarray(after.obs[:, :2])).all()
        nearest = np.minimum(nearest, after.obs[:, 0])
    assert (nearest < 3.0).sum() > 4  # they did come to the wall


def test_the_body_is_the_one_that_brax_ships():
    """Which the benchmark's is, too, but for what collides and for a shorter physics step."""
    pytest.importorskip("brax")
    import mujoco
    from brax import envs

    from allgoals.envs import ant_maze

    path = Path(envs.__file__).parent / "assets" / "ant.xml"
    theirs = mujoco.MjModel.from_xml_path(str(path))
    ours = mujoco.MjModel.from_xml_string(ant_maze.model(()))
    for name in (
        "body_mass", "body_inertia", "body_pos", "body_parentid", "jnt_type", "jnt_range",
        "jnt_axis", "jnt_pos", "dof_armature", "dof_damping", "actuator_gear",
        "actuator_ctrlrange", "actuator_trnid", "qpos0",
    ):  # fmt: skip
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), err_msg=name)
    for name in ("geom_type", "geom_size", "geom_pos", "geom_quat", "geom_friction"):
        found, expected = getattr(ours, name)[1:], getattr(theirs, name)[1:]  # without the floor
        np.testing.assert_allclose(found, expected, err_msg=name)
    floor = torso = upper_leg = (0, 1)  # which are touched, and do not touch each other
    lower_leg, foot = (0, 0), (1, 1)
    touch = [floor, torso, *(upper_leg, lower_leg, lower_leg, foot) * 4]
    assert list(zip(ours.geom_contype, ours.geom_conaffinity, strict=True)) == touch
    numbers = {theirs.numeric(i).name: theirs.numeric(i).data for i in range(theirs.nnumeric)}
    del numbers["solver_maxls"]  # of another engine
    assert {ours.numeric(i).name for i in range(ours.nnumeric)} == set(numbers)
    for name, value in numbers.items():
        np.testing.assert_allclose(ours.numeric(name).data, value, err_msg=name)
    assert ant_maze.PHYSICS_STEPS * ours.opt.timestep == pytest.approx(0.05)


def test_what_may_touch_does_not_grow_with_the_maze():
    """Contacts that are looked at in each step of the physics."""
    pytest.importorskip("brax")
    from brax import contact

    from allgoals.envs.ant_maze import AntBigMaze, AntHardestMaze, AntUMaze

    def pairs(env) -> int:
        body = jax.eval_shape(env.reset, jax.random.key(0)).state.body
        system, _ = env.physics
        return jax.eval_shape(lambda x: contact.get(system, x), body.x).dist.shape[0]

    mazes = (AntUMaze, AntBigMaze, AntHardestMaze)
    along = {pairs(cls(walls="proxy")) for cls in mazes}
    blocks = [pairs(cls(walls="blocks")) for cls in mazes]
    assert len(along) == 1 and along.pop() < blocks[0] / 2
    assert blocks[0] < blocks[1] < blocks[2]
