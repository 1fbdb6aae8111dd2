"""What Clump set out to reach, and whether the medians of a run do."""

import dataclasses

from measurements import OPERATIONS, large_sizes, limit_of
from report import size_text


@dataclasses.dataclass
class Target:
    what: str
    wanted: str       # in words
    judge: object     # judge(ours: lookup, peers: list of lookups) -> (measured in words, met or None)


def factor_text(factor):
    return f"{factor:.1f}" if factor >= 10 else f"{factor:.2f}"


def times_faster(key, least):
    """The best peer takes at least so many times longer than we do."""
    def judge(ours, peers):
        others = [peer(key) for peer in peers if peer(key) is not None]
        if ours(key) is None or not others:
            return "", None
        factor = min(others) / ours(key)
        return f"{factor_text(factor)} times", factor >= least
    return judge


def part_of_time(key, most):
    """We take at most this part of the best peer's time."""
    def judge(ours, peers):
        others = [peer(key) for peer in peers if peer(key) is not None]
        if ours(key) is None or not others:
            return "", None
        part = ours(key) / min(others)
        return f"{part:.2f} of the best peer", part <= most
    return judge


def at_most(key, most, show):
    def judge(ours, peers):
        value = ours(key)
        return ("", None) if value is None else (show(value), most is None or value <= most)
    return judge


def at_least(key, least, show):
    def judge(ours, peers):
        value = ours(key)
        return ("", None) if value is None else (show(value), value >= least)
    return judge


def part_of_limit(key, least):
    """We reach at least this part of the speed that the machine has without MPI."""
    def judge(ours, peers):
        limit, value = ours(limit_of(key)), ours(key)
        if limit is None or value is None:
            return "", None
        return f"{100 * limit / value:.0f} % of the limit", limit / value >= least
    return judge


def cost_text(library, few, many):
    if library(few) is None or library(many) is None:
        return None
    return f"{100 * (library(many) / library(few) - 1):+.1f} %"


def cost(few, many, most):
    """What more ranks than cores cost over one rank a core, in percent of the time, and the same of the peers."""
    def judge(ours, peers):
        text = cost_text(ours, few, many)
        if text is None:
            return "", None
        others = [other for other in (cost_text(peer, few, many) for peer in peers) if other]
        return text + (f" (peers: {', '.join(others)})" if others else ""), ours(many) / ours(few) - 1 <= most
    return judge


def nanoseconds(value):
    return f"{value * 1e9:.0f} ns"


def megabytes(value):
    return f"{value / 1e6:.3f} MB"


def percent(value):
    return f"{100 * value:.0f} %"


TARGETS = [
    Target("2 ranks on 2 cores: ping-pong, 8 B", "at most 0.8 of the best peer", part_of_time(("pingpong-2", "pingpong", 8), 0.8)),
    Target("2 ranks on 2 cores: bandwidth, 64 KB", "at least 1.4 times the best peer", times_faster(("pingpong-2", "pingpong", 64 << 10), 1.4)),
    Target("2 ranks on 2 cores: bandwidth, 4 MB", "at least 1.4 times the best peer", times_faster(("pingpong-2", "pingpong", 4 << 20), 1.4)),
    Target("2 ranks on 2 cores: message rate", "at least 1.5 times the best peer", times_faster(("rate-2", "rate", 8), 1.5)),
    Target("2 ranks on one core: ping-pong, 8 B", "at most 60 ns", at_most(("onecore-2", "pingpong", 8), 60e-9, nanoseconds)),
    Target("16 ranks on 2 cores: barrier", "at least 30 times faster", times_faster(("small-16", "barrier", 0), 30)),
    Target("16 ranks on 2 cores: allreduce, 8 B", "at least 30 times faster", times_faster(("small-16", "allreduce", 8), 30)),
    Target("16 ranks on 2 cores: alltoall, 64 B", "at least 30 times faster", times_faster(("small-16", "alltoall", 64), 30)),
    Target("16 ranks on 2 cores: halo exchange, 64 B", "at least 30 times faster", times_faster(("halo-16", "halo", 64), 30)),
    Target("8 ranks on 2 cores: block matrix product", "costs at most 5 % over 2 ranks",
           cost(("matmul-2", "matmul", 0), ("matmul-8", "matmul", 0), 0.05)),
    Target("8 ranks on 2 cores: Jacobi", "costs at most 5 % over 2 ranks", cost(("jacobi-2", "jacobi", 0), ("jacobi-8", "jacobi", 0), 0.05)),
    Target("1,000 ranks of a C++ program: start, barrier, finalize", "under 0.5 s",
           at_most(("startup-1000", "startup", 0), 0.5, lambda value: f"{value:.2f} s")),
    Target("4,000 ranks: ring", "runs", at_most(("many-4000", "ring-hop", 8), None, lambda value: f"{value * 1e6:.2f} µs a hop")),
    Target("4,000 ranks: allreduce, 8 B", "runs", at_most(("many-4000", "allreduce", 8), None, lambda value: f"{value * 1e3:.2f} ms")),
    Target("1,000 ranks: memory per rank (PSS)", "stated", at_most(("many-1000", "memory", 0), None, megabytes)),
    Target("4,000 ranks: memory per rank (PSS)", "stated", at_most(("many-4000", "memory", 0), None, megabytes)),
    Target("16 ranks wait", "under 1 % of a core", at_most(("many-16", "waiting", 0), 0.01, lambda value: f"{100 * value:.2f} %")),
]

