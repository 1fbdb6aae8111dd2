"""The seed of a test that draws numbers. It is the same in each run, so that a failure is the failure of a change. The environment variable
CLUMP_TEST_SEED sets another one: a number repeats a run, and `random` draws one, as ./dev test --nightly does. tests/seed.h is the same for
programs in C and C++."""

import os
import random


def seed(usual: int) -> int:
    """The seed to use, which is printed."""
    wanted = os.environ.get("CLUMP_TEST_SEED", "")
    if wanted == "random":
        chosen = random.SystemRandom().randrange(1, 10**9)
    elif wanted:
        chosen = number(wanted)
    else:
        chosen = usual
    print(f"CLUMP_TEST_SEED={chosen}", flush=True)
    return chosen


def number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"CLUMP_TEST_SEED={text}: it is a number of at least 0, or 'random'")
    return int(text)
