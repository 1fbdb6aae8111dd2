"""What is said of the machine that was measured."""

import os
import platform
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def busy_part(sample_seconds=0.5):
    """Which part of the machine's time goes to others while this program sleeps."""
    def ticks():
        numbers = [int(number) for number in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # all; idle and waiting for a disk
    before = ticks()
    time.sleep(sample_seconds)
    after = ticks()
    return 1 - (after[1] - before[1]) / max(1, after[0] - before[0])


def caches():
    """{level: bytes} of the first core's caches for data."""
    found = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if (folder / "type").read_text().strip() != "Instruction":
                size = (folder / "size").read_text().strip()
                found[int((folder / "level").read_text())] = int(size.rstrip("KM")) << {"K": 10, "M": 20}.get(size[-1], 0)
        except (OSError, ValueError):
            continue
    return found


def describe():
    return {"cores": len(os.sched_getaffinity(0)), "processor": processor(), "system": f"{platform.system()} {platform.release()}",
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), "caches": caches()}


def in_words(machine):
    return f"{machine['cores']} cores of {machine['processor']}, {machine['system']}"