PROCESS_TARGETS = [
    Target("2 processes on 2 cores: ping-pong, 8 B", "at most the best peer's", part_of_time(("pingpong-2", "pingpong", 8), 1)),
    Target("2 processes on 2 cores: bandwidth, 64 KB", "at least the best peer's", times_faster(("pingpong-2", "pingpong", 64 << 10), 1)),
    Target("2 processes on 2 cores: bandwidth, 4 MB", "at least the best peer's", times_faster(("pingpong-2", "pingpong", 4 << 20), 1)),
    Target("16 processes on 2 cores: barrier", "at least 3 times faster", times_faster(("small-16", "barrier", 0), 3)),
    Target("16 processes on 2 cores: allreduce, 8 B", "at least 3 times faster", times_faster(("small-16", "allreduce", 8), 3)),
]

CLUSTER_TARGETS = [
    Target("2 hosts: ping-pong, 8 B", "at most the best peer's", part_of_time(("hosts-pingpong-2", "pingpong", 8), 1)),
    Target("2 hosts: bandwidth, 64 KB", "at least the best peer's", times_faster(("hosts-pingpong-2", "pingpong", 64 << 10), 1)),
    Target("2 hosts: bandwidth, 4 MB", "at least the best peer's", times_faster(("hosts-pingpong-2", "pingpong", 4 << 20), 1)),
] + [Target(f"16 ranks on 4 hosts: allreduce, {words}", "at least 2 times faster", times_faster(("hosts-allreduce-16", "allreduce", size), 2))
     for words, size in (("8 B", 8), ("1 KB", 1 << 10), ("64 KB", 64 << 10), ("1 MB", 1 << 20), ("4 MB", 4 << 20))]

SMALL = [("barrier", 0)] + [(operation, 8) for operation in OPERATIONS]
LARGE = [(operation, size) for operation in OPERATIONS for size in large_sizes(operation, 2) if size >= 1 << 20]


def named(operation, size):
    return f"{operation}, {size_text(size)}" if size else operation


COLLECTIVE_TARGETS = [
    *(Target(f"2 ranks on 2 cores: {named(*one)}", "at most 0.8 of the best peer", part_of_time(("small-2", *one), 0.8)) for one in SMALL),
    *(Target(f"{ranks} ranks on 2 cores: {named(*one)}", "at least 30 times faster", times_faster((f"small-{ranks}", *one), 30))
      for ranks in (16, 64) for one in SMALL),
    *(Target(f"2 ranks on 2 cores: {named(*one)}", "at least 1.5 times the best peer", times_faster((f"{one[0]}-2", *one), 1.5)) for one in LARGE),
    *(Target(f"2 ranks on 2 cores: {named(*one)}", "at least 70 % of the bare limit", part_of_limit((f"{one[0]}-2", *one), 0.7)) for one in LARGE),
    *(Target(f"{operation}, 1 MB: hidden behind computation, {words}", "at least 90 %" if least else "stated",
             at_least(("overlap-2", f"hidden-{operation}-{how}", 1 << 20), least, percent))
      for how, words, least in (("idle", "a core idle", 0.9), ("waiting", "a rank waits", 0), ("busy", "no core idle", 0))
      for operation in ("iallreduce", "ibcast", "ialltoall")),
]


def measurements_for(targets):
    """The names of those that the targets are about."""
    names = set()

    def lookup(key):
        names.add(key[0])
        return 1.0
    for target in targets:
        target.judge(lookup, [lookup])
    return names


def verdicts(names, medians, targets):
    """[(what, wanted, measured, 'met' or 'not met' or 'not measured')]; medians: {(measurement, operation, bytes): {library: value}}."""
    def lookup(name):
        return lambda key: medians.get(key, {}).get("machine" if key[0] == "limits" else name)
    rows = []
    for target in targets:
        measured, met = target.judge(lookup("clump"), [lookup(name) for name in names if not name.startswith("clump")])
        rows.append((target.what, target.wanted, measured, "not measured" if met is None else "met" if met else "not met"))
    return rows
