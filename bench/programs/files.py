"""ROMIO's coll_perf: an array of three dimensions is written to a file and read, collectively, by all ranks. It says itself where to change the size
of the array, which is 14 GB as it comes."""

import re

from .program import Program

SIDES = (256, 256, 128)   # integers of 4 bytes
MEMBER = "src/mpi/romio/test/coll_perf.c"


def build(place, wrapper):
    folder = place.source(wrapper, "mpich", [MEMBER])
    text = (folder / MEMBER).read_text()
    for axis, side in enumerate(SIDES):
        text, changed = re.subn(rf"(array_of_gsizes\[{axis}\] *= *)[^;]+;", rf"\g<1>{side};", text)
        if changed != 1:
            raise ValueError(f"{MEMBER} does not set array_of_gsizes[{axis}] once")
    source = folder / "coll_perf.c"
    source.write_text(text)
    return place.compile(wrapper, [source], place.of(wrapper, "coll_perf"), "-O2", "-w")


def check(run):
    size = (run.folder / "array").stat().st_size if (run.folder / "array").exists() else 0
    wanted = 4 * SIDES[0] * SIDES[1] * SIDES[2]
    if size != wanted:
        return f"the file has {size} bytes, not {wanted}"
    return "" if "Collective read time" in run.output else "it does not say how long it read"


PROGRAMS = [Program("coll_perf", f"ROMIO's coll_perf, {4 * SIDES[0] * SIDES[1] * SIDES[2] >> 20} MB written and read twice", "mpich", build,
                    lambda ranks, inputs: ["-fname", "array"], check)]
