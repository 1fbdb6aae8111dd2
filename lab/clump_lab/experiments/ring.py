"""The ring of 000: how many ranks of a node it takes to fill the way between nodes (Figures 3 to 11, Table 1)."""

from . import Experiment
from .machine import rates
from ..measured import Measured, Run, chart, figures, finding, table
from ..model import communication_cpu_seconds, PAPERS
from ..svg import digits

MB = 1 << 20


def plan(context):
    per_node = max(2, context.cores)
    ranks = per_node * context.nodes
    most = context.choose(4096, 1 * MB, 16 * MB)
    arguments = ("--per-node", context.per_node(per_node), "--least", 1024, "--most", most, "--seconds", context.seconds)
    return [Run("ring", "ring", ranks, arguments, expected=3 + 60 * context.seconds)]


def node_bandwidth(row):
    """Bytes a second that leave a node; each message counts once."""
    return row["node_bytes"] / row["seconds"]


def largest(measured, library):
    sizes = [row["node_bytes"] for row in measured.rows(library, "ring")]
    return max(sizes) if sizes else None


def by_active(measured, library, size):
    return measured.series(library, "active", node_bandwidth, pattern="across", node_bytes=size)


def percentages(points):
    """Figure 4: percent of the greatest bandwidth over percent of the node's ranks."""
    greatest, ranks = max(point[1] for point in points), max(point[0] for point in points)
    return [(100 * active / ranks, *(100 * value / greatest for value in values)) for active, *values in points]


def ratio_to_pure(measured, library, active):
    """[(bytes of a message with pure MPI, time of the hybrid style by that of pure MPI, ...)]: Figures 5 and 7."""
    points = []
    for size, pure, _, _ in measured.series(library, "node_bytes", lambda row: row["seconds"], pattern="both"):
        hybrid = measured.median(library, "ring", pattern="across", active=active, node_bytes=size)
        per_node = measured.rows(library, "ring", node_bytes=size)[0]["per_node"]
        if hybrid:
            points.append((size / per_node, hybrid / pure, hybrid / pure, hybrid / pure))
    return points


def ratio_curves(measured):
    """One curve a library for masteronly, and one for each other number of processes a node."""
    curves = {}
    for library in measured.libraries():
        counts = sorted({row["active"] for row in measured.rows(library, pattern="across")})
        for active in counts:
            words = "masteronly" if active == 1 else f"{active} processes a node"
            curves[f"{library}, {words}"] = ratio_to_pure(measured, library, active)
    return curves


def bandwidth_curves(measured, library):
    """Figures 6 and 8 to 11: over the bytes of a node, one curve for each number of active ranks, and pure MPI with what stays inside."""
    gigabytes = lambda row: node_bandwidth(row) / 1e9  # noqa: E731
    counts = sorted({row["active"] for row in measured.rows(library, pattern="across")})
    curves = {f"{active} of the node": measured.series(library, "node_bytes", gigabytes, pattern="across", active=active) for active in counts}
    curves["pure MPI, between and within"] = measured.series(library, "node_bytes", gigabytes, pattern="both")
    return curves


def table_one_row(results, library):
    """What Table 1 has of a machine; None where it was not measured."""
    measured = Measured.of(results, "ring")
    size = largest(measured, library)
    if size is None:
        return None
    points = by_active(measured, library, size)
    inside = measured.series(library, "active", node_bandwidth, pattern="inside", node_bytes=size)
    rows = measured.rows(library, "ring")
    found = {"masteronly": points[0][1], "pure": points[-1][1], "largest": max(point[1] for point in points),
             "inside": inside[-1][1] if inside else None, "nodes": rows[0]["nodes"], "per_node": rows[0]["per_node"]}
    machine = rates(results, library)
    # The nodes are parts of one host, or hosts: either has the rate of the cores that were measured.
    return found | {"memory": machine.get("triad"), "peak": machine.get("fma")}


def gigabytes_text(value):
    return "" if value is None else digits(value / 1e9)


