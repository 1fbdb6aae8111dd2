"""Does libmpi_abi.so.1 export the functions of the standard ABI, and nothing else?

--kind standard  compares with the standard's machine-readable API
--kind peer      compares with another library that has the ABI; exits with 77 (skipped) if it is not there
"""

import argparse
import os
import re
import subprocess
import sys

import pympistandard

# MPI-5.0 section 20.4: these belong to the Fortran support library.
FORTRAN = re.compile(r"_(c2f|f2c|c2f08|f082c|f082f|f2f08)$")
# In the ABI's list of functions, though the standard's data has the count of their only form as MPI_Count.
TWINS_OF_PARTITIONED = {"MPI_Psend_init_c", "MPI_Precv_init_c"}
FUNCTIONS = 664


def exported(nm, library):
    """Symbols that a library offers for linking; with @ and a version, if they have one."""
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.split()[-2] in "TWViDBR"}


def of_the_standard():
    pympistandard.use_api_version(1, force_bundled=True)
    names = set(TWINS_OF_PARTITIONED)
    for procedure in pympistandard.all_iso_c_procedures():
        names.update(str(form.name) for form in (procedure.express.iso_c, procedure.express.embiggen.iso_c) if form is not None)
    return {name for name in names if not FORTRAN.search(name)}


def complain(what, names):
    if names:
        print(f"{what}: {', '.join(sorted(names))}")
    return bool(names)


def compare_with_standard(ours):
    functions = of_the_standard()
    wanted = functions | {"P" + name for name in functions}
    wrong = complain("exported, but not of the ABI", ours - wanted)
    wrong |= complain("of the ABI, but not exported", wanted - ours)
    if len(functions) != FUNCTIONS:
        print(f"the standard's data has {len(functions)} functions of the ABI, not {FUNCTIONS}")
        wrong = True
    return wrong


def compare_with_peer(ours, theirs):
    """The peer may export more (names that MPI has removed, its own tool interface), but no function of the standard that we lack."""
    functions = of_the_standard()
    standard = functions | {"P" + name for name in functions}
    wrong = complain("of the standard, exported by the peer but not by us", (theirs & standard) - ours)
    late = TWINS_OF_PARTITIONED | {"P" + name for name in TWINS_OF_PARTITIONED}
    wrong |= complain("exported by us but not by the peer", ours - theirs - late)
    print(f"{len(ours & theirs)} symbols are in both libraries; only in the peer: {', '.join(sorted(theirs - ours)) or 'none'}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--kind", choices=("standard", "peer"), required=True)
    parser.add_argument("--peer")
    arguments = parser.parse_args()
    ours = exported(arguments.nm, arguments.library)
    if arguments.kind == "standard":
        return compare_with_standard(ours)
    if not os.path.exists(arguments.peer):
        print(f"SKIPPED: {arguments.peer} is not there; ./dev setup installs it")
        return 77
    return compare_with_peer(ours, exported(arguments.nm, arguments.peer))


if __name__ == "__main__":
    sys.exit(main())
