"""Cores that read and write cache lines, and how often a line has to move for that.

A core has a line alone, has it with others, or does not have it. What a core has is free. A transfer is needed
- to read a line that the core does not have. It is *near* if a core of the same cache domain has the line, otherwise *far*;
- to write a line that the core does not have alone: all others lose it. It is *near* if all these are of the same domain, otherwise *far*.
A far one takes FAR times as long as a near one. Nothing else takes time: no instructions, no memory. What a core writes into one line in succession,
it writes while it has the line.

What cores do at the same time lies between two bounds:
- `in turn`: a domain gives a line to one of its cores at a time, and gets it from elsewhere when no other domain does; a core asks for one line at a
  time to read, for one to write, and for one to prefetch;
- `at once`: any number of cores get a line at the same time, and a core asks at once for all lines that it is going to look at, and for those that
  it has stored to. Writes of one line are in turn even so.

A program is a generator that yields what is below, and gets the answer. A Store goes on at once and becomes visible when the stores before it are, as
on x86; an Exchange or Add (a locked instruction) waits until all of the core's stores are visible. A core that waits for a value has the line until
somebody writes or prefetches it, and then reads it again.
"""

import dataclasses
import heapq
import itertools
import typing

NEAR, FAR = 1, 4


@dataclasses.dataclass(frozen=True)
class Read:
    """Gives the line's values, a dictionary."""
    line: object


@dataclasses.dataclass(frozen=True)
class Wait:
    """[(line, test of its values), ...]: until all are as wanted. Gives their values."""
    wanted: list


@dataclasses.dataclass(frozen=True)
class Store:
    line: object
    values: dict


@dataclasses.dataclass(frozen=True)
class Exchange:
    """Stores into a line, and a locked instruction there in the end."""
    line: object
    values: dict


@dataclasses.dataclass(frozen=True)
class Prefetch:
    """For writing, without waiting for it."""
    line: object


@dataclasses.dataclass(frozen=True)
class Work:
    """What takes as long as so many near transfers, and touches no line of others."""
    time: int


@dataclasses.dataclass(frozen=True)
class Add:
    """Adds one, and gives the values that were there before."""
    line: object
    name: str


class Path(typing.NamedTuple):
    """Transfers, one after the other. The longer of two is the greater one."""
    time: int = 0
    near: int = 0
    far: int = 0


def step_after(path, near):
    time, nears, fars = path
    return Path(time + NEAR, nears + 1, fars) if near else Path(time + FAR, nears, fars + 1)


def sum_of(paths):
    return Path(*(sum(column) for column in zip(*paths)))


START = Path()


class Line:
    def __init__(self):
        self.values, self.holders, self.sleepers = {}, set(), []
        self.restart()

    def restart(self):
        self.written = self.moved = START   # when the last write is done; when the last write or far read is
        self.given = {}                     # domain -> when the last read of a core there is done
        self.coming = {}                    # domain -> when the line comes there, for which a core has asked

    def used(self):
        return max(self.moved, *self.given.values()) if self.given else self.moved


class Event:
    """Happens at some time; what is to follow does."""

    def __init__(self, when=None):
        self.when, self.followers = when, []

    def follow(self, action):
        self.followers.append(action) if self.when is None else action(self.when)

    def happen(self, when):
        self.when = when
        for action in self.followers:
            action(when)


class Core:
    def __init__(self, number, domain):
        self.number, self.domain = number, domain
        self.transfers = START
        self.restart()

    def restart(self):
        self.now = START
        self.last_store = self.last_prefetch = Event(START)


