"""One-sided: random updates of a table in a window. Debian has sources of programs that use windows, but none that can be built in minutes."""

from pathlib import Path

from .program import Program, says

SOURCE = Path(__file__).with_name("random_access.c")


def build(place, wrapper):
    return place.compile(wrapper, [SOURCE], place.of(wrapper, "random_access"), "-O2")


PROGRAMS = [Program("random_access", "updates of random places of a window, by MPI_Accumulate", "bench/programs", build,
                    lambda ranks, inputs: [1 << 20, 1 << 18], says(r"^0 wrong of 1048576 words$"))]
