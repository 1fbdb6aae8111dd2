"""What the papers' formulas say of each style, with the parameters of a machine: those that the lab measured, or that a paper prints."""

import dataclasses
import json
import statistics

from .experiments.ring import node_bandwidth
from .measured import Measured
from .model import PAPERS, communication_cpu_seconds

UNKNOWN_SPREAD = 1.25  # of a parameter of which there is one value


@dataclasses.dataclass
class Machine:
    """A node of `cpus`, and the bandwidth between nodes by how many of them communicate; bytes a second of the node."""
    name: str
    cpus: int
    between: dict     # {active: bandwidth}
    inside: float     # within a node, all CPUs
    spreads: dict = dataclasses.field(default_factory=dict)  # {parameter: greatest by least}
    latency: float = 0         # seconds of an exchange of few bytes between nodes; 0 where it is not known, as on the papers' machines
    latency_inside: float = 0  # and within a node
    region: float = 0          # seconds of a parallel region

    def bandwidth(self, active):
        """Between the numbers that were measured, in proportion."""
        known = sorted(self.between)
        if active <= known[0]:
            return self.between[known[0]]
        for low, high in zip(known, known[1:]):
            if active <= high:
                part = (active - low) / (high - low)
                return self.between[low] + part * (self.between[high] - self.between[low])
        return self.between[known[-1]]

    def enough(self):
        """How many CPUs get nine tenths of what can be had."""
        greatest = max(self.between.values())
        return next(active for active in range(1, self.cpus + 1) if self.bandwidth(active) >= 0.9 * greatest)


@dataclasses.dataclass
class Program:
    """f: part of communication in the time of pure MPI; inside: part of its bytes that stay on a node; message: bytes of a usual one with pure MPI."""
    f: float
    inside: float
    message: float = None


def of_paper(name):
    """One of 000's machines."""
    for machine in PAPERS["000"]["machines"]:
        if machine["name"].lower().startswith(name.lower()):
            between = {1: machine["masteronly_gbs"] * 1e9, machine["cpus"]: machine["pure_gbs"] * 1e9}
            if machine["name"].startswith("IBM"):
                example = PAPERS["000"]["example"]
                between[example["communicating"]] = example["share_of_those"] * machine["pure_gbs"] * 1e9
            return Machine(machine["name"], machine["cpus"], between, machine["inside_gbs"] * 1e9)
    return None


def latency_of(measured, library, where):
    """(least, greatest by least) of the seconds of an exchange of 8 bytes, of one pair; None if it was not measured."""
    chosen = {"label": "1-way" if where == "across" else "one node", "where": where, "mode": "asynchronous", "bytes": 8}
    least = measured.least(library, **chosen)
    return (least, measured.spread(library, **chosen) or UNKNOWN_SPREAD) if least else None


def with_latencies(machine, results, library):
    """Adds what decides for small messages: exchanges of 8 bytes (`exchange`, or `access`, whose pair is two ranks of all), and a parallel region."""
    exchange, access = Measured.of(results, "exchange"), Measured.of(results, "access")
    there = access.least(library, what="two-sided", bytes=8)
    instead = (there, access.spread(library, what="two-sided", bytes=8) or UNKNOWN_SPREAD) if there else None
    between, inside = latency_of(exchange, library, "across") or instead, latency_of(exchange, library, "inside") or instead
    region = Measured.of(results, "machine")
    seconds = region.least(library, "one rank of threads", what="region")
    if None in (between, inside, seconds):
        return machine
    machine.latency, machine.spreads["latency between nodes"] = between
    machine.latency_inside, machine.spreads["latency within a node"] = inside
    machine.region, machine.spreads["parallel region"] = seconds, region.spread(library, "one rank of threads", what="region") or UNKNOWN_SPREAD
    return machine


