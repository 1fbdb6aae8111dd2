"""The tables that `./dev bench` prints."""

from measurements import limit_of


def size_text(size):
    for unit, factor in (("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


# What is shown of a measured number: unit, conversion, and whether more is better.
NANOSECONDS = ("ns", lambda value, size: value * 1e9, False)
MICROSECONDS = ("µs", lambda value, size: value * 1e6, False)
MILLISECONDS = ("ms", lambda value, size: value * 1e3, False)
BANDWIDTH = ("MB/s", lambda value, size: size / value / 1e6, True)
RATE = ("M messages/s", lambda value, size: 1e-6 / value, True)
MEGABYTES = ("MB", lambda value, size: value / 1e6, False)
PERCENT = ("% of a core", lambda value, size: value * 100, False)
PART = ("%", lambda value, size: value * 100, False)
RATE_OF_FILE = ("MB/s", lambda value, size: 1 / value, True)
TIMES = ("times", lambda value, size: value, False)
HIDDEN = ("% hidden", lambda value, size: value * 100, True)

SHOWN_AS = {
    "rate": ("message rate", RATE),
    "matmul": ("block matrix product", MILLISECONDS),
    "jacobi": ("Jacobi, an iteration", MICROSECONDS),
    "imbalance": ("stencil, ranks' work differs by up to 4, an iteration", MILLISECONDS),
    "balance": ("the same by the perfect balance of its work", TIMES),
    "longest": ("the longest rank's work by that", TIMES),
    "startup": ("start, barrier, finalize (C++)", MILLISECONDS),
    "memory": ("memory per rank (PSS)", MEGABYTES),
    "waiting": ("processor time while all wait", PERCENT),
    "put_burst": ("put, 64 with one flush, each", MICROSECONDS),
    "updates": ("random updates by fetch-and-op (RandomAccess), each", MICROSECONDS),
    "busy_target": ("lock, put, flush, unlock while the target computes, longest", MICROSECONDS),
    "contiguous_write": ("file: contiguous write", RATE_OF_FILE),
    "contiguous_read": ("file: contiguous read", RATE_OF_FILE),
    "strided_write": ("file: collective write of blocks of a 3-D array", RATE_OF_FILE),
    "strided_read": ("file: collective read of blocks of a 3-D array", RATE_OF_FILE),
    "unhidden": ("file: part of a non-blocking write that computing does not hide", PART),
    "ordered_100_bytes": ("file: ordered writes of 100 B", MICROSECONDS),
    "shared_100_bytes": ("file: writes of 100 B by the shared pointer", MICROSECONDS),
    "ring-hop": ("ring, a hop", MICROSECONDS),
    "limit-atomic": ("atomic addition, nobody else there", NANOSECONDS),
    "limit-switch": ("switch of registers and stack", NANOSECONDS),
    "limit-switch-tls": ("switch of registers, stack and thread pointer", NANOSECONDS),
    "limit-cache-line": ("cache line from core to core, one way", NANOSECONDS),
    "limit-flags": ("flag of each direction's own from core to core, one way", NANOSECONDS),
    "limit-futex-onecore": ("futex wake-up, both threads on one core", MICROSECONDS),
    "limit-futex": ("futex wake-up on another core", MICROSECONDS),
    "limit-thread": ("thread made and joined", MICROSECONDS),
    "limit-copy-1": ("memcpy by one core", BANDWIDTH),
    "limit-copy-2": ("memcpy by two cores together", BANDWIDTH),
}


def shown_as(operation, size):
    """(label, how the number is shown)"""
    if operation.startswith("threads-"):
        threads = f"{size} thread{'s' if size > 1 else ''} a rank"
        which = "a communicator each" if operation.endswith("-own") else "one communicator"
        if operation == "threads-put":
            return f"puts of 8 B, a flush for 64, {threads}", RATE
        if operation.startswith("threads-pingpong-"):
            return f"a round trip of 8 B by each thread, {threads} beside the main thread, {which}", MICROSECONDS
        return f"message rate, {threads}, {which}", RATE
    if operation.startswith("hidden-"):
        _, what, others = operation.split("-")
        return f"{what}, {size_text(size)}, behind computation, other ranks {others}", HIDDEN
    if operation.startswith("touched-"):
        return f"{operation.partition('-')[2]}, {size_text(size)}, data written before and read afterwards", MICROSECONDS
    what, how = SHOWN_AS.get(operation, (operation, MICROSECONDS))
    if operation == "pingpong":
        what, how = ("ping-pong, latency", MICROSECONDS) if size <= 1024 else ("ping-pong, bandwidth", BANDWIDTH)
    return (f"{what}, {size_text(size)}" if size else what), how


def digits(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}" if number >= 0.1 else f"{number:.3f}"


def ratio_text(ours, peers, more_is_better):
    """How many times better ours is than the best of the peers; below 1 it is worse."""
    if not ours or not peers or not max(peers):
        return ""
    ratio = ours / max(peers) if more_is_better else min(peers) / ours
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def ranks_text(measurement):
    ranks = measurement.rpartition("-")[2]
    if measurement.startswith("hosts-"):
        return f"{ranks} on {min(int(ranks), 4)} hosts"
    return f"{ranks} on one core" if measurement.startswith("onecore-") else ranks


def is_ours(library):
    return library.startswith("clump")


def row(key, names, medians, failures):
    measurement, operation, size = key
    label, (unit, convert, more_is_better) = shown_as(operation, size)
    shown = {name: convert(medians[name], size) for name in names if name in medians}
    cells = [digits(shown[name]) if name in shown else "failed" if (measurement, name) in failures else "" for name in names]
    peers = [shown[name] for name in shown if not is_ours(name)]
    ratio = ratio_text(shown.get("clump"), peers, more_is_better)
    return f"| {label} | {ranks_text(measurement)} | {unit} | " + " | ".join(cells) + f" | {ratio} |"


def limit_cells(key, by_library, limits):
    """What the same takes without MPI, and which part of that speed is ours."""
    limit, ours = limits.get(limit_of(key), {}).get("machine"), by_library.get("clump")
    if not limit:
        return "  |  |"
    _, (_, convert, _) = shown_as(key[1], key[2])
    return f" {digits(convert(limit, key[2]))} | " + (f"{100 * limit / ours:.0f} %" if ours else "") + " |"


def limits_table(medians):
    lines = ["What this machine does without MPI:\n", "| what | unit | measured |", "|---|---|---|"]
    for (_, operation, size), by_library in medians.items():
        label, (unit, convert, _) = shown_as(operation, size)
        lines.append(f"| {label} | {unit} | {digits(convert(by_library['machine'], size))} |")
    return "\n".join(lines) + "\n"


DATATYPE_LAYOUTS = {
    "vector": "every other double",
    "face-x": "face of a cube of doubles, rows of 752 bytes",
    "face-y": "face of a cube, rows far apart",
    "face-z": "face of a cube, single doubles",
    "indexed": "blocks of 1 to 8 doubles, gaps at random",
    "struct": "structs of int, 3 doubles, char",
    "nested": "8 of every 16 such structs",
}
BY_HAND = "-by-hand"


def datatypes_table(names, medians):
    """Bytes of data a second; the loop by hand was compiled into the same program, and ran under our library."""
    lines = ["Derived datatypes, MB/s of data:\n",
             "| what | by hand | " + " | ".join(names) + " | ours against the loop by hand | ours against the best peer |",
             "|---|---|" + "---|" * len(names) + "---|---|"]
    for key, by_library in medians.items():
        measurement, operation, size = key
        if operation.endswith(BY_HAND):
            continue
        what, _, layout = operation.partition("-")
        shown = {name: size / seconds / 1e6 for name, seconds in by_library.items()}
        hand = medians.get((measurement, operation + BY_HAND, size), {}).get("clump")
        by_hand = size / hand / 1e6 if hand else None
        cells = [digits(value) if value else "" for value in (by_hand, *(shown.get(name) for name in names))]
        ours, peers = shown.get("clump"), [shown[name] for name in shown if name != "clump"]
        ratios = [ratio_text(ours, [by_hand] if by_hand else [], True), ratio_text(ours, peers, True)]
        lines.append(f"| {what}, {DATATYPE_LAYOUTS.get(layout, layout)}, {size_text(size)} | " + " | ".join(cells + ratios) + " |")
    return "\n".join(lines) + "\n"


def markdown(heading, names, medians, failures):
    """medians: {(measurement, operation, bytes): {library: value}}; failures: {(measurement, library): reason}. What the measurement
    `limits` says of the machine, and what was measured of datatypes, stand in tables of their own."""
    limits = {key: by_library for key, by_library in medians.items() if key[0] == "limits"}
    datatypes = {key: by_library for key, by_library in medians.items() if key[0].startswith("datatypes-")}
    rows = {key: by_library for key, by_library in medians.items() if key not in limits and key not in datatypes}
    beside = {limit_of(key) for key in rows} & limits.keys()  # limits that have a place in a row
    lines = [f"# Clump and other MPI libraries\n\n{heading}\n",
             "| what | ranks | unit | " + " | ".join(names) + " | ours against the best peer |" + (" bare limit | ours of it |" if beside else ""),
             "|---|---|---|" + "---|" * len(names) + "---|" + ("---|---|" if beside else "")]
    lines += [row(key, names, by_library, failures) + (limit_cells(key, by_library, limits) if beside else "")
              for key, by_library in rows.items()]
    lines.append("\nOurs against the best peer: how many times better Clump is; below 1 it is worse.")
    if beside:
        lines.append("Bare limit: what two cores need for the same without MPI; ours of it: which part of that speed Clump reaches. Sizes of "
                     "allgather and alltoall are those of a block.")
        limits = {key: by_library for key, by_library in limits.items() if key not in beside}
    if failures:
        lines.append("\nFailed:\n")
        lines += [f"- {library}, {measurement}: {reason}" for (measurement, library), reason in failures.items()]
    if datatypes:
        lines.append("\n" + datatypes_table(names, datatypes).rstrip())
    if limits:
        lines.append("\n" + limits_table(limits).rstrip())
    return "\n".join(lines) + "\n"


def targets_table(verdicts):
    """verdicts: what targets.verdicts() returns."""
    lines = ["Targets:\n", "| target | wanted | measured | |", "|---|---|---|---|"]
    lines += [f"| {what} | {wanted} | {measured} | {verdict} |" for what, wanted, measured, verdict in verdicts]
    found = [verdict for *_, verdict in verdicts if verdict != "not measured"]
    return "\n".join(lines) + f"\n\n{found.count('met')} of {len(found)} measured targets met.\n"
