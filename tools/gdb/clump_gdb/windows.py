"""Windows of ranks: locks and open epochs, in words. src/rma/facts.cc tells where they are."""

import struct

from .ranks import list_of

NONE, STARTED, LOCKS, ALL = range(4)  # rma::Window::Access
NOT_HELD, SHARED, EXCLUSIVE, UNCHECKED = range(4)  # rma::Window::Held
HELD_EXCLUSIVELY, SHARERS = 1 << 31, (1 << 30) - 1  # bits of rma::Lock
MOST_WINDOWS = 10000  # of a process; more are a list that has been damaged


class Window:
    """The window of one rank."""

    def __init__(self, process, address):
        self.process, self.memory, self.address = process, process.memory, address

    def at(self, name):
        return self.process.at(f"window_{name}", self.address)

    def number_of_rank(self):
        return self.memory.int32(self.at("rank"))

    def byte(self, name):
        return self.memory.byte(self.at(name))

    def description(self):
        """As in reports: rma::Window::description()."""
        name = self.memory.text(self.memory.word(self.at("name")))
        return f"window '{name}'" if name else "a window without a name"

    def numbers(self, name):
        """Of a std::vector<int>."""
        begin, end = self.memory.words(self.at(name), 2)
        return list(struct.unpack(f"={(end - begin) // 4}i", self.memory.read(begin, end - begin))) if end > begin else []

    def partners(self, name):
        return sorted(self.numbers(f"{name}_here") + self.numbers(f"{name}_elsewhere"))

    def targets(self):
        """The address of the table of all ranks of the window, and how many they are."""
        begin, end = self.memory.words(self.process.at("map_targets", self.memory.word(self.at("map"))), 2)
        return begin, (end - begin) // self.process.fact("target_size")

    def held(self):
        """Ranks whose locks it has, by Held."""
        states = self.memory.word(self.at("held"))
        if states == 0:
            return {}
        found = {}
        for rank, state in enumerate(self.memory.read(states, self.targets()[1])):
            found.setdefault(state, []).append(rank)
        return found

    def holder_of(self, rank):
        """A clause about the rank that has the lock of `rank`; empty: unknown, as on another host."""
        begin, _ = self.targets()
        control = self.memory.word(self.process.at("target_control", begin + rank * self.process.fact("target_size")))
        if control == 0:
            return ""
        word, = struct.unpack("=I", self.memory.read(self.process.at("control_lock", control), 4))
        if word & HELD_EXCLUSIVELY:
            return f", which rank {self.memory.int32(self.process.at('control_lock_holder', control)) - 1} holds exclusively"
        sharers = word & SHARERS
        return f", which {sharers} rank{' holds' if sharers == 1 else 's hold'} shared" if sharers else ""

    def locks(self):
        words = {SHARED: " (shared)", EXCLUSIVE: " (exclusive)", UNCHECKED: " (MPI_MODE_NOCHECK)"}
        parts = [ranks_of(ranks) + words[state] for state, ranks in sorted(self.held().items()) if state in words]
        access = self.byte("access")
        if access == ALL:
            return "all ranks are locked (MPI_Win_lock_all)" + (f", of which it has used {' and '.join(parts)}" if parts else "")
        return f"it has locked {' and '.join(parts)}" if access == LOCKS and parts else ""

    def epochs(self):
        """Clauses about what is open, and what is waited for."""
        access, found = self.byte("access"), [self.locks()]
        if access == STARTED:
            found.append(f"MPI_Win_start for {ranks_of(self.partners('started'))}")
        if access == NONE and self.byte("fence_used"):
            found.append("MPI_Win_fence, and operations since")
        if self.byte("posted"):
            found.append(f"MPI_Win_post for {ranks_of(self.partners('exposed'))}")
        lock, post, complete = (self.memory.int32(self.at(f"awaited_{name}")) - 1 for name in ("lock", "post", "complete"))
        if lock >= 0:
            found.append(f"it waits for the lock of rank {lock}{self.holder_of(lock)}")
        if post >= 0:
            found.append(f"it waits for MPI_Win_post of rank {post}")
        if complete >= 0:
            found.append(f"it waits for MPI_Win_complete of rank {complete}")
        return [clause for clause in found if clause]


def ranks_of(numbers):
    if not numbers:
        return "no rank"
    return f"rank {numbers[0]}" if len(numbers) == 1 else f"ranks {list_of(numbers)}"


def windows_of(rank):
    """Those of a rank, the oldest first. Ranks of windows have their numbers in the window's group."""
    process = rank.process
    if process.fact("windows") is None:
        return []  # the program has not called MPI
    found, address = [], process.memory.word(process.fact("windows"))
    for _ in range(MOST_WINDOWS):
        if address == 0:
            break
        window = Window(process, address)
        if window.number_of_rank() == rank.number:
            found.append(window)
        address = process.memory.word(window.at("next"))
    return found[::-1]


def lines_about_windows(rank):
    """A line for each window of which something is open: "window 'table': it has locked rank 0 (exclusive)"."""
    return [f"{window.description()}: {'; '.join(clauses)}" for window in windows_of(rank) if (clauses := window.epochs())]
