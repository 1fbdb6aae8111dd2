"""b_eff and the cyclic pattern of 002: Table 1, with T_hybrid / T_MPP for this machine."""

from . import Experiment
from ..measured import Measured, Run, finding, table
from ..model import PAPERS, hybrid_by_mpp
from ..svg import digits

MPP, HYBRID = "pure MPI", "one process a node"
COLUMNS = (("b_eff", "average"), ("b_eff", "at_longest"), ("3-D cyclic", "average"), ("3-D cyclic", "at_longest"))


def plan(context):
    per_node = max(2, context.cores)
    arguments = ("--longest", context.choose(8192, 1 << 20, 8 << 20), "--seconds", context.choose(1e-6, 5e-4, 5e-3))
    wait = context.choose(2, 5, 15)
    return [Run(MPP, "beff", context.nodes * per_node, arguments, expected=wait), Run(HYBRID, "beff", context.nodes, arguments, expected=wait)]


def pairs(measured, library):
    """[(pure MPI, hybrid), ...] in bytes a second, for the four columns of the table."""
    return [(measured.median(library, MPP, value, pattern=pattern), measured.median(library, HYBRID, value, pattern=pattern)) for pattern, value in COLUMNS]


def evaluate(results):
    measured, rows = Measured.of(results, "beff"), []
    paper = PAPERS["002"]
    for library in measured.libraries():
        found = pairs(measured, library)
        if any(None in pair for pair in found):
            continue
        rows.append([library, "b hybrid [MB/s]", *(digits(hybrid / 1e6) for _, hybrid in found)])
        rows.append([library, "b MPP [MB/s]", *(digits(mpp / 1e6) for mpp, _ in found)])
        rows.append([library, "b MPP / b hybrid", *(f"{mpp / hybrid:.2f}" for mpp, hybrid in found)])
        rows.append([library, "T hybrid / T MPP, twice as much data", *(f"{hybrid_by_mpp(*pair):.2f}" for pair in found)])
    rows.append(["printed (Hitachi SR8000)", "b MPP / b hybrid", *map(str, paper["printed"]["mpp_by_hybrid"])])
    rows.append(["printed (Hitachi SR8000)", "T hybrid / T MPP, twice as much data", *map(str, paper["printed"]["hybrid_time_by_mpp"])])
    header = ["library", "", "b_eff, average", "b_eff, longest", "3-D cyclic, average", "3-D cyclic, longest"]
    return [table("Table 1 of 002", header, rows, "The average is over 21 sizes from 1 byte; 002 says from 8 bytes. The measurement of the Cartesian experiment, 002, "
                  "Figure 1, is the curve 'masteronly' of the ring.")]


def findings(results):
    measured, found = Measured.of(results, "beff"), []
    for library in measured.libraries():
        pair = pairs(measured, library)
        if any(None in each for each in pair):
            continue
        ratios = [hybrid_by_mpp(*each) for each in pair]
        found.append(finding("002, Table 1: the hybrid model communicates longer than pure MPI, though that moves twice as much data", "1.49 to 1.73 times",
                             f"{library}: {min(ratios):.2f} to {max(ratios):.2f} times",
                             "confirmed" if min(ratios) > 1 else "refuted here" if max(ratios) < 1 else "for some patterns", ("002 Table 1",)))
    return found


EXPERIMENT = Experiment("beff", "002", "Effective bandwidth", "b_eff (rings and random patterns, 21 sizes, three methods) and a cyclic grid; hybrid against pure MPI",
                        ("programs/beff.c",), plan, evaluate, findings)
