"""Fixtures of several files."""

import signal
import time

import pytest


@pytest.fixture
def alarm():
    """Makes a signal come whose handler raises TimeoutError: alarm(seconds, raises=True).

    It returns the list of the processor times at which signals have come.
    """
    times = []

    def handle(raises):
        times.append(time.process_time())
        if raises:
            raise TimeoutError

    def start(seconds, raises=True):
        signal.signal(signal.SIGALRM, lambda *_: handle(raises))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return times

    before = signal.getsignal(signal.SIGALRM)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
