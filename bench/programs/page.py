"""The page and its charts, from the numbers of a run."""

import statistics
import sys
import time
from pathlib import Path

from . import summary
from .summary import START, best_peer, fibers_by_processes, geometric_mean, mean_against_best
from .ways import FIBERS, NAMES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from clump_lab import svg  # noqa: E402

# (what the issue asks for, ranks a core, at most); the second is given where there are so many ranks.
WANTED = ((1, 0.9), (8, 0.5), (32, 0.3))
FIBERS_WANTED = 1.05
CHARTS = (("wall", "wall time"), ("work", "wall time less start-up"), ("processor", "processor time"))


def seconds_text(seconds):
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}" if seconds >= 0.1 else f"{seconds:.3f}"


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}"


def bound_text(ratio, is_bound):
    return f"≤ {ratio_text(ratio)}" if is_bound and ratio is not None else ratio_text(ratio)


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def heading(results):
    day = time.strptime(results["date"][:10], "%Y-%m-%d")
    text = f"{results['machine']}; {day.tm_mday} {time.strftime('%B %Y', day)}."
    if results["busy"] > 0.1:
        text += f" NOT QUIET: others used up to {100 * results['busy']:.0f} % of the machine, so times are not to be trusted."
    return text


def rounds_text(rounds):
    return "one round" if rounds == 1 else f"medians of {rounds} rounds"


def wanted_of(ranks, cores):
    return next((limit for a_core, limit in WANTED if ranks == a_core * cores), None)


def mean_text(measured, ranks, what):
    """The geometric mean against the best peer; of how many programs, if not of all."""
    text = bound_text(mean_against_best(measured, ranks, what=what), summary.at_most(measured, ranks, what))
    programs = len(summary.ratios(measured, ranks, what=what))
    return text if programs in (0, len(summary.ratios(measured, ranks))) else f"{text} ({programs})"


def means_table(measured, cores):
    """A row for each number of ranks: geometric means against the best peer."""
    rows = []
    for ranks in measured.ranks():
        found = summary.ratios(measured, ranks)
        if not found:
            continue
        work = summary.ratios(measured, ranks, what="work").values()
        rows.append([str(ranks), str(measured.rounds(ranks)), str(len(found)), mean_text(measured, ranks, "wall"), ratio_text(wanted_of(ranks, cores)),
                     f"{sum(ratio <= 1 for ratio in found.values())} of {len(found)}", mean_text(measured, ranks, "work"),
                     f"{sum(ratio <= 1 for ratio in work)} of {len(work)}", mean_text(measured, ranks, "processor")])
    return table(["ranks", "rounds", "programs", "wall time", "target", "as fast or faster", "less start-up", "as fast or faster", "processor time"], rows)


def ways_table(measured):
    """A row for each number of ranks: Clump's ways against each other, and Open MPI's binary under Clump."""
    rows = []
    for ranks in measured.ranks():
        by_processes = fibers_by_processes(measured, ranks)
        worst = max(by_processes, key=by_processes.get) if by_processes else None
        rows.append([str(ranks), ratio_text(geometric_mean(by_processes.values())), f"{ratio_text(by_processes[worst])} ({worst})" if worst else "",
                     ratio_text(geometric_mean(summary.facade_by_openmpi(measured, ranks).values()))])
    return table(["ranks", "fibers by processes", "the highest of these", "Open MPI's binary under Clump by the same under Open MPI"], rows)


def cell(measured, run, medians, floors):
    way = run[2]
    seconds = (floors | medians).get(way)  # the median is of the rounds that it ended in
    if seconds is not None:
        return f"> {seconds_text(seconds)}" if way in floors else seconds_text(seconds)
    return "gap" if run in measured.gaps and not summary.TOO_LONG.search(measured.gaps[run]) else ""


def times_table(measured, ranks, what):
    ways = summary.in_order({way for program in measured.programs()
                             for way in measured.floors(program, ranks, what) | measured.medians(program, ranks, what)})
    rows = []
    for program in [START, *measured.programs()]:
        medians = measured.medians(program, ranks, what)
        if not medians or (program == START and what == "work"):
            continue
        floors = measured.floors(program, ranks, what)
        cells = [cell(measured, (program, ranks, way), medians, floors) for way in ways]
        is_bound = summary.is_at_most(medians, floors)
        best = None if is_bound else best_peer(medians)
        rows.append([program, *cells, NAMES[best[0]] if best else "", bound_text(summary.against_best(medians, floors), is_bound),
                     ratio_text(medians[FIBERS] / medians["clump-processes"]) if {FIBERS, "clump-processes"} <= medians.keys() else ""])
    return table(["program", *[NAMES[way] for way in ways], "best peer", "Clump by it", "fibers by processes"], rows)


