"""Runs the options in the tables of docs/moving.md that have `<!-- try -->` in front of them: each piece of a command line in the first
column, with a small MPI program. The last column says what has to happen. And sets the variables that the page names."""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest
from typing import List, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["CLUMP_BUILD"]) / "bin"
PROGRAM = BIN.parent / "examples" / "hello"


def rows() -> List[Tuple[str, str]]:
    """(options, what happens) of all tables."""
    found = []
    for table in re.findall(r"<!-- try -->\n((?:\|.*\n)+)", (ROOT / "docs" / "moving.md").read_text()):
        for line in table.splitlines()[2:]:
            there, _, happens = (cell.strip() for cell in line.strip("|").split("|"))
            found += [(options, happens) for options in re.findall(r"`([^`]+)`", there)]
    return found


def variables() -> List[str]:
    """Those of other libraries that stand in the first columns of the page's tables of variables."""
    page = (ROOT / "docs" / "moving.md").read_text()
    part = page[page.index("## Environment variables"):page.index("## Behaviour side by side")]
    first = " ".join(line.split("|")[1] for line in part.splitlines() if line.startswith("|"))
    found = re.findall(r"`((?:OMPI|PRTE|HYDRA|MPIEXEC|MPIR|MPICH|I_MPI|FI|UCX)_\w+\w)(?:=[^`]*)?`", first)
    return [name for name in found if not name.startswith("OMPI_COMM_WORLD")]


class Moving(unittest.TestCase):
    def run_with(self, options: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "hosts").write_text("localhost slots=2\n")
            pathlib.Path(folder, "parts").write_text(f"-n 2 {PROGRAM}\n")
            holds_program = re.search(r"\bparts\b", options)
            words = [BIN / "mpiexec", *shlex.split(options), *([] if holds_program else [PROGRAM])]
            return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, check=False)

    def test_options_do_what_the_tables_say(self):
        tried = rows()
        self.assertGreater(len(tried), 300)
        for options, happens in tried:
            with self.subTest(options=options):
                done = self.run_with(options)
                self.assertEqual(done.returncode, 2 if happens.startswith("refused") else 0, (options, happens, done.stderr))
                self.assertEqual("is ignored" in done.stderr, happens.startswith("ignored"), (options, happens, done.stderr))
                self.assertRegex(happens, "^(works|no need|ignored|refused)")

    def test_variables_of_other_libraries_do_no_harm(self):
        self.assertGreater(len(variables()), 30)
        done = subprocess.run([BIN / "mpiexec", "-n", "2", PROGRAM], env={**os.environ, **dict.fromkeys(variables(), "1")}, capture_output=True,
                              text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2))
        self.assertEqual(done.stderr, "mpiexec: HYDRA_HOST_FILE is ignored: HYDRA_HOST_FILE 1: No such file or directory\n")

    def test_a_refusal_names_what_to_use(self):
        for options, word in (("--rankfile f", "--host"), ("--map-by rankfile:file=f", "--cores"), ("--mca rmaps seq", "--host"), ("--merge-stderr-to-stdout", "2>&1"), ("--output xml", "dir=DIR"), ("--bind-to foo", "hwthread"), ("--tv", "--gdb"), ("-n2", "write -n 2"),
                              ("--nodes 2", "salloc and sbatch"), ("-outfile-pattern %r.%p", "there are %r")):
            self.assertIn(word, self.run_with(options).stderr)


if __name__ == "__main__":
    unittest.main()
