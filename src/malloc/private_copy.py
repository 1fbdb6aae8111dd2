"""Copies mimalloc's shared library: python3 private_copy.py ORIGINAL COPY SONAME.

In the copy only functions that begin with mi_ are visible to other files, and it has another name for ld.so, so that a program may have
the original beside it. A symbol is hidden by making it undefined and weak, and ld.so passes over it. The new name is written in the place
of the longest name of a hidden symbol, which loses its name.
"""
import struct
import sys

SYMBOL, DYNAMIC = 24, 16  # bytes of an entry, ELF64
DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME, DT_GNU_HASH = 5, 6, 10, 14, 0x6FFFFEF5
PT_LOAD, PT_DYNAMIC = 1, 2
STB_WEAK = 2


class Library:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path} is not a 64-bit little-endian ELF file")
        table, size, count = self.at("<Q", 32), self.at("<H", 54), self.at("<H", 56)
        headers = [struct.unpack_from("<IIQQQQQQ", self.bytes, table + i * size) for i in range(count)]
        self.loaded = [(h[3], h[2], h[5]) for h in headers if h[0] == PT_LOAD]  # address, offset, bytes
        begin, length = next((h[2], h[5]) for h in headers if h[0] == PT_DYNAMIC)
        self.dynamic = {}  # tag: place of the value
        for place in range(begin, begin + length, DYNAMIC):
            self.dynamic.setdefault(self.at("<q", place), place + 8)

    def at(self, kind, place):
        return struct.unpack_from(kind, self.bytes, place)[0]

    def value(self, tag):
        return self.at("<Q", self.dynamic[tag])

    def offset(self, address):
        return next(offset + address - begin for begin, offset, size in self.loaded if begin <= address < begin + size)

    def symbol_count(self):
        table = self.offset(self.value(DT_GNU_HASH))
        buckets, first, words, _ = struct.unpack_from("<IIII", self.bytes, table)
        bucket = table + 16 + 8 * words
        last = max(struct.unpack_from(f"<{buckets}I", self.bytes, bucket))
        while self.at("<I", bucket + 4 * buckets + 4 * (last - first)) & 1 == 0:
            last += 1
        return last + 1

    def symbols(self):
        """Place and name of each dynamic symbol that is defined."""
        strings = self.offset(self.value(DT_STRTAB))
        begin = self.offset(self.value(DT_SYMTAB))
        for place in range(begin, begin + SYMBOL * self.symbol_count(), SYMBOL):
            name = strings + self.at("<I", place)
            if self.at("<H", place + 6) != 0:
                yield place, self.bytes[name : self.bytes.index(0, name)].decode()


def main(original, copy, soname):
    library = Library(original)
    hidden = []
    for place, name in library.symbols():
        if not name.startswith("mi_"):
            library.bytes[place + 4] = STB_WEAK << 4 | library.bytes[place + 4] & 15
            struct.pack_into("<HQ", library.bytes, place + 6, 0, 0)
            hidden.append((name, place))
    if "malloc" not in dict(hidden):
        sys.exit(f"{original} defines no malloc: it was built without MI_OVERRIDE, or is no mimalloc")
    room, place = max((len(name), place) for name, place in hidden)
    if room < len(soname):
        sys.exit(f"no room for the name {soname}")
    where = library.at("<I", place)
    struct.pack_into("<I", library.bytes, place, 0)
    begin = library.offset(library.value(DT_STRTAB)) + where
    library.bytes[begin : begin + len(soname) + 1] = soname.encode() + b"\0"
    struct.pack_into("<Q", library.bytes, library.dynamic[DT_SONAME], where)
    with open(copy, "wb") as file:
        file.write(library.bytes)


if __name__ == "__main__":
    main(*sys.argv[1:])
