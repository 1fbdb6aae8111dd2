"""gdb's knowledge of Clump's ranks: their stacks, their copies of the program, and commands for them ("help clump").

gdb loads this file together with libmpi_abi.so.1, beside which it lies. Nothing here changes or calls the program, but
"clump begin", which lets the ranks of mpiexec --gdb go. docs/decisions/023-debuggers.md tells how it works.
"""

import atexit
import os
import shutil
import struct
import tempfile

import gdb
import gdb.unwinder

MOST_LOADED = 64  # ranks of a process whose symbols are loaded before they are asked for
MOST_BYTES = 1 << 32  # of a program
MPI, HOST = "libmpi_abi.so", "libclump_host.so"
# Where context_x86_64.S saves registers, in words above the stack pointer; the stack itself goes on behind them.
SAVED = {"rbp": 6, "rbx": 5, "r12": 4, "r13": 3, "r14": 2, "r15": 1, "rip": 7}
SAVED_WORDS = 8
STARTING, RUNNING, ENDED = range(3)
PLURAL = {"waits": "wait", "is": "are", "sleeps": "sleep", "has": "have"}


class Memory:
    """The memory of an inferior, and what it says about itself (src/runtime/host_debugger.cc)."""

    def __init__(self, inferior):
        self.inferior = inferior

    def words(self, address, count=1):
        return struct.unpack(f"={count}Q", self.inferior.read_memory(address, 8 * count).tobytes())

    def word(self, address):
        return self.words(address)[0]

    def int32(self, address):
        return struct.unpack("=i", self.inferior.read_memory(address, 4).tobytes())[0]

    def byte(self, address):
        return self.inferior.read_memory(address, 1).tobytes()[0]

    def text(self, address):
        found = b""
        while b"\0" not in found:
            found += self.inferior.read_memory(address + len(found), 64 - (address + len(found)) % 64).tobytes()
        return found[:found.index(b"\0")].decode(errors="replace")


class SymbolFile:
    """A copy of a program or library in which gdb finds each rank's variables.

    All copies of a program have the same names. In a file with DT_SYMBOLIC gdb looks first, for what is not local,
    where the selected frame is; and as it takes variables of all but the main program for possibly copied elsewhere,
    it would use the first symbol of that name, were they not all left out of the symbol tables: it has those of the
    debugging information."""

    DYNAMIC, SYMBOLS = 6, (2, 11)  # SHT_DYNAMIC, SHT_SYMTAB and SHT_DYNSYM
    OBJECT, TLS_OBJECT = 1, 6  # STT_
    DT_NULL, DT_SYMBOLIC, DT_DEBUG, DT_RELACOUNT = 0, 16, 21, 0x6FFFFFF9
    folder = None
    made = {}

    @classmethod
    def of(cls, path):
        if path not in cls.made:
            if cls.folder is None:
                cls.folder = tempfile.mkdtemp(prefix="clump-gdb-")
                atexit.register(shutil.rmtree, cls.folder, True)
            copy = os.path.join(cls.folder, str(len(cls.made)), os.path.basename(path))
            os.mkdir(os.path.dirname(copy))
            shutil.copyfile(path, copy)
            with open(copy, "r+b") as file:
                cls.change(file)
            cls.made[path] = copy
        return cls.made[path]

    @classmethod
    def change(cls, file):
        header = file.read(64)
        sections_at, = struct.unpack_from("=Q", header, 40)
        size, count = struct.unpack_from("=HH", header, 58)
        for section in range(count):
            file.seek(sections_at + section * size)
            _, kind, _, _, at, length = struct.unpack("=IIQQQQ", file.read(40))
            if kind != cls.DYNAMIC and kind not in cls.SYMBOLS:
                continue
            file.seek(at)
            content = bytearray(file.read(length))
            cls.look_here_first(content) if kind == cls.DYNAMIC else cls.leave_out_variables(content)
            file.seek(at)
            file.write(content)

    @classmethod
    def look_here_first(cls, entries):
        """In place of an entry that nobody needs who does not load the file."""
        for at in range(0, len(entries), 16):
            if struct.unpack_from("=q", entries, at)[0] in (cls.DT_DEBUG, cls.DT_RELACOUNT, cls.DT_NULL):
                struct.pack_into("=q", entries, at, cls.DT_SYMBOLIC)
                return

    @classmethod
    def leave_out_variables(cls, symbols):
        for at in range(0, len(symbols), 24):
            if symbols[at + 4] & 0xF in (cls.OBJECT, cls.TLS_OBJECT):
                struct.pack_into("=H", symbols, at + 6, 0)  # SHN_UNDEF


