"""`python -m allgoals` is the command line."""

from allgoals.cli import main

main()
