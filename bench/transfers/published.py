"""Collectives of others, as published: what their papers and sources say that a core reads and writes."""

from .coherence import Add, Read, Store, Wait


def at_least(name, number):
    return lambda values: values.get(name, 0) >= number


# Barriers of Mellor-Crummey and Scott (1991). A flag has a line to itself, and counts instead of changing sense.

def central_barrier(number, cores, operation):
    """A counter, and a line that the last one writes."""
    before = yield Add("counter", "arrived")
    if before.get("arrived", 0) + 1 == cores * operation:
        yield Store("go", {"go": operation})
    else:
        yield Wait([("go", at_least("go", operation))])


def dissemination_barrier(number, cores, operation):
    distance = 1
    while distance < cores:
        yield Store(("flag", (number + distance) % cores, distance, operation % 2), {"flag": operation})
        yield Wait([(("flag", number, distance, operation % 2), at_least("flag", operation))])
        distance *= 2


def tournament_barrier(number, cores, operation):
    """The loser of a round tells the winner, and is told in the opposite order."""
    distance, lost = 1, []
    while distance < cores and number % (2 * distance) == 0:
        if number + distance < cores:
            yield Wait([(("arrived", number + distance), at_least("flag", operation))])
            lost.append(number + distance)
        distance *= 2
    if number:
        yield Store(("arrived", number), {"flag": operation})
        yield Wait([(("go", number), at_least("flag", operation))])
    for other in reversed(lost):
        yield Store(("go", other), {"flag": operation})