def of_report(results, library, message=None):
    """The machine that a report is about; None without the experiment `ring`. message: bytes that a node sends at once, if latencies are not known."""
    measured = Measured.of(results, "ring")
    sizes = sorted({row["node_bytes"] for row in measured.rows(library)})
    if not sizes:
        return None
    known = with_latencies(Machine("", 1, {}, 0), results, library)
    # With latencies a message takes latency + bytes / bandwidth (002, Table 2), so the bandwidth is that of the longest. Without, it is that of its size.
    size = sizes[-1] if message is None or known.latency else min(sizes, key=lambda each: abs(each - message))
    between = {active: value for active, value, *_ in measured.series(library, "active", node_bandwidth, pattern="across", node_bytes=size)}
    inside = measured.series(library, "active", node_bandwidth, pattern="inside", node_bytes=size)
    spreads = {f"bandwidth of {active} between nodes": measured.spread(library, pattern="across", active=active, node_bytes=size) or UNKNOWN_SPREAD for active in between}
    spreads["bandwidth within a node"] = measured.spread(library, pattern="inside", node_bytes=size) or UNKNOWN_SPREAD
    return dataclasses.replace(known, name=f"{library}, messages of {size} bytes", cpus=max(between), between=between,
                               inside=inside[-1][1] if inside else max(between.values()), spreads={**spreads, **known.spreads})


def has_latencies(machine, program):
    return machine.latency > 0 and program.message is not None


def exchange_seconds(machine, program, processes):
    """What a node sends while each of its CPUs would send one message with pure MPI, if it has so many processes. As many bytes leave the node: those of
    a process are more, and take one latency. Without latencies it is the papers' proportion of bandwidths, per byte."""
    outside = 1 - program.inside
    # Of the messages within a node those between threads of a process are no more.
    left = program.inside if processes == machine.cpus else program.inside * (processes - 1) / (machine.cpus - 1)
    if not has_latencies(machine, program):
        return outside / machine.bandwidth(processes) + left / machine.inside
    sent = machine.cpus * program.message
    return outside * (machine.latency + sent / machine.bandwidth(processes)) + left * (machine.latency_inside + sent / machine.inside)


def communication(machine, program, processes):
    """Time of communication by that of pure MPI, if a node has so many processes, which communicate outside of parallel regions."""
    pure = exchange_seconds(machine, program, machine.cpus)
    return exchange_seconds(machine, program, processes) / pure if pure > 0 else 0


def regions(machine, program):
    """Time of a parallel region, of which a style with threads has one for each exchange, by the time of pure MPI from one exchange to the next."""
    if not has_latencies(machine, program) or program.f <= 0:
        return 0
    return machine.region * program.f / exchange_seconds(machine, program, machine.cpus)


