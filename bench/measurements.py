"""What run.py measures: the list, and how one run of each becomes numbers."""

import dataclasses
import re
import subprocess
import threading
import time
from pathlib import Path

from libraries import Failed, end, finish


@dataclasses.dataclass
class Measurement:
    name: str                  # WHAT-RANKS
    program: str
    run: object                # run(library, measurement, options) -> {(operation, bytes): seconds, bytes or part of a core}
    arguments: tuple = ()      # of the program
    cores: int = 2
    hosts: int = 1             # more: see cluster.py
    sharing: str = None        # which settings of libraries.SHARING the peers get
    settings: dict = dataclasses.field(default_factory=dict)  # more of the environment, for all libraries
    ours_alone: bool = False   # the peers do not get so far
    our_options: tuple = ()    # of our mpiexec, where ours is alone
    also_flat: bool = False    # also ours without stages, where there are several hosts
    most_rounds: int = 1000    # for what takes long and varies little
    for_targets: bool = True   # whether targets.py needs it

    @property
    def ranks(self):
        return int(self.name.rpartition("-")[2])


def numbers_in(lines):
    """{(operation, bytes): number} of lines NAME BYTES NUMBER."""
    numbers = {}
    for line in lines:
        name, size, number = line.split()
        numbers[name, int(size)] = float(number)
    return numbers


def run_timed_program(library, measurement, options):
    """A program that uses measure.h."""
    return numbers_in(finish(library.start(measurement, [options.batch_seconds, *measurement.arguments]), options.timeout).splitlines())


def best_of(times, seconds, run):
    """The least of a few runs, because anything else on the machine only adds; no new one is begun after so many seconds."""
    begin, found = time.perf_counter(), []
    while len(found) < times and (not found or time.perf_counter() - begin < seconds):
        found.append(run())
    return min(found)


def run_startup(library, measurement, options):
    """Wall time of mpiexec."""
    def once():
        begin = time.perf_counter()
        finish(library.start(measurement), options.timeout)
        return time.perf_counter() - begin
    return {("startup", 0): best_of(3, 2, once)}


SECONDS_PER = {"MB/s": lambda rate: 1 / rate, "us": lambda microseconds: microseconds * 1e-6, "%": lambda hidden: 1 - hidden / 100}


def run_files(library, measurement, options):
    """Of memory's file system: seconds for a megabyte or for an access; of what should be hidden, the part that is not."""
    output = finish(library.start(measurement, [options.batch_seconds * 5, "/dev/shm", *measurement.arguments]), options.timeout)
    lines = [line.split() for line in output.splitlines()]
    return {("unhidden" if name == "hidden" else name, 0): SECONDS_PER[unit](float(number)) for name, number, unit in lines}


SECONDS_IN_OUTPUT = {
    "matmul": lambda output: float(output.splitlines()[1].split()[3]),
    "jacobi": lambda output: float(re.search(r"([0-9.]+) microseconds each", output)[1]) * 1e-6,
}


def run_example(library, measurement, options):
    """A program of examples/, whose output says how long it took."""
    seconds_in = SECONDS_IN_OUTPUT[measurement.program]

    def once():
        return seconds_in(finish(library.start(measurement, measurement.arguments), options.timeout))
    return {(measurement.program, 0): best_of(5, 3, once)}


def run_imbalance(library, measurement, options):
    """An iteration of a stencil whose ranks' work differs; by how much that is more than its perfect balance; and the longest rank's work by that."""
    output = finish(library.start(measurement, measurement.arguments), options.timeout)
    seconds, longest, perfect = (1e-3 * float(re.search(words, output)[1]) for words in (
        r"([0-9.]+) ms an iteration", r"needs ([0-9.]+) ms for it", r"perfect balance ([0-9.]+) ms"))
    return {("imbalance", 0): seconds, ("balance", 0): seconds / perfect, ("longest", 0): longest / perfect}


