"""A case of `./dev real debian`: one of Debian's MPI programs with an input, and what its result must be."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Run:
    """What a run of a case has left in its folder."""
    folder: Path
    ranks: int
    library: str = "Open MPI"  # under which it ran, in words

    def read(self, name):
        """A file that the run has written; empty if it has not."""
        path = self.folder / name
        return path.read_text(errors="replace") if path.is_file() else ""

    @property
    def text(self):
        """Both of its outputs."""
        return self.read("output.txt")

    @property
    def code(self):
        """Its exit code; None if it did not end."""
        found = self.read("code.txt").strip()
        return int(found) if found else None

    @property
    def seconds(self):
        found = self.read("milliseconds.txt").strip()
        return int(found) / 1000 if found else None


def nothing_wrong(*_):
    return ""


@dataclass(frozen=True)
class Case:
    name: str
    package: str
    program: str                                      # a name in PATH, or a path
    arguments: str = ""                               # words of the shell; $N is the number of ranks
    ranks: tuple = (2,)
    needs: tuple = ()                                 # further packages
    files: tuple = ()                                 # names in tests/real/debian
    made: dict = field(default_factory=dict)          # {name: text} of further files of its input
    prepare: str = ""                                 # a script that makes the rest of its input, once
    before: str = ""                                  # a script that is run before each run; $N is the number of ranks
    sound: Callable[[Run], str] = nothing_wrong       # why a run is wrong by itself, "" if it is not
    agree: Callable[[Run, Run], str] = nothing_wrong  # why Clump's run is not as that of its own library
    peer: str = "openmpi"                             # the library that it is made for
    stops: tuple = ()                                 # (function that Clump lacks, what the program says then in its own words)
    says: str = "equal"                               # of a case that passes
    code: int = 0                                     # the exit code that it must have
    timeout: float = 120
    variables: dict = field(default_factory=dict)


def numbers(pattern, text):
    """All numbers that a pattern's groups find, in order."""
    found = re.findall(pattern, text, re.M)
    return [float(word) for words in found for word in ([words] if isinstance(words, str) else words) if word]


def says(*patterns, file="output.txt"):
    """Its output, or a file of it, matches each of these."""
    def sound(run):
        lacking = [pattern for pattern in patterns if not re.search(pattern, run.read(file), re.M)]
        return f"{file} has nothing that matches {lacking[0]}" if lacking else ""
    return sound


def same_numbers(pattern, file="output.txt", relative=0.0, absolute=0.0, at_least=1):
    """The numbers that a pattern finds in a file of both runs are the same, but for a tolerance."""
    def agree(ours, peer):
        mine, other = (numbers(pattern, run.read(file)) for run in (ours, peer))
        if len(mine) != len(other) or len(mine) < at_least:
            return f"{file} has {len(mine)} numbers that match {pattern}, {peer.library}'s {len(other)}"
        for a, b in zip(mine, other):
            if not abs(a - b) <= max(absolute, relative * max(abs(a), abs(b))):
                return f"{file}: {a} where {peer.library} has {b} ({pattern})"
        return ""
    return agree


def same_lines(file="output.txt", leave_out=r"(?!)", any_order=False, at_least=1):
    """A file of both runs has the same lines, but for those that match a pattern."""
    def agree(ours, peer):
        mine, other = ([line.rstrip() for line in run.read(file).splitlines() if not re.search(leave_out, line)] for run in (ours, peer))
        if any_order:
            mine, other = sorted(mine), sorted(other)
        if mine == other:
            return "" if len(mine) >= at_least else f"{file} has {len(mine)} lines"
        place = next((n for n, pair in enumerate(zip(mine, other)) if pair[0] != pair[1]), min(len(mine), len(other)))
        first = [lines[place] if place < len(lines) else "the end" for lines in (mine, other)]
        return f"{file}: '{first[0][:80]}' where {peer.library} has '{first[1][:80]}'"
    return agree


def no_other_lines(ours, peer):
    """What the program has written under Clump it has written under its own library, too; launchers add lines about exit codes and who called MPI_Abort."""
    mine, other = (set(map(str.strip, run.text.splitlines())) for run in (ours, peer))
    more = sorted(line for line in mine - other if not re.match(r"mpiexec:|#\d+ ", line))
    return f"{peer.library}'s run does not have the line '{more[0][:100]}'" if more else "" if mine else "it has written nothing"
