"""An ant in a maze, on brax's spring physics: the JaxGCRL benchmark's body, mazes and dynamics.

An ant reaches less than half a cell, so it can touch the four cells around it and no others. Four
boxes are therefore enough for any maze: before each step they are put where those cells are
walls. A maze of any size costs the same, and moves the ant as if every wall were there.
"""

import io
import warnings
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.envs.limits import check_time_limit
from allgoals.envs.maze import CELL, Maze
from allgoals.types import Array, Box, Key, Reset, Step

PHYSICS_STEPS = 10  # per action, of 5 ms each
LOWEST, HIGHEST = 0.2, 1.0  # where the torso is when the ant stands
NOISE = 0.1  # of the pose and the velocities an episode begins with
AWAY = 1000.0  # where boxes wait that are not needed
HALF_HEIGHT = 1.0  # of a wall

# The ant: a ball with four legs, each of a fixed part, a hip that swings and an ankle that bends.
LEGS = ((1, 1), (-1, 1), (-1, -1), (1, -1))  # which way each leg points
ANKLE_RANGES = ("30 70", "-70 -30", "-70 -30", "30 70")
MOTORS = (4, 1, 2, 3)  # legs in the order of an action's numbers: hip, ankle, hip, ankle ...
POSE = "0 0 0.55 1 0 0 0 0 1 0 -1 0 -1 0 1"  # position, rotation, hips and ankles

MODEL = """
<mujoco>
  <compiler angle="degree" inertiafromgeom="true"/>
  <option timestep="0.005" iterations="4"/>
  <custom>
    <numeric name="init_qpos" data="{pose}"/>
    <numeric name="constraint_limit_stiffness" data="1000"/>
    <numeric name="constraint_stiffness" data="4000"/>
    <numeric name="constraint_ang_damping" data="10"/>
    <numeric name="constraint_vel_damping" data="20"/>
    <numeric name="joint_scale_pos" data="0.5"/>
    <numeric name="joint_scale_ang" data="0.2"/>
    <numeric name="ang_damping" data="0"/>
    <numeric name="spring_mass_scale" data="1"/>
    <numeric name="spring_inertia_scale" data="1"/>
  </custom>
  <default>
    <joint type="hinge" armature="1" damping="1" limited="true"/>
    <geom type="capsule" size="0.08" contype="0" conaffinity="0" condim="3" density="5"
          friction="1 0.5 0.5"/>
    <motor ctrllimited="true" ctrlrange="-1 1" gear="150"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="300 300 40" conaffinity="1"/>
    <body name="torso" pos="0 0 0.75">
      <joint name="root" type="free" armature="0" damping="0" limited="false" margin="0.01"/>
      <geom type="sphere" size="0.25" conaffinity="1"/>
      {legs}
    </body>
    {boxes}
  </worldbody>
  <actuator>{motors}</actuator>
</mujoco>"""

LEG = """
      <body name="leg_{n}">
        <geom fromto="0 0 0 {x} {y} 0" conaffinity="1"/>
        <body name="hip_{n}" pos="{x} {y} 0">
          <joint name="hip_{n}" axis="0 0 1" range="-30 30"/>
          <geom fromto="0 0 0 {x} {y} 0"/>
          <body name="ankle_{n}" pos="{x} {y} 0">
            <joint name="ankle_{n}" axis="{axis} 0" range="{bend}"/>
            <geom fromto="0 0 0 {far_x} {far_y} 0"/>
            <geom type="sphere" pos="{far_x} {far_y} 0" mass="0" contype="1" conaffinity="1"/>
          </body>
        </body>
      </body>"""

BOX = (
    '<geom name="wall_{n}" type="box" pos="{x} {y} {z}" size="{half} {half} {z}" '
    'contype="1" conaffinity="1"/>'
)


