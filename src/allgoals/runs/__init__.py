"""Run directories: the only place that touches disk."""
