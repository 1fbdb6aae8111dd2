"""One stencil in all styles of 000 and 002, and what overlapping gains, beside the bounds that 002 gives."""

import statistics

from . import Experiment
from ..measured import Measured, Run, chart, figures, finding, table
from ..model import PAPERS, epsilon_bounds
from ..svg import digits

OVERLAPPING = ("funneled-fixed", "funneled-adaptive", "multiple", "multiple-b2")


def sides(context):
    return context.choose((64,), (128, 256, 512, 1024), (256, 512, 1024, 2048, 4096))


def divisions(context):
    """[(words after the style, processes, threads of each), ...]: how one or several processes of each node share its cores. On one host it is one node, or
    two of half its cores."""
    nodes, width = (len(context.hosts), context.cores) if context.hosts else (2, context.cores // 2)
    found = [("", len(context.hosts) or 1, context.cores)]
    if not context.hosts:
        found.append((", two processes", 2, max(2, width)))
    several = [count for count in range(2, width) if width % count == 0]  # one a core is pure MPI
    return found + [(f", {count} processes a node", nodes * count, width // count) for count in several]


def plan(context):
    every = (len(context.hosts) or 1) * context.cores
    runs = []
    for n in sides(context):
        arguments = ("--n", n, "--seconds", context.seconds)
        wait = 0.6 + 4 * context.seconds
        for overlap in (0, 1):  # the same label: rows say which
            runs.append(Run("pure", "stencil", every, (*arguments, "--style", "pure", "--overlap", overlap), expected=wait))
        for words, processes, threads in divisions(context):
            for style in ("masteronly", *OVERLAPPING):
                if words and style not in ("masteronly", "funneled-adaptive", "multiple"):
                    continue
                more = ("--communicating", max(1, threads // 2)) if style == "multiple-b2" else ()
                runs.append(Run(style + words, "stencil", processes, (*arguments, "--style", style, *more), threads=threads, expected=wait))
        runs.append(Run("masteronly, overlap", "stencil", len(context.hosts) or 1, (*arguments, "--style", "masteronly", "--overlap", 1), threads=context.cores, expected=wait))
    if not context.hosts:  # what predict.py takes a core's part of a square from
        runs += [Run("one core", "stencil", 1, ("--n", n, "--seconds", context.seconds, "--style", "pure"), expected=wait) for n in (sides(context)[0] // 2, *sides(context))]
    return runs


def label_of(row, label):
    return f"{label}, overlap" if row["overlap"] and "overlap" not in label else label


def shown_rows(measured, library):
    return [dict(row, label=label_of(row, label)) for label in measured.labels(library) for row in measured.rows(library, label)]


def times(measured, library, value="seconds"):
    """{(label, n): median of an iteration}"""
    found = {}
    for row in shown_rows(measured, library):
        found.setdefault((row["label"], row["n"]), []).append(row[value])
    return {key: statistics.median(values) for key, values in found.items()}


def evaluate(results):
    measured = Measured.of(results, "styles")
    items = []
    for library in measured.libraries():
        series = {}
        for (label, n), seconds in times(measured, library).items():
            rate = n * n / seconds / 1e6
            series.setdefault(label, []).append((n, rate, rate, rate))
        items.append(chart(f"styles-{library}", f"Jacobi, {library}: points a second by style", "points in each direction", "million points a second", series,
                           x_log=True))
    items.append(epsilons(measured))
    items.append(bits(measured))
    return items


def epsilon_rows(measured):
    """(library, n, style, measured epsilon, f, bounds): of overlapping styles against masteronly, as one process with all cores."""
    for library in measured.libraries():
        seconds, communication = times(measured, library), times(measured, library, "communication")
        for (label, n), took in seconds.items():
            base = label.partition(",")[0]
            masteronly = label.replace(base, "masteronly")
            if base not in OVERLAPPING or (masteronly, n) not in seconds:
                continue
            if all(row["ranks"] == 1 for row in measured.rows(library, masteronly)):
                continue  # one process alone has no messages that could be overlapped
            threads = measured.rows(library, label)[0]["threads"]
            whole, talk = seconds[masteronly, n], communication[masteronly, n]
            accumulated = talk + (whole - talk) * threads
            yield library, n, label, whole / took, talk / accumulated, epsilon_bounds(talk / accumulated, threads, 1)


def epsilons(measured):
    rows = []
    for library, n, label, found, f, (low, high, balanced) in epsilon_rows(measured):
        inside = "within" if low <= found <= min(high, balanced) else "below" if found < low else "above"
        rows.append([library, n, label, f"{found:.2f}", f"{f:.3f}", f"{low:.2f}", f"{min(high, balanced):.2f}", inside])
    return table("Masteronly's time by that of overlapping styles (002, section 6)", ["library", "n", "style", "epsilon", "f", "least bound", "greatest bound", ""], rows,
                 "f is the part of communication in masteronly's accumulated time. The bounds know nothing of parallel regions, caches and other programs.")


def bits(measured):
    rows = []
    by_size = {}
    for library in measured.libraries():
        for row in shown_rows(measured, library):
            by_size.setdefault(row["n"], {}).setdefault(row["bits"], set()).add(f"{row['label']} ({library})")
    for n, found in sorted(by_size.items()):
        same = "the same" if len(found) == 1 else "DIFFER: " + "; ".join(f"{word}: {', '.join(sorted(who))}" for word, who in found.items())
        rows.append([n, sum(map(len, found.values())), same])
    return table("Results bit by bit", ["n", "styles and libraries", "bits"], rows)


def same_bits(measured, library):
    """001's two levels, MPI between and OpenMP within, compute what MPI alone computes."""
    by_size = {}
    for row in measured.rows(library):
        by_size.setdefault(row["n"], set()).add(row["bits"])
    same, threads = sum(len(bits) == 1 for bits in by_size.values()), max((row["threads"] for row in measured.rows(library)), default=1)
    return finding("001, Figure 1: MPI divides a grid among processes, OpenMP the part of each among its threads", "a drawing",
                   f"{library}: with up to {threads} threads a process all styles give the same bits for {same} of {len(by_size)} sizes",
                   "confirmed" if same == len(by_size) else "refuted here", figures("001", 1))


def findings(results):
    measured, found = Measured.of(results, "styles"), []
    greatest = PAPERS["002"]["printed"]["greatest_epsilon"]
    for library in measured.libraries():
        found.append(same_bits(measured, library))
        values = [(epsilon, label, n) for name, n, label, epsilon, *_ in epsilon_rows(measured) if name == library]
        if values:
            best, label, n = max(values)
            found.append(finding("002, section 6: overlapping is at most 2 - 1/n times as fast as masteronly on n threads, and only if f fits",
                                 f"{greatest} with 8 threads, 1.5 with 2", f"{library}: {min(values)[0]:.2f} to {best:.2f} ({label}, n = {n})",
                                 "confirmed" if best <= 2 - 1 / results["machine"]["cores"] else "above the bound here: masteronly pays for its parallel regions"))
        seconds = times(measured, library)
        wins = [n for (label, n) in seconds if label == "pure" and ("masteronly", n) in seconds and seconds["pure", n] < seconds["masteronly", n]]
        both = [n for (label, n) in seconds if label == "pure" and ("masteronly", n) in seconds]
        if both:
            found.append(finding("002, section 5 and conclusion: pure MPI is often faster than masteronly", "1.49 to 1.73 times in communication",
                                 f"{library}: pure MPI is faster for {len(wins)} of {len(both)} sizes, {', '.join(digits(seconds['masteronly', n] / seconds['pure', n]) for n in both)} times",
                                 "confirmed" if len(wins) > len(both) / 2 else "refuted here"))
    return found


EXPERIMENT = Experiment("styles", "002", "One stencil in all styles", "a Jacobi iteration as pure MPI, masteronly, funneled (fixed, adaptive), multiple (B1, B2), with and "
                        "without overlap", ("programs/stencil.c",), plan, evaluate, findings)
