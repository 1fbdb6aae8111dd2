"""Reads overlay/chapters/*.txt: which chapter a function belongs to, whether it has a body, and how it is called. See gen/README.md."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, FrozenSet, Iterable, Set

FLAGS = {"plain", "always", "anytime", "raises", "form", "timed", "tool", "together", "alike"}
PARAMETER_FLAGS = {"handle", "raw", "unchecked", "errors", "together", "intra"}


@dataclass
class Entry:
    chapter: str
    has_body: bool
    flags: FrozenSet[str] = frozenset()
    parameters: Dict[str, Set[str]] = field(default_factory=dict)  # flag -> the parameters that it is about

    def about(self, flag: str, parameter: str) -> bool:
        return parameter in self.parameters.get(flag, ())


def _parse(chapter: str, words: Iterable[str], where: str) -> Entry:
    mark, flags, parameters = words[0], set(), {}
    if mark not in "+-":
        raise SystemExit(f"{where}: a line starts with + or -")
    for word in words[2:]:
        flag, _, parameter = word.partition("=")
        if parameter and flag in PARAMETER_FLAGS:
            parameters.setdefault(flag, set()).update(parameter.split(","))
        elif not parameter and flag in FLAGS:
            flags.add(flag)
        else:
            raise SystemExit(f"{where}: no such flag: {word}")
    return Entry(chapter, mark == "+", frozenset(flags), parameters)


def titles(folder: Path) -> Dict[str, str]:
    """What the first line of each chapter's file says that it is about."""
    return {path.stem: path.read_text().splitlines()[0].lstrip("# ") for path in sorted(folder.glob("*.txt"))}


def load(folder: Path, functions: Iterable[str]) -> Dict[str, Entry]:
    """The entry of each function; fails unless each stands in exactly one chapter."""
    found: Dict[str, Entry] = {}
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            where = f"{path}:{number}"
            if len(words) < 2 or words[1] in found:
                raise SystemExit(f"{where}: a function, once, is expected here")
            found[words[1]] = _parse(path.stem, words, where)
    different = set(functions) ^ set(found)
    if different:
        raise SystemExit(f"{folder}: not both here and in the standard: {', '.join(sorted(different))}")
    return found
