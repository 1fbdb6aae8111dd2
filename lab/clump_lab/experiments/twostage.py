"""Two-stage collectives of 001: by the library, by a layer over the profiling interface, and by OpenMP with MPI (Figure 2)."""

from . import Experiment
from ..measured import Measured, Run, chart, figures, finding, table
from ..svg import digits, in_bytes

LIBRARY, LAYER, MIXED = "the library's own", "two stages over PMPI", "OpenMP + MPI"


def plan(context):
    """Ranks fill the nodes; the mixed form has a rank on each node and threads for the others."""
    per_node = max(2, context.cores)
    nodes = max(2, context.nodes)
    sizes = ("--least", 8, "--most", context.choose(4096, 4 << 20, 4 << 20), "--seconds", context.seconds)
    mine = {"LAB_PER_NODE": str(context.per_node(per_node))}
    settings = {family: mine for family in ("clump", "mpich", "openmpi", "intel")}
    wait = 1 + 20 * context.seconds
    runs = [Run(LIBRARY, "allreduce", nodes * per_node, sizes, expected=wait),
            Run(LAYER, "allreduce", nodes * per_node, sizes, expected=wait, twostage=True, settings=settings),
            Run(MIXED, "allreduce", nodes, (*sizes, "--how", "threads"), threads=per_node, expected=wait),
            Run("check", "twostage_check", 4 if context.hosts else 2 * per_node + 1, expected=1, twostage=True, settings=settings)]
    return runs


def bandwidth(row):
    return row["bytes"] / row["seconds"] / 1e6


def evaluate(results):
    measured = Measured.of(results, "twostage")
    items = []
    for library in measured.libraries():
        series = {label: measured.series(library, "bytes", bandwidth, label) for label in (LIBRARY, LAYER, MIXED)}
        items.append(chart(f"twostage-{library}", f"Allreduce, {library} (001, Figure 2)", "bytes", "MB/s", series, x_log=True, y_log=True, x_is_bytes=True, x_base=8))
    items.append(gains(measured))
    return items


def gain(measured, library, label, size):
    """How many times faster than the library's own."""
    own, other = (measured.median(library, which, bytes=size) for which in (LIBRARY, label))
    return own / other if own and other else None


def gains(measured):
    rows = []
    for library in measured.libraries():
        for size in sorted({row["bytes"] for row in measured.rows(library, LIBRARY)}):
            cells = [gain(measured, library, label, size) for label in (LAYER, MIXED)]
            own = measured.median(library, LIBRARY, bytes=size)
            rows.append([library, in_bytes(size), f"{digits(own * 1e6)} µs", *("not measured" if cell is None else f"{cell:.2f}" for cell in cells)])
    return table("Times faster than the library's own allreduce", ["library", "bytes", "the library's own", LAYER, MIXED], rows, "Below 1 the library's own is faster.")


def findings(results):
    measured, found = Measured.of(results, "twostage"), []
    for library in measured.libraries():
        sizes = sorted({row["bytes"] for row in measured.rows(library, LIBRARY)})
        layer = [value for value in (gain(measured, library, LAYER, size) for size in sizes) if value]
        mixed = [value for value in (gain(measured, library, MIXED, size) for size in sizes) if value]
        if layer:
            wins = sum(value > 1 for value in layer)
            found.append(finding("001, Figure 2: on 32 processors of HPCx the two-stage library is faster than the vendor's allreduce for all sizes",
                                 "a figure without printed numbers", f"{library}: {wins} of {len(layer)} sizes, {min(layer):.2f} to {max(layer):.2f} times as fast",
                                 "confirmed" if wins == len(layer) else "refuted here" if wins == 0 else "for some sizes", figures("001", 2)))
        if len(mixed) > 1:
            found.append(finding("001, Figure 2: OpenMP with MPI is fastest for small sizes, and slower than the others for large ones",
                                 "a figure without printed numbers", f"{library}: {mixed[0]:.2f} times as fast for {in_bytes(sizes[0])}, {mixed[-1]:.2f} for "
                                 f"{in_bytes(sizes[-1])}", "confirmed" if mixed[0] > 1 > mixed[-1] else "refuted here", figures("001", 2)))
    return found


EXPERIMENT = Experiment("twostage", "001", "Allreduce in two stages", "allreduce by the library, in two stages over the profiling interface, and by OpenMP with MPI",
                        ("programs/allreduce.c", "programs/twostage.c", "programs/twostage_check.c"), plan, evaluate, findings)
