#!/usr/bin/env python3
"""Draws the curves of a results.json (see run.py): message rate over threads, latency and bandwidth over size.

usage: plot.py RESULTS.json OUT_DIR        writes OUT_DIR/NAME.svg and .png for each chart that has numbers; needs matplotlib
"""

import json
import signal
import statistics
import sys
from pathlib import Path

CHARTS = {
    "threads": ("threads-2", ["threads-own", "threads-shared"], "threads a rank", "million messages a second", lambda value, size: 1e-6 / value),
    "hosts-latency": ("hosts-pingpong-2", ["pingpong"], "bytes", "microseconds, one way", lambda value, size: value * 1e6),
    "hosts-bandwidth": ("hosts-pingpong-2", ["pingpong"], "bytes", "GB/s", lambda value, size: size / value / 1e9),
    "hosts-allreduce": ("hosts-allreduce-16", ["allreduce"], "bytes", "microseconds", lambda value, size: value * 1e6),
    "hosts-bcast": ("hosts-bcast-16", ["bcast"], "bytes", "microseconds", lambda value, size: value * 1e6),
    "hosts-alltoall": ("hosts-alltoall-16", ["alltoall"], "bytes to each rank", "microseconds", lambda value, size: value * 1e6),
    "latency": ("pingpong-2", ["pingpong"], "bytes", "microseconds, one way", lambda value, size: value * 1e6),
    "bandwidth": ("pingpong-2", ["pingpong"], "bytes", "GB/s", lambda value, size: size / value / 1e9),
}
TITLES = {"threads-own": "a communicator for each pair of threads", "threads-shared": "one communicator, tags",
          "pingpong": "ping-pong between two ranks",
          "allreduce": "allreduce, 16 ranks on 4 hosts", "bcast": "broadcast, 16 ranks on 4 hosts",
          "alltoall": "all to all, 16 ranks on 4 hosts"}
COLOURS = {"clump": "#c0392b", "clump-flat": "#d98880", "mpich": "#2471a3", "openmpi": "#1e8449", "intel": "#7d6608"}


def curves(results, measurement, operation, convert):
    """{library: ([size, ...], [shown value, ...])} of the medians, by size."""
    points = {}
    for entry in results["values"]:
        if (entry["measurement"], entry["operation"]) == (measurement, operation):
            for library, numbers in entry["libraries"].items():
                points.setdefault(library, {})[entry["bytes"]] = convert(statistics.median(numbers), entry["bytes"])
    return {library: (sorted(by_size), [by_size[size] for size in sorted(by_size)]) for library, by_size in points.items()}


def draw(pyplot, results, name, out):
    measurement, operations, size_label, value_label, convert = CHARTS[name]
    found = {operation: curves(results, measurement, operation, convert) for operation in operations}
    if not any(found.values()):
        return False
    figure, panels = pyplot.subplots(1, len(operations), figsize=(6 * len(operations), 4.2), sharey=True, squeeze=False)
    for panel, operation in zip(panels[0], operations):
        for library, (sizes, shown) in found[operation].items():
            panel.plot(sizes, shown, marker="o", label=library, color=COLOURS.get(library))
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_title(TITLES[operation])
        panel.set_xlabel(size_label)
        panel.grid(True, which="both", alpha=0.25)
        if not size_label.startswith("bytes"):
            panel.set_xticks(sizes, [str(size) for size in sizes])
    panels[0][0].set_ylabel(value_label)
    panels[0][0].legend()
    figure.suptitle(results["machine"], fontsize=8)
    figure.tight_layout()
    for suffix in "svg", "png":
        figure.savefig(out / f"{name}.{suffix}", dpi=120)
    pyplot.close(figure)
    return True


def main():
    import matplotlib  # pylint: disable=import-outside-toplevel  -- the rest of this file is tested without it
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    results, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    drawn = [name for name in CHARTS if draw(pyplot, results, name, out)]
    if drawn:
        print("curves: " + ", ".join(str(out / f"{name}.svg") for name in drawn))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    main()
