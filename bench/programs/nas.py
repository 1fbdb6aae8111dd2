"""Two of the lab's kernels of the NAS Parallel Benchmarks, in Fortran: lab/nas."""

from pathlib import Path

from .place import Missing
from .program import Program, says

SOURCES = Path(__file__).resolve().parents[2] / "lab" / "nas"
CLASS = "A"


def build_of(kernel):
    def build(place, wrapper):
        if wrapper.fc is None:
            raise Missing("a Fortran compiler wrapper of this library: its package has none")
        folder = place.of(wrapper, f"nas-{kernel}")
        folder.mkdir(parents=True, exist_ok=True)
        place.run(wrapper, [wrapper.fc, "-O3", "-w", "-J", folder, SOURCES / f"{kernel}.f90", "-o", folder / kernel], SOURCES, f"nas-{kernel}")
        return folder / kernel
    return build



PROGRAMS = [Program(f"nas-{kernel}", f"NAS {kernel.upper()}, class {CLASS}, {words}", "lab/nas", build_of(kernel), lambda ranks, inputs: [CLASS],
                    says(r"verification: successful"), fortran=True)
            for kernel, words in (("cg", "conjugate gradients"), ("mg", "multigrid"))]