def mcs_barrier(number, cores, operation):
    """Four children tell their parent, in bytes of one line; two children are told by theirs."""
    children = [child for child in range(4 * number + 1, 4 * number + 5) if child < cores]
    if children:
        yield Wait([(("arrived", number), lambda values: all(values.get(child, 0) >= operation for child in children))])
    if number:
        yield Store(("arrived", (number - 1) // 4), {number: operation})
        yield Wait([(("go", number), at_least("flag", operation))])
    for child in (2 * number + 1, 2 * number + 2):
        if child < cores:
            yield Store(("go", child), {"flag": operation})


# MPICH's release and gather (Jain and others, SC18; src/mpid/ch4/shm/posix/release_gather). Each rank has a line for each of its two flags.

CELLS, BCAST_ARITY, REDUCE_ARITY = 4, 64, 4


class Trees:
    """Children of each rank. `packages`: ranks of a package (here: a domain) have a tree, and the first ones of packages another one above."""

    def __init__(self, cores, packages, arity):
        self.parent, self.children = {}, {rank: [] for rank in range(cores)}
        of_each = cores // packages
        leaders = [package * of_each for package in range(packages)]
        self.add(leaders, arity)
        for leader in leaders:
            self.add(list(range(leader, leader + of_each)), arity)

    def add(self, ranks, arity):
        for place in range(1, len(ranks)):
            parent = ranks[(place - 1) // arity]
            self.parent[ranks[place]] = parent
            self.children[parent].append(ranks[place])


class ReleaseGather:
    def __init__(self, cores, packages):
        self.bcast_tree, self.reduce_tree = Trees(cores, packages, BCAST_ARITY), Trees(cores, packages, REDUCE_ARITY)
        self.gathered = {rank: 0 for rank in range(cores)}   # a rank's own flag, which it knows

    def release(self, number, operation):
        if number:
            yield Wait([(("release", self.bcast_tree.parent[number]), at_least("flag", operation))])
        yield Store(("release", number), {"flag": operation})

    def gather(self, number, operation, children, data=None, relaxation=0):
        if children and relaxation and self.gathered[number] >= operation - relaxation:
            return
        least = operation
        if data is None:
            flags = yield Wait([(("gather", child), at_least("flag", operation - relaxation)) for child in children])
            least = min([operation, *(values.get("flag", 0) for values in flags)])
        else:
            for child in children:
                yield Wait([(("gather", child), at_least("flag", operation))])
                yield Read((data, child, operation % CELLS))
            if children:
                yield Store((data, number, operation % CELLS), {})
        self.gathered[number] = least
        yield Store(("gather", number), {"flag": least})

    def barrier(self, number, cores, operation):
        yield from self.gather(number, operation, self.bcast_tree.children[number])
        yield from self.release(number, operation)

    def bcast(self, number, cores, operation):
        cell = ("cell", operation % CELLS)
        if number == 0:
            yield Store(cell, {"data": operation})
        yield from self.release(number, operation)
        if number:
            yield Read(cell)
        yield from self.gather(number, operation, self.bcast_tree.children[number], relaxation=CELLS - 1)

    def allreduce(self, number, cores, operation):
        yield Store(("operand", number, operation % CELLS), {})
        yield from self.gather(number, operation, self.reduce_tree.children[number], data="operand")
        yield from self.release(number, operation)
        if number:
            yield Read(("operand", 0, operation % CELLS))


# XHC of Open MPI (Katevenis and others, CLUSTER 2022; ompi/mca/coll/xhc): the ranks of a domain are a group with a leader, and the leaders are one.

class Xhc:
    def __init__(self, cores, domains):
        of_each = cores // domains
        groups = [list(range(first, first + of_each)) for first in range(0, cores, of_each)]
        self.groups = {rank: [members] for members in groups for rank in members}
        if domains > 1:
            leaders = [members[0] for members in groups]
            for leader in leaders:
                self.groups[leader].append(leaders)

    def above(self, number):
        """(level, members) of the groups from the lowest one up to the first that the rank does not lead."""
        for level, members in enumerate(self.groups[number]):
            if members != [number]:
                yield level, members

    @staticmethod
    def others(members, number):
        return [member for member in members if member != number]

    def barrier(self, number, cores, operation):
        led = []
        for level, members in self.above(number):
            yield Store(("seq", level, number), {"seq": operation})
            if members[0] != number:
                yield Wait([(("ack", level, members[0]), at_least("ack", operation))])
                break
            yield Wait([(("seq", level, other), at_least("seq", operation)) for other in self.others(members, number)])
            led.append(level)
        for level in led:
            yield Store(("ack", level, number), {"ack": operation})

    def bcast(self, number, cores, operation):
        yield from self.hand_down(number, operation)
        yield from self.acknowledge(number, operation)

    def hand_down(self, number, operation):
        """The data is beside the number of the operation, in the line of the group's leader."""
        led = []
        for level, members in self.above(number):
            if members[0] != number:
                yield Wait([(("leader", level, members[0]), at_least("seq", operation))])
                break
            led.append(level)
        for level in reversed(led):
            yield Store(("leader", level, number), {"seq": operation})

    def acknowledge(self, number, operation):
        groups = list(self.above(number))
        for level, _ in groups:
            yield Store(("done", level, number), {"ack": operation})
        for level, members in groups:
            if members[0] == number:
                yield Wait([(("done", level, other), at_least("ack", operation)) for other in self.others(members, number)])

    def allreduce(self, number, cores, operation):
        """The operand is in the member's line; leaders combine those of their group."""
        groups = list(self.above(number))
        for level, _ in groups:
            yield Store(("member", level, number), {"seq": operation, **({"ready": operation} if level == 0 else {})})
        for place, (level, members) in enumerate(groups):
            if members[0] != number:
                break
            yield Wait([(("member", level, other), at_least("ready", operation)) for other in self.others(members, number)])
            if place + 1 < len(groups):
                above = groups[place + 1][0]
                yield Store(("member", above, number), {"ready": operation})
        yield from self.hand_down(number, operation)
        yield from self.acknowledge(number, operation)


# Allreduces of much data: phases, each a program of (core's number). How cores tell each other that a piece is there is not in them.

def slices(workers, lines):
    """{worker: lines of a message that are its own}"""
    return {worker: range(lines * place // len(workers), lines * (place + 1) // len(workers)) for place, worker in enumerate(workers)}


def release_gather_large(cores, domains, lines, arity=2):
    """MPICH: everyone copies into a buffer of its own, parents combine those of their children in theirs, and everyone copies from rank 0's."""
    tree = Trees(cores, domains, arity)
    depth = {0: 0}
    for rank in range(1, cores):
        depth[rank] = depth[tree.parent[rank]] + 1

    def copy_in(number):
        for line in range(lines):
            yield Store(("buffer", number, line), {})

    def combine(level):
        def of(number):
            if depth[number] == level and tree.children[number]:
                for child in tree.children[number]:
                    for line in range(lines):
                        yield Read(("buffer", child, line))
                        yield Store(("buffer", number, line), {})
        return of

    def copy_out(number):
        for line in range(lines):
            yield Read(("buffer", 0, line))
            yield Store(("result", number, line), {})
    return [copy_in, *(combine(level) for level in reversed(range(max(depth.values()) + 1))), copy_out]


def xhc_large(cores, domains, lines):
    """XHC, single-copy: the members of a group combine a part each and write it into the leader's result; but for the leader, if there are more levels
    above. Then leaders copy from the first one, and members from their leader."""
    groups = Xhc(cores, domains).groups

    def combine(level):
        def of(number):
            if len(groups[number]) <= level:
                return
            members = groups[number][level]
            is_top = level + 1 == len(groups[0])
            workers = members if is_top or len(members) == 1 else members[1:]
            source = "operand" if level == 0 else "result"
            for line in slices(workers, lines).get(number, ()):
                for member in members:
                    yield Read((source, member, line))
                yield Store(("result", members[0], line), {})
        return of

    def copy_down(level):
        def of(number):
            if len(groups[number]) == level + 1 and groups[number][level][0] != number:
                for line in range(lines):
                    yield Read(("result", groups[number][level][0], line))
                    yield Store(("result", number, line), {})
        return of
    levels = range(len(groups[0]))
    return [*(combine(level) for level in levels), *(copy_down(level) for level in reversed(levels))]


def rabenseifner_large(cores, _, lines):
    """Recursive halving, nearest partners first, then recursive doubling (Thakur, Rabenseifner and Gropp, 2005), where partners read each other's buffers."""
    rounds = cores.bit_length() - 1

    def part(number, turns):
        """The lines that a core still has after so many rounds."""
        first, count = 0, lines
        for turn in range(turns):
            count //= 2
            first += count if number >> turn & 1 else 0
        return range(first, first + count)

    def halve(turn):
        def of(number):
            partner = number ^ 1 << turn
            source = "operand" if turn == 0 else "result"
            for line in part(number, turn + 1):
                yield Read((source, partner, line))
                yield Store(("result", number, line), {})
        return of

    def double(turn):
        def of(number):
            partner = number ^ 1 << turn
            for line in part(partner, turn + 1):
                yield Read(("result", partner, line))
                yield Store(("result", number, line), {})
        return of
    return [*(halve(turn) for turn in range(rounds)), *(double(turn) for turn in reversed(range(rounds)))]
