"""HPC Challenge: HPL, PTRANS, RandomAccess, FFT, DGEMM, STREAM and b_eff in one program, which judges its own results.

Problems are small: this is about right answers.
"""

import re

import hpcc_make
from checks import Check
from sources import run_quietly

NAME = "hpcc"
PACKAGE = "hpcc"
GRIDS = [(2, 2), (2, 4), (3, 3)]  # P x Q


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder)
    hpcc_make.write(folder, "clump", place.archive.packages(hpcc_make.PACKAGES, place.folder.parent / "openblas"), place.bin / "mpicc")
    place.say("building")
    run_quietly(["make", f"-j{place.jobs}", "arch=clump"], place.logs / "make.txt", cwd=folder)
    return version


def checks(place):
    for rows, columns in GRIDS:
        ranks = rows * columns
        where = place.folder / f"run{ranks}"
        where.mkdir(exist_ok=True)
        settings = (place.folder / "_hpccinf.txt").read_text()
        settings = re.sub(r"^\d+( +Ps)$", rf"{rows}\1", settings, flags=re.M)
        settings = re.sub(r"^\d+( +Qs)$", rf"{columns}\1", settings, flags=re.M)
        (where / "hpccinf.txt").write_text(settings)
        # Its report is a file that it appends to.
        script = 'rm -f hpccoutf.txt && "$@" && cat hpccoutf.txt'
        yield Check(f"{ranks} ranks", f"{rows}x{columns}",
                    ["sh", "-c", script, "sh", place.bin / "mpiexec", "-n", ranks, place.folder / "hpcc"], where, judge_for(ranks), timeout=240)


# Everything that the report must say: (pattern, how often at least).
WANTED = [
    (r"^Success=1$", 1),
    (r"^\|\|Ax-b\|\|_oo/.* PASSED$", 1),
    (r"^ +0 tests completed and failed residual checks", 2),  # PTRANS, HPL
    (r"^WALL .* PASSED ", 5),
    (r"^Found \d+ errors in \d+ locations \(passed\)\.$", 4), # RandomAccess: over MPI and alone, with both generators
    (r"^Solution Validates: ", 1),                            # STREAM
    (r"^Node\(s\) with error 0$", 6),
    (r"^End of (MPIFFT|StarFFT|SingleFFT|LatencyBandwidth|HPL|PTRANS) section\.$", 6),
]
FORBIDDEN = r"^.*(FAILED|ERROR|Node\(s\) with error [1-9]|[1-9]\d* tests completed and failed).*$"
FFT_ERROR = r"^max\(\|x-x0\|\): +(\S+)$"


def judge_for(ranks):
    return lambda code, text: judge(ranks, code, text)


def judge(ranks, code, text):
    if code != 0:
        return f"exit code {code}: {text.strip()[:160]}"
    wrong = re.search(FORBIDDEN, text, re.M)
    if wrong:
        return wrong[0]
    for pattern, number in WANTED:
        found = len(re.findall(pattern, text, re.M))
        if found < number:
            return f"its report has {found} lines of {number} that should match {pattern}"
    # On more than 4 ranks RandomAccess has four receives for all messages and looks at whichever MPI_Testany names first, so it may see
    # the word that a sender is done before that sender's last updates, and leaves those alone. It allows for up to 1 % of such errors.
    wrong = re.search(r"^Found [1-9]\d* errors.*$", text, re.M)
    if wrong and ranks <= 4:
        return wrong[0]
    errors = [float(error) for error in re.findall(FFT_ERROR, text, re.M)]
    if len(errors) < 2 or not all(error < 1e-12 for error in errors):
        return f"the inverse FFTs are off by {errors}"
    return ""