class Process:
    """One inferior that holds ranks."""

    def __init__(self, inferior, facts):
        self.inferior = inferior
        self.memory = Memory(inferior)
        self.loaded = set()  # ranks whose symbols are
        self.facts = {}
        while (entry := self.memory.words(facts, 2))[0] != 0:
            self.facts[self.memory.text(entry[0])] = entry[1]
            facts += 16

    def at(self, name, base):
        return base + self.facts[name]

    def ranks(self):
        first, size = self.facts["ranks"], self.facts["rank_size"]
        return [Rank(self, first + i * size) for i in range(self.facts["rank_count"])]

    def fibers(self):
        """By the identity of the rank."""
        begin, end = self.memory.words(self.facts["fibers"], 2)
        fibers = self.memory.words(begin, (end - begin) // 8) if end > begin else ()
        return {self.memory.word(self.at("fiber_rank", fiber)): fiber for fiber in fibers}

    def fiber_of_thread(self, thread_pointer):
        for fiber in self.fibers().values():
            if self.memory.word(self.at("fiber_thread_pointer", fiber)) == thread_pointer:
                return fiber
        return None

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
                    self.load_main()
                self.loaded.add(rank.number)
                for path, base in copies:
                    gdb.execute(f"add-symbol-file '{SymbolFile.of(path)}' -o {base:#x}", to_string=True)

    def load_main(self):
        """The same of the program as ld.so has loaded it."""
        path = gdb.current_progspace().filename
        base = self.main_base(path)
        gdb.execute(f"symbol-file '{SymbolFile.of(path)}' -o {base:#x}", to_string=True)

    def main_base(self, path):
        with open(f"/proc/{self.inferior.pid}/maps") as maps:
            return next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(path))


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
        """Pairs of a file and the address it is loaded at."""
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
                base = memory.word(process.at("object_base", object_)) + memory.word(process.at("instance_delta", instance))
                found.append((path, base % 2**64))
        return found

    def owns(self, address):
        """Whether it is an address in the rank's copies; of rank 0, which runs on the originals, in nobody's copies."""
        nearest = max(((base, rank) for rank in self.process.ranks() for _, base in rank.copies() if base <= address), default=None,
                      key=lambda one: one[0])
        is_copy = nearest is not None and address - nearest[0] < MOST_BYTES
        return nearest[1].address == self.address if is_copy else not self.copies()

    def own_thread(self):
        """That of its kernel thread."""
        number = self.process.memory.int32(self.process.at("rank_kernel_thread", self.address))
        threads = self.process.threads()
        return next((thread for thread in threads if thread.ptid[1] == number), min(threads, key=lambda one: one.num))

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


class Selected:
    """A thread, for a while."""

    def __init__(self, thread):
        self.thread = thread

    def __enter__(self):
        self.before = gdb.selected_thread()
        self.frame = gdb.selected_frame() if self.before is not None and self.before.is_valid() else None
        self.thread.switch()

    def __exit__(self, *unused):
        if self.before is not None and self.before.is_valid():
            self.before.switch()
            if self.frame is not None and self.frame.is_valid():
                self.frame.select()


def thread_pointer(thread):
    with Selected(thread):
        return int(gdb.newest_frame().read_register("fs_base"))


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


