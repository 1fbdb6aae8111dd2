"""The kernels of the NAS benchmarks by number of ranks and nodes: 003, Figures 1 to 5, and its Tables 2 and 3 from the kernels' messages."""

import re

from . import Experiment
from ..measured import Measured, Run, chart, figures, finding, table
from ..model import PAPERS, external_internal, table_2_ratios
from ..facts import LAB
from ..svg import digits

RATE = re.compile(r"([0-9.]+) s, +([0-9.]+) Mop/s")
SHARES = re.compile(r"communication +([0-9.]+) s, computation +([0-9.]+) s")


def kernels():
    return sorted(path.stem for path in (LAB / "nas").glob("*.f90"))


def read(output):
    """What a kernel prints, as a row; without one if it is not verified."""
    found, shares = RATE.search(output), SHARES.search(output)
    if not found or "verification: successful" not in output:
        return []
    row = {"measure": "nas", "seconds": float(found[1]), "mops": float(found[2])}
    return [row | ({"communication": float(shares[1]), "computation": float(shares[2])} if shares else {})]


def class_of(context, kernel):
    """LU's class W takes as long as all others together."""
    return context.choose("S", "S" if kernel == "lu" else "W", "A")


def shapes(context):
    """[(nodes, ranks a node), ...]: one node, with one to twice as many ranks as it has cores; of hosts also two, four and so on."""
    most = 2 if context.size == "smoke" else context.cores * 2
    ways = [1 << power for power in range(most.bit_length()) if 1 << power <= most]
    nodes = [1 << power for power in range(8) if 1 << power <= max(1, len(context.hosts))]
    return [(count, each) for count in nodes for each in ways]


def label_of(kernel, name, nodes, ways, hosts):
    return f"{kernel.upper()} {name}, {nodes} x {ways}" if hosts else f"{kernel.upper()} {name}, {ways}"


def parts_of(label):
    """(kernel and class, nodes, ranks a node)"""
    kernel, _, shape = label.partition(", ")
    nodes, _, ways = shape.rpartition(" x ")
    return kernel, int(nodes or 1), int(ways)


def plan(context):
    runs = []
    for nodes, ways in shapes(context):
        for kernel in kernels():
            if context.size == "smoke" and kernel == "ep":
                continue  # its smallest class takes seconds
            name = class_of(context, kernel)
            runs.append(Run(label_of(kernel, name, nodes, ways, context.hosts), kernel, nodes * ways, (name,), expected=context.choose(0.5, 2, 20), read=read,
                            nodes=nodes if context.hosts else 0))
    return runs


def evaluate(results):
    measured, efficiency, rows = Measured.of(results, "nas"), {}, []
    for library in measured.libraries():
        alone = {}
        for label in measured.labels(library):
            kernel, nodes, ways = parts_of(label)
            seconds, rate = measured.median(library, label), measured.median(library, label, "mops")
            alone.setdefault(kernel, seconds)
            part = alone[kernel] / seconds / (nodes * ways) if seconds else 0
            efficiency.setdefault(f"{kernel}, {library}{way_words(results, ways)}", []).append((nodes if results["hosts"] else ways, part, part, part))
            talk, work = (measured.median(library, label, value) for value in ("communication", "computation"))
            share = "" if talk is None else f"{100 * talk / (talk + work):.0f} %" if talk + work > 0 else ""
            rows.append([library, kernel, nodes, ways, digits(seconds), digits(rate), f"{part:.2f}", "" if talk is None else digits(talk), "" if work is None else digits(work), share])
    # A kernel that took no time that its clock shows says nothing.
    efficiency = {label: points for label, points in efficiency.items() if all(point[1] > 0 for point in points)}
    across = "nodes" if results["hosts"] else "ranks"
    return [chart("nas-efficiency", "Parallel efficiency of the NAS kernels (003, Figures 1 to 3)", across, "time of one by time and number of ranks", efficiency, x_log=True),
            *breakdowns(results, measured),
            table("NAS kernels", ["library", "kernel", "nodes", "ranks a node", "s", "Mop/s", "efficiency", "communication [s]", "computation [s]", "part"],
                  rows,
                  "Communication and computation are summed over all ranks; part: what communication has of both. More ranks than cores share them: their efficiency cannot be above cores by ranks, and the time for which a rank has no core counts as what it does just then."),
            table_two(results, measured), *patterns()]


def way_words(results, ways):
    """Which nodes a curve is about, where nodes are hosts."""
    return f", {ways}-way" if results["hosts"] else ""


