"""Debian's MPI programs as they are installed, never rebuilt: made for Open MPI, some for MPICH, under our mpiexec and beside it under the mpirun
of that library.

They are installed in an overlay of this machine's root (debian_root.py). A case (debian_case.py) is one program with an input; it runs under
its own library first and under Clump then, in a folder of its own each time. It passes if both results are sound and agree.
"""

import re
import shutil
import struct
from pathlib import Path

import debian_biology
import debian_fortran
import debian_physics
import debian_starts
import debian_tools
from checks import FAILED, PASSED, SKIPPED, Check
from debian_case import Run
from debian_root import make_root

NAME = "debian"
OURS, PEERS = "clump", {"openmpi": "Open MPI", "mpich": "MPICH"}
INPUTS = Path(__file__).with_name("debian")
CASES = [*debian_tools.CASES, *debian_physics.CASES, *debian_biology.CASES, *debian_fortran.CASES, *debian_starts.CASES]
SHOWN = (2, 16)          # ranks whose times the table has

# What is run in the root. The fastest of up to three runs counts, if one takes less than a second; each begins with the input alone.
RUN = r"""
files=$1 input=$2 run=$3 prepare=$4 before=$5 launcher=$6 N=$7 command=$8 best=999999999
export N OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
made_of="$prepare $(cat "$files"/* 2>/dev/null | cksum)"
if [ ! -e "$input/.prepared" ] || [ "$(cat "$input/.prepared")" != "$made_of" ]; then
  rm -rf "$input"; cp -r "$files" "$input"; cd "$input"
  (set -e; eval "$prepare") >.prepare.txt 2>&1 || { echo "the input cannot be made:"; tail -n 5 .prepare.txt; exit 99; }
  printf %s "$made_of" >.prepared
fi
for i in 1 2 3; do
  rm -rf "$run"; cp -r "$input" "$run"; cd "$run" || exit 99
  eval "$before" || exit 99
  begin=$(date +%s%N)
  eval "$launcher -n $N $command" >output.txt 2>&1; code=$?
  took=$(( ($(date +%s%N) - begin) / 1000000 ))
  if [ $took -lt $best ]; then best=$took; fi
  if [ $code != 0 ] || [ $took -gt 1000 ]; then break; fi
done
echo $best >milliseconds.txt
echo $code >code.txt
cat output.txt
exit $code
"""

LAUNCHERS = {OURS: "{bin}/mpiexec", "openmpi": "mpirun.openmpi --oversubscribe", "mpich": "mpirun.mpich"}


def packages():
    return sorted({package for case in CASES for package in (case.package, *case.needs)} | {"openmpi-bin", "mpich"})


def the_root(place):
    shared = [place.folder / "cases", place.bin.parent]
    shared[0].mkdir(parents=True, exist_ok=True)
    return make_root(place.folder, shared, packages(), place.logs / "install.txt")


def versions(root):
    """{package: version} of those that are installed."""
    text = root.output("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\\n", *packages())[1]
    return {words[1]: words[2] for words in map(str.split, text.splitlines()) if len(words) == 3 and words[0] == "installed"}


def build(place):
    place.say(f"{len(packages())} packages, in an overlay of this machine's root")
    return f"{len(versions(the_root(place)))} packages"


def checks(place):
    root = the_root(place)
    installed = versions(root)
    for case in CASES:
        for ranks in case.ranks:
            for way in case.peer, OURS:
                yield make_check(place, root, case, ranks, way, installed)


def folder_of(place, case):
    return place.folder / "cases" / case.name


def make_check(place, root, case, ranks, way, installed):
    folder = folder_of(place, case)
    files = folder / "files"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    for name in case.files:
        shutil.copy(INPUTS / name, files)
    for name, text in case.made.items():
        (files / name).write_text(text)
    command = ["sh", "-c", RUN, "sh", files, folder / "input", folder / f"{way}.{ranks}", case.prepare, case.before,
               LAUNCHERS[way].format(bin=place.bin), ranks, f"{case.program} {case.arguments}"]
    skip = "" if case.package in installed else f"the package {case.package} is not in this distribution"
    return Check(f"{ranks} ranks", case.name, root.inside(*command), folder, lambda code, text: judge(folder, case, ranks, way), skip,
                 case.timeout, case.variables, way, lacks=lambda text: stopped_at(case, way, text))


