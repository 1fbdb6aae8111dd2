"""Threads, and the memory of inferiors."""

import struct

import gdb


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


class Memory:
    """The memory of an inferior, and what it says about itself (src/host/debugger.cc)."""

    def __init__(self, inferior):
        self.inferior = inferior

    def read(self, address, count):
        """gdb reads the selected inferior's, whatever it is asked for."""
        if gdb.selected_inferior().num == self.inferior.num:
            return self.inferior.read_memory(address, count).tobytes()
        with Selected(self.inferior.threads()[0]):
            return self.inferior.read_memory(address, count).tobytes()

    def words(self, address, count=1):
        return struct.unpack(f"={count}Q", self.read(address, 8 * count))

    def word(self, address):
        return self.words(address)[0]

    def int32(self, address):
        return struct.unpack("=i", self.read(address, 4))[0]

    def byte(self, address):
        return self.read(address, 1)[0]

    def text(self, address):
        found = b""
        while b"\0" not in found:
            found += self.read(address + len(found), 64 - (address + len(found)) % 64)
        return found[:found.index(b"\0")].decode(errors="replace")
