"""What a rank does, in words."""

import gdb

from .memory import Selected
from .ranks import ENDED, RUNNING

MPI, HOST, FORTRAN = "libmpi_abi.so", "libclump_host.so", "libmpifort_abi.so"
PLURAL = {"waits": "wait", "is": "are", "sleeps": "sleep", "has": "have"}


def printable(text):
    """Its control characters as \\x1b: names of windows, functions and files may have been chosen by others."""
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in text)


def library_of(frame):
    return gdb.solib_name(frame.pc()) or ""


def frames_of(frame):
    while frame is not None:
        yield frame
        try:
            frame = frame.older()
        except gdb.error:
            return


def is_of_program(frame):
    library = library_of(frame)
    return HOST not in library and MPI not in library and FORTRAN not in library and not library.startswith(("/lib", "/usr/lib"))


def mpi_call(frames):
    """The index of the outermost frame of the innermost call of MPI, as reports of deadlocks have it; None: there is none."""
    at = 0
    while at < len(frames) and MPI not in library_of(frames[at]):
        if is_of_program(frames[at]):
            return None
        at += 1
    while at + 1 < len(frames) and MPI in library_of(frames[at + 1]):
        at += 1
    return at if at < len(frames) else None


def place_of(frame):
    """at solve.c:41"""
    line = frame.find_sal()
    if line.symtab is not None and line.line > 0:
        return f"at {line.symtab.filename.rsplit('/', 1)[-1]}:{line.line}"
    return f"in {frame.name() or hex(frame.pc())}"


def name_of_call(frame):
    """PMPI_Recv.localalias: MPI_Recv; and what that may go on in, checked_Recv."""
    name = (frame.name() or "MPI").split(".")[0].split("(")[0]
    for prefix in ("checked_", "recorded_"):
        if name.startswith(prefix):
            return "MPI_" + name[len(prefix):]
    return name[1:] if name.startswith("PMPI_") else name


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
            return "waits for the debugger to let it begin", 0
        call = mpi_call(frames[first:])
        if call is None:
            program = next((at for at in range(first, len(frames)) if is_of_program(frames[at])), first)
            function = frames[program].name()
            return f"{'sleeps' if parked else 'is'} outside MPI {place_of(frames[program])}" + (f" ({function})" if function else ""), program
        call += first
        program = min(call + 1, len(frames) - 1)
        while program + 1 < len(frames) and FORTRAN in library_of(frames[program]):
            program += 1
        asleep = parked or (frames[0].name() or "").startswith("syscall")
        return f"{'waits' if asleep else 'is'} in {name_of_call(frames[call])} {place_of(frames[program])}", program


def plural(text):
    verb, rest = text.split(" ", 1)
    return f"{PLURAL[verb]} {rest}"