def stopped_at(case, way, text):
    """The function that Clump lacks and that this program needs, if it has said in its own words that it failed there."""
    return case.stops[0] if way == OURS and case.stops and re.search(case.stops[1], text) else ""


def judge(folder, case, ranks, way):
    peer = Run(folder / f"{case.peer}.{ranks}", ranks, PEERS[case.peer])
    run = Run(folder / f"{way}.{ranks}", ranks)
    if run.code is None:
        return "its input cannot be made, or it was not started: " + first_line(Run(folder / "input", ranks).read(".prepare.txt"))
    if run.code != case.code:
        return f"exit code {run.code}, not {case.code}: {first_line(run.text)}"
    try:
        unsound = case.sound(run)
        if unsound or way == case.peer:
            return unsound
        if peer.code != case.code:
            return ""  # its own check says that it is sound, and there is nothing to compare it with
        return case.agree(run, peer)
    except (LookupError, OSError, ValueError, struct.error) as problem:
        return f"its output cannot be read: {problem!r}"


def first_line(text):
    return next((line.strip() for line in text.splitlines() if any(c.isalpha() for c in line)), "no output")[:200]


def report(place, outcomes):
    """Lines of a table in markdown: a row for each program with its case. `outcomes`: [(check, way, outcome)]."""
    root = the_root(place)
    told = {(check.name, int(check.group.split()[0]), way): outcome for check, way, outcome in outcomes}
    yield "| program | package | ranks are | result | " + " | ".join(f"{n} ranks" for n in SHOWN) + " |"
    yield "|---|---|---|---|" + "---|" * len(SHOWN)
    for case in CASES:
        mine = {ranks: told.get((case.name, ranks, OURS)) for ranks in case.ranks}
        if not any(mine.values()):
            continue
        times = " | ".join(times_of(place, case, ranks, told) for ranks in SHOWN)
        yield f"| {case.name} | {case.package} | {how_ranks_run(place, root, case)} | {result_of(case, mine, told)} | {times} |"


def how_ranks_run(place, root, case):
    if case.variables.get("CLUMP_RANKS") == "processes":
        return "processes: asked for"
    text = root.output(place.bin / "clump", "explain", case.program)[1].strip()
    if ": all ranks are fibers" in text:
        return "fibers"
    found = re.search(r": each rank is a process: ([^;]*?)(?:, (?:which|so) [^;]*)?(?:: its ranks are processes)?(;|$)", text)
    return f"processes: {re.sub(r'/[^ ]*/', '', found[1])}" if found else first_line(text)


def result_of(case, mine, told):
    """What became of a case at each number of ranks, the same ones together."""
    words = {}
    for ranks, outcome in mine.items():
        if outcome is None:
            continue
        said = {PASSED: case.says, SKIPPED: f"stops: {outcome.reason}", FAILED: f"FAILED: {outcome.reason}"}[outcome.verdict]
        peer = told.get((case.name, ranks, case.peer))
        if peer is not None and peer.verdict == FAILED:
            said += f"; {PEERS[case.peer]}'s own run: {peer.reason}"
        words.setdefault(said, []).append(str(ranks))
    return "; ".join(f"{said} ({', '.join(ranks)} rank{'s' * (ranks != ['1'])})" for said, ranks in words.items()).replace("|", "\\|").replace("\n", " ")


def times_of(place, case, ranks, told):
    """A cell: "seconds of the library that it was made for / seconds of Clump = their ratio", with "-" for a run that did not end well."""
    seconds = []
    for way in case.peer, OURS:
        outcome = told.get((case.name, ranks, way))
        ended = outcome is not None and outcome.verdict == PASSED
        seconds.append(Run(folder_of(place, case) / f"{way}.{ranks}", ranks).seconds if ended else None)
    if not any(seconds):
        return ""
    cell = " / ".join(f"{s:.2f}" if s else "-" for s in seconds)
    return f"{cell} = {seconds[0] / seconds[1]:.2f}" if all(seconds) else cell
