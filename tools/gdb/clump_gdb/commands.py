"""Commands for ranks, and what gdb does by itself when the program stops."""

import contextlib
import struct

import gdb
import gdb.unwinder

from .memory import Selected
from .ranks import RUNNING, all_ranks, find_rank, list_of, process_of, processes, selected_rank
from .unwinder import Parked
from .windows import lines_about_windows
from .words import describe, plural, printable

MOST_LOADED = 64  # ranks of a process whose symbols are loaded before they are asked for


class Clump(gdb.Command):
    """Commands for the ranks of a job of Clump.

clump ranks      what each rank does or waits for, and what is open of its windows
clump rank N     select rank N: bt, up, print, ... then are about it
clump back       select what was selected before
clump all CMD    the command CMD for each rank in turn"""

    def __init__(self):
        super().__init__("clump", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Ranks(gdb.Command):
    """What each rank of this job does or waits for. Ranks that do the same share a line. Below it are the rank's windows
of which it holds a lock, waits for one, or has an epoch open."""

    def __init__(self):
        super().__init__("clump ranks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        by_text = {}
        for rank in all_ranks():
            by_text.setdefault((describe(rank)[0], tuple(lines_about_windows(rank))), []).append(rank.number)
        for (text, windows), numbers in by_text.items():
            print(printable(f"ranks {list_of(numbers)} {plural(text)}" if len(numbers) > 1 else f"rank {numbers[0]} {text}"))
            for line in windows:
                print(printable(f"    {line}"))


class SelectRank(gdb.Command):
    """clump rank N: selects rank N, in the frame of the program that has called MPI.
Without N: tells which rank is selected."""

    def __init__(self):
        super().__init__("clump rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument:
            return tell_selected()
        rank = find_rank(argument)
        before = Back.here()
        select(rank)
        Back.places.append(before)


def select(rank):
    text, level = describe(rank)
    if rank.phase != RUNNING:
        raise gdb.GdbError(f"rank {rank.number} {text}")
    rank.thread().switch()
    print(printable(f"rank {rank.number} {text}"))
    for line in lines_about_windows(rank):
        print(printable(f"    {line}"))
    gdb.execute(f"frame {level}")


def tell_selected():
    rank = selected_rank()
    print(printable(f"rank {rank.number} {describe(rank)[0]}") if rank is not None else "no rank is selected")


class Back(gdb.Command):
    """Selects what was selected before the last "clump rank"."""

    places = []

    def __init__(self):
        super().__init__("clump back", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        while Back.places:
            thread, level = Back.places.pop()
            if thread is not None and thread.is_valid():
                thread.switch()
                return gdb.execute(f"frame {level}")
        raise gdb.GdbError("no other rank was selected before")

    @staticmethod
    def here():
        thread = gdb.selected_thread()
        return thread, gdb.selected_frame().level() if thread is not None else 0


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
            with Selected(process.inferior.threads()[0]):
                process.inferior.write_memory(process.facts["may_begin"], struct.pack("=i", 1))
        gdb.execute("set schedule-multiple on")
        if hasattr(gdb.events, "gdb_exiting"):
            gdb.events.gdb_exiting.connect(end_job)
        load_all_symbols()
        ranks[0].thread().switch()
        print(f"clump: {len(ranks)} ranks wait before main. Set breakpoints, and continue; help clump")


def on_stop(event):
    load_all_symbols()
    if isinstance(event, (gdb.BreakpointEvent, gdb.SignalEvent)):
        rank = selected_rank()
        if rank is not None:
            print(f"This is rank {rank.number}.")


def load_all_symbols():
    """So that breakpoints are in all copies."""
    for inferior in gdb.inferiors():
        process = process_of(inferior)
        if process is not None:
            process.load_symbols(process.ranks()[:MOST_LOADED])


def end_job(event):
    """Otherwise gdb would let the ranks go on, until mpiexec sees that it has gone."""
    for inferior in gdb.inferiors():
        if inferior.pid > 0:
            with contextlib.suppress(gdb.error):  # it has just ended
                gdb.execute(f"kill inferiors {inferior.num}", to_string=True)


def on_exit(event):
    for key in [key for key in processes if key[0] == event.inferior.num]:
        del processes[key]


def register():
    for command in (Clump, Ranks, SelectRank, Back, All, Own, Begin):
        command()
    gdb.unwinder.register_unwinder(None, Parked(), True)
    # By these the library tells a rank of its signals (process/signals/state.h).
    gdb.execute("handle SIG63 SIG64 nostop noprint pass", to_string=True)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.connect(on_exit)
