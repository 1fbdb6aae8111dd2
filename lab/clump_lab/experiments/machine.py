"""Memory bandwidth, peak FLOPS and OpenMP's overhead: what Table 1 of 000 has beside the bandwidth of messages."""

from . import Experiment
from ..measured import Measured, Run, table
from ..svg import digits


def plan(context):
    size = context.choose(3, 96, 384)
    arguments = ("--megabytes", size, "--seconds", context.seconds * 5)
    one = Run("one core", "machine", 1, arguments, expected=1.5)
    every = Run("all cores", "machine", context.cores, arguments, expected=1.5)
    team = Run("one rank of threads", "machine", 1, ("--megabytes", 3, "--seconds", context.seconds), threads=context.cores, expected=1)
    return [one] + ([every, team] if context.cores > 1 else [])


def rates(results, library):
    """{what: units a second} on all cores, and `region`: seconds of a parallel region."""
    measured = Measured.of(results, "machine")
    label = "all cores" if "all cores" in measured.labels(library) else "one core"
    found = {}
    for what in ("triad", "fma"):
        amount, seconds = measured.median(library, label, "amount", what=what), measured.median(library, label, what=what)
        if seconds:
            found[what] = amount / seconds
    region = measured.median(library, "one rank of threads", what="region")
    if region:
        found["region"] = region
    return found


def evaluate(results):
    measured = Measured.of(results, "machine")
    rows = []
    for library in measured.libraries():
        for label in measured.labels(library):
            for what, unit, factor in (("triad", "GB/s", 1e-9), ("fma", "GFLOP/s", 1e-9)):
                seconds = measured.median(library, label, what=what)
                if seconds:
                    amount = measured.median(library, label, "amount", what=what)
                    rows.append([library, label, "memory bandwidth, triad" if what == "triad" else "peak, multiply-add", f"{digits(amount / seconds * factor)} {unit}",
                                 spread_text(measured.spread(library, label, what=what))])
            region = measured.median(library, label, what="region")
            if region:
                rows.append([library, label, "a parallel region of OpenMP", f"{digits(region * 1e6)} µs", spread_text(measured.spread(library, label, what="region"))])
    return [table("Memory, arithmetic, parallel regions", ["library", "on", "what", "measured", "greatest by least"], rows)]


def spread_text(spread):
    return "one round" if spread is None else f"{spread:.2f}"


EXPERIMENT = Experiment("machine", "000", "What the machine has", "memory bandwidth (triad), peak FLOPS (multiply-add), the cost of a parallel region",
                        ("programs/machine.c",), plan, evaluate, lambda results: [])