def times(machine, program):
    """{style: (time by that of pure MPI, processes a node, threads a process)}: 002, section 6 for those that overlap."""
    n, f, region = machine.cpus, program.f, regions(machine, program)
    found = {"pure MPI": (1.0, n, 1)}
    if n == 1:
        return found
    for processes in [count for count in range(1, n) if n % count == 0]:
        name = "masteronly" if processes == 1 else f"masteronly, {processes} processes a node"
        found[name] = ((1 - f) + f * communication(machine, program, processes) + region, processes, n // processes)
    talk, work = f * communication(machine, program, 1), (1 - f) * n  # accumulated over the threads
    found["funneled, fixed"] = (max(talk, work / (n - 1)) + region, 1, n)
    found["funneled, adaptive"] = (max(talk, (talk + work) / n) + region, 1, n)
    m = machine.enough()
    if m > 1:
        some = f * communication(machine, program, m)
        found[f"multiple, {m} threads communicate"] = (max(some, (m * some + work) / n) + region, 1, n)
    return found


def ranked(machine, program):
    return sorted(times(machine, program).items(), key=lambda item: item[1][0])


EFFORT = ("pure", "masteronly", "funneled", "multiple")


def simplest(machine, program):
    """The style that is the easiest to write (000, section 4) of those within 5 % of the best."""
    order = ranked(machine, program)
    near = [style for style, (time, *_) in order if time <= 1.05 * order[0][1][0]]
    return min(near, key=lambda style: EFFORT.index(style.split(",")[0].split()[0]))


def hangs_on(machine, program):
    """Parameters that, at the edge of their spread, make another style the best: [(parameter, style), ...]."""
    best, found = ranked(machine, program)[0][0], []

    def tried(what, other):
        style, (time, *_) = ranked(other, program)[0]
        if style != best and times(other, program)[best][0] > 1.02 * time:
            found.append((what, style))
    for active in machine.between:
        what = f"bandwidth of {active} between nodes"
        for factor in (machine.spreads.get(what, UNKNOWN_SPREAD), 1 / machine.spreads.get(what, UNKNOWN_SPREAD)):
            tried(what, dataclasses.replace(machine, between={**machine.between, active: machine.between[active] * factor}))
    what = "bandwidth within a node"
    for factor in (machine.spreads.get(what, UNKNOWN_SPREAD), 1 / machine.spreads.get(what, UNKNOWN_SPREAD)):
        tried(what, dataclasses.replace(machine, inside=machine.inside * factor))
    for what, field in (("latency between nodes", "latency"), ("latency within a node", "latency_inside"), ("parallel region", "region")):
        for factor in (machine.spreads.get(what, UNKNOWN_SPREAD), 1 / machine.spreads.get(what, UNKNOWN_SPREAD)) if has_latencies(machine, program) else ():
            tried(what, dataclasses.replace(machine, **{field: getattr(machine, field) * factor}))
    return list(dict.fromkeys(found))


def cpu_seconds(machine):
    """000's example for this machine: CPU-seconds of one second of communication, by style."""
    greatest = max(machine.between.values())
    m = machine.enough()
    return {"pure MPI": float(machine.cpus), "masteronly": communication_cpu_seconds(machine.cpus, machine.bandwidth(1) / greatest),
            f"overlapped, {m} communicate": communication_cpu_seconds(m, machine.bandwidth(m) / greatest)}


def of_profile(path):
    """A Program and the bytes of a usual message, from what `mpiexec --profile` wrote."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    if "clump_profile" not in profile:
        raise ValueError(f"{path} is no profile of mpiexec: its key 'clump_profile' is missing")
    talk = work = 0.0
    for rank in profile["ranks"]:
        spent = rank.get("times", {})
        work += spent.get("compute", 0)
        talk += sum(spent.get(key, 0) for key in ("messages", "completion", "collectives", "other", "waiting"))
    ways = profile["distances"]
    moved = {name: way["bytes"] for name, way in ways.items()}
    messages, total = sum(way["messages"] for way in ways.values()), sum(moved.values())
    if talk + work <= 0:
        raise ValueError(f"{path} has no time of any rank: did the program call MPI_Init?")
    inside = 1 - moved.get("between_hosts", 0) / total if total else 0.5
    message = total / messages if messages else None
    return Program(talk / (talk + work), inside, message), message


# Styles of the lab's own programs on one host, in seconds: what `advise --check` compares with the measurement.
# Times are the least of the rounds there, predicted and measured: what disturbs a run only adds to it.
def between_points(points, size):
    """[(bytes, seconds), ...] of what was measured, at another size: in proportion between two, and beyond the longest by its bandwidth."""
    for (low, before), (high, after) in zip(points, points[1:]):
        if low <= size <= high:
            return before + (after - before) * (size - low) / (high - low)
    return points[0][1] if size < points[0][0] else points[-1][1] * size / points[-1][0]


def message_seconds(results, library, size):
    """One way, between two ranks of different cores, from the experiment `access`, which asks with a message of no bytes."""
    points = [(place, least) for place, _, least, _ in Measured.of(results, "access").series(library, "bytes", lambda row: row["seconds"], what="two-sided")]
    empty = points[0][1] / 2 if points else 0
    return between_points([(place, seconds - empty) for place, seconds in points], size) if points else None


def side_seconds(results, library, size):
    """Both ways at once with one neighbour, as a stencil does it: from `exchange`, or from `access` as one way."""
    measured = Measured.of(results, "exchange")
    points = [(place, least) for place, _, least, _ in measured.series(library, "bytes", lambda row: row["seconds"], "one node", where="inside", mode="asynchronous")]
    return between_points(points, size) if points else message_seconds(results, library, size)


def region_seconds(results, library):
    return Measured.of(results, "machine").least(library, "one rank of threads", what="region")


def barrier_seconds(results, library):
    """Of all threads within a region; nothing where a report is from before it was measured."""
    return Measured.of(results, "machine").least(library, "one rank of threads", what="barrier") or 0


def sides_of(cores, n):
    """[points of a side with a neighbour, ...] of a rank inside the most square grid of so many: as MPI_Dims_create makes it."""
    rows = next(count for count in range(int(cores ** 0.5), 0, -1) if cores % count == 0)
    across = ((rows, n * rows / cores), (cores // rows, n / rows))  # (ranks along an axis, points of a side across it)
    return [points for parts, points in across for _ in range(min(2, parts - 1))]


def points_seconds(results, library, points):
    """One core's time for so many points of the stencil. What a point takes depends on whether they all fit in a cache, so it is taken from a square of
    as many: a core's part of a large square is no large square."""
    measured = Measured.of(results, "styles").series(library, "n", lambda row: row["seconds"] / row["n"] ** 2, "one core")
    known = [(n * n, least) for n, _, least, _ in measured]
    if not known:
        return None
    for (low, before), (high, after) in zip(known, known[1:]):
        if low <= points <= high:
            return points * (before + (after - before) * (points - low) / (high - low))
    return points * (known[0][1] if points < known[0][0] else known[-1][1])


def stencil_seconds(results, library, n, cores):
    """{label of `styles`: predicted seconds of an iteration} of n * n points on one node: threads of one process have no messages, and the styles that
    overlap have a barrier before the edges."""
    if cores < 2:
        return {}
    part, rest = (points_seconds(results, library, n * n / by) for by in (cores, cores - 1))
    region, barrier = region_seconds(results, library), barrier_seconds(results, library)
    sides = [side_seconds(results, library, 8 * points) for points in sides_of(cores, n)]
    if None in (part, region, *sides):
        return {}
    return {"pure": part + sum(sides), "masteronly": part + region, "funneled-fixed": rest + region + barrier, "funneled-adaptive": part + region + barrier,
            "multiple": part + region}


def product_seconds(results, library, n, block, cores):
    """{label of `matmul`: predicted seconds}. A rank has whole strips of `block` rows, and a broadcast takes a message for each doubling of the ranks."""
    products = Measured.of(results, "matmul")
    alone = products.least(library, "one core", n=n, block=block) or products.least(library, "one core", n=n)
    region, strip = region_seconds(results, library), message_seconds(results, library, 8 * n * block)
    if None in (alone, region, strip) or cores < 2:
        return {}
    strips = n // block
    most = -(-strips // cores)
    return {"1 a core": alone * most / strips + strips * (cores - 1).bit_length() * strip, "masteronly": alone / cores + strips * region}


def configurations(results, library):
    """[(what, predicted {style: s}, measured {style: s}), ...] of all Jacobi and matrix products that were measured."""
    cores, found = results["machine"]["cores"], []
    stencils, products = Measured.of(results, "styles"), Measured.of(results, "matmul")
    for n in sorted({row["n"] for row in stencils.rows(library, "pure")}):
        predicted = stencil_seconds(results, library, n, cores)
        measured = {label: stencils.least(library, label, n=n, overlap=0) for label in predicted}
        found.append((f"Jacobi, n = {n}", predicted, measured))
    for n, block in sorted({(row["n"], row["block"]) for row in products.rows(library, "masteronly")}):
        predicted = product_seconds(results, library, n, block, cores)
        found.append((f"matrix product, n = {n}, block {block}", predicted, {label: products.least(library, label, n=n, block=block) for label in predicted}))
    return [(what, predicted, measured) for what, predicted, measured in found if predicted and None not in measured.values()]


def checked(results, library):
    """Rows: what, advised style, its predicted and its measured time, the best style, its measured time, how much longer the formulas say that it takes,
    and the advised style's measured time by that of the best."""
    rows = []
    for what, predicted, measured in configurations(results, library):
        advised, best = min(predicted, key=predicted.get), min(measured, key=measured.get)
        rows.append((what, advised, predicted[advised], measured[advised], best, measured[best], predicted[best] / predicted[advised],
                     measured[advised] / measured[best]))
    return rows


def usual_f(results, library):
    """Of the lab's own stencil with pure MPI, its largest: what is taken where the user says nothing."""
    stencils = Measured.of(results, "styles")
    rows = stencils.rows(library, "pure", overlap=0)
    if not rows:
        return None
    n = max(row["n"] for row in rows)
    return n, statistics.median(min(1.0, row["communication"] / row["seconds"]) for row in rows if row["n"] == n)
