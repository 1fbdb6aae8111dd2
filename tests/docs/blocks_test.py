"""Runs the commands that the documentation shows, and compares what they print with what is shown.

In a page `<!-- file: NAME -->` stands in front of a block of code that is the text of a file, and `<!-- run -->` in front of a block
of commands ("$ COMMAND") and their output. `<!-- run: CODE -->` says with which exit code the last command ends. The blocks of a page are
run in their order, in a folder of their own.

Numbers may differ, and the order of lines, as ranks write in any order. "..." stands for any text, in a line of its own for any lines."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from typing import Iterator, List, NamedTuple, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["CLUMP_BUILD"]) / "bin"
BLOCK = re.compile(r"^<!-- (file|run)(?:: (\S+))? -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    kind: str      # file or run
    argument: str  # a name, or an exit code
    text: str


def blocks(page: pathlib.Path) -> List[Block]:
    return [Block(kind, argument, text) for kind, argument, text in BLOCK.findall(page.read_text())]


def commands(text: str) -> Iterator[Tuple[str, List[str]]]:
    """Each command, and the lines that it prints."""
    command, shown = None, []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command is not None:
        yield command, shown


def shape(line: str) -> str:
    return re.sub(r"\d[\d.,]*", "#", line.rstrip())


def fits(shown: str, printed: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, shape(shown).split("..."))), shape(printed)) is not None


def differs(shown: List[str], printed: List[str]) -> str:
    """Why `printed` is not what is shown; empty if it is."""
    left = list(printed)
    for line in shown:
        if line == "...":
            continue
        found = next((other for other in left if fits(line, other)), None)
        if found is None:
            return f"nobody prints '{line}'"
        left.remove(found)
    return "" if "..." in shown or not left else f"not shown: '{left[0]}'"


class Blocks(unittest.TestCase):
    def run_page(self, page: pathlib.Path, folder: str) -> int:
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
        done = 0
        for block in blocks(page):
            if block.kind == "file":
                pathlib.Path(folder, block.argument).write_text(block.text)
                continue
            of_block = list(commands(block.text))
            for number, (command, shown) in enumerate(of_block):
                ended = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=400,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
                expected = int(block.argument or 0) if number == len(of_block) - 1 else 0
                where = f"{page.relative_to(ROOT)}: $ {command}\n{ended.stdout}"
                self.assertEqual(ended.returncode, expected, where)
                self.assertEqual(differs(shown, ended.stdout.splitlines()), "", where)
                done += 1
        return done

    def test_commands_print_what_is_shown(self):
        done = 0
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as folder:
                done += self.run_page(page, folder)
        self.assertGreater(done, 5)

    def test_the_comparison_itself(self):
        self.assertEqual(differs(["rank 0 of 4", "rank 1 of 4"], ["rank 1 of 4", "rank 0 of 4"]), "")
        self.assertEqual(differs(["a", "...", "b 1"], ["a", "x", "b 22"]), "")
        self.assertNotEqual(differs(["a", "...", "b"], ["a", "x"]), "")
        self.assertNotEqual(differs(["a"], ["a", "x"]), "")
        self.assertEqual(differs(["took 3 s in ... of it"], ["took 0.25 s in main() of it"]), "")


if __name__ == "__main__":
    unittest.main()