class Parked(gdb.unwinder.Unwinder):
    """The kernel thread of a fiber sleeps without a stack, and others run the fiber. While none does, this shows the
    fiber's frames behind that kernel thread's; its registers stay as they are."""

    def __init__(self):
        super().__init__("clump")

    def __call__(self, frame):
        process = processes.get((gdb.selected_inferior().num, gdb.selected_inferior().pid))
        if process is None or frame.architecture().name() != "i386:x86-64":
            return None
        if int(frame.read_register("rsp")) % 2**64 != process.facts["parked_stack"]:
            return None
        fiber = process.fiber_of_thread(int(frame.read_register("fs_base")) % 2**64)
        if fiber is None:
            return None
        stack = process.memory.word(process.at("fiber_stack", fiber))
        return self.frame_behind(frame, process, stack, process.memory.int32(process.at("fiber_in_use", fiber)) == 0)

    @staticmethod
    def frame_behind(frame, process, stack, is_parked):
        # gdb takes a caller with a lower stack for damage, so this frame's is said to lie below the fiber's.
        unwind = frame.create_unwind_info(Place(stack, int(frame.read_register("rip"))))
        values = process.memory.words(stack, SAVED_WORDS)
        for register, at in SAVED.items():
            value = values[at] if is_parked or register != "rip" else 0
            unwind.add_saved_register(register, gdb.Value(value).cast(frame.read_register(register).type))
        unwind.add_saved_register("rsp", gdb.Value(stack + 8 * SAVED_WORDS).cast(frame.read_register("rsp").type))
        return unwind


class Place:
    """What gdb tells a frame by."""

    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


def library_of(frame):
    return gdb.solib_name(frame.pc()) or ""


def frames_of(frame):
    while frame is not None:
        yield frame
        try:
            frame = frame.older()
        except gdb.error:
            return


def mpi_call(frames):
    """The index of the outermost frame of the innermost call of MPI, as reports of deadlocks have it; None: there is none."""
    at = 0
    while at < len(frames) and HOST in library_of(frames[at]):
        at += 1
    if at == len(frames) or MPI not in library_of(frames[at]):
        return None
    while at + 1 < len(frames) and MPI in library_of(frames[at + 1]):
        at += 1
    return at


def place_of(frame):
    """at solve.c:41"""
    line = frame.find_sal()
    if line.symtab is not None and line.line > 0:
        return f"at {line.symtab.filename.rsplit('/', 1)[-1]}:{line.line}"
    return f"in {frame.name() or hex(frame.pc())}"


def name_of_call(frame):
    """PMPI_Recv.localalias: MPI_Recv"""
    name = (frame.name() or "MPI").split(".")[0].split("(")[0]
    return name[1:] if name.startswith("PMPI_") else name


def arguments_of(frame):
    """What of the call's arguments tells for whom it waits, where the compiler has kept it."""
    found = []
    for name in ("source", "dest", "root", "sendtag", "recvtag", "tag"):
        try:
            value = frame.read_var(name)
            if not value.is_optimized_out and value.type.strip_typedefs().code == gdb.TYPE_CODE_INT:
                found.append(f"{'destination' if name == 'dest' else name} {int(value)}")
        except (ValueError, RuntimeError, gdb.error):
            pass
    return f"({', '.join(found)})" if found else ""


def is_of_program(frame):
    library = library_of(frame)
    return HOST not in library and MPI not in library and not library.startswith(("/lib", "/usr/lib"))


def describe(rank):
    """What the rank does, in the words of the reports, and the level of the frame of the program that is of interest."""
    if rank.phase != RUNNING:
        return ("has ended" if rank.phase == ENDED else "has not begun"), 0
    rank.process.load_symbols([rank])
    parked = rank.is_parked()
    with Selected(rank.thread()):
        frames = list(frames_of(gdb.newest_frame()))
        first = 1 if parked else 0  # behind the frame of its kernel thread
        if any("wait_for_debugger" in (frame.name() or "") for frame in frames):
            return "waits for the debugger, before main", 0
        call = mpi_call(frames[first:])
        if call is None:
            program = next((at for at in range(first, len(frames)) if is_of_program(frames[at])), first)
            function = frames[program].name()
            return f"{'sleeps' if parked else 'is'} outside MPI {place_of(frames[program])}" + (f" ({function})" if function else ""), program
        call += first
        program = min(call + 1, len(frames) - 1)
        asleep = parked or (frames[0].name() or "").startswith("syscall")
        return f"{'waits' if asleep else 'is'} in {name_of_call(frames[call])}{arguments_of(frames[call])} {place_of(frames[program])}", program


def plural(text):
    verb, rest = text.split(" ", 1)
    return f"{PLURAL[verb]} {rest}"


