"""Reports: what a set of runs came to, on one page that needs nothing else."""

from allgoals.report.comparison import write_report

__all__ = ["write_report"]
