"""Which collectives are counted, and how."""

import dataclasses
import functools

from . import clump, published
from .coherence import FAR, NEAR, Machine, Work

WORKERS = (1, 2, 4, 8, 16, 32, 64)
DOMAINS = (1, 2, 4, 8)
OF_A_DOMAIN = 8   # workers, where their number grows
CLUMP = "Clump"


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    make: object       # make(workers, domains) -> program(number, workers, operation)
    period: int = 2    # after so many operations the lines are as before


def alike(program):
    return lambda workers, domains: program


EXCHANGE = Way(CLUMP, alike(clump.exchange))
BEFORE = Way("Clump, before these counts", alike(functools.partial(clump.exchange, ahead=False, resets_last=False)))
FLAT, PACKAGES, XHC = "MPICH, one tree", "MPICH, a tree for each domain", "Open MPI's XHC"


def peers(operation, period=4):
    return [Way(FLAT, lambda workers, _: getattr(published.ReleaseGather(workers, 1), operation), period),
            Way(PACKAGES, lambda workers, domains: getattr(published.ReleaseGather(workers, domains), operation), period),
            Way(XHC, lambda workers, domains: getattr(published.Xhc(workers, domains), operation), period)]


OPERATIONS = {
    "barrier": [EXCHANGE, BEFORE, *peers("barrier"),
                Way("central counter", alike(published.central_barrier)), Way("dissemination", alike(published.dissemination_barrier)),
                Way("tournament", alike(published.tournament_barrier)), Way("MCS tree", alike(published.mcs_barrier))],
    "bcast": [Way(CLUMP, alike(clump.bcast), clump.SLOTS), *peers("bcast")],
    "allreduce": [EXCHANGE, BEFORE, *peers("allreduce")],
}
OURS = (CLUMP, BEFORE.name)

LARGE = {CLUMP: clump.large_allreduce, FLAT: lambda workers, _, lines: published.release_gather_large(workers, 1, lines),
         PACKAGES: published.release_gather_large, XHC: published.xhc_large, "Rabenseifner": published.rabenseifner_large}


@dataclasses.dataclass(frozen=True)
class Count:
    """Transfers of an operation, and how long it takes at most and at least; the mean of a period."""
    near: float
    far: float
    in_turn: float
    at_once: float


@functools.lru_cache(maxsize=None)
def count(way, workers, domains):
    times = {}
    for at_once in (True, False):
        machine, program = Machine(workers, domains, at_once), way.make(workers, domains)

        def run(operation):
            return max(machine.run(lambda number: program(number, workers, operation))).time
        for operation in range(1, way.period + 1):
            run(operation)
        before = machine.transfers()
        times[at_once] = sum(run(operation) for operation in range(way.period + 1, 2 * way.period + 1)) / way.period
        after = machine.transfers()
    return Count((after.near - before.near) / way.period, (after.far - before.far) / way.period, times[False], times[True])


LATE = 1000   # near transfers: until then the others have done what they can


def ends_with_late_core(program, workers, domains, late, at_once):
    """When each core ends the second operation, if one begins it at LATE."""
    machine = Machine(workers, domains, at_once)
    machine.run(lambda number: program(number, workers, 1))

    def second(number):
        if number == late:
            yield Work(LATE)
        yield from program(number, workers, 2)
    return [path.time for path in machine.run(second)]


def time_of_late_core(way, workers, domains, at_once):
    """From the time that core 0 begins, for which the others wait, until all are through."""
    return max(ends_with_late_core(way.make(workers, domains), workers, domains, 0, at_once)) - LATE


@dataclasses.dataclass(frozen=True)
class Volume:
    """Transfers for each line of a message: of all cores, and the time of those of the core that has the most."""
    near: float
    far: float
    most: float


@functools.lru_cache(maxsize=None)
def volume(name, workers, domains):
    """Of an allreduce whose result every core reads then, before it writes its next operand."""
    lines = workers
    machine = Machine(workers, domains, True)

    def touch(number):
        for line in range(lines):
            yield clump.Read(("result", number, line))
            yield clump.Store(("operand", number, line), {})
    phases = [*LARGE[name](workers, domains, lines), touch]
    for phase in phases:
        machine.run(phase)
    before = [core.transfers for core in machine.cores]
    for phase in phases:
        machine.run(phase)
    spent = [(core.transfers.near - old.near, core.transfers.far - old.far) for core, old in zip(machine.cores, before)]
    return Volume(sum(near for near, _ in spent) / lines, sum(far for _, far in spent) / lines,
                  max(NEAR * near + FAR * far for near, far in spent) / lines)
