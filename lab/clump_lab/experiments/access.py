"""Ways to data of another rank: Table 2 of 002."""

from . import Experiment
from ..measured import Measured, Run, chart, finding, table
from ..model import PAPERS, two_sided
from ..svg import digits

MESSAGES = ("two-sided", "get", "put")
LOADS = ("loads in order", "loads at random")


def plan(context):
    ranks = len(context.hosts) or 2
    return [Run("access", "access", ranks, ("--bytes", context.choose(4096, 1 << 20, 16 << 20), "--seconds", context.seconds), expected=1 + 20 * context.seconds)]


def bandwidth(row):
    return row["bytes"] / row["seconds"] / 1e6


def evaluate(results):
    measured, items, rows = Measured.of(results, "access"), [], []
    curves = {f"{library}, {what}": measured.series(library, "bytes", bandwidth, what=what) for library in measured.libraries() for what in MESSAGES}
    items.append(chart("access", "Access to data of another rank (002, Table 2)", "bytes", "MB/s", curves, x_log=True, y_log=True, x_is_bytes=True, x_base=8))
    for library in measured.libraries():
        for what in (*MESSAGES, *LOADS):
            points = measured.series(library, "bytes", bandwidth, what=what)
            if not points:
                rows.append([library, what, "not measured: no shared memory between the ranks", "", ""])
                continue
            latency = "" if what in LOADS else f"{digits(measured.median(library, what=what, bytes=points[0][0]) * 1e6)} µs for {points[0][0]} bytes"
            copies = {"two-sided": "the library's and the receive buffer", "get": "receive buffer", "put": "receive buffer"}.get(what, "none")
            rows.append([library, what, copies, latency, f"{digits(points[-1][1])} MB/s"])
    paper = PAPERS["002"]["access"]["printed"]
    rows.append(["printed", "two-sided, 10 kB", "two", "10 µs", f"{paper['two_sided_mbs']} MB/s"])
    rows.append(["printed", "word by word", "none", f"{paper['word_latency_us']} µs", f"{paper['word_mbs']} MB/s"])
    items.append(table("Copies and bandwidth", ["library", "access", "copies", "latency", "bandwidth of the longest"], rows))
    return items


def findings(results):
    measured, found = Measured.of(results, "access"), []
    for library in measured.libraries():
        words = measured.series(library, "bytes", bandwidth, what="loads at random")
        sizes = measured.series(library, "bytes", lambda row: row["seconds"], what="two-sided")
        if words and sizes:
            longest, seconds = sizes[-1][:2]
            message = longest / seconds / 1e6
            found.append(finding("002, Table 2: word by word, access is bound by latency and far slower than messages", "24 MB/s against 232 MB/s",
                                 f"{library}: {digits(words[-1][1])} MB/s word by word, each address from the word before, {digits(message)} MB/s in messages of {longest} bytes",
                                 "confirmed" if words[-1][1] < message / 2 else "refuted here", ("002 Table 2",)))
            middle = sizes[len(sizes) // 2]
            predicted = two_sided(middle[0], longest / seconds, sizes[0][1])
            found.append(finding("002, Table 2: bandwidth is b / (1 + b T / size)", "a formula", f"{library}: {digits(predicted / 1e6)} MB/s by the formula for {middle[0]} bytes, "
                                 f"{digits(middle[0] / middle[1] / 1e6)} measured",
                                 "confirmed within a quarter" if abs(predicted * middle[1] / middle[0] - 1) <= 0.25 else "off by more than a quarter here", ("002 Table 2",)))
    return found


EXPERIMENT = Experiment("access", "002", "Ways to data of another rank", "two-sided and one-sided messages, and loads through shared memory (Table 2)",
                        ("programs/access.c",), plan, evaluate, findings)