def model(boxes: Iterable[tuple[float, float]]) -> str:
    """The ant, and walls around these points, in MuJoCo's format."""
    legs = [
        LEG.format(
            n=n, x=0.2 * x, y=0.2 * y, far_x=0.4 * x, far_y=0.4 * y,
            axis="-1 1" if x == y else "1 1", bend=bend,
        )
        for n, ((x, y), bend) in enumerate(zip(LEGS, ANKLE_RANGES, strict=True), start=1)
    ]  # fmt: skip
    walls = [
        BOX.format(n=n, x=x, y=y, z=HALF_HEIGHT, half=CELL / 2) for n, (x, y) in enumerate(boxes)
    ]
    motors = [f'<motor joint="hip_{n}"/><motor joint="ankle_{n}"/>' for n in MOTORS]
    return MODEL.format(pose=POSE, legs="".join(legs), boxes="".join(walls), motors="".join(motors))


class AntState(NamedTuple):
    body: Any  # brax's state of the physics
    time: Array


@dataclass(frozen=True)
class AntMaze:
    """Walk an ant through a maze; falling over ends an episode, and so does time."""

    max_steps: int = 1001  # time limit, a truncation
    walls: Literal["proxy", "blocks"] = "proxy"  # four boxes that go along, or one for each wall

    layout = "u"
    actions = Box(8)
    clearance = 0.0  # a torso is smaller than a goal's reach
    falls = True  # and that ends an episode

    def __post_init__(self):
        check_time_limit(self.max_steps)

    @cached_property
    def maze(self) -> Maze:
        return Maze(self.layout)

    @property
    def physics(self) -> tuple[Any, Any]:
        """brax's system of the ant and its walls, and the pipeline that moves it."""
        if self.walls == "proxy":
            return _physics(((AWAY, AWAY),) * 4)
        return _physics(tuple(map(tuple, (CELL * np.argwhere(self.maze.walls)).tolist())))

    def reset(self, key: Key) -> Reset:
        system, physics = self.physics
        key_pose, key_speed = jax.random.split(key)
        shift = jax.random.uniform(key_pose, (system.q_size(),), minval=-NOISE, maxval=NOISE)
        pose = (system.init_q + shift).at[:2].set(self.maze.start)
        speed = NOISE * jax.random.normal(key_speed, (system.qd_size(),))
        state = AntState(physics.init(system, pose, speed), jnp.int32(0))
        return Reset(state, self.observe(state))

    def step(self, state: AntState, action: Array, key: Key) -> Step:
        del key  # the physics are certain
        system, physics = self.physics
        if self.walls == "proxy":
            system = self._surround(system, state.body.q[:2])
        force = jnp.clip(action, -1.0, 1.0)
        body = jax.lax.fori_loop(
            0, PHYSICS_STEPS, lambda _, body: physics.step(system, body, force), state.body
        )
        sane = jnp.isfinite(body.q).all() & jnp.isfinite(body.qd).all()
        body = jax.tree.map(lambda new, old: jnp.where(sane, new, old), body, state.body)
        state = AntState(body, state.time + 1)
        height = body.x.pos[0, 2]
        fallen = (height < LOWEST) | (height > HIGHEST) | ~sane  # physics that burst are a fall
        return Step(state, self.observe(state), fallen, state.time >= self.max_steps)

    def _surround(self, system: Any, position: Array) -> Any:
        """The four boxes where the cells around a point are walls, and away where they are not."""
        corner = jnp.floor(position / CELL).astype(jnp.int32)
        cells = corner + jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # [4, 2]
        is_wall = jnp.asarray(self.maze.walls)[cells[:, 0], cells[:, 1]]
        places = jnp.where(is_wall[:, None], CELL * cells, AWAY)
        boxes = np.array([system.mj_model.geom(f"wall_{n}").id for n in range(4)])
        return system.replace(geom_pos=jnp.asarray(system.geom_pos).at[boxes, :2].set(places))

    def observe(self, state: AntState) -> Array:  # [29] pose, then velocities
        return jnp.concatenate([state.body.q, state.body.qd])


class AntUMaze(AntMaze):
    layout = "u"


class AntBigMaze(AntMaze):
    layout = "big"


class AntHardestMaze(AntMaze):
    layout = "hardest"


@cache
def _physics(boxes: tuple[tuple[float, float], ...]) -> tuple[Any, Any]:
    """The system with walls around these points; brax is imported when an ant is first made."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
        from brax.io import mjcf  # speaks of engines that are not used here
        from brax.spring import pipeline

        with jax.ensure_compile_time_eval():  # numbers, also when first asked for inside a trace
            return mjcf.loads(model(boxes)), pipeline
