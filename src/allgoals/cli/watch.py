"""allgoals watch: a clip of an agent reaching goals on command."""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from allgoals.cli.output import say
from allgoals.cli.parse import parse
from allgoals.experiment import Count, MaybeCount
from allgoals.validation import check_fields

if TYPE_CHECKING:
    from allgoals.render.episode import Episode


@dataclass(frozen=True)
class Words:
    run: tyro.conf.Positional[Path]  # a run directory
    out: Path = Path("clip.gif")  # a .gif or .mp4 file to write
    goal: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """a goal to command, by name, in a maze also any point/X-Y; repeat for several, leave out for
    some at random"""
    max_steps: MaybeCount = None  # steps per episode at most; by default 200, of an ant 800
    seed: Count = 0


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals watch")
    check_fields(words)
    from allgoals.render.caption import status
    from allgoals.render.clip import STEPS_PER_FRAME, check_clip_path, record, some_goals

    check_clip_path(words.out)
    from allgoals.api import Run

    agent = Run(words.run).agent
    if words.goal and agent.task.goals.space:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            agent = agent.towards(*words.goal)
        for one in told:
            say(f"warning: {one.message}")
    goals = list(words.goal) or some_goals(agent.task, 6, words.seed)
    for goal in goals:
        agent.goal_index(goal)
    max_steps = words.max_steps or 200 * STEPS_PER_FRAME.get(type(agent.task.env), 1)
    print("compiling the game and the agent", file=sys.stderr, flush=True)

    def played(episode: "Episode") -> None:
        say(f"{episode.goal}: {status(episode, len(episode.actions))}")

    record(agent, goals, words.out, max_steps, words.seed, played)
    say(f"wrote {words.out}")