def descendants(pid):
    """pid and all processes below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = [pid]
    for candidate in found:
        found += [child for child, parent in parents.items() if parent == candidate]
    return found


def proportional_set_size(pid):
    """Bytes of memory of a process, shared pages divided by the number of those that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def processor_seconds(pid):
    """What all threads of a process have used so far."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(thread.read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total * 1e-9


IDLE_SECONDS = 2


def look_at_waiting_job(pid, ranks):
    """Part of a core that all processes of the job use (mpiexec and its helpers included), and their PSS per rank."""
    processes = descendants(pid)
    time.sleep(0.3)
    begin, used = time.perf_counter(), sum(map(processor_seconds, processes))
    time.sleep(IDLE_SECONDS / 2)
    used = sum(map(processor_seconds, processes)) - used
    seconds = time.perf_counter() - begin
    return {("waiting", 0): used / seconds, ("memory", 0): sum(map(proportional_set_size, processes)) / ranks}


def run_many(library, measurement, options):
    process = library.start(measurement, [IDLE_SECONDS])
    # Reading has no limit of its own: the pipe closes when the job is ended.
    watchdog = threading.Timer(options.timeout, end, [process])
    watchdog.start()
    try:
        lines = []
        for line in process.stdout:
            if line.strip() == "ready":
                numbers = numbers_in(lines) | look_at_waiting_job(process.pid, measurement.ranks)
                finish(process, options.timeout)
                return numbers
            lines.append(line)
        finish(process, options.timeout)
        raise Failed("ended without having said 'ready'")
    finally:
        watchdog.cancel()
        end(process)


def run_limits(program, options):
    """Of the machine; or of what collective operations need, which takes longer than all the rest."""
    arguments = (options.batch_seconds, *(COLLECTIVE_LIMITS if options.collectives else ()))
    return numbers_in(subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout.splitlines())


def timed(name, *arguments, **details):
    """The program of a timed measurement has its name, up to the first '-', unless another one is given."""
    return Measurement(name, details.pop("program", name.split("-")[0]), run_timed_program, arguments, **details)


CROWDED = "more ranks than cores"
MATMUL, JACOBI = ("1024", "32"), ("1024", "300")

MEASUREMENTS = [
    timed("pingpong-2"),
    timed("onecore-2", 8, program="pingpong", cores=1, sharing="ranks on one core"),
    timed("rate-2"),
    timed("threads-2", sharing="threads"),
    timed("small-16", 64, program="collectives", sharing=CROWDED),
    timed("halo-16", 1024, sharing=CROWDED),
    Measurement("matmul-2", "matmul", run_example, MATMUL),
    Measurement("matmul-8", "matmul", run_example, MATMUL, sharing=CROWDED),
    Measurement("jacobi-2", "jacobi", run_example, JACOBI),
    Measurement("jacobi-8", "jacobi", run_example, JACOBI, sharing=CROWDED),
    Measurement("startup-64", "startup", run_startup),
    Measurement("startup-128", "startup", run_startup, most_rounds=1),
    Measurement("startup-1000", "startup", run_startup, ours_alone=True),
    Measurement("many-16", "many", run_many, sharing=CROWDED),
    Measurement("many-1000", "many", run_many, ours_alone=True),
    Measurement("many-4000", "many", run_many, ours_alone=True),
    *[Measurement(f"imbalance-{ranks}", "imbalance", run_imbalance, ("1024", "20", "2"), sharing=CROWDED if ranks > 2 else None, for_targets=False)
      for ranks in (2, 8, 32)],
    timed("pingpong-16", sharing=CROWDED, for_targets=False),
    timed("rate-16", sharing=CROWDED, for_targets=False),
    timed("halo-2", for_targets=False),
    timed("partitioned-2", for_targets=False),
    timed("datatypes-2", for_targets=False),
    timed("collectives-2", for_targets=False),
    timed("collectives-16", sharing=CROWDED, for_targets=False),
    timed("onesided-2", for_targets=False),
    timed("onesided-16", sharing=CROWDED, for_targets=False),
    Measurement("files-2", "files", run_files, for_targets=False),
    Measurement("files-16", "files", run_files, sharing=CROWDED, for_targets=False),
    Measurement("files-64", "files", run_files, ("0.25",), sharing=CROWDED, for_targets=False),
    Measurement("startup-2", "startup", run_startup, for_targets=False),
    Measurement("startup-16", "startup", run_startup, for_targets=False),
    Measurement("many-64", "many", run_many, sharing=CROWDED, for_targets=False),
]


KB, MB = 1 << 10, 1 << 20
BLOCKWISE = ("allgather", "alltoall")  # a buffer has a block for each rank; sizes are those of a block
OPERATIONS = ("bcast", "allreduce", *BLOCKWISE)


def large_sizes(operation, ranks):
    """Up to buffers of 16 MB; with 64 ranks of 4, because all of them lie in the memory of one machine, and some libraries are slow."""
    longest = 16 * MB if ranks <= 16 else 4 * MB
    if operation in BLOCKWISE:
        longest //= ranks
    return [size for size in (64 * KB, 1 * MB, 4 * MB) if size < longest] + [longest]


def collectives_of(ranks):
    """Small ones together; large ones one by one, because a library that does not end in time loses all numbers of the run."""
    sharing = CROWDED if ranks > 2 else None

    def measurement(name, *arguments, for_targets):
        return timed(f"{name}-{ranks}", 16 * MB, *arguments, program="collectives", sharing=sharing, for_targets=for_targets)
    small = ["barrier", 0] + [argument for operation in OPERATIONS for argument in (operation, 8, 1 * KB)]
    return [measurement("small", *small, for_targets=ranks != 4)] + [
        measurement(operation, operation, *large_sizes(operation, ranks), for_targets=ranks == 2) for operation in OPERATIONS]


def begun_collectives_of(ranks):
    """Non-blocking ones that are waited for at once."""
    operations = ["ibarrier", 0] + [argument for operation in ("ibcast", "iallreduce", "ialltoall") for argument in (operation, 8, 64 * KB)]
    return timed(f"begun-{ranks}", 16 * MB, *operations, program="collectives", sharing=CROWDED if ranks > 2 else None, for_targets=False)


COLLECTIVES = [measurement for ranks in (2, 4, 16, 64) for measurement in collectives_of(ranks)] + [timed("overlap-2", 1 * MB)]
COLLECTIVES += [begun_collectives_of(ranks) for ranks in (2, 16, 64)]
COLLECTIVES += [timed("touched-2", for_targets=False)]
# One rank with two threads: what a rank of a masteronly program is that has a node.
COLLECTIVES += [timed("masteronly-1", sharing="threads that compute", for_targets=False),
                timed("masteronly-helpers=0-1", our_options=("--helpers", "0"), ours_alone=True, for_targets=False)]


def masteronly_of(ranks, threads, wait):
    """A parallel region for each exchange, with narrow halos. OpenMP's threads spin (active) or sleep (passive) meanwhile."""
    return timed(f"masteronly-threads={threads}-{wait}-{ranks}", 256 * KB, sharing=CROWDED if ranks > 2 else "threads that compute", for_targets=False,
                 settings={"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": wait})


COLLECTIVES += [masteronly_of(2, 1, "passive")] + [masteronly_of(ranks, 2, wait) for ranks in (1, 2, 4) for wait in ("active", "passive")]
COLLECTIVE_LIMITS = [argument for operation in OPERATIONS for argument in (operation, *large_sizes(operation, 2))]


def limit_of(key):
    """The key of what two cores without MPI need for the same, if it was measured."""
    measurement, operation, size = key
    return "limits", f"limit-{operation}" if measurement.endswith("-2") else None, size
