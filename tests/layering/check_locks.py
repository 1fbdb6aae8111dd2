"""Does fork() know every lock of the layers whose functions a forked child may call?

  check_locks.py ROOT

A lock in src/inspect, src/image, src/process or src/host is of a type of src/image/fork_locks.h, which fork() takes and the child gets anew, or fork_locks.csv says
why a child never waits for it.
"""

import csv
import re
import sys
from pathlib import Path

FOLDERS = ("src/inspect", "src/image", "src/process", "src/host")
TYPES = "src/image/fork_locks"
LOCK = re.compile(
    r"^\s*(?:static |inline |constinit |mutable |thread_local |extern )*"
    r"(?:std::(?:recursive_|shared_|timed_|recursive_timed_|shared_timed_)?mutex|(?:clump::)?base::ShortMutex|std::atomic_flag"
    r"|std::once_flag|std::condition_variable(?:_any)?|std::(?:counting|binary)_semaphore(?:<[^>]*>)?|pthread_(?:mutex|rwlock|spinlock|cond|once)_t"
    r"|sem_t)&?\s+(\w+)\s*[;={]"
)


def locks_in(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in {".h", ".cc"} or name.endswith("_test.cc") or name.startswith(TYPES):
                continue
            # A declaration may go over two lines.
            text = re.sub(r"(mutex|Mutex)\n\s+", r"\1 ", path.read_text())
            for line in text.splitlines():
                if found := LOCK.match(line):
                    yield name, found.group(1)


def main():
    root = Path(sys.argv[1])
    with open(Path(__file__).with_name("fork_locks.csv"), newline="") as file:
        known = {(row["file"], row["lock"]): row["why"] for row in csv.DictReader(file)}
    found = set(locks_in(root))
    if not found:
        print("no lock was found: the pattern is wrong")
        return 1
    problems = [f"{file}: {lock}: fork() does not know it. Make it a ForkMutex or RankMutex (image/fork_locks.h), or give it a row in"
                " tests/layering/fork_locks.csv" for file, lock in sorted(found - set(known))]
    problems += [f"tests/layering/fork_locks.csv: {file} has no lock {lock} that fork() does not know" for file, lock in sorted(set(known) - found)]
    problems += [f"tests/layering/fork_locks.csv: {file}: {lock}: say why a child never waits for it" for (file, lock), why in known.items() if not why]
    print("\n".join(problems), end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