def table_one(results):
    rows = []
    for library in Measured.of(results, "ring").libraries():
        row = table_one_row(results, library)
        if row:
            ratio = row["largest"] / row["peak"] if row["peak"] else None
            rows.append([f"here, {library}", gigabytes_text(row["masteronly"]), gigabytes_text(row["pure"]), f"{100 * row['masteronly'] / row['largest']:.0f} %",
                         gigabytes_text(row["inside"]), gigabytes_text(row["memory"]), gigabytes_text(row["peak"]), f"{ratio:.3f}" if ratio else "",
                         f"{row['nodes']} * {row['per_node']}"])
    for machine in PAPERS["000"]["machines"]:
        cells = [digits(machine[key]) if machine.get(key) is not None else "" for key in ("masteronly_gbs", "pure_gbs")]
        rows.append([machine["name"], *cells, f"{machine['printed']['masteronly_percent']} %", digits(machine["inside_gbs"]),
                     digits(machine["memory_gbs"]) if machine.get("memory_gbs") else "", digits(machine["peak_gflops"]) if machine.get("peak_gflops") else "",
                     str(machine["printed"].get("bytes_per_flop", "")), machine["nodes"]])
    header = ["machine", "masteronly, between nodes [GB/s]", "pure MPI, between nodes [GB/s]", "masteronly by greatest", "within a node [GB/s]",
              "memory [GB/s]", "peak [GFLOP/s]", "B/FLOP", "nodes * CPUs"]
    return table("Table 1 of 000, with this machine", header, rows, "The papers' machines as printed; here the largest messages that were measured. What is empty was not measured, or is not printed.")


def evaluate(results):
    measured = Measured.of(results, "ring")
    items, absolute, relative = [], {}, {}
    for library in measured.libraries():
        size = largest(measured, library)
        points = by_active(measured, library, size)
        absolute[library] = [(active, *(value / 1e9 for value in values)) for active, *values in points]
        relative[library] = percentages(points)
    for machine in PAPERS["000"]["machines"]:
        if machine["name"].startswith(("IBM", "NEC SX-6")):
            share = machine["printed"]["masteronly_percent"]
            cpus = machine["cpus"]
            relative[f"{machine['name']}, as printed (2003)"] = [(100 / cpus, share, share, share)] + (
                [(100 * 4 / cpus, 88.3, 88.3, 88.3)] if machine["name"].startswith("IBM") else [])
    items.append(chart("ring-absolute", "Bandwidth of a node (000, Figure 3)", "ranks of the node that communicate", "GB/s", absolute))
    items.append(chart("ring-relative", "Share of the greatest bandwidth (000, Figure 4)", "percent of the node's ranks that communicate",
                       "percent of the greatest bandwidth", relative))
    items.append(chart("ring-ratio", "Hybrid by pure MPI, time (000, Figures 5 and 7)", "bytes of a message with pure MPI", "time of hybrid by time of pure MPI",
                       ratio_curves(measured), x_log=True, y_log=True, x_is_bytes=True))
    for library in measured.libraries():
        items.append(chart(f"ring-sizes-{library}", f"Bandwidth of a node by size, {library} (000, Figures 6, 8 to 11)", "bytes that a node sends", "GB/s",
                           bandwidth_curves(measured, library), x_log=True, x_is_bytes=True))
    items.append(table_one(results))
    return items


