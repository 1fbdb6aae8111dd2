"""Has every kind of handle its row in docs/threads-of-a-rank.md, and are the files there that the page names?"""

import os
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/threads-of-a-rank.md"


def rows(page):
    """The cells of the rows of the page's table, but for its head."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def handle_types(header):
    return re.findall(r"^typedef struct MPI_ABI_\w+ ?\* ?(MPI_\w+);", header, re.MULTILINE)


def without_row(header, page):
    named = {name for row in rows(page) for name in re.findall(r"`(MPI_\w+)`", row[0])}
    return [name for name in handle_types(header) if name not in named]


def missing_files(page, folders=("", "src", "tests/mpi", "tests")):
    """Of the files that the page names: whole, below one of the folders, or by their names alone."""
    there = {path.name for path in (ROOT / "src").rglob("*.*")}
    found = lambda name: any((ROOT / folder / name).is_file() for folder in folders) if "/" in name else name in there
    return [name for name in re.findall(r"`([\w/-]+\.(?:c|cc|h))`", page) if name != "mpi.h" and not found(name)]


class Threads(unittest.TestCase):
    page = PAGE.read_text()

    def test_each_handle_has_a_row(self):
        header = (Path(os.environ["CLUMP_BUILD"]) / "include/mpi.h").read_text()
        self.assertGreaterEqual(len(handle_types(header)), 17)
        self.assertEqual(without_row(header, self.page), [], f"{PAGE.name} has no row for these: say who owns them, and what guards them")

    def test_each_row_names_a_test(self):
        for row in rows(self.page):
            self.assertEqual(len(row), 4, row)
            self.assertRegex(row[3], r"`([\w/]+\.c|\w+_test\.cc)`", row)

    def test_its_files_are_there(self):
        self.assertEqual(missing_files(self.page), [])

    def test_what_is_missing_is_seen(self):
        header = "typedef struct MPI_ABI_Comm* MPI_Comm;\ntypedef struct MPI_ABI_New* MPI_New;\n"
        page = "|object|test|\n|---|---|\n| `MPI_Comm` | `tests/docs/no_such_test.c` |\n"
        self.assertEqual(without_row(header, page), ["MPI_New"])
        self.assertEqual(missing_files(page), ["tests/docs/no_such_test.c"])


if __name__ == "__main__":
    unittest.main()
