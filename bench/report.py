"""The table that `./dev bench` prints."""


def size_text(size):
    for unit, factor in (("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


# What is shown of a measured number: unit, conversion, and whether more is better.
MICROSECONDS = ("µs", lambda value, size: value * 1e6, False)
MILLISECONDS = ("ms", lambda value, size: value * 1e3, False)
BANDWIDTH = ("MB/s", lambda value, size: size / value / 1e6, True)
RATE = ("M messages/s", lambda value, size: 1e-6 / value, True)
MEGABYTES = ("MB", lambda value, size: value / 1e6, False)


def shown_as(operation, size):
    if operation == "pingpong":
        return ("ping-pong, latency", MICROSECONDS) if size <= 1024 else ("ping-pong, bandwidth", BANDWIDTH)
    return {
        "rate": ("message rate", RATE),
        "startup": ("start-up", MILLISECONDS),
        "memory": ("memory per rank (PSS)", MEGABYTES),
    }.get(operation, (operation, MICROSECONDS))


def digits(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def ratio_text(ours, peers, more_is_better):
    """How many times better ours is than the best of the peers; below 1 it is worse."""
    if ours is None or not peers:
        return ""
    ratio = ours / max(peers) if more_is_better else min(peers) / ours
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def row(key, names, medians, failures):
    measurement, operation, size = key
    what, (unit, convert, more_is_better) = shown_as(operation, size)
    shown = {name: convert(medians[name], size) for name in names if name in medians}
    cells = [digits(shown[name]) if name in shown else "failed" if (measurement, name) in failures else "" for name in names]
    peers = [shown[name] for name in shown if name != "clump"]
    label = f"{what}, {size_text(size)}" if size else what
    ranks = measurement.rpartition("-")[2]
    return f"| {label} | {ranks} | {unit} | " + " | ".join(cells) + f" | {ratio_text(shown.get('clump'), peers, more_is_better)} |"


def markdown(heading, names, medians, failures):
    """medians: {(measurement, operation, bytes): {library: value}}; failures: {(measurement, library): reason}."""
    lines = [f"# Clump and other MPI libraries\n\n{heading}\n",
             "| what | ranks | unit | " + " | ".join(names) + " | ours against the best peer |",
             "|---|---|---|" + "---|" * len(names) + "---|"]
    lines += [row(key, names, by_library, failures) for key, by_library in medians.items()]
    lines.append("\nThe last column says how many times better Clump is; below 1 it is worse.")
    if failures:
        lines.append("\nFailed:\n")
        lines += [f"- {library}, {measurement}: {reason}" for (measurement, library), reason in failures.items()]
    return "\n".join(lines) + "\n"
