"""Does a test pass rubbish in each argument that means something at some ranks only?  significance_test.py --tests FOLDER

Which these are is in the standard's data: at the root only, or at the leader only. What they are passed is not: the tests name the functions."""

import argparse
import re
import sys
from pathlib import Path

import pympistandard

RUBBISH = r"POINTER\(|NUMBER\(|TYPE\(|rubbish\.|sent\(\)|received\(\)|\binfo\b"


def significant_at_some():
    """{function in its blocking form: how many arguments}"""
    pympistandard.use_api_version(1, force_bundled=True)
    found = {}
    for procedure in pympistandard.all_iso_c_procedures():
        symbol = procedure.express.iso_c
        few = [p.name for p in symbol.parameters if p._parseset["root_only"] or re.search(r"significant only at.*leader", p._parseset["desc"] or "")]
        if few:
            name = re.sub(r"_init$", "", re.sub(r"^MPI_I(?=[gsr])(?!nter)", "MPI_", symbol.name))
            found.setdefault(name[:4] + name[4:].capitalize() if name[4].islower() else name, set()).update(few)
    return {name: len(few) for name, few in found.items()}


def passed(folder):
    """{function: how many rubbish arguments}, of calls in the programs."""
    found = {}
    for path in folder.glob("*/insignificant.c"):
        text = path.read_text()
        for match in re.finditer(r"\b(?:CALL\((\w+), \w+,|MPI_(\w+)\()", text):
            depth, end = 1, match.end()
            while depth:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            name = "MPI_" + (match[1] or match[2])
            found[name] = max(found.get(name, 0), len(re.findall(RUBBISH, text[match.end():end])))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", type=Path, required=True, help="tests/mpi")
    wanted, there = significant_at_some(), passed(parser.parse_args().tests)
    few = {name: (there.get(name, 0), number) for name, number in wanted.items() if there.get(name, 0) < number}
    if len(wanted) < 10 or few:
        print(f"rubbish is passed in fewer arguments than there are that mean something at some ranks only: {few or wanted}")
        return 1
    print(f"rubbish is passed in all such arguments of {len(wanted)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