def breakdowns(results, measured):
    """Figures 4 and 5: a chart for each kernel, times summed over all ranks."""
    curves = {}
    for library in measured.libraries():
        for label in measured.labels(library):
            kernel, nodes, ways = parts_of(label)
            for value in ("computation", "communication"):
                found = measured.values(library, label, value)
                if found and min(found) > 0:
                    name = f"{library}, {value}{way_words(results, ways)}"
                    place = nodes if results["hosts"] else ways
                    curves.setdefault(kernel, {}).setdefault(name, []).append((place, measured.median(library, label, value), min(found), max(found)))
    across = "nodes" if results["hosts"] else "ranks of one node"
    return [chart(f"nas-time-{kernel.split()[0].lower()}", f"{kernel}: computation and communication (003, Figures 4 and 5)", across, "s, summed over all ranks", series,
                  x_log=True, y_log=True) for kernel, series in curves.items()]


def ratio(measured, library, kernel, nodes, ways):
    """Communication with `ways` ranks a node by that with half as many."""
    times = [measured.median(library, label, "communication") for each in (ways, ways // 2) for label in measured.labels(library) if parts_of(label) == (kernel, nodes, each)]
    return times[0] / times[1] if len(times) == 2 and None not in times and times[1] > 0 else None


def table_two(results, measured):
    """Measured communication by ranks of a node, beside Table 2."""
    rows = []
    for library in measured.libraries():
        names = list(dict.fromkeys(parts_of(label)[0] for label in measured.labels(library)))
        for kernel in names:
            printed = PAPERS["003"]["table2"].get(kernel.split()[0])
            for column, nodes in enumerate((2, 4)) if results["hosts"] else ((None, 1),):
                for ways, words, key in ((2, "2-way by 1-way", "2/1"), (4, "4-way by 2-way", "4/2")):
                    found = ratio(measured, library, kernel, nodes, ways) if nodes * ways > 2 else None
                    if found is not None:
                        paper = "not in the table" if printed is None or column is None else printed[key][column]
                        rows.append([library, kernel, nodes, words, f"{found:.2f}", paper])
    return table("Table 2 of 003, measured: ratios of communication time, summed over all ranks", ["library", "kernel", "nodes", "ratio", "here", "printed"], rows,
                 "A node alone is compared from two ranks on, as one rank has no other to send to. The paper's table is about two and four nodes.")


def patterns():
    """The paper's tables beside what follows from the kernels' messages; nothing of this is measured."""
    paper, three, two = PAPERS["003"], [], []
    for ways, by_kernel in paper["table3"].items():
        for kernel, printed in by_kernel.items():
            three.append([f"{ways}-way", kernel, *(f"{'%d:%d' % external_internal(kernel, ranks, int(ways))} (printed {entry})"
                                                  for ranks, entry in zip((4, 8, 16), printed))])
    for kernel, nodes, which, computed, printed in table_2_ratios():
        near = "within a quarter" if abs(computed / printed - 1) <= 0.25 else REASONS[kernel]
        two.append([kernel, nodes, "2-way by 1-way" if which == "2/1" else "4-way by 2-way", f"{computed:.2f}", printed, near])
    return [table("Table 3 of 003: external to internal messages of the first node, from the kernels' patterns", ["nodes", "kernel", "4 ranks", "8 ranks", "16 ranks"], three),
            table("Table 2 of 003: ratios of communication time, from the sizes of messages and Table 1", ["kernel", "nodes", "ratio", "computed", "printed", ""], two)]


REASONS = {"CG": "not reproduced: on single processors half of the messages go to the rank itself, and Table 1 has no such case",
           "LU": "not reproduced: LU waits for the wave of its pipeline, which is not bandwidth",
           "FT": "not reproduced: Table 1 is about pairs, and FT exchanges among all", "MG": "not reproduced"}


def of_ways(measured, library, kernel, labels):
    """003, Figures 3 and 5: from two to four ranks of a node."""
    if (1, 2) not in labels or (1, 4) not in labels:
        return []
    found, (two, four) = [], (measured.median(library, labels[1, ways]) for ways in (2, 4))
    if four:
        found.append(finding("003, 3.3: efficiency still falls from 2-way to 4-way nodes", "0.5 MG, 0.4 CG, below 0.4 FT, near 1 LU",
                             f"{library}: {kernel}, {two / four / 2:.2f} of that with two ranks", "confirmed" if four > two / 2 / 0.95 else "refuted here", figures("003", 3), f"{library} {kernel}"))
    two, four = (measured.median(library, labels[1, ways], "communication") for ways in (2, 4))
    if two and four:
        found.append(finding("003, 4.2: communication, summed over the processors, grows with the processors of a node", "Figures 4 and 5",
                             f"{library}: {kernel}, {four / two:.2f} times as much with four ranks as with two", "confirmed" if four > two else "refuted here", figures("003", 4, 5), f"{library} {kernel}"))
    return found


def of_nodes(measured, library, kernel, labels):
    """003, Figure 1 and Table 2, where nodes are hosts."""
    counts = sorted(nodes for nodes, ways in labels if ways == 1)
    if len(counts) < 2:
        return []
    seconds = [measured.median(library, labels[nodes, 1]) for nodes in counts]
    parts = [seconds[0] / each / nodes for nodes, each in zip(counts, seconds) if each]
    found = [finding("003, 3.1: with one processor a node, performance grows with the nodes; the efficiency of CG falls", "a figure without printed numbers",
                     f"{library}: {kernel}, efficiency " + ", ".join(f"{part:.2f}" for part in parts) + " with " + ", ".join(map(str, counts)) + " nodes",
                     "confirmed" if all(later < before for before, later in zip(seconds, seconds[1:])) else "refuted here", figures("003", 1), f"{library} {kernel}")]
    for nodes in counts[1:]:
        first, second = (ratio(measured, library, kernel, nodes, ways) for ways in (2, 4))
        if first and second:
            found.append(finding("003, 4.4: communication grows less from 2-way to 4-way nodes than from 1-way to 2-way nodes", "Table 2",
                                 f"{library}: {kernel}, {nodes} nodes, {first:.2f} and then {second:.2f} times", "confirmed" if second < first else "refuted here", ("003 Table 2",), f"{library} {kernel}"))
    return found


def computed():
    """What the patterns of the kernels say without a measurement: Figures 7 to 9, Tables 2 and 3."""
    paper, found, near = PAPERS["003"], [], 0
    for number, kernel in ((7, "MG"), (8, "CG"), (9, "LU")):
        entries = [("%d:%d" % external_internal(kernel, ranks, int(ways)), entry) for ways, by_kernel in paper["table3"].items() for ranks, entry in zip((4, 8, 16), by_kernel[kernel])]
        same = sum(ours == entry for ours, entry in entries)
        found.append(finding(f"003, Figure {number} and Table 3: external and internal messages of {kernel}", "6 entries of Table 3",
                             f"computed: {same} of {len(entries)} entries of {kernel} follow from its pattern", "confirmed" if same == len(entries) else "refuted", (*figures("003", number), "003 Table 3")))
    ratios = table_2_ratios()
    near = sum(abs(ours / printed - 1) <= 0.25 for *_, ours, printed in ratios)
    found.append(finding("003, Table 2: ratios of communication time", f"{len(ratios)} ratios", f"computed: {near} of {len(ratios)} follow within a quarter from Table 1 and the sizes of messages",
                         "confirmed but for those that the table names", ("003 Table 2",)))
    return found


def findings(results):
    measured, found = Measured.of(results, "nas"), []
    for library in measured.libraries():
        by_shape = {}
        for label in measured.labels(library):
            kernel, nodes, ways = parts_of(label)
            by_shape.setdefault(kernel, {})[nodes, ways] = label
        for kernel, labels in by_shape.items():
            one, two = (measured.median(library, labels[shape]) if shape in labels else None for shape in ((1, 1), (1, 2)))
            if one and two:
                part = one / two / 2
                found.append(finding("003, 3.2 and 4.1: a second processor of a node gives less than twice the speed, as they share the bus to memory",
                                     "figures; efficiency of 2-way nodes 0.5 to 0.95", f"{library}: {kernel}, two ranks have an efficiency of {part:.2f}",
                                     "confirmed" if part < 0.95 else "refuted here", figures("003", 2), f"{library} {kernel}"))
            one, two = (measured.median(library, labels[shape], "computation") if shape in labels else None for shape in ((1, 1), (1, 2)))
            if one and two:
                lu = kernel.startswith("LU")
                found.append(finding("003, 4.1: computation, summed over the processors, is more on 2-way nodes than on 1-way nodes, but for LU", "Figures 4 and 5",
                                     f"{library}: {kernel}, {two / one:.2f} times as much with two ranks", "confirmed" if (two > one) != lu else "refuted here", figures("003", 4), f"{library} {kernel}"))
            found += of_ways(measured, library, kernel, labels) + of_nodes(measured, library, kernel, labels)
    return found + computed()


EXPERIMENT = Experiment("nas", "003", "Kernels of the NAS benchmarks", "efficiency, computation and communication of the kernels; Tables 2 and 3 (needs a Fortran compiler)",
                        tuple(f"nas/{kernel}.f90" for kernel in kernels()), plan, evaluate, findings)
