"""Ranks, and the processes that hold them."""

import os

import gdb

from .memory import Memory, Selected, thread_pointer
from .symbols import SymbolFile

MOST_BYTES = 1 << 32  # of a program
STARTING, RUNNING, ENDED = range(3)  # how far a rank has come


class Process:
    """One inferior that holds ranks."""

    def __init__(self, inferior, facts):
        self.inferior = inferior
        self.memory = Memory(inferior)
        self.loaded = set()  # ranks whose symbols are
        self.known_fibers, self.by_thread_pointer = {}, {}
        self.facts, self.next_fact = {}, facts
        self.read_facts()

    def read_facts(self):
        """Those that have come since the last time: the MPI library adds some when the program first calls it."""
        while (entry := self.memory.words(self.next_fact, 2))[0] != 0:
            self.facts[self.memory.text(entry[0])] = entry[1]
            self.next_fact += 16

    def fact(self, name):
        """None: it is not known yet."""
        if name not in self.facts:
            self.read_facts()
        return self.facts.get(name)

    def at(self, name, base):
        return base + self.facts[name]

    def ranks(self):
        first, size = self.facts["ranks"], self.facts["rank_size"]
        return [Rank(self, first + i * size) for i in range(self.facts["rank_count"])]

    def fibers(self):
        """By the identity of the rank. They stay where they are, and more of them may come."""
        begin, end = self.memory.words(self.facts["fibers"], 2)
        for fiber in self.memory.words(begin, (end - begin) // 8)[len(self.known_fibers):] if end > begin else ():
            self.known_fibers[self.memory.word(self.at("fiber_rank", fiber))] = fiber
            self.by_thread_pointer[self.memory.word(self.at("fiber_thread_pointer", fiber))] = fiber
        return self.known_fibers

    def fiber_of_thread(self, thread_pointer):
        self.fibers()
        return self.by_thread_pointer.get(thread_pointer)

    def rank_of_thread(self, thread):
        """The one that a thread runs, or shows; None: it runs none."""
        fiber = self.fiber_of_thread(thread_pointer(thread))
        if fiber is not None:
            return Rank(self, self.memory.word(self.at("fiber_rank", fiber)) - self.facts["rank_identity"])
        return next((rank for rank in self.ranks() if rank.own_thread().num == thread.num), None)

    def threads(self):
        return [thread for thread in self.inferior.threads() if thread.is_valid()]

    def load_symbols(self, ranks):
        """Of their copies of the program and its libraries: gdb knows those of rank 0, which ld.so has loaded."""
        for rank in ranks:
            copies = rank.copies() if rank.number not in self.loaded else []
            if not copies:
                continue
            with Selected(self.threads()[0]):
                if not self.loaded:
                    self.load_main(copies)
                self.loaded.add(rank.number)
                for path, base, delta in copies:
                    self.load("add-symbol-file", path, base + delta)

    def load_main(self, copies):
        """The same of the program as ld.so has loaded it."""
        program = os.path.realpath(gdb.current_progspace().filename)
        for path, base, _ in copies:
            if os.path.realpath(path) == program:
                self.load("symbol-file", path, base)

    @staticmethod
    def load(command, path, base):
        try:
            gdb.execute(f"{command} '{SymbolFile.of(path)}' -o {base % 2**64:#x}", to_string=True)
        except (gdb.error, OSError) as wrong:
            print(f"clump: no symbols of {path}: {wrong}")


class Rank:
    def __init__(self, process, address):
        self.process = process
        self.address = address
        self.number = process.memory.int32(process.at("rank_number", address))

    @property
    def phase(self):
        return self.process.memory.byte(self.process.at("rank_phase", self.address))

    def fiber(self):
        return self.process.fibers().get(self.process.at("rank_identity", self.address))

    def copies(self):
        """For each: its file, the address at which ld.so has loaded that, and how far away the copy is."""
        process, memory = self.process, self.process.memory
        image = memory.word(process.at("rank_image", self.address))
        if image == 0:
            return []
        begin, end = memory.words(process.at("image_instances", image), 2)
        found = []
        for instance in memory.words(begin, (end - begin) // 8) if end > begin else ():
            if instance != 0:
                object_ = memory.word(process.at("instance_object", instance))
                path = memory.text(memory.word(process.at("object_path", object_)))
                found.append((path, memory.word(process.at("object_base", object_)), memory.word(process.at("instance_delta", instance))))
        return found

    def owns(self, address):
        """Whether it is an address in the rank's copies; of rank 0, which runs on the originals, in nobody's copies."""
        places = [((base + delta) % 2**64, rank) for rank in self.process.ranks() for _, base, delta in rank.copies()]
        nearest, owner = max(((place, rank) for place, rank in places if place <= address), default=(0, None), key=lambda one: one[0])
        return owner.address == self.address if address - nearest < MOST_BYTES else not self.copies()

    def own_thread(self):
        """That of its kernel thread."""
        number = self.process.memory.int32(self.process.at("rank_kernel_thread", self.address))
        threads = self.process.threads()
        return next((thread for thread in threads if thread.ptid[1] == number), threads[-1])  # the list begins with the last

    def is_parked(self):
        """A fiber that no kernel thread runs: its stack is shown as that of its own kernel thread."""
        fiber = self.fiber()
        return fiber is not None and self.process.memory.int32(self.process.at("fiber_in_use", fiber)) == 0

    def thread(self):
        """The one that shows its stack."""
        own, fiber = self.own_thread(), self.fiber()
        if fiber is None or self.is_parked():
            return own
        pointer = self.process.memory.word(self.process.at("fiber_thread_pointer", fiber))
        for thread in self.process.threads():
            if thread.num != own.num and thread_pointer(thread) == pointer:
                return thread
        return own


processes = {}  # by number of the inferior and process


def process_of(inferior):
    if inferior.pid == 0 or not inferior.threads():
        return None
    key = (inferior.num, inferior.pid)
    if key not in processes:
        with Selected(inferior.threads()[0]):
            try:
                facts = int(gdb.parse_and_eval("(unsigned long) &clump_facts"))
            except gdb.error:
                return None
        process = Process(inferior, facts)
        if "ranks" not in process.facts:
            return None  # it has just begun
        processes[key] = process
        gdb.invalidate_cached_frames()  # those of parked fibers were not known
    return processes[key]


def all_ranks():
    found = []
    for inferior in gdb.inferiors():
        process = process_of(inferior)
        if process is not None:
            found += process.ranks()
    if not found:
        raise gdb.GdbError("there are no ranks of Clump here; attach to a process of a job: gdb -p, or mpiexec --gdb")
    return sorted(found, key=lambda rank: rank.number)


def find_rank(text):
    ranks = all_ranks()
    try:
        number = int(gdb.parse_and_eval(text))
    except gdb.error as wrong:
        raise gdb.GdbError(f"clump rank {text}: {wrong}; give a number")
    for rank in ranks:
        if rank.number == number:
            return rank
    raise gdb.GdbError(f"clump rank {text}: this gdb has the ranks {list_of([rank.number for rank in ranks])}")


def list_of(numbers):
    """0-3,7"""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def selected_rank():
    thread = gdb.selected_thread()
    process = process_of(thread.inferior) if thread is not None else None
    return process.rank_of_thread(thread) if process is not None else None