def mean_chart(measured, what, words):
    """Geometric means of each way against the best peer, by ranks."""
    series = {}
    for ranks in measured.ranks():
        for way in NAMES:
            mean = mean_against_best(measured, ranks, way, what)
            if mean is not None:
                series.setdefault(NAMES[way], []).append((ranks, mean, mean, mean))
    return svg.draw({"title": f"{words} against the best peer, geometric means", "x": "ranks", "y": "times that of the best peer", "x_log": True,
                     "x_base": 2, "y_log": True, "series": series})


def program_chart(measured, program):
    series = {}
    for ranks in measured.ranks():
        for way, values in measured.wall.get((program, ranks), {}).items():
            series.setdefault(NAMES[way], []).append((ranks, statistics.median(values), min(values), max(values)))
    return svg.draw({"title": f"{program}: wall time", "x": "ranks", "y": "seconds", "x_log": True, "x_base": 2, "y_log": True, "series": series})


def gap_lines(measured):
    """Which way has no number for a program, and why; all ranks with the same reason in one line."""
    reasons = {}
    for (program, ranks, way), reason in measured.gaps.items():
        reasons.setdefault((program, way, reason), []).append(ranks)
    return [f"- {program}, {NAMES.get(way, way)}, {', '.join(map(str, sorted(set(ranks))))} ranks: {reason}"
            for (program, way, reason), ranks in reasons.items()]


def write_charts(measured, folder, page):
    """The charts' names, which begin with the page's, for the page."""
    names = []
    for what, words in CHARTS:
        if any(mean_against_best(measured, ranks, what=what) for ranks in measured.ranks()):
            (folder / f"{page}-{what}.svg").write_text(mean_chart(measured, what, words))
            names.append((f"{page}-{what}.svg", f"{words} against the best peer, by ranks; Clump's at most where a peer was ended, "
                          "a peer's own without the programs in which it was"))
    of_programs = []
    for program in measured.programs():
        (folder / f"{page}-{program}.svg").write_text(program_chart(measured, program))
        of_programs.append((f"{page}-{program}.svg", f"{program}: wall time by ranks"))
    return names, of_programs


def lines_of(results, measured, means, of_programs):
    yield from [f"# Programs of others, timed on {results['cores']} cores", "", heading(results), "",
                "Written by `./dev bench --programs`, which has built all programs and run them under each library in turn. "
                "[How it measures](method.md#programs-of-others).", "",
                "Libraries: " + "; ".join(f"{NAMES[way]}: {words}" for way, words in results["versions"].items()) + "."]
    if results["absent"]:
        yield "Not measured: " + "; ".join(f"{NAMES[way]}: {reason}" for way, reason in results["absent"].items()) + "."
    yield from ["", "## In short", "", "A *peer* is another library, the *best* one the fastest. Ratios are Clump's time by that of the best peer: below 1 Clump is faster. "
                "Means are geometric. In brackets: of how many programs, where not of all.", "",
                "*Less start-up* is without the time of an empty program. A library is left out there if less than a quarter of its start-up remains, as "
                "that cannot be told from noise. This leaves Open MPI out of many short programs.", "",
                "A peer that was ended before it was done (the gaps tell after how long) counts with the time that it had, but for processor time; then the "
                "ratio is the most that it can be (≤).", ""]
    yield from means_table(measured, results["cores"])
    yield from ["Wall time of Clump's ways by each other:", "", *ways_table(measured)]
    yield from [line for name, words in means for line in (f"![{words}]({name})", "")]
    for ranks in measured.ranks():
        yield from [f"## {ranks} rank{'s' if ranks > 1 else ''}", "", f"{rounds_text(measured.rounds(ranks)).capitalize()}. Wall time, seconds:", ""]
        yield from times_table(measured, ranks, "wall")
        yield from ["Wall time less start-up, seconds:", ""]
        yield from times_table(measured, ranks, "work")
        yield from ["Processor time, seconds:", ""]
        yield from times_table(measured, ranks, "processor")
    yield from ["## The programs", "", "Those whose sources are `lab/nas` or `bench/programs` are written for Clump's lab and benchmarks, the others are not.", ""]
    yield from table(["program", "what it does", "sources"], [[name, what, origin] for name, what, origin in results["programs"]])
    yield from [line for name, words in of_programs for line in (f"![{words}]({name})", "")]
    gaps = gap_lines(measured)
    if gaps:
        yield from ["## Gaps", "", *gaps, ""]


def write(results, folder, page="programs"):
    """PAGE.md and its charts in the folder, from what programs.json has."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = summary.Measured.from_json(results)
    means, of_programs = write_charts(measured, folder, page)
    (folder / f"{page}.md").write_text("\n".join(lines_of(results, measured, means, of_programs)))
    return folder / f"{page}.md"
