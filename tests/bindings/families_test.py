"""Error codes of spawned ranks, where ranks or tools of several ABIs meet: each gets those of its own. The programs are tests/mpi/dynamic/insignificant.c,
compiled for each family; its last rank is the root, and all look at what they get. spawn_failure.c looks from an error handler."""

import itertools
import os
import pathlib
import unittest

import tool

FOLDER = pathlib.Path(os.environ["CLUMP_PROGRAMS"])
PROGRAMS = {name: path for name, path in {"mpich": FOLDER / "mpich/insignificant_dynamic", "openmpi": FOLDER / "openmpi/insignificant_dynamic_5",
                                          "standard": tool.BIN / "mpi_dynamic_insignificant"}.items() if path.exists()}  # fmt: skip
FACADES = {"mpich": tool.BUILD / "lib/clump/mpich/libmpi.so.12", "openmpi": tool.BUILD / "lib/clump/openmpi/libmpi.so.40"}
WAYS = ([], ["--ranks", "processes"])


class Spawn(tool.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if len(PROGRAMS) < 2:
            raise unittest.SkipTest(f"programs of two families are needed, and there are only those of {', '.join(PROGRAMS) or 'none'}: ./dev setup installs other MPI libraries")

    def test_tools_below_a_facade(self):
        """A tool for the standard's ABI sees the program's own array, with that ABI's codes in it."""
        for (family, facade), way, own in itertools.product(FACADES.items(), WAYS, ("", "1")):
            if family not in PROGRAMS:
                continue
            with self.subTest(family=family, way=way, own=own):
                preload = f"{facade} {os.environ['CLUMP_SPAWN_TOOL']}"
                shown = tool.run(*way, *(["-x", "OWN_CODES=1"] if own else []), "-x", f"LD_PRELOAD={preload}", "-n", 2, PROGRAMS[family])
                self.assertEqual((shown.code, set(shown.out.splitlines()), shown.err), (0, {"codes: the standard's"}, ""), shown)

    def test_an_error_handler_of_the_program(self):
        """It sees the codes as its own ABI has them, whether it returns or not; a tool below sees the standard's all the same."""
        words, tools = ([], ["jump"]), (None, [], ["copied"])
        for (family, facade), way, jump, below in itertools.product(FACADES.items(), WAYS, words, tools):
            program = FOLDER / {"mpich": "mpich/spawn_failure", "openmpi": "openmpi/spawn_failure_5"}[family]
            if family not in PROGRAMS:
                continue
            with self.subTest(family=family, way=way, jump=jump, below=below):
                options = [] if below is None else ["-x", f"LD_PRELOAD={facade} {os.environ['CLUMP_SPAWN_TOOL']}"]
                options += ["-x", "OWN_CODES=1"] if below else []
                shown = tool.run(*way, *options, "-n", 2, program, *jump, *(below or []))
                seen = {"good"} if below is None else {"good", "codes: the standard's"}
                self.assertEqual((shown.code, set(shown.out.splitlines()), shown.err), (0, seen, ""), shown)

    def test_ranks_of_several_families(self):
        """Each family has the root, and others."""
        for families, way in itertools.product(itertools.permutations(PROGRAMS, 2), WAYS):
            with self.subTest(families=families, way=way):
                words = [word for family in families for word in (":", "-n", 1, PROGRAMS[family])][1:]
                shown = tool.run(*way, *words)
                self.assertEqual((shown.code, shown.out, shown.err), (0, "", ""), shown)


if __name__ == "__main__":
    unittest.main()