class Machine:
    def __init__(self, cores, domains, at_once):
        if cores % domains:
            raise ValueError(f"{cores} cores cannot be in {domains} domains of the same size")
        self.cores = [Core(number, number * domains // cores) for number in range(cores)]
        self.at_once, self.lines = at_once, {}
        self.queue, self.turn = [], itertools.count()

    def transfers(self):
        return sum_of(core.transfers for core in self.cores)

    def run(self, program):
        """program(number) on each core, all from now on. The path of each core; lines that are still on their way then are counted, but not in that."""
        for part in (*self.cores, *self.lines.values()):
            part.restart()
        for core in self.cores:
            self.at(START, lambda _, core=core: self.proceed(core, program(core.number), None))
        while self.queue:
            _, _, action, when = heapq.heappop(self.queue)
            action(when)
        waited_for = [name for name, line in self.lines.items() if line.sleepers]
        if waited_for:
            raise RuntimeError(f"cores wait for ever for {waited_for[:4]}")
        return [core.now for core in self.cores]

    def line(self, name):
        return self.lines.setdefault(name, Line())

    def at(self, when, action):
        heapq.heappush(self.queue, (when[0], next(self.turn), action, when))

    def proceed(self, core, steps, answer):
        try:
            step = steps.send(answer)
        except StopIteration:
            return

        def go_on(when, answer=None):
            core.now = when
            self.proceed(core, steps, answer)
        if isinstance(step, Store):
            self.store(core, step)
            self.at(core.now, go_on)
        elif isinstance(step, Prefetch):
            self.prefetch(core, self.line(step.line))
            self.at(core.now, go_on)
        elif isinstance(step, Work):
            self.at(core.now._replace(time=core.now.time + step.time), go_on)
        elif isinstance(step, Wait):
            self.wait(core, step.wanted, go_on)
        elif isinstance(step, Read):
            self.read(core, self.line(step.line), core.now, go_on)
        else:
            self.locked(core, step, go_on)

    def locked(self, core, step, go_on):
        line = self.line(step.line)

        def change(when):
            before = dict(line.values)
            self.change(line, core, {step.name: before.get(step.name, 0) + 1} if isinstance(step, Add) else step.values, when)
            go_on(when, before)

        def in_order(when):
            core.last_store.follow(lambda stored: self.own(core, line, max(when, stored), change))
        if self.at_once and isinstance(step, Exchange):
            self.own(core, line, core.now, in_order)
        else:
            in_order(core.now)

    def store(self, core, step):
        line, before, mine = self.line(step.line), core.last_store, Event()
        core.last_store = mine

        def change(when):
            self.change(line, core, step.values, when)
            mine.happen(when)

        def in_order(when):
            before.follow(lambda stored: self.own(core, line, max(when, stored), change))
        if self.at_once:
            self.own(core, line, core.now, in_order)   # and once more if somebody has taken it meanwhile
        else:
            in_order(core.now)

    def prefetch(self, core, line):
        asked, before, mine = core.now, Event(START) if self.at_once else core.last_prefetch, Event()
        core.last_prefetch = mine

        def have(when):
            self.wake_others(line, core, when)
            mine.happen(when)
        before.follow(lambda fetched: self.own(core, line, max(asked, fetched), have))

    def own(self, core, line, when, done):
        """done(when) when the core has the line alone."""
        def begin(when):
            busy = line.used()
            if busy.time > when.time:
                return self.at(busy, begin)
            others = line.holders - {core}
            if not others:
                line.holders.add(core)
                return done(when)
            near = all(other.domain == core.domain for other in others)
            core.transfers = step_after(core.transfers, near)
            line.written = line.moved = end = step_after(when, near)

            def arrive(when):
                line.holders = {core}
                done(when)
            return self.at(end, arrive)
        self.at(when, begin)

    def change(self, line, core, values, when):
        line.values.update(values)
        self.wake_others(line, core, when)

    @staticmethod
    def wake_others(line, core, when):
        """The cores that wait have lost the line."""
        woken = [wake for other, wake in line.sleepers if other is not core]
        line.sleepers = [sleeper for sleeper in line.sleepers if sleeper[0] is core]
        for wake in woken:
            wake(when)

    def read(self, core, line, when, done):
        def begin(when):
            if core in line.holders or not line.holders:
                line.holders.add(core)
                return done(when, dict(line.values))
            near = any(other.domain == core.domain for other in line.holders)
            busy = line.written
            if not self.at_once:
                busy = max(busy, line.given.get(core.domain, START), START if near else line.moved)
            asked = line.coming.get(core.domain)
            if not near and asked is not None:
                busy = max(busy, asked)
            if busy.time > when.time:
                return self.at(busy, begin)
            core.transfers = step_after(core.transfers, near)
            end = step_after(when, near)
            line.given[core.domain] = max(end, line.given.get(core.domain, START))
            if not near:
                line.coming[core.domain] = end
                line.moved = max(line.moved, end)

            def arrive(when):
                line.holders.add(core)
                done(when, dict(line.values))
            return self.at(end, arrive)
        self.at(when, begin)

    def wait(self, core, wanted, done):
        found, latest = [None] * len(wanted), core.now
        if not wanted:
            return self.at(core.now, lambda when: done(when, found))

        def look(place, when):
            name, test = wanted[place]

            def see(when, values):
                nonlocal latest
                if not test(values):
                    self.line(name).sleepers.append((core, lambda written: look(place, written)))
                    return
                found[place], latest = values, max(latest, when)
                if None not in found:
                    done(latest, found)
                elif not self.at_once:
                    look(place + 1, when)
            self.read(core, self.line(name), when, see)
        for place in range(len(wanted) if self.at_once else 1):
            look(place, core.now)
        return None
