"""The command line: reads words, calls the library, shows what comes back."""

import sys
import warnings
from importlib import import_module

from allgoals import __version__
from allgoals.cli.output import silence
from allgoals.errors import AllgoalsError, MemoryShortage, UsageError, unknown

COMMANDS = {
    "train": "train an agent: allgoals train TASK/ALGORITHM, or --resume RUN",
    "evaluate": "success of every goal of a trained agent",
    "goals": "list the goals of a task",
    "report": "one HTML page from one or more runs",
    "reproduce": "one figure or table of the paper: allgoals reproduce NAME, or --list",
    "play": "play a task in the terminal and see which goals are achieved",
    "watch": "a clip of an agent reaching goals on command",
    "bench": "measure speed on this machine",
    "track": "runs in TensorBoard or Weights & Biases",
    "doctor": "versions, devices, caches: what to send with a bug report",
}


FEWER = "fewer environments (--num-envs, or what --help has like it) take less; checkpoints stand"


def main(argv: list[str] | None = None) -> None:
    """Runs one command; the exit code says how it ended."""
    argv = sys.argv[1:] if argv is None else argv
    sys.stdout.reconfigure(errors="backslashreplace")  # a path may hold what cannot be shown
    warnings.showwarning = lambda message, *_: print(f"allgoals: {message}", file=sys.stderr)
    try:
        try:
            _dispatch(argv)
        finally:
            sys.stdout.flush()
    except AllgoalsError as error:
        print(f"allgoals: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        silence()
    except (MemoryError, RuntimeError) as error:  # jax has errors of the latter kind
        if isinstance(error, RuntimeError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        print(f"allgoals: out of memory: {first_line(error)}\n{FEWER}", file=sys.stderr)
        sys.exit(MemoryShortage.exit_code)
    except OSError as error:  # a disk or a file that refuses
        print(f"allgoals: {error}", file=sys.stderr)
        sys.exit(74)
    except KeyboardInterrupt:
        print("\nallgoals: interrupted", file=sys.stderr)
        sys.exit(130)


def first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _dispatch(argv: list[str]) -> None:
    command, *rest = argv or [""]
    if command in ("-h", "--help", "help"):
        print(_help())
    elif command == "--version":
        print(f"allgoals {__version__}")
    elif command in COMMANDS:
        import_module(f"allgoals.cli.{command}").run(rest)
    elif command:
        raise unknown("command", command, COMMANDS)
    else:
        raise UsageError("no command given\n\n" + _help())


def _help() -> str:
    lines = [f"  {name:11}{text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: allgoals COMMAND ...",
            "",
            *lines,
            "",
            "allgoals COMMAND --help tells more; --version prints the version",
        ]
    )
