#!/usr/bin/env python3
"""Writes a C program that calls every function that has a body once for each of its pointers, with NULL there and what is right elsewhere.

usage: null_calls.py ALLOWED OUT    ALLOWED: null_is_allowed.txt, OUT: the file to be written

null_calls.h is the rest of the program, and says what is demanded of each call.
"""

import re
import sys
from pathlib import Path

import right_calls
from right_calls import Wrong

# What one rank may leave out, and another not: with several ranks one would wait for the other.
NOT_ON_ALL_RANKS = re.compile(r"MPI_(Ie|E)xscan(_init)?\.recvbuf$")


def main() -> None:
    allowed_file, out = (Path(argument) for argument in sys.argv[1:3])
    allowed = {line.split()[0] for line in allowed_file.read_text().splitlines() if line and not line.startswith("#")}
    code, rows, known = [], [], set()
    for function, entry in right_calls.functions():
        name = function.name
        for form in function.forms:
            pointers = [p for p in form.parameters if right_calls.is_pointer(p)]
            if form.returns != "int" or not pointers:
                continue
            wrong = {p.name: [Wrong(number, "NULL")] for number, p in enumerate(pointers, 1)}
            code.append(right_calls.call(form, name[4:], entry.chapter, wrong))
            cells = []
            for p in pointers:
                known.add(f"{name}.{p.name}")
                flags = ["NULL_IS_ALLOWED"] if f"{name}.{p.name}" in allowed else []
                flags += ["ONE_RANK"] if p.root_only or NOT_ON_ALL_RANKS.match(f"{name}.{p.name}") else []
                cells.append(f'{{"{p.name}", {" | ".join(flags) or 0}}}')
            rows.append(f'{{"{form.name}", call_{form.name[4:]}, {len(cells)}, {{{", ".join(cells)}}}}},\n')
    unknown = allowed - known
    if unknown:
        sys.exit(f"{allowed_file}: no function has such a pointer: {', '.join(sorted(unknown))}")
    out.write_text(right_calls.program("null_calls.h", code, rows))


if __name__ == "__main__":
    main()
