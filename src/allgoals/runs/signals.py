"""Answering signals at any moment: save first where there is something to save.

Signals are taken by a thread of their own, so they are heard during long compilations too.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from allgoals.errors import Interrupted

SHOW_CURSOR = "\x1b[?25h"  # which a live display hides
EXIT_CODES = {signal.SIGTERM: 75, signal.SIGHUP: 75, signal.SIGINT: 130}


class Signals:
    """Whether, and by what, the program was asked to stop."""

    def __init__(self):
        self.received: int | None = None
        self._nothing_to_save = True

    def listen(self) -> "Signals":
        """Call before other threads begin: a signal must find none that lets it through."""
        self._heard = {s for s in EXIT_CODES if signal.getsignal(s) is not signal.SIG_IGN}  # nohup
        signal.pthread_sigmask(signal.SIG_BLOCK, self._heard)
        threading.Thread(target=self._wait, name="signals", daemon=True).start()
        return self

    def _wait(self) -> None:
        self.received = signal.sigwait(self._heard)
        name = signal.Signals(self.received).name
        if self._nothing_to_save:
            self._leave(f"{name}: stopped, nothing to save")
        print(f"\n{name}: saving and stopping; again to stop at once", file=sys.stderr, flush=True)
        self.received = signal.sigwait(self._heard)
        self._leave("stopped at once; the last complete checkpoint stands")

    def _leave(self, message: str) -> None:
        print(f"\n{message}", file=sys.stderr, flush=True)
        if sys.__stdout__.isatty():
            print(SHOW_CURSOR, file=sys.__stdout__, flush=True)
        os._exit(EXIT_CODES[self.received])

    @contextmanager
    def saving(self) -> Iterator[None]:
        """While this lasts, a signal waits for `check` instead of ending the program."""
        self._nothing_to_save = False
        try:
            yield
        finally:
            self._nothing_to_save = True

    def interruption(self, message: str) -> Interrupted:
        return Interrupted(message, EXIT_CODES[self.received])
