"""Moving pictures of an agent on its way to its goals."""

from allgoals.render.clip import record, some_goals, write_clip
from allgoals.render.episode import Episode, play_episode

__all__ = ["Episode", "some_goals", "play_episode", "record", "write_clip"]
