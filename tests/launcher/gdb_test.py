"""gdb on ranks: mpiexec --gdb, gdb -p, the commands that tools/gdb adds; and the names of threads and processes."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import tool

PROGRAM = tool.program("debug")
AS_PROCESSES = os.environ.get("CLUMP_RANKS") == "processes"
PER_PROCESS = int(os.environ.get("CLUMP_PER_PROCESS", 0))
SOURCE = pathlib.Path(__file__).with_name("debug.c").read_text().splitlines()


def place(text):
    """Of the first line of the program that has it."""
    return f"debug.c:{next(number for number, line in enumerate(SOURCE, 1) if text in line)}"


BEGINS, RECEIVES, READS = place("int received"), place("MPI_Recv("), place("fgets(")


class Job:
    """Four ranks of debug.c, or of another program of that kind, that wait for each other."""

    def __init__(self, *options, program=PROGRAM):
        self.process = subprocess.Popen([str(tool.TOOLS / "mpiexec"), "-n", "4", *options, program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = [self.process.stdout.readline().split() for _ in range(4)]
        self.pids = {int(rank): int(pid) for rank, pid in said}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()

    def finish(self):
        _, err = self.process.communicate("go\n", timeout=240)
        return self.process.returncode, err


def gdb(pid, *commands):
    words = ["gdb", "-nx", "-q", "-batch", "-iex", f"add-auto-load-safe-path {tool.BUILD.parent.parent}", "-p", str(pid)]
    for command in commands:
        words += ["-ex", f"echo [[[{command}]]]\\n", "-ex", command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280, check=False)
    parts = re.split(r"\[\[\[(.*)\]\]\]\n", done.stdout)
    return dict(zip(parts[1::2], parts[2::2])), done.stderr


@unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
@unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "a sanitizer looks at its own")
class Attached(tool.Case):
    def test_ranks_are_listed_and_selected(self):
        with Job() as job:
            mine = [rank for rank in sorted(job.pids) if job.pids[rank] == job.pids[2] and rank > 0]
            one, other = mine[0], mine[-1]
            said, err = gdb(job.pids[2], "clump ranks", f"clump rank {one}", "bt", "print local", "print global", "print elsewhere",
                            "print thread_local_one", 'print $own("only_here")', f"clump rank {other}", "print  local", "print  global",
                            "print  elsewhere", "up", "print rank", "clump back", "print   local", "clump all print global+1")
            self.assertEqual(job.finish(), (0, ""))
        for rank in mine:
            self.assertIn(f"{100 + rank + 1}\n", said["clump all print global+1"], err)
        listed = said["clump ranks"]
        self.assertRegex(listed, rf"(?m)^ranks? .*{other} waits? in MPI_Recv at {RECEIVES}$")
        if 0 in job.pids and job.pids[0] == job.pids[2]:
            self.assertRegex(listed, rf"(?m)^rank 0 is outside MPI at {READS} \(main\)$")
        self.assertRegex(said[f"clump rank {one}"], rf"^rank {one} waits in MPI_Recv at {RECEIVES}\n#\d+ .* waits_here \(local={one + 1}\)")
        self.assertRegex(said["bt"], rf"(?s)PMPI_Recv.*waits_here \(local={one + 1}\) at .*{RECEIVES}\n.*main \(argc=1")
        values = {name: said[name].split(" = ")[-1].strip() for name in said if name.startswith("print")}
        self.assertEqual(values, {
            "print local": f"{one + 1}", "print global": f"{100 + one}", "print elsewhere": f"{1000 + one}",
            "print thread_local_one": f"{500 + one}", 'print $own("only_here")': f"{2000 + one}",
            "print  local": f"{other + 1}", "print  global": f"{100 + other}", "print  elsewhere": f"{1000 + other}",
            "print rank": f"{other}", "print   local": f"{one + 1}"})

    def test_windows_are_named_with_locks_and_epochs(self):
        expected = {
            0: ["window 'table': it has locked rank 0 (exclusive)"],
            1: ["window 'table': it waits for the lock of rank 0, which rank 0 holds exclusively"],
            2: ["window 'halo': MPI_Win_post for rank 3; it waits for MPI_Win_complete of rank 3"],
            3: ["window 'halo': MPI_Win_start for rank 2"]}
        with Job(program=tool.program("debug_windows")) as job:
            for pid in sorted(set(job.pids.values())):
                mine = [rank for rank in job.pids if job.pids[rank] == pid]
                late = time.monotonic() + tool.HANGS
                while True:  # a rank has told its number before it waits
                    said, err = gdb(pid, "clump ranks", f"clump rank {mine[0]}")
                    found = {int(number): re.findall(r"^    (window .*)$", lines, re.M)
                             for number, lines in re.findall(r"(?m)^rank (\d) [^\n]*\n((?:    [^\n]*\n)*)", said.get("clump ranks", ""))}
                    if found == {rank: expected[rank] for rank in mine} or time.monotonic() > late:
                        break
                self.assertEqual(found, {rank: expected[rank] for rank in mine}, (said, err))
                self.assertIn(expected[mine[0]][0], said[f"clump rank {mine[0]}"])
            self.assertEqual(job.finish(), (0, ""))

    def test_what_is_not_there_is_said(self):
        with Job() as job:
            rank = 2
            _, err = gdb(job.pids[rank], "clump rank 7")
            self.assertRegex(err, r"clump rank 7: this gdb has the ranks [0-9,-]+")
            _, err = gdb(job.pids[rank], "clump rank nobody")
            self.assertIn("clump rank nobody: No symbol", err)
            _, err = gdb(job.pids[rank], "clump back")
            self.assertIn("no other rank was selected", err)
            self.assertEqual(job.finish(), (0, ""))


@unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
@unittest.skipIf(os.environ.get("CLUMP_SANITIZE"), "a sanitizer looks at its own")
class FromTheBeginning(tool.Case):
    def run_gdb(self, *words, commands):
        with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
            file.write("\n".join(commands) + "\n")
            file.flush()
            return tool.run("-n", "3", "--gdb-command", file.name, *words, limit=280)  # gdb takes long on a crowded machine

    def test_a_breakpoint_in_all_ranks(self):
        result = self.run_gdb(PROGRAM, "hang", commands=["clump ranks", "break waits_here", "continue", "clump rank", "print local", "print global"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("ranks 0-2 wait for the debugger to let it begin", result.out)
        locations = re.search(r"Breakpoint 1 at .*\((\d) locations\)", result.out)
        self.assertTrue(locations and locations[1] == "3", result.out)
        rank = int(re.search(r"This is rank (\d)\.", result.out)[1])
        self.assertIn(f"rank {rank} is outside MPI at {BEGINS} (waits_here)\n", result.out)
        self.assertIn(f"$1 = {rank + 1}\n$2 = {100 + rank}\n", result.out)

    def test_a_deadlock_stops_in_gdb(self):
        result = self.run_gdb(PROGRAM, "hang", commands=["continue", "clump ranks"] + ["continue"] * 3)
        self.assertIn("SIGTRAP", result.out)
        self.assertRegex(result.out, rf"ranks 0-2 wait in MPI_Recv at {RECEIVES}\n")
        self.assert_says(result, 1, "deadlock", "rank 0", "MPI_Recv")

    def test_bad_input(self):
        self.assert_says(tool.run("--gdb-command", "/none", PROGRAM), 2, "--gdb-command /none: there is no such file")
        self.assert_says(tool.run("--gdb", PROGRAM, env={"PATH": "/none"}), 126, "no gdb in PATH", "apt install gdb")


class Names(tool.Case):
    def test_threads_and_processes(self):
        expected = ["rank 3", "clump observer"] + ([] if PER_PROCESS else ["rank 1", "rank 2"])
        if os.environ.get("CLUMP_SCHEDULER") != "threads":
            expected += ["clump monitor", "clump worker "]
        with Job() as job:
            process = pathlib.Path("/proc", str(job.pids[2]), "comm").read_text().strip()
            if AS_PROCESSES:
                self.assertEqual(process, "rank2:launcher_")
            else:
                self.assertEqual(process, "ranks2-3:launch" if PER_PROCESS else "launcher_debug")
                self.assert_has_threads(job.pids[2], expected)
            self.assertEqual(job.finish(), (0, ""))

    def assert_has_threads(self, pid, expected):
        """A thread gives itself its name, so a moment after it has begun."""
        late = time.monotonic() + tool.HANGS
        missing = expected
        while missing:
            names = [pathlib.Path("/proc", str(pid), "task", task, "comm").read_text().strip() for task in os.listdir(f"/proc/{pid}/task")]
            missing = [name for name in expected if not any(there.startswith(name) for there in names)]
            self.assertFalse(missing and time.monotonic() > late, f"{missing} missing among {names}")
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
