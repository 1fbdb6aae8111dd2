"""ROMIO's own tests (src/mpi/romio/test in MPICH's sources), each started as its runtests starts it.

Left out are those that a library of the standard cannot pass or that are too large, with the reason in SKIPPED.
"""

from checks import Check, first_words
from python import OURS
from sources import run_quietly

NAME = "romio"
PACKAGE = "mpich"
# Ranks and arguments of each.
NAMED = ["-fname", "{file}"]
PROGRAMS = {
    "simple": (4, NAMED), "async": (4, NAMED), "async-multiple": (4, NAMED), "atomicity": (4, NAMED), "coll_test": (4, NAMED), "excl": (4, NAMED),
    "creat_excl": (4, NAMED), "file_info": (4, NAMED), "misc": (4, NAMED), "shared_fp": (4, NAMED), "ordered_fp": (4, NAMED), "split_coll": (4, NAMED),
    "psimple": (4, NAMED), "status": (1, NAMED), "aggregation1": (4, ["-h", "-f", "{file}"]), "aggregation2": (4, ["{file}"]), "hindexed": (4, ["{file}"]),
    "types_with_zeros": (2, ["{file}"]), "darray_read": (4, ["{file}"]), "big_extents": (1, ["{file}"]),
}  # fmt: skip
REMOVED = "uses MPI_LB and MPI_UB, which MPI-3.0 removed; the folder io of mpich-tests has it without them"
SKIPPED = {
    "error": "compares the text of a message with ROMIO's", "syshints": "reads a file of hints that ROMIO alone knows",
    "external32": "prints bytes and judges nothing", "perf": "prints rates and judges nothing", "coll_perf": "writes 41 GB",
    "large_array": "writes 4 GB and needs 8 GB of memory", "large_file": "writes 4 GB", "i_noncontig": REMOVED, "noncontig": REMOVED,
    "noncontig_coll": REMOVED, "noncontig_coll2": REMOVED,
}  # fmt: skip
# ROMIO's own requests of the time before MPI-2 are MPI's now.
DEFINED = ["-DMPIO_USES_MPI_REQUEST", "-DMPIO_Request=MPI_Request"]


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder, members=["src/mpi/romio/test"])
    tests = folder / "src/mpi/romio/test"
    for name in PROGRAMS:
        source = tests / f"{name}.c"
        if not source.exists():  # configure would put in how an MPI_Offset is printed
            source.write_text((tests / f"{name}.c.in").read_text().replace("@LL@", "lld"))
        run_quietly([place.bin / "mpicc", "-O1", "-w", *DEFINED, source, "-o", tests / name], place.logs / f"{name}.txt")
    return version


def checks(place):
    folder = place.folder / "src/mpi/romio/test"
    for name, (ranks, arguments) in PROGRAMS.items():
        for way, options in (("", []), (OURS, ["--ranks", "processes"])):
            script = 'mkdir out.$$ && trap "rm -rf out.$$" EXIT; "$@" ' + " ".join(word.format(file=f"out.$$/{name}") for word in arguments)
            command = ["sh", "-c", script, "sh", place.bin / "mpiexec", *options, "-n", ranks, f"./{name}"]
            yield Check("test", name, command, folder, judge, way=way)
    for name, reason in SKIPPED.items():
        yield Check("test", name, [], folder, judge, skip=reason, way=OURS)


def judge(code, text):
    """Each prints "No Errors" and nothing else, but big_extents, which says of each type that it is OK."""
    wrong = [line for line in text.splitlines() if line.strip() and not line.endswith(("No Errors", "OK"))]
    return "" if code == 0 and "No Errors" in text and not wrong else f"exit code {code}: {first_words(chr(10).join(wrong) or text)}"
