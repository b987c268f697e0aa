"""The game's own pixels, framed, above the commanded goal and how far the agent has got."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.render.caption import FAINT_INK, PAPER, SUCCESS, fitted, status, write_caption
from allgoals.render.episode import Episode
from allgoals.types import Array, PyTree

BLOCK = 16  # pixels along a block's side, as the game's textures have them
SCALE = 2
FRAME = 8
CAPTION = 48
PACKAGES = {CraftaxClassic: "craftax.craftax_classic", Craftax: "craftax.craftax"}


def draw(env: CraftaxClassic | Craftax, episode: Episode, t: int) -> np.ndarray:
    """The episode after `t` actions. [H, W, 3] uint8"""
    reached = t == episode.success_step
    game = Image.fromarray(pixels(env, episode.states[t]))
    game = game.resize((game.width * SCALE, game.height * SCALE), Image.Resampling.NEAREST)
    width, height = game.width + 2 * FRAME, game.height + 2 * FRAME
    picture = Image.new("RGB", (width, height + CAPTION), PAPER)
    picture.paste(SUCCESS if reached else PAPER, (0, 0, width, height))
    picture.paste(game, (FRAME, FRAME))
    name = fitted(episode.goal, width - 2 * FRAME)
    colour = SUCCESS if reached else FAINT_INK
    write_caption(picture, (FRAME, height + CAPTION // 4), name, status(episode, t), colour)
    return np.asarray(picture)


def pixels(env: CraftaxClassic | Craftax, state: PyTree) -> np.ndarray:
    """What the game itself shows of a state. [H, W, 3] uint8"""
    return np.asarray(_renderer(type(env))(state))


@cache
def _renderer(game: type) -> Callable[[PyTree], Array]:
    """The package's renderer, compiled; textures are arguments, for constants compile slowly."""
    textures = import_module(f"{PACKAGES[game]}.constants").load_all_textures_given_size(BLOCK)
    renderer = import_module(f"{PACKAGES[game]}.renderer")

    @jax.jit
    def render(textures: PyTree, state: PyTree) -> Array:
        with _given(renderer, textures):
            shown = renderer.make_craftax_pixel_renderer(BLOCK)(state)
        return jnp.clip(jnp.rint(shown), 0, 255).astype(jnp.uint8)

    return partial(render, textures)


@contextmanager
def _given(renderer: ModuleType, textures: PyTree) -> Iterator[None]:
    """The package's renderer takes these textures instead of a pickle among the installed files."""
    load = renderer.load_all_textures
    renderer.load_all_textures = lambda: {BLOCK: textures}
    try:
        yield
    finally:
        renderer.load_all_textures = load
