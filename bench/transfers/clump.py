"""What Clump's leaders do, one of them at each core (src/coll/shared). Their shape is in clump.txt, which team_shape_test.cc compares with the library."""

from pathlib import Path

from .coherence import Add, Exchange, Prefetch, Read, Store, Wait

SHAPE = Path(__file__).with_name("clump.txt")


def shape():
    """{name: value} of clump.txt, and {(groups, group): [bits of the groups that came in each mailbox, ...]}."""
    facts, received = {}, {}
    for line in SHAPE.read_text().splitlines():
        name, *values = line.split()
        if name == "received":
            received[int(values[0]), int(values[1])] = [int(value, 16) for value in values[2:]]
        elif name == "algorithm":
            facts[values[0], int(values[1])] = " ".join(values[2:])
        else:
            facts[name] = values[0]
    return facts, received


FACTS, RECEIVED = shape()
SLOTS, BATCH = int(FACTS["ring-slots"]), int(FACTS["ring-batch"])


def exchange(number, groups, operation, ahead=True, resets_last=True, arrivals=None):
    """Team::tell_each_other, which is the barrier and, with operands in the mail, the allreduce of 8 B. A mailbox is a line. `arrivals` gets the groups
    that came in each. `ahead`: the mailboxes of later rounds are fetched for writing at the beginning; `resets_last`: the own ones are reset when all have
    come. (Both since 27 November 2026.)"""
    known, parity, resets = {number}, operation % 2, []
    arrived = [] if arrivals is None else arrivals
    active = 1 << (groups.bit_length() - 1)
    extra, rounds = groups - active, active.bit_length() - 1
    folds = number < 2 * extra

    def send(to, turn):
        yield Exchange(("mail", to, turn, parity), {"from": frozenset(known), "sent": operation})

    def receive(turn):
        (mail,) = yield Wait([(("mail", number, turn, parity), lambda values: values.get("sent") == operation)])
        reset = Store(("mail", number, turn, parity), {"sent": 0})
        if resets_last and turn < rounds:   # those of groups that fold are reset at once
            resets.append(reset)
        else:
            yield reset
        arrived.append(mail["from"] - known)
        known.update(mail["from"])

    if folds and number % 2 == 0:
        yield from send(number + 1, rounds)
        yield from receive(rounds + 1)
        return
    if folds:
        yield from receive(rounds)
    self = number // 2 if folds else number - extra
    partners = [self ^ 1 << turn for turn in range(rounds)]
    peers = [2 * partner + 1 if partner < extra else partner + extra for partner in partners]
    if ahead:
        for turn in range(1, rounds):
            yield Prefetch(("mail", peers[turn], turn, parity))
    for turn, peer in enumerate(peers):
        yield from send(peer, turn)
        yield from receive(turn)
    for reset in resets:
        yield reset
    if folds:
        yield from send(number - 1, rounds + 1)


def bcast(number, groups, operation):
    """RingProtocol; the root is group 0. Nobody sleeps."""
    notice = ("notice", operation % SLOTS)
    if number == 0:
        if operation % BATCH == 0:
            yield Wait([(("read", other), lambda values: values.get("read", 0) >= operation - BATCH) for other in range(1, groups)])
        yield Read(notice)
        yield Exchange(notice, {"number": operation})
        for other in range(groups):
            yield Read(("asleep", other))
    else:
        yield Add(("group", number), "pollers")
        yield Wait([(notice, lambda values: values.get("number", 0) >= operation)])
        yield Add(("group", number), "pollers")
        yield Read(("notice", (operation + 1) % SLOTS))
        yield Read(("asleep", number))
    if (operation + 1) % BATCH == 0:
        yield Exchange(("read", number), {"read": operation + 1})


def reduce_slices(number, groups, lines):
    """SharedCollective::reduce_slice for an allreduce of much data (shm_all): each rank combines a slice of all operands, in its own result, and copies it into
    all others."""
    for line in range(lines * number // groups, lines * (number + 1) // groups):
        for rank in reversed(range(groups)):
            yield Read(("operand", rank, line))
        for rank in range(groups):
            yield Store(("result", rank, line), {})


def large_allreduce(cores, _, lines):
    """The phases of it, each a program of (core's number). Meetings are not in them."""
    return [lambda number: reduce_slices(number, cores, lines)]
