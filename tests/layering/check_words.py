"""No word that was given up comes back: docs/decisions/039-names.md and the table in docs/architecture.md have the words that are used instead.

  check_words.py ROOT
"""

import re
import sys
from pathlib import Path

# In any text: these stood for one thing of this project and for nothing else.
WORDS = r"crates?|parcels?|errands?|carriers?|lookouts?|census|landings?|appointments?|outway|impatience|keepers?|overview|reception|swap ?rooms?|seating"
# As names of types only: as words they are everyday ones.
TYPES = r"Meeting|Appointments?|Proposal|Pile|Card|Parcel|Crates?|Commons|Sharing|Outgoing|Outway|Gate|House|Flights?|Landing|Errands|AtHome|Habit|Trade|Station|Orders|Desk|Concern|Aside|Watcher|Carrier|Lookout"
# Words of others.
ALLOWED = [
    ("src/coll/schedule/schedule.h", "Aside"),  # a schedule beside those that the program asks for
    ("src/coll/schedule/schedule.cc", "Aside"),
    ("src/coll/check/check.cc", "Aside"),
]
SOURCES = {".h", ".cc", ".S", ".py", ".txt", ".in", ".md"}


def problems_in(path, name):
    pattern = re.compile(rf"\b(?:(?i:{WORDS})|{TYPES})\b")
    parts = re.compile(rf"(?<=_)(?:{WORDS})(?=_|\b)|\b(?:{WORDS})(?=_)")
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        for match in [*pattern.finditer(line), *parts.finditer(line)]:
            if any(name == file and text in line for file, text in ALLOWED) or re.search(r"docs/decisions/|docs/experiments/", line):
                continue
            yield f"{name}:{number}: '{match.group()}' was given up; see docs/architecture.md: {line.strip()}"


def main():
    root = Path(sys.argv[1])
    problems = [
        problem
        for folder in ("src", "tools", "gen")
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and path.suffix in SOURCES
        for problem in problems_in(path, path.relative_to(root).as_posix())
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
