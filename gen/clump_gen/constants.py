"""Reads overlay/constants.txt; the format is described there."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

_GROUP = re.compile(r"\[(?P<how>[^]]+)\] (?P<title>.+)")
_CONSTANT = re.compile(r"(?P<name>MPI_\w+)\s+(?P<value>\S+)")


@dataclass
class Group:
    how: str
    title: str
    constants: List[Tuple[str, str]]

    def expression(self, value: str) -> str:
        if self.how == "value":
            return f"({value})" if value.startswith("-") else value
        return f"(({self.how}){value})"


def load(path: Path) -> List[Group]:
    groups: List[Group] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        group = _GROUP.fullmatch(line)
        if group:
            groups.append(Group(group["how"], group["title"], []))
            continue
        constant = _CONSTANT.fullmatch(line)
        if not constant or not groups:
            raise SystemExit(f"{path}:{number}: neither a group nor a constant: {line}")
        groups[-1].constants.append((constant["name"], constant["value"]))
    return groups
