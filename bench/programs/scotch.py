"""PT-Scotch: a graph is divided into parts (dgpart), its vertices are put into an order for elimination (dgord)."""

from .program import Program
from .ways import STANDARD

SIDE, PARTS = 400, 8

# MPICH's header for the standard ABI has no MPI_Fint, which functions for Fortran want that no program here calls.
# Without threads: each rank is one, as with the other programs. Random numbers begin with the same seed.
MAKE = """\
EXE =
LIB = .a
OBJ = .o
MAKE = make
AR = ar
ARFLAGS = -ruv
CAT = cat
CCS = cc
CCP = {cc}
CCD = {cc}
CFLAGS = -O2 -w -DCOMMON_RANDOM_FIXED_SEED -DSCOTCH_RENAME -Drestrict=__restrict -DIDXSIZE64{fint}
CLIBFLAGS =
LDFLAGS = -lm -lrt
CP = cp
FLEX = {flex}
LN = ln
MKDIR = mkdir -p
MV = mv
RANLIB = ranlib
BISON = {bison}
"""


def build_of(program):
    def build(place, wrapper):
        folder = place.source(wrapper, "scotch") / "src"
        if not (folder.parent / "bin" / program).exists():
            tools = place.packages("flex", "bison") / "usr"
            (folder / "Makefile.inc").write_text(MAKE.format(cc=wrapper.cc, flex=tools / "bin/flex", bison=tools / "bin/bison",
                                                                 fint=" -DMPI_Fint=int" if wrapper.abi == STANDARD else ""))
            for name in ("bin", "lib", "include"):
                (folder.parent / name).mkdir(exist_ok=True)
            # Its files do not say all that they depend on, so one after the other.
            place.run(wrapper, ["make", "-j1", "ptscotch"], folder, "scotch", BISON_PKGDATADIR=str(tools / "share/bison"), M4="m4")
        return folder.parent / "bin" / program
    return build


def grid_graph(side=SIDE):
    """A square of vertices in Scotch's format: version, vertices and arcs, no weights, then the neighbours of each."""
    lines, arcs = [], 0
    for x in range(side):
        for y in range(side):
            beside = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
            inside = [column * side + row for column, row in beside if 0 <= column < side and 0 <= row < side]
            arcs += len(inside)
            lines.append(" ".join(map(str, [len(inside), *inside])))
    return "\n".join(["0", f"{side * side} {arcs}", "0 000", *lines]) + "\n"


def last_numbers(text):
    """{vertex: number} of a mapping or an order in Scotch's format."""
    words = text.split()
    return dict(zip(map(int, words[1::2]), map(int, words[2::2])))


def even_parts(run):
    parts = last_numbers(run.read("parts.map"))
    if sorted(parts) != list(range(SIDE * SIDE)):
        return f"it maps {len(parts)} vertices of {SIDE * SIDE}"
    sizes = [list(parts.values()).count(part) for part in range(PARTS)]
    return "" if sum(sizes) == len(parts) and max(sizes) <= 1.1 * len(parts) / PARTS else f"parts of {sizes} vertices"


def permutation(run):
    order = last_numbers(run.read("order.ord"))
    return "" if sorted(order.values()) == list(range(SIDE * SIDE)) else "it is no permutation of the vertices"


PROGRAMS = [
    Program("dgpart", f"PT-Scotch divides a graph of {SIDE} x {SIDE} vertices", "scotch", build_of("dgpart"),
            lambda ranks, inputs: [PARTS, inputs / "grid.grf", "parts.map"], even_parts, inputs={"grid.grf": grid_graph}),
    Program("dgord", "PT-Scotch orders the same graph's vertices", "scotch", build_of("dgord"),
            lambda ranks, inputs: [inputs / "grid.grf", "order.ord"], permutation, inputs={"grid.grf": grid_graph}),
]
