"""No word that was given up comes back: docs/decisions/039-names.md and the table in docs/architecture.md have the words that are used instead.
No sentence of a page is about "nobody" or "whoever": CONTRIBUTING.md, Language. And the subjects of new commits are short.

  check_words.py ROOT

Reads the sources below src, tools and gen, and the pages of docs and of the root.
"""

import re
import subprocess
import sys
from pathlib import Path

# In any text: these stood for one thing of this project and for nothing else.
WORDS = r"crates?|parcels?|errands?|carriers?|lookouts?|census|landings?|appointments?|outway|impatience|keepers?|overview|reception|swap ?rooms?|seating"
# As names of types only: as words they are everyday ones.
TYPES = r"Meeting|Appointments?|Proposal|Pile|Card|Parcel|Crates?|Commons|Sharing|Outgoing|Outway|Gate|House|Flights?|Landing|Errands|AtHome|Habit|Trade|Station|Orders|Desk|Concern|Aside|Watcher|Carrier|Lookout"
# In pages: subjects that a reader cannot find in the code.
ACTORS = r"nobody|somebody|anybody|everybody|whoever|himself"
# Words of others.
ALLOWED = [
    ("src/coll/schedule/schedule.h", "Aside"),  # a schedule beside those that the program asks for
    ("src/coll/schedule/schedule.cc", "Aside"),
    ("src/coll/check/check.cc", "Aside"),
    ("docs/decisions/039-names.md", "not carrier:"),  # these say what older commits mean by them
    ("docs/experiments/README.md", "*crate*"),
    ("docs/experiments/README.md", "*appointment*"),
    ("docs/experiments/README.md", "*carrier*"),
    ("CONTRIBUTING.md", '"somebody" or "nobody"'),  # the rule, and what it is against
    ("CONTRIBUTING.md", "// Nobody else can be inside"),
]
SOURCES = {".h", ".cc", ".S", ".py", ".txt", ".in", ".md"}
# Subjects of commits after this one have at most so many characters. Those before are as they are.
SHORT_SINCE = "158afad425be8a0ba80b02da4ced0885753625c5"
MOST = 72


def problems_in(path, name):
    pattern = re.compile(rf"\b(?:(?i:{WORDS})|{TYPES})\b")
    parts = re.compile(rf"(?<=_)(?:{WORDS})(?=_|\b)|\b(?:{WORDS})(?=_)")
    actors = re.compile(rf"\b(?i:{ACTORS})\b")
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if any(name == file and text in line for file, text in ALLOWED):
            continue
        for match in [*pattern.finditer(line), *parts.finditer(line)]:
            yield f"{name}:{number}: '{match.group()}' was given up; see docs/architecture.md: {line.strip()}"
        for match in actors.finditer(line) if name.endswith(".md") else ():
            yield f"{name}:{number}: '{match.group()}': name the rank, thread or process; see CONTRIBUTING.md, Language: {line.strip()}"


def texts(root):
    """Reports of the lab are as they were written on their day."""
    for folder in ("src", "tools", "gen"):
        yield from (path for path in sorted((root / folder).rglob("*")) if path.is_file() and path.suffix in SOURCES)
    yield from (path for path in sorted((root / "docs").rglob("*.md")) if (root / "docs/lab") not in path.parents)
    yield from sorted(root.glob("*.md"))


def git(root, *arguments):
    """What it prints; None where it is missing or fails."""
    try:
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, errors="replace", check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def subjects(root):
    """Those after SHORT_SINCE. None in a source archive, and in a clone without that commit's history."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top.strip()).resolve() != root.resolve() or git(root, "merge-base", "--is-ancestor", SHORT_SINCE, "HEAD") is None:
        return []
    return (git(root, "log", "--no-merges", "--format=%h %s", f"{SHORT_SINCE}..HEAD") or "").splitlines()


def too_long(lines):
    for line in lines:
        commit, _, subject = line.partition(" ")
        if len(subject) > MOST:
            yield f"commit {commit}: its subject has {len(subject)} characters, and {MOST} at most are read in a list; the rest belongs into its text: {subject}"


def main():
    root = Path(sys.argv[1])
    problems = [problem for path in texts(root) for problem in problems_in(path, path.relative_to(root).as_posix())]
    problems += too_long(subjects(root))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