def findings(results):
    measured, found = Measured.of(results, "ring"), []
    for library in measured.libraries():
        row = table_one_row(results, library)
        share = row["masteronly"] / row["largest"]
        found.append(finding("000, Table 1 and Figure 4: on six of eight machines one CPU gets less than 75 % of the bandwidth between nodes",
                             "NEC SX-6 100 %, Cray X1 75 to 82 %, IBM SP 28 %, SUN-fire 18 %", f"{library}: one rank gets {100 * share:.0f} %",
                             "refuted here: one rank fills the way" if share >= 0.75 else "confirmed", (*figures("000", 3, 4), "000 Table 1")))
        pure = communication_cpu_seconds(row["per_node"], share)
        found.append(finding("000, 3.4: one second of communication with pure MPI on 16 CPUs is 16 CPU-seconds, 57 in masteronly style, 4.5 with four CPUs that "
                             "communicate and twelve that compute", "57 and 4.5 CPU-seconds",
                             f"{library}: {row['per_node']} become {pure:.2f} with one rank that communicates while the others wait; "
                             f"{communication_cpu_seconds(1, share):.2f} if the others compute",
                             "confirmed" if pure > 1.25 * row["per_node"] else "refuted here: masteronly costs no more than pure MPI"))
        ratios = [point[1] for point in ratio_to_pure(measured, library, 1)]
        if ratios:
            found.append(finding("000, Figure 5: masteronly takes longer than pure MPI with its messages inside the node, but on NEC SX-6 and Cray X1 (MSP)",
                                 "a figure without printed numbers", f"{library}: {min(ratios):.2f} to {max(ratios):.2f} times as long",
                                 all_or_none(ratios), figures("000", 5)))
            longer = [ratio for size, ratio, *_ in ratio_to_pure(measured, library, 1) if size >= CROSSING] or ratios[-1:]
            found.append(finding("002, Figure 1: the hybrid model takes longer than pure MPI from messages of 32 kB on", "19.2 ms against 11.6 ms, 66 % more",
                                 f"{library}: {min(longer):.2f} to {max(longer):.2f} times as long", all_or_none(longer), figures("002", 1)))
        found += of_counts(measured, library, row, share)
    return found


CROSSING = 32 << 10


def all_or_none(ratios):
    """Of times of a hybrid style by that of pure MPI, where the paper says that it takes longer."""
    return "confirmed" if min(ratios) > 1 else "refuted here" if max(ratios) < 1 else "depends on the size"


def of_counts(measured, library, row, share):
    """What 000 says of how many CPUs of a node communicate: Figures 2 and 6 to 11, at the largest size."""
    size = largest(measured, library)
    points = {active: value for active, value, *_ in by_active(measured, library, size)}
    pure = measured.median(library, "ring", pattern="both", node_bytes=size)
    across = measured.median(library, "ring", pattern="across", active=max(points), node_bytes=size)
    if not pure or not across:
        return []
    greatest, n = max(points.values()), row["per_node"]
    full = min(active for active, value in points.items() if value >= 0.9 * greatest)
    ahead = min((active for active, value in points.items() if value > size / pure), default=None)
    ratios = [size / value / pure for _, value in sorted(points.items())]
    falls = all(later <= before for before, later in zip(ratios, ratios[1:]))
    less = 1 - row["pure"] / row["masteronly"]
    return [
        finding("000, Figure 2: pure MPI sends inside the nodes, too", "a drawing", f"{library}: that makes its time {pure / across:.2f} times what is sent between nodes",
                "confirmed" if pure > across else "refuted here: it costs nothing", figures("000", 2)),
        finding("000, Figure 6: more than four of 16 CPUs must communicate for full bandwidth, at least three to beat pure MPI", "more than 4, at least 3",
                f"{library}: {full} of {n} for nine tenths of it, {ahead or 'none'} to beat pure MPI",
                "refuted here: one is enough" if full == ahead == 1 else "in part" if 1 in (full, ahead) else "confirmed", figures("000", 6)),
        finding("000, Figure 7: hybrid by pure MPI falls with the CPUs that communicate", "curves without printed numbers",
                f"{library}: " + ", ".join(f"{ratio:.2f}" for ratio in ratios) + f" times as long with 1 to {n}", "confirmed" if falls else "refuted here", figures("000", 7)),
        finding("000, Figures 8, 10 and 11: with 4 or 8 CPUs a node one of them gets half of the bandwidth or nearly all", "49, 82 and 75 %",
                f"{library}: {100 * share:.0f} % of {n} CPUs' bandwidth", "confirmed" if share >= 0.49 else "refuted here", figures("000", 8, 10, 11)),
        finding("000, Figure 9: on NEC SX-6 one CPU fills the network, and all together get less", "7.56 and 4.98 GB/s",
                f"{library}: all get {100 * abs(less):.0f} % {'less' if less > 0 else 'more'} than one", "confirmed" if less > 0 else "refuted here", figures("000", 9))]


EXPERIMENT = Experiment("ring", "000", "The ring between nodes", "bandwidth of a node by how many of its ranks communicate; masteronly against pure MPI; Table 1",
                        ("programs/ring.c",), plan, evaluate, findings)
