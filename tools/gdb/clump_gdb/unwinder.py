"""The stacks of fibers that nobody runs."""

import gdb
import gdb.unwinder

from .ranks import processes

# Where context_x86_64.S saves registers, in words above the stack pointer; the stack itself goes on behind them.
SAVED = {"rbp": 6, "rbx": 5, "r12": 4, "r13": 3, "r14": 2, "r15": 1, "rip": 7}
SAVED_WORDS = 8


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
