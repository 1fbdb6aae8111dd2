"""hypre's own test drivers: algebraic multigrid over a sparse matrix (ij), geometric multigrid over a box (struct)."""

from .program import Program, grid, numbers

IJ_SIDE, STRUCT_SIDE = 64, 96   # points a side of the cube, of all ranks together


def build_of(driver):
    def build(place, wrapper):
        folder = place.source(wrapper, "hypre") / "src"
        if not (folder / "config/Makefile.config").exists():
            place.run(wrapper, ["./configure", f"CC={wrapper.cc}", f"CXX={wrapper.cxx}", "CFLAGS=-O2 -w", "--disable-fortran", "--without-superlu"],
                      folder, "hypre-configure")
        if not (folder / "lib/libHYPRE.a").exists():
            place.run(wrapper, ["make", f"-j{place.jobs}", "all"], folder, "hypre")
        place.run(wrapper, ["make", driver], folder / "test", f"hypre-{driver}")
        return folder / "test" / driver
    return build


def ij(ranks, inputs):
    return ["-n", *[IJ_SIDE] * 3, "-P", *grid(ranks, 3), "-solver", 1, "-tol", 1e-8]


def struct(ranks, inputs):
    sides = grid(ranks, 3)
    return ["-n", *[STRUCT_SIDE // side for side in sides], "-P", *sides, "-solver", 11, "-tol", 1e-8]


def check(run):
    residuals = numbers(r"^Final Relative Residual Norm = (\S+)$", run.output)
    if len(residuals) != 1:
        return "it does not say what its residual is"
    return "" if 0 < residuals[0] <= 1e-8 else f"its residual is {residuals[0]}"


def iterations(run):
    return numbers(r"^Iterations = (\d+)$", run.output)


PROGRAMS = [
    Program("hypre-ij", "algebraic multigrid with conjugate gradients", "hypre", build_of("ij"), ij, check, iterations),
    Program("hypre-struct", "geometric multigrid with conjugate gradients", "hypre", build_of("struct"), struct, check, iterations),
]