class Clump(gdb.Command):
    """Commands for the ranks of a job of Clump.

clump ranks      what each rank does or waits for
clump rank N     select rank N: bt, up, print, ... then are about it
clump back       select what was selected before
clump all CMD    the command CMD for each rank in turn"""

    def __init__(self):
        super().__init__("clump", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Ranks(gdb.Command):
    """What each rank of this job does or waits for. Ranks that do the same share a line."""

    def __init__(self):
        super().__init__("clump ranks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        by_text = {}
        for rank in all_ranks():
            by_text.setdefault(describe(rank)[0], []).append(rank.number)
        for text, numbers in by_text.items():
            print(f"ranks {list_of(numbers)} {plural(text)}" if len(numbers) > 1 else f"rank {numbers[0]} {text}")


class SelectRank(gdb.Command):
    """clump rank N: selects rank N, in the frame of the program that has called MPI.
Without N: tells which rank is selected."""

    def __init__(self):
        super().__init__("clump rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument:
            return tell_selected()
        rank = find_rank(argument)
        Back.threads.append(gdb.selected_thread())
        select(rank)


def select(rank):
    text, level = describe(rank)
    if rank.phase != RUNNING:
        raise gdb.GdbError(f"rank {rank.number} {text}")
    rank.thread().switch()
    print(f"rank {rank.number} {text}")
    gdb.execute(f"frame {level}")


def selected_rank():
    thread = gdb.selected_thread()
    if thread is None:
        return None
    return next((rank for rank in all_ranks() if rank.phase == RUNNING and rank.thread().global_num == thread.global_num), None)


def tell_selected():
    rank = selected_rank()
    print(f"rank {rank.number} {describe(rank)[0]}" if rank is not None else "no rank is selected")


class Back(gdb.Command):
    """Selects what was selected before the last "clump rank"."""

    threads = []

    def __init__(self):
        super().__init__("clump back", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        while Back.threads:
            thread = Back.threads.pop()
            if thread is not None and thread.is_valid():
                thread.switch()
                gdb.execute("frame")
                return
        raise gdb.GdbError("no other rank was selected before")


class All(gdb.Command):
    """clump all CMD: selects each rank in turn, and executes CMD."""

    def __init__(self):
        super().__init__("clump all", gdb.COMMAND_STACK, gdb.COMPLETE_COMMAND)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError('clump all: name a command: "clump all bt 1"')
        with Selected(gdb.selected_thread()):
            for rank in all_ranks():
                if rank.phase == RUNNING:
                    select(rank)
                    gdb.execute(argument)


class Own(gdb.Function):
    """$own("name"): the selected rank's variable of that name, wherever in the program or its libraries it is. What is
static in another file than that of the selected frame, or belongs to a library, gdb itself finds in rank 0's copy."""

    def __init__(self):
        super().__init__("own")

    def invoke(self, name):
        name = name.string()
        rank = selected_rank()
        if rank is None:
            raise gdb.GdbError("$own: no rank is selected; clump rank N selects one")
        for objfile in gdb.objfiles():
            symbol = objfile.lookup_global_symbol(name) or objfile.lookup_static_symbol(name)
            if symbol is not None and symbol.is_variable and rank.owns(int(symbol.value().address)):
                return symbol.value()
        raise gdb.GdbError(f"$own: rank {rank.number} has no variable {name}, as far as there are symbols")


class Begin(gdb.Command):
    """Lets the ranks of mpiexec --gdb go, when the program continues."""

    def __init__(self):
        super().__init__("clump begin", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        ranks = all_ranks()
        for process in {id(rank.process): rank.process for rank in ranks}.values():
            process.inferior.write_memory(process.facts["may_begin"], struct.pack("=i", 1))
        gdb.execute("set schedule-multiple on")
        ranks[0].thread().switch()
        print(f"clump: {len(ranks)} ranks wait before main. Set breakpoints, and continue; help clump")


def on_stop(event):
    for inferior in gdb.inferiors():
        process = process_of(inferior)
        if process is not None:
            process.load_symbols(process.ranks()[:MOST_LOADED])


def on_exit(event):
    for key in [key for key in processes if key[0] == event.inferior.num]:
        del processes[key]


def register():
    if getattr(gdb, "clump_is_registered", False):
        return  # a second inferior has loaded the library
    gdb.clump_is_registered = True
    for command in (Clump, Ranks, SelectRank, Back, All, Own, Begin):
        command()
    gdb.unwinder.register_unwinder(None, Parked(), True)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.connect(on_exit)


register()
