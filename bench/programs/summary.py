"""The arithmetic of the page: medians, times less start-up, ratios, geometric means."""

import math
import re
import statistics
from dataclasses import dataclass, field

from .ways import FACADE, FIBERS, OURS, PEERS, PROCESSES

START = "start"
LEAST_LIMIT = 10   # seconds: starting alone takes a peer some of them
TOO_LONG = re.compile(r"did not end within (\d+) s")  # as timing.py says it
LEAST = 0.25   # of the start-up: where less than that is left, it cannot be told from the start-up's own changes


@dataclass
class Measured:
    """All numbers of a run of `./dev bench --programs`."""
    wall: dict = field(default_factory=dict)       # {(program, ranks): {way: [seconds, ...]}}
    processor: dict = field(default_factory=dict)  # the same
    gaps: dict = field(default_factory=dict)       # {(program, ranks, way): reason}
    other_launcher: set = field(default_factory=set)  # {(program, way)}: started by another launcher than START, so its start-up is not known

    def add(self, program, ranks, way, timed):
        for numbers, value in ((self.wall, timed.seconds), (self.processor, timed.processor)):
            numbers.setdefault((program, ranks), {}).setdefault(way, []).append(value)

    def as_json(self):
        return {"values": [{"program": program, "ranks": ranks, "wall": by_way, "processor": self.processor[program, ranks]}
                           for (program, ranks), by_way in self.wall.items()],
                "other_launcher": sorted(self.other_launcher),
                "gaps": [{"program": program, "ranks": ranks, "way": way, "reason": reason}
                         for (program, ranks, way), reason in self.gaps.items()]}

    @staticmethod
    def from_json(written):
        measured = Measured()
        for value in written["values"]:
            measured.wall[value["program"], value["ranks"]] = value["wall"]
            measured.processor[value["program"], value["ranks"]] = value["processor"]
        for gap in written["gaps"]:
            measured.gaps[gap["program"], gap["ranks"], gap["way"]] = gap["reason"]
        measured.other_launcher = set(map(tuple, written.get("other_launcher", ())))
        return measured

    def programs(self):
        return list(dict.fromkeys(program for program, _ in self.wall if program != START))

    def rounds(self, ranks):
        """The most that a program has been run in one way."""
        return max(len(values) for (_, number), by_way in self.wall.items() if number == ranks for values in by_way.values())

    def ranks(self):
        return sorted({ranks for _, ranks in self.wall})

    def medians(self, program, ranks, what="wall"):
        """{way: seconds}; `what` is wall, processor, or work: wall time less the start-up in the same way with as many ranks, where enough is left."""
        numbers = self.processor if what == "processor" else self.wall
        found = {way: statistics.median(values) for way, values in numbers.get((program, ranks), {}).items()}
        if what != "work":
            return found
        return self.less_start(program, ranks, found)

    def less_start(self, program, ranks, seconds_of):
        start = {way: seconds for way, seconds in self.medians(START, ranks).items() if (program, way) not in self.other_launcher}
        return {way: seconds - start[way] for way, seconds in seconds_of.items() if way in start and seconds - start[way] >= LEAST * start[way]}

    def floors(self, program, ranks, what="wall"):
        """{peer: seconds} of peers that were ended after so many: they take longer. Of `work` only where all peers are known, as one whose time
        is not told might have taken less."""
        if what == "processor":
            return {}
        ended = {way: TOO_LONG.search(self.gaps.get((program, ranks, way), "")) for way in PEERS}
        found = {way: float(said[1]) for way, said in ended.items() if said and float(said[1]) > 0}
        if what == "wall":
            return found
        told = self.less_start(program, ranks, found)
        ran = {way for way in self.medians(program, ranks) if way in PEERS} | found.keys()
        return told if ran <= self.medians(program, ranks, "work").keys() | told.keys() else {}


def time_limit(measured, program, ranks, way, most, patience):
    """Seconds that a run may take: `most`; of a peer no more than `patience` times what Clump has taken, if that is given and known."""
    ours = measured.medians(program, ranks).get(FIBERS)
    if not patience or ours is None or way not in PEERS:
        return most
    return min(most, max(LEAST_LIMIT, patience * ours))


def best_peer(medians):
    """(way, seconds) of the fastest of the other libraries; None where there is none."""
    peers = {way: seconds for way, seconds in medians.items() if way in PEERS}
    if not peers:
        return None
    way = min(peers, key=peers.get)
    return way, peers[way]


def against_best(medians, floors, way=FIBERS):
    """Its time by that of the best peer: below 1 it is faster. The most that it can be where a floor is the least."""
    best = best_peer(floors | medians)
    return medians[way] / best[1] if best and way in medians else None


def is_at_most(medians, floors):
    """Whether what is told of the best peer is only how long it took at least."""
    best = best_peer(floors | medians)
    return best is not None and best[0] in floors


def geometric_mean(ratios):
    ratios = [ratio for ratio in ratios if ratio is not None]
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def ratios(measured, ranks, way=FIBERS, what="wall"):
    """{program: its ratio against the best peer} of programs that have one."""
    floors = {program: {} if way in PEERS else measured.floors(program, ranks, what) for program in measured.programs()}
    found = {program: against_best(measured.medians(program, ranks, what), floors[program], way) for program in floors}
    return {program: ratio for program, ratio in found.items() if ratio is not None}


def at_most(measured, ranks, what="wall"):
    """Programs whose ratios are upper bounds."""
    return [program for program in ratios(measured, ranks, FIBERS, what)
            if is_at_most(measured.medians(program, ranks, what), measured.floors(program, ranks, what))]


def mean_against_best(measured, ranks, way=FIBERS, what="wall"):
    return geometric_mean(ratios(measured, ranks, way, what).values())


def fibers_by_processes(measured, ranks, what="wall"):
    """{program: time with fibers by time with processes}."""
    found = {}
    for program in measured.programs():
        medians = measured.medians(program, ranks, what)
        if FIBERS in medians and PROCESSES in medians:
            found[program] = medians[FIBERS] / medians[PROCESSES]
    return found


def facade_by_openmpi(measured, ranks, what="wall"):
    """{program: Open MPI's binary under Clump by the same under Open MPI}."""
    found = {}
    for program in measured.programs():
        medians = measured.medians(program, ranks, what)
        if FACADE in medians and "openmpi" in medians:
            found[program] = medians[FACADE] / medians["openmpi"]
    return found


def in_order(ways):
    known = (*OURS, *PEERS)
    return [way for way in known if way in ways]
