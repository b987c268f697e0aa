"""Moving pictures of an agent on its way to its goals."""

from allgoals.render.clip import far_goals, record, write_clip
from allgoals.render.episode import Episode, play_episode

__all__ = ["Episode", "far_goals", "play_episode", "record", "write_clip"]
