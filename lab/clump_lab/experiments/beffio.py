"""b_eff_io: the effective I/O bandwidth, which the author of 002 made beside b_eff. No text of the lab prints numbers of it."""

from . import Experiment
from ..measured import Measured, Run, chart, table
from ..svg import digits

METHODS = ("write", "rewrite", "read")
PATTERNS = ("strided, collective", "ordered, shared pointer", "a file for each rank", "segments", "segments, collective")


def plan(context):
    ranks = context.nodes * max(2, context.cores)
    seconds = context.choose(1e-4, 0.02, 0.2)
    arguments = ("--longest", context.choose(1 << 16, 1 << 20, 1 << 23), "--most", context.choose(1 << 17, 1 << 24, 1 << 27), "--seconds", seconds)
    return [Run("beffio", "beffio", ranks, arguments, expected=2 + 200 * seconds)]


def rate(row):
    return row["moved"] / row["seconds"] / 1e6


def of_pattern(measured, library, pattern, method):
    """MB/s over all sizes of chunks, of all rounds; None: not measured."""
    rows = measured.rows(library, pattern=pattern, method=method)
    return sum(row["moved"] for row in rows) / sum(row["seconds"] for row in rows) / 1e6 if rows else None


def evaluate(results):
    measured, items, rows = Measured.of(results, "beffio"), [], []
    curves = {f"{library}, {method}": measured.series(library, "bytes", rate, pattern=PATTERNS[0], method=method)
              for library in measured.libraries() for method in ("write", "read")}
    items.append(chart("beffio", "Strided, collective access by the length of a chunk", "bytes", "MB/s", curves, x_log=True, y_log=True, x_is_bytes=True, x_base=1024))
    for library in measured.libraries():
        for pattern in PATTERNS:
            found = [of_pattern(measured, library, pattern, method) for method in METHODS]
            rows.append([library, pattern, *("" if value is None else digits(value) for value in found), ""])
        whole = [measured.median(library, value=method, pattern="b_eff_io") for method in (*METHODS, "average")]
        rows.append([library, "b_eff_io", *("" if value is None else digits(value / 1e6) for value in whole)])
    items.append(table("Effective I/O bandwidth, MB/s", ["library", "pattern", "write", "rewrite", "read", "b_eff_io"], rows,
                       "The first pattern counts twice, and so does reading. Written data is synchronised with MPI_File_sync, and may be read from memory."))
    return items


EXPERIMENT = Experiment("beffio", "002", "Effective I/O bandwidth", "b_eff_io: five patterns of access to files, chunks of 1 KB to the longest; write, rewrite, read",
                        ("programs/beffio.c",), plan, evaluate, lambda results: [])
