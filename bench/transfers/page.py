"""docs/performance/many-cores.md and its charts."""

import sys
from pathlib import Path

from .clump import FACTS
from .coherence import FAR
from .count import BEFORE, CLUMP, DOMAINS, EXCHANGE, LARGE, OF_A_DOMAIN, OPERATIONS, OURS, WORKERS, count, time_of_late_core, volume

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))
from clump_lab import svg  # noqa: E402

FOLDER = ROOT / "docs" / "performance"
MOST = WORKERS[-1]
TITLES = {"barrier": "Barrier", "bcast": "Broadcast of 8 B", "allreduce": "Allreduce of 8 B"}
ASSUMPTIONS = {"in_turn": "in turn", "at_once": "at once"}

INTRODUCTION = f"""# Many cores, counted

**These are counts, not measurements.** No machine with 64 cores was at hand. `bench/transfers` simulates what leaders of a team do with cache lines
(`src/coll/shared`), and what the best published collectives in shared memory do, and counts how often a line has to move from core to core. That is
most of what a small collective costs; instructions, wake-ups, threads that look for work, and memory are not in it. Experiments [094](../experiments/094-sixteen-cores.md) and
[100](../experiments/100-sixteen-cores-programs.md) have measurements with 16 cores. A *worker* is the thread of a core, a *team* the workers of a process, a *leader* the rank that acts for a worker's ranks, a *mailbox* a
line in which one leader tells another one something. This page is written by `./dev bench --transfers`.

- **A transfer** is a read of a line that the core does not have, or a write of one that it does not have alone. It is *near* if the other cores
  concerned are of the same cache domain (cores with a last-level cache in common), otherwise *far*. A far one takes {FAR} times as long: time is told in
  near transfers.
- **Time** is counted under two assumptions, and caches and cores of today are between these. *In turn*: a line goes to one core of a domain at a time, and to one
  domain at a time, and a core asks for one line after the other to read, to write and to prefetch. *At once*: any number of cores get a line together, and a core asks for all lines that
  it needs without waiting. Mostly the second one is faster; where cores that wait read a line more often in vain then, it is slower.
- All cores begin at the same time, with a rank each, and have done the same before. Root is rank 0. With more ranks a core Clump's counts stay as they are,
  because only one of them, the leader, deals with other cores.
- What a team looks like is taken from the library: `team_shape_test.cc` compares `bench/transfers/clump.txt` with teams of 2 to 64 workers that it makes. By its table,
  the algorithms are *{FACTS["barrier", 0]}*, *{FACTS["bcast", 8]}*, *{FACTS["allreduce", 8]}*, and for 64 KB *{FACTS["allreduce", 65536]}*.

What is compared:
- *central counter, dissemination, tournament, MCS tree*: barriers as in Mellor-Crummey and Scott, Algorithms for scalable synchronization on shared-memory
  multiprocessors (ACM TOCS 9, 1991).
- *MPICH*: release and gather along trees in shared memory (Jain and others, Framework for scalable intra-node collective operations using shared
  memory, SC18), as in MPICH's sources with their defaults: 64 children in a broadcast, 4 in a reduction, 2 in a large one, 4 cells. It makes a tree for each package only
  where the user binds ranks; a package is a domain here. Checks of arguments, two more lines in a broadcast, are not counted.
- *Open MPI's XHC*: groups by domain, and one of their leaders (Katevenis and others, A framework for hierarchical single-copy MPI collectives on multicore
  nodes, IEEE CLUSTER 2022), as in Open MPI's sources: small data in the line of the flag, acknowledged by all. A domain counts as its NUMA node.
- *Rabenseifner*: recursive halving and doubling, nearest partners first, reading the partner's buffer.
"""

NOTES = {
    "barrier": """
Leaders exchange by recursive doubling, and each mailbox has one writer and one reader, so the two assumptions differ only in how soon mailboxes of other domains are fetched
ahead: nobody waits for anything but the line that is to come. Trees move fewer lines in all, {best_far:.0f} of them between domains against Clump's {far:.0f}, because only leaders of domains talk across. That costs no time here, as each core waits
for its own lines only; on a machine whose way between domains is full, it does.

Until 27 November 2026 each round waited for three lines: the own mailbox that was to be reset, the other one, and what came then. Now mailboxes of later rounds are
fetched for writing when the exchange begins, and the own ones are reset when it is over (`Team::tell_each_other`). With two workers, which have one round, nothing is different.
If the others wait at their mailboxes already when the last one comes, they fetch these back, and fetching them ahead was in vain: from then until all are through it takes
{late_now} (*at once*) to {late_now_in_turn} (*in turn*), and {late_before} to {late_before_in_turn} before. The published ways were not counted in that case.
""",
    "bcast": """
All read one line, which the root has written, and nobody waits for it to be read but before every eighth broadcast. Time is that until the last core is through, the root
included: XHC's root waits until all have acknowledged, Clump's and MPICH's go on at once, so that several broadcasts can be under way.
""",
    "allreduce": """
The exchange of the barrier, with operands in the mail. Every leader has the result when it ends.
""",
}

LARGE_NOTE = """
Each rank combines a slice of all operands and writes the result to all ([decision 008](../decisions/008-team-collectives.md)). **Published ways are better in this count**, in two respects:
- *In one domain* the busiest core of {best_one} has {one_its} transfers to wait for, Clump's {one_ours}. Clump's results are written into the buffers of all, and come back when their owners
  read them: two transfers, where fetching a result takes one. A rank that does not read its result soon has no second one.
- *In {domains} domains* slices cross for nearly every rank: {ours:.0f} far transfers for each line of the message, {best:.0f} with {best_all}, whose busiest core waits for {busiest:.1f} of all, Clump's for {ours_busiest:.1f}.
  Operands of a domain would have to be combined within it first, in buffers of their own, then across, in the order of operands from the last rank to the first.

Neither is a matter of a parameter, and both were left until they can be measured. Lines are taken to be in caches: from three quarters of the last-level cache on, Clump's stores go past the caches, which is not
counted here. With 16 cores an allreduce of 1 MB took 0.15 of the best peer's time ([experiment 094](../experiments/094-sixteen-cores.md)).
"""


