"""Cases of `./dev real debian`: programs that are started, and have to say the same as under Open MPI; and those that stop at what Clump lacks."""

from debian_case import Case, no_other_lines, nothing_wrong, same_lines, says


def start(program, package, arguments="--help", **options):
    """Says the same lines, those of all ranks in any order."""
    return Case(program, package, program, arguments, says="says the same", agree=options.pop("agree", same_lines(any_order=True)), **options)


CASES = [
    start("makeflow_mpi_starter", "coop-computing-tools", "-h"),
    # Ranks are bound to cores by one launcher and not by the other, and that is what it says next.
    start("fiat-printbinding", "fiat-utils", "", sound=says(r"Rank +0 on .* has +1 threads", r"Rank +1 on .* has +1 threads"), agree=nothing_wrong),
    start("gt_mpi_gather", "genomicsdb-tools", code=1, agree=no_other_lines),
    start("vcf2genomicsdb", "genomicsdb-tools", "--version"),
    start("gfsview-batch2D", "gfsview-batch", "-h"),
    start("gyoto", "gyoto-bin", "--version"),
    start("music", "music-bin"),
    start("otfmerge-mpi", "otf-trace"),
    start("otfprofile-mpi", "otf-trace"),
    *[start(f"relion_{name}_mpi", "relion", "--version", code=1, agree=no_other_lines) for name in ("refine", "preprocess", "reconstruct", "autopick")],
]
