"""The program that does nothing but MPI_Init and MPI_Finalize."""

from pathlib import Path

from .program import Program

SOURCE = Path(__file__).with_name("start.c")


def build(place, wrapper):
    return place.compile(wrapper, [SOURCE], place.of(wrapper, "start"), "-O2")


PROGRAM = Program("start", "MPI_Init and MPI_Finalize", "bench/programs", build, lambda ranks, inputs: [], lambda run: "")
