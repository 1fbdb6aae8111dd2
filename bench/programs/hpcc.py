"""Parts of HPC Challenge: each is a run of the program that does this part alone.

The program itself does all of its parts in each run. A line that is added to its main() leaves out all but the one that is named."""

import re

from .place import hpcc_make
from .program import Program, grid, numbers

PARTS = {"HPL": "HPL", "PTRANS": "PTRANS", "RandomAccess": "MPIRandomAccess", "FFT": "MPIFFT"}
ALL = ["HPL", "StarDGEMM", "SingleDGEMM", "PTRANS", "StarStream", "SingleStream", "MPIRandomAccess_LCG", "StarRandomAccess_LCG",
       "SingleRandomAccess_LCG", "MPIRandomAccess", "StarRandomAccess", "SingleRandomAccess", "MPIFFT", "StarFFT", "SingleFFT", "LatencyBandwidth"]
SIZES = {"HPL": 4000, "PTRANS": 6000, "RandomAccess": 1500, "FFT": 4000}  # N, of which the program derives all sizes

BEGIN = "  if (HPCC_Init( &params ))\n    goto hpcc_end;\n"
CHOOSE = "  if (argc > 1) {\n" + "".join(f"    params.Run{part} = !strcmp( argv[1], \"{part}\" );\n" for part in ALL) + "  }\n"


def build(place, wrapper):
    folder = place.source(wrapper, "hpcc")
    main = folder / "src/hpcc.c"
    text = main.read_text()
    if CHOOSE not in text:
        if BEGIN not in text:
            raise ValueError(f"{main} has no such lines as the part is to be chosen after")
        main.write_text("#include <string.h>\n" + text.replace(BEGIN, BEGIN + CHOOSE))
    hpcc_make.write(folder, "bench", place.packages(*hpcc_make.PACKAGES), wrapper.cc)
    place.run(wrapper, ["make", f"-j{place.jobs}", "arch=bench"], folder, "hpcc")
    return folder / "hpcc"


SETTINGS = """\
HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{size}         Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}            Ps
{columns}            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0                      		Number of additional problem sizes for PTRANS
1200 10000 30000        	values of N
0                       	number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64       	values of NB
"""


def settings(part):
    def files(ranks):
        columns, rows = grid(ranks, 2)
        return {"hpccinf.txt": SETTINGS.format(size=SIZES[part], rows=rows, columns=columns)}
    return files


WANTED = {
    "HPL": [r"^\|\|Ax-b\|\|_oo/.* PASSED$", r"^ +0 tests completed and failed residual checks"],
    "PTRANS": [r"^WALL .* PASSED ", r"^ +0 tests completed and failed residual checks"],
    "RandomAccess": [r"^Found \d+ errors in \d+ locations \(passed\)\.$"],
    "FFT": [r"^max\(\|x-x0\|\): +\S+$"],
}
FORBIDDEN = r"^.*(FAILED|ERROR|[1-9]\d* tests completed and failed).*$"


def check(part):
    def look(run):
        text = run.read("hpccoutf.txt")
        wrong = re.search(FORBIDDEN, text, re.M)
        if wrong:
            return wrong[0].strip()[:160]
        for pattern in WANTED[part]:
            if not re.search(pattern, text, re.M):
                return f"its report has no line like {pattern}"
        wanted, done = (numbers(rf"^{words} = (\d+)", text) for words in (r"Default number of updates \(RECOMMENDED\)", "Number of updates EXECUTED"))
        if part == "RandomAccess" and done != wanted:  # it does fewer where it would take more than a minute
            return f"it has done {done} of {wanted} updates, as many as it thought to do in a minute"
        if part == "FFT" and not all(error < 1e-12 for error in numbers(r"^max\(\|x-x0\|\): +(\S+)$", text)):
            return "the inverse transform is wrong"
        return ""
    return look


WORDS = {"HPL": "dense linear equations", "PTRANS": "transposition of a dense matrix", "RandomAccess": "updates of random places of a table",
         "FFT": "a long transform of one dimension"}
PROGRAMS = [Program(f"hpcc-{part.lower()}", f"HPC Challenge, {WORDS[part]}", "hpcc", build, lambda ranks, inputs, part=part: [PARTS[part]],
                    check(part), files=settings(part)) for part in PARTS]
