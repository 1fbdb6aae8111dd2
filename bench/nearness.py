"""Repeats what was measured while the machine's cores were far from each other.

Whoever runs a virtual machine may move its cores, for seconds or minutes, to where a cache line takes several times as long from one to the
other. Then everything between two cores does, under every library, and the median of some rounds says in whose turn that happened. So each
run stands between two looks at the way from core to core.
"""

import subprocess
import time

APART = 2  # times the shortest way seen
PAUSE_SECONDS = 2
MOST_SECONDS = 240  # for repeating and waiting in all; then runs count as they are


class Nearness:
    def __init__(self, limits):
        self.limits, self.nearest, self.seconds_left = limits, float("inf"), MOST_SECONDS
        self.repeated = self.apart = 0  # runs that were not counted, and that were although the cores were apart

    def look(self):
        """Whether the cores are near, as far as has been seen. A machine with one core has nothing to look at."""
        line = subprocess.run([self.limits, "0.01", "cache-line"], check=True, capture_output=True, text=True).stdout.split()
        if not line:
            return True
        way = float(line[2])
        self.nearest = min(self.nearest, way)
        return way < APART * self.nearest

    def run(self, measure):
        """What measure() returns when the cores were near before and after; when there is no time left for that, in any case."""
        while True:
            begin, near = time.monotonic(), self.look()
            if near or self.seconds_left <= 0:
                result = measure()
                near = near and self.look()
                if near or self.seconds_left <= 0:
                    self.apart += not near
                    return result
                self.repeated += 1
            time.sleep(PAUSE_SECONDS)
            self.seconds_left -= time.monotonic() - begin

    def describe(self):
        words = [f"{self.repeated} runs were repeated because the cores were apart"] if self.repeated else []
        words += [f"IN {self.apart} RUNS THE CORES WERE APART"] if self.apart else []
        return "; ".join(words)
