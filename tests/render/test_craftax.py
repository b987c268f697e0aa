"""Frames of Craftax: the package's own pixels, and what is written below them."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import imageio.v3 as imageio
import jax
import numpy as np
import pytest

from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.render import Episode, write_clip
from allgoals.render import craftax as picture
from allgoals.render.caption import PAPER, SUCCESS
from allgoals.render.clip import DRAW

pytestmark = pytest.mark.filterwarnings("ignore:os.fork")  # imageio forks to read an mp4

CLASSIC, FULL = CraftaxClassic(), Craftax()
SIZES = {CLASSIC: (352, 304, 3), FULL: (480, 368, 3)}
PACKAGES = {CLASSIC: "craftax.craftax_classic", FULL: "craftax.craftax"}
NOOP = np.int32(0)


@pytest.fixture(scope="module")
def classic() -> Episode:
    """A reset and a few steps, the last at night."""
    reset, step = jax.jit(CLASSIC.reset), jax.jit(CLASSIC.step)
    states = [jax.device_get(reset(jax.random.key(0))).state]
    for t in range(4):
        states.append(jax.device_get(step(states[-1], NOOP, jax.random.key(t))).state)
    states[-1] = states[-1].replace(light_level=np.float32(0.2))
    return Episode("inventory/stone_5", states, [], [0] * 4, None)


@pytest.fixture(scope="module")
def full() -> Episode:
    """A floor of every block in turn, made by hand: to generate a world takes long to compile."""
    shapes = jax.eval_shape(FULL.reset, jax.random.key(0)).state
    state = jax.tree.map(_zeros, shapes)
    blocks = np.arange(state.map.size).reshape(state.map.shape) % 37
    state = state.replace(
        map=blocks.astype(state.map.dtype),
        light_map=np.ones_like(state.light_map),
        light_level=np.float32(0.7),
        player_position=np.array([20, 30], np.int32),
        player_direction=np.int32(3),
    )
    return Episode("block_map/necromancer_hurt_right", [state, state], [], [0], None)


def _zeros(like):
    if jax.dtypes.issubdtype(like.dtype, jax.dtypes.prng_key):
        return jax.random.key(0)
    return np.zeros(like.shape, like.dtype)


@pytest.fixture(params=[CLASSIC, FULL], ids=["classic", "full"])
def played(request, classic, full):
    return request.param, classic if request.param is CLASSIC else full


def inside(frame):
    """The game's part of a frame, in the game's own pixels."""
    margin = picture.FRAME + picture.CAPTION
    game = frame[picture.FRAME : -margin, picture.FRAME : -picture.FRAME]
    return game[:: picture.SCALE, :: picture.SCALE]


def test_frames_have_one_even_size(played):
    env, episode = played
    frames = [picture.draw(env, episode, t) for t in range(len(episode.states))]
    assert {frame.shape for frame in frames} == {SIZES[env]}
    assert {frame.dtype for frame in frames} == {np.dtype(np.uint8)}
    assert all(side % 2 == 0 for side in SIZES[env][:2])


def test_the_picture_is_the_packages_own(played, monkeypatch):
    env, episode = played
    drawn = [inside(picture.draw(env, episode, t)) for t in range(len(episode.states))]
    (textures,) = picture._renderer(type(env)).args  # to load them again takes seconds
    renderer = import_module(f"{PACKAGES[env]}.renderer")
    monkeypatch.setattr(renderer, "load_all_textures", lambda: {16: textures})
    render = jax.jit(renderer.make_craftax_pixel_renderer(16))
    for state, frame in zip(episode.states, drawn, strict=True):
        shown = np.asarray(render(state))
        assert shown.std() > 20 and np.abs(shown - frame).max() <= 0.51


def test_only_the_frame_of_success_is_green(classic):
    success = classic._replace(success_step=3)
    running, reached = (picture.draw(CLASSIC, success, t) for t in (2, 3))
    assert (running[0] == PAPER).all() and not (running == SUCCESS).all(axis=-1).any()
    assert (reached[0] == SUCCESS).all() and (reached[:, 0][:300] == SUCCESS).all()
    caption = reached[-picture.CAPTION :]
    assert (caption == SUCCESS).all(axis=-1).sum() > 20
    np.testing.assert_array_equal(inside(reached), inside(picture.draw(CLASSIC, classic, 3)))


def test_the_caption_names_the_goal_and_the_step(classic):
    def caption(episode, t):
        return picture.draw(CLASSIC, episode, t)[-picture.CAPTION :]

    first = caption(classic, 0)
    assert (first != caption(classic, 1)).any()
    assert (first != caption(classic._replace(goal="inventory/stone_6"), 0)).any()
    failed = classic._replace(actions=classic.actions[:1])
    assert (caption(classic, 1) != caption(failed, 1)).any()


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
def test_a_clip_needs_no_screen(classic, tmp_path, monkeypatch, suffix):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setitem(sys.modules, "pygame", None)
    draw = DRAW[type(CLASSIC)]
    frames = [draw(CLASSIC, classic, t) for t in range(len(classic.states))]
    write_clip(frames, tmp_path / f"clip.{suffix}", fps=8)
    shown = imageio.imread(tmp_path / f"clip.{suffix}")
    assert shown[0].shape == SIZES[CLASSIC]
    assert np.abs(shown[0].astype(int) - frames[0]).mean() < 12


def test_textures_are_loaded_in_silence_and_leave_no_files(classic, capsys, monkeypatch):
    constants = import_module("craftax.craftax_classic.constants")
    renderer = import_module("craftax.craftax_classic.renderer")
    monkeypatch.setattr(renderer, "load_all_textures", None)
    assets = Path(constants.__file__).parent / "assets"
    before = sorted(assets.iterdir())
    picture._renderer.cache_clear()
    picture.draw(CLASSIC, classic, 0)
    assert capsys.readouterr().out == "" and sorted(assets.iterdir()) == before
    assert renderer.load_all_textures is None


def test_importing_pictures_imports_no_game():
    code = "import sys, allgoals.render; print('craftax' in sys.modules)"
    end = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert end.stdout == "False\n", end.stderr