def number(value):
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def domains_of(workers):
    return max(1, workers // OF_A_DOMAIN)


def transfers_table(ways):
    rows = []
    for way in ways:
        found = count(way, MOST, DOMAINS[-1])
        rows.append([way.name, number(found.near), number(found.far), number(found.at_once), number(found.in_turn)])
    return table(["", "near transfers", "far transfers", "time, at once", "time, in turn"], rows)


def domains_table(ways):
    rows = []
    for way in ways:
        counts = [count(way, MOST, domains) for domains in DOMAINS]
        rows.append([way.name, *(f"{number(found.at_once)} to {number(found.in_turn)}" for found in counts)])
    return table(["time, at once to in turn", *(f"{domains} domain{'s' if domains > 1 else ''}" for domains in DOMAINS)], rows)


def verdict(ways, domains):
    """How Clump stands against the best published way, under both assumptions."""
    parts, worse = [], False
    for assumption, words in reversed(ASSUMPTIONS.items()):
        best = min((way for way in ways if way.name not in OURS), key=lambda way: getattr(count(way, MOST, domains), assumption))
        mine, its = (getattr(count(way, MOST, domains), assumption) for way in (ways[0], best))
        worse = worse or mine > its
        parts.append(f"*{words}* {number(mine)} against {number(its)} ({best.name})")
    end = "**Here a published way is better.**" if worse else "None of them is better in either."
    return f"- {MOST} workers in {domains} domain{'s' if domains > 1 else ''}, Clump against the best published way: {' and '.join(parts)}. {end}"


def chart(operation, ways, assumption):
    series = {way.name: [(workers, time, time, time) for workers in WORKERS[1:] if (time := getattr(count(way, workers, domains_of(workers)), assumption))]
              for way in ways}
    return svg.draw({"title": f"{TITLES[operation]}: time, {ASSUMPTIONS[assumption]}", "x": f"workers, {OF_A_DOMAIN} to a cache domain", "y": "near transfers, one after the other",
                     "x_log": True, "x_base": 2, "y_log": True, "series": series})


def large_chart():
    def points(name):
        found = [(domains, volume(name, MOST, domains).most) for domains in DOMAINS]
        return [(domains, most, most, most) for domains, most in found]
    return svg.draw({"title": f"Large allreduce, {MOST} workers: time of the busiest core", "x": "cache domains", "y": "near transfers for each line of the message",
                     "x_log": True, "x_base": 2, "y_log": True, "series": {name: points(name) for name in LARGE}})


def large_lines():
    rows, counts = [], {name: volume(name, MOST, DOMAINS[-1]) for name in LARGE}
    for name, found in counts.items():
        rows.append([name, number(found.near), number(found.far), number(found.most), number(volume(name, MOST, 1).most)])
    yield from ["## Allreduce of much data", "",
                f"{MOST} workers in {DOMAINS[-1]} domains, for each line (64 bytes) of the message; every rank reads its result afterwards and writes its next operand. The first columns are "
                "of all cores, the others the time of the core that has the most transfers.", ""]
    yield from table(["", "near transfers", "far transfers", "the busiest core", "the same in one domain"], rows)
    one = {name: volume(name, MOST, 1).most for name in LARGE}
    best_all, best_one = (min((name for name in LARGE if name != CLUMP), key=key) for key in (lambda name: counts[name].most, one.get))
    yield LARGE_NOTE.format(domains=DOMAINS[-1], ours=counts[CLUMP].far, best=counts[best_all].far, best_all=best_all, busiest=counts[best_all].most, ours_busiest=counts[CLUMP].most,
                            best_one=best_one, one_its=number(one[best_one]), one_ours=number(one[CLUMP])).strip()
    yield from ["", "![time of the busiest core in a large allreduce, by cache domains](many-cores-large.svg)", ""]


def times_of_late_core():
    return {name + ("" if at_once else "_in_turn"): time_of_late_core(way, MOST, DOMAINS[-1], at_once)
            for name, way in (("late_now", EXCHANGE), ("late_before", BEFORE)) for at_once in (True, False)}


def pages():
    """{file's name: text}"""
    files, lines, late = {}, [INTRODUCTION], times_of_late_core()
    for operation, ways in OPERATIONS.items():
        ours = count(ways[0], MOST, DOMAINS[-1])
        best_far = min(count(way, MOST, DOMAINS[-1]).far for way in ways if way.name not in OURS)
        lines += [f"## {TITLES[operation]}", "", verdict(ways, DOMAINS[-1]), verdict(ways, 1), "", f"In {DOMAINS[-1]} domains:", "", *transfers_table(ways), *domains_table(ways),
                  NOTES[operation].format(best_far=best_far, far=ours.far, **late).strip(), ""]
        for assumption, words in ASSUMPTIONS.items():
            name = f"many-cores-{operation}-{words.replace(' ', '-')}.svg"
            files[name] = chart(operation, ways, assumption)
            lines += [f"![{TITLES[operation]}: time {words}, by workers]({name})", ""]
    lines += large_lines()
    files["many-cores-large.svg"] = large_chart()
    files["many-cores.md"] = "\n".join(lines).rstrip() + "\n"
    return files
