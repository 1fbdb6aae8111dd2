"""FFTW's mpi-bench verifies transforms of three dimensions. What needs MPI is compiled here, over the distribution's own library."""

from .program import Program, numbers

PROBLEMS = ["32x32x48", "r32x32x32", "512x64"]
NOT_OF_THE_LIBRARY = ("mpi-bench.c", "testsched.c", "f03-wrap.c")


def build(place, wrapper):
    folder = place.source(wrapper, "fftw3")
    if not (folder / "config.h").exists():
        place.run(wrapper, ["./configure", "--enable-mpi", "--enable-sse2", "--disable-fortran", "--disable-doc", "--disable-shared",
                            f"MPICC={wrapper.cc}", "CFLAGS=-O2"], folder, "fftw-configure")
    library = next(place.packages("libfftw3-dev").glob("usr/lib/*/libfftw3.a"))
    sources = [path for path in sorted((folder / "mpi").glob("*.c")) if path.name not in NOT_OF_THE_LIBRARY]
    sources += [folder / "mpi/mpi-bench.c", folder / "tests/fftw-bench.c", folder / "tests/hook.c"]
    return place.compile(wrapper, sources, place.of(wrapper, "mpi-bench"), "-O2", "-w", "-DHAVE_CONFIG_H", f"-I{folder}", f"-I{folder}/api",
                         f"-I{folder}/mpi", f"-I{folder}/libbench2", f"-I{folder}/tests", str(library), "-lm",
                         library=sorted((folder / "libbench2").glob("*.c")))


def check(run):
    errors = numbers(r"^\S+ (\S+) \S+ \S+$", run.output)
    return "" if len(errors) == len(PROBLEMS) and all(error < 1e-10 for error in errors) else f"it verified {len(errors)} of {len(PROBLEMS)} problems"


def arguments(ranks, inputs):
    verified = [word for problem in PROBLEMS for word in ("--verify", problem)]
    return ["-v1", "-oestimate", "--verify-rounds=1", *verified]


PROGRAMS = [Program("fftw", "FFTW's mpi-bench, three transforms verified", "fftw3", build, arguments, check)]
