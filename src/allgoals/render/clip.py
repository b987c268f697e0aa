"""Clips: episodes towards several goals, one after another, as a GIF or an MP4."""

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import jax
import numpy as np
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image

from allgoals.envs.ant_maze import AntBigMaze, AntHardestMaze, AntUMaze
from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.point_maze import PointBigMaze, PointUMaze
from allgoals.errors import UsageError, unknown
from allgoals.render import craftax, gridworld, maze
from allgoals.render.episode import Episode, play_episode
from allgoals.runs.agent import Agent
from allgoals.types import Environment, Task

ANT_MAZES = (AntUMaze, AntBigMaze, AntHardestMaze)

# How to draw each kind of world: (env, episode, t) -> [H, W, 3], of one size per env.
DRAW: dict[type, Callable[..., np.ndarray]] = {
    Gridworld: gridworld.draw,
    CraftaxClassic: craftax.draw,
    Craftax: craftax.draw,
    **dict.fromkeys((PointUMaze, PointBigMaze, *ANT_MAZES), maze.draw),
}
STEPS_PER_FRAME = dict.fromkeys(ANT_MAZES, 4)  # where a step is short; elsewhere 1

FPS = 8
GIF_COLOURS = 128
MANY_COLOURS = 1024  # smoothed drawings stay below, games with textures and a night do not


def record(
    agent: Agent, goals: list[str], path: str | Path, max_steps: int, seed: int = 0,
    on_episode: Callable[[Episode], None] = lambda episode: None,
) -> list[Episode]:  # fmt: skip
    """A clip of one episode per goal, each of which is told of when it is over."""
    env = agent.task.env
    if type(env) not in DRAW:
        raise UsageError(f"{agent.task.name} cannot be drawn")
    check_clip_path(Path(path))
    key = jax.random.key(seed)
    episodes: list[Episode] = []
    for i, goal in enumerate(goals):
        episodes.append(play_episode(agent, goal, max_steps, jax.random.fold_in(key, i)))
        on_episode(episodes[-1])
    write_clip(_frames(env, episodes), path, FPS)
    return episodes


def some_goals(task: Task, n: int, seed: int) -> list[str]:
    """Up to `n` random goals that can be reached but do not hold from the beginning."""
    first = jax.jit(task.env.reset)(jax.random.key(seed)).obs
    at_first = task.goals.outcome(first).done  # [G]
    reachable = True if task.goals.reachable is None else task.goals.reachable
    candidates = np.flatnonzero(reachable & ~np.asarray(at_first))
    if not len(candidates):
        candidates = np.arange(task.num_goals)
    chosen = np.random.default_rng(seed).permutation(candidates)[:n]
    return [task.goals.names[i] for i in chosen]


def _frames(env: Environment, episodes: list[Episode]) -> Iterator[np.ndarray]:
    """Every episode from its first to its last step, which is held for a second."""
    draw, stride = DRAW[type(env)], STEPS_PER_FRAME.get(type(env), 1)
    for episode in episodes:
        last = len(episode.states) - 1
        for t in (*range(0, last, stride), last):
            frame = draw(env, episode, t)
            yield frame
        for _ in range(FPS):
            yield frame


def write_clip(frames: Iterable[np.ndarray], path: str | Path, fps: float) -> None:
    """Frames [H, W, 3] uint8 as a file that appears whole or not at all."""
    path = Path(path)
    check_clip_path(path)
    temporary = path.with_name(f".tmp-{path.name}")
    try:
        WRITERS[path.suffix.lower()](frames, temporary, fps)
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_clip_path(path: Path) -> None:
    """A place where a clip can be written, told before anything is played."""
    if path.suffix.lower() not in WRITERS:
        raise unknown("kind of clip", path.suffix, WRITERS)
    if path.is_dir():
        raise UsageError(f"{path} is a directory")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: no such directory: {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path}: cannot write in {path.parent}")


def _write_gif(frames: Iterable[np.ndarray], path: Path, fps: float) -> None:
    """An endless loop; a frame that does not change is shown longer instead of repeated."""
    images = [Image.fromarray(frame) for frame in frames]
    palette = _palette(images)
    first, *others = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    first.save(
        path, "GIF", save_all=True, append_images=others, loop=0, duration=1000 / fps,
        optimize=True, palette=palette.getpalette(),
    )  # fmt: skip


def _palette(images: list[Image.Image]) -> Image.Image:
    """Colours of the whole clip, so that nothing flickers: the most common ones, which keeps flat
    areas as they are, or where there are far too many, a choice that covers them all."""
    counts = Counter()
    for image in images:
        counts.update({colour: n for n, colour in image.getcolors(image.width * image.height)})
    if len(counts) > MANY_COLOURS:
        every = Image.fromarray(np.array([list(counts)], np.uint8))
        return every.quantize(256, Image.Quantize.MAXCOVERAGE)
    palette = Image.new("P", (1, 1))
    palette.putpalette([c for colour, _ in counts.most_common(GIF_COLOURS) for c in colour])
    return palette


def _write_mp4(frames: Iterable[np.ndarray], path: Path, fps: float) -> None:
    """H.264 in the pixel format that every player knows; it wants even sides, so odd ones grow."""
    frames = iter(frames)
    first = next(frames)
    command = [
        get_ffmpeg_exe(), "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{first.shape[1]}x{first.shape[0]}",
        "-r", str(fps), "-i", "-",
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-pix_fmt", "yuv420p",
        str(path.absolute()),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
        with suppress(BrokenPipeError):  # the encoder gave up, and says why
            for frame in chain([first], frames):
                encoder.stdin.write(frame.tobytes())
        _, complaint = encoder.communicate()
    if encoder.returncode:
        raise OSError(complaint.decode(errors="replace").strip())


WRITERS: dict[str, Callable[[Iterable[np.ndarray], Path, float], None]] = {
    ".gif": _write_gif,
    ".mp4": _write_mp4,
}
