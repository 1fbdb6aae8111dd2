"""Files of symbols for the copies of a program that ranks have."""

import atexit
import os
import shutil
import struct
import tempfile


class SymbolFile:
    """A copy of a program or library in which gdb finds each rank's variables.

    All copies of a program have the same names. In a file with DT_SYMBOLIC gdb looks first, for what is not local,
    where the selected frame is. And gdb takes a variable of another file than the main one for copied into the first
    file whose symbol table has a global symbol of that name: so they are made local there."""

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
            cls.look_here_first(content) if kind == cls.DYNAMIC else cls.make_variables_local(content)
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
    def make_variables_local(cls, symbols):
        for info in range(4, len(symbols), 24):
            if symbols[info] & 0xF in (cls.OBJECT, cls.TLS_OBJECT):
                symbols[info] &= 0xF  # STB_LOCAL
