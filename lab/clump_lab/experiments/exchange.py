"""Exchanges of pairs across nodes and inside them, synchronous and asynchronous: Table 1 of 003."""

from . import Experiment
from ..measured import Measured, Run, chart, figures, finding, table
from ..model import PAPERS
from ..svg import digits

MODES = ("synchronous", "asynchronous")
# Columns of Table 1: (name in papers/003.json, words, label of the run, where its pairs are)
COLUMNS = (("external1", "1-way nodes, external", "1-way", "across"), ("external2", "2-way nodes, external", "2-way", "across"),
           ("internal", "2-way node, local", "one node", "inside"))
LEAST, LONGEST = 8, 131072
SHOWN = (*figures("003", 6), "003 Table 1")


def plan(context):
    arguments = ("--bytes", context.choose(4096, LONGEST, LONGEST), "--seconds", context.seconds)
    wait = 1 + 15 * context.seconds
    nodes = 2 if len(context.hosts) != 1 else 1
    runs = [Run("one node", "exchange", 2, ("--per-node", context.per_node(2), *arguments), expected=wait, nodes=1)]
    if nodes == 2:
        runs += [Run(label, "exchange", 2 * ways, ("--per-node", context.per_node(ways), *arguments), expected=wait, nodes=2) for label, ways in (("1-way", 1), ("2-way", 2))]
    return runs


def bandwidth(row):
    """Bytes a second that one rank sends while it receives as many."""
    return row["bytes"] / row["seconds"]


def evaluate(results):
    measured, curves, rows = Measured.of(results, "exchange"), {}, []
    for library in measured.libraries():
        for name, words, label, where in COLUMNS:
            curves[f"{library}, {words}"] = measured.series(library, "bytes", lambda row: bandwidth(row) / 1e6, label, where=where, mode="asynchronous")
    for mode in MODES:
        for what in ("bandwidth", "latency"):
            rows += [[f"here, {library}", mode, what, *(cell(measured, library, mode, what, label, where) for _, _, label, where in COLUMNS)] for library in measured.libraries()]
            printed = PAPERS["003"]["table1"][mode]
            rows.append(["printed", mode, what, *(f"{printed[name]['mbs']} MB/s" if what == "bandwidth" else f"{printed[name]['latency_us']} µs" for name, *_ in COLUMNS)])
    return [chart("exchange", "Exchanges of pairs, asynchronous, bandwidth of a rank (003, Table 1)", "bytes", "MB/s", curves, x_log=True, y_log=True, x_is_bytes=True, x_base=8),
            table("Table 1 of 003: the longest exchange (128 kB in the paper) and the shortest (8 bytes), per rank", ["", "mode", "", *(words for _, words, *_ in COLUMNS)], rows,
                  "Printed: 400 MHz Pentium II, Myrinet. On one host nodes are blocks of ranks: what is external goes through its memory, and four ranks share its cores.")]


def cell(measured, library, mode, what, label, where):
    points = measured.series(library, "bytes", lambda row: row["seconds"], label, where=where, mode=mode)
    if not points:
        return "not measured"
    return f"{digits(points[0][1] * 1e6)} µs" if what == "latency" else f"{digits(points[-1][0] / points[-1][1] / 1e6)} MB/s"


def findings(results):
    measured, found = Measured.of(results, "exchange"), []
    for library in measured.libraries():
        def median(label, where, size):
            return measured.median(library, label, where=where, mode="synchronous", bytes=size)
        sizes = [row["bytes"] for row in measured.rows(library, "2-way", where="across")]
        if not sizes or not measured.rows(library, "1-way"):
            continue
        one, two = (median(label, "across", max(sizes)) for label in ("1-way", "2-way"))
        found.append(finding("003, 4.3: the bandwidth of a 1-way node is more than twice that of each of two processors of a 2-way node", "68 by 24 MB/s, 80 by 32 MB/s",
                             f"{library}: {two / one:.2f} times", "confirmed" if two > 2 * one else "refuted here", SHOWN))
        one, two = (median(label, "across", min(sizes)) for label in ("1-way", "2-way"))
        found.append(finding("003, 4.3: two processors of a node send a small message each in less time than one sends two", "27 µs against 2 * 20 µs",
                             f"{library}: {digits(two * 1e6)} µs against 2 * {digits(one * 1e6)} µs", "confirmed" if two < 2 * one else "refuted here", SHOWN))
    return found


EXPERIMENT = Experiment("exchange", "003", "Exchanges of pairs", "latency and bandwidth of exchanges across nodes of one and two ranks and inside a node (Table 1)",
                        ("programs/exchange.c",), plan, evaluate, findings)
