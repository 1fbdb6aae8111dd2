"""Where the ranks' output goes: files of their own, and equal lines once."""

import collections
import os
import pathlib
import pty
import resource
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import tool

PROGRAM = tool.program("output")
LINES = ["begin", "in two pieces", "rank {}", "end"]


class Files(tool.Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def expect_files(self, folder, ranks):
        names = sorted(f"rank.{rank}.{stream}" for rank in range(ranks) for stream in ("out", "err"))
        self.assertEqual(sorted(os.listdir(folder)), names)
        for rank in range(ranks):
            self.assertEqual((folder / f"rank.{rank}.out").read_text().splitlines(), [line.format(rank) for line in LINES])
            self.assertEqual((folder / f"rank.{rank}.err").read_text(), "an error\n")

    def test_streams_that_ranks_leave_open(self):
        for how in ("freopen", "input", "output"):
            for mode in (None, "processes"):
                with self.subTest(how=how, mode=mode):
                    path = self.path / f"{how}.{mode}"
                    chosen = {"CLUMP_RANKS": mode, "CLUMP_PER_PROCESS": ""} if mode else {}
                    self.assertEqual(tool.run("-n", "3", tool.program("left_streams"), how, path, env=chosen)[:3], (0, "", ""))
                    for rank in range(3):
                        self.assertEqual(pathlib.Path(f"{path}.{rank}").read_text(), f"rank {rank}\n")

    def test_a_folder(self):
        result = tool.run("-n", "3", "--output-dir", self.path / "new" / "folder", PROGRAM)
        self.assertEqual(result[:3], (0, "", ""))
        self.expect_files(self.path / "new" / "folder", 3)

    def test_as_open_mpi_5_names_them(self):
        shown = tool.run("-n", "3", "--output", f"tag,dir={self.path}/one", PROGRAM)
        self.assertIn("[2] rank 2", shown.out.splitlines())
        self.expect_files(self.path / "one", 3)
        self.assertEqual(tool.run("-n", "3", "--output", f"dir={self.path}/two:nocopy", PROGRAM)[:3], (0, "", ""))
        self.expect_files(self.path / "two", 3)
        self.assertEqual(tool.run("-n", "1", "--output", f"file={self.path}/three:nocopy", PROGRAM)[:3], (0, "", ""))
        self.assertEqual((self.path / "three.0.err").read_text(), "an error\n")
        self.assertEqual(tool.run("-n", "3", "--output", f"dir={self.path}/four:nojobid,nocopy", PROGRAM)[:3], (0, "", ""))
        self.expect_files(self.path / "four", 3)
        for wrong in ("tag:foo", f"dir={self.path}/five:foo", f"dir={self.path}/five,foo", "nocopy"):
            self.assertEqual(tool.run("--output", wrong, "-n", "2", PROGRAM).code, 2, wrong)

    def test_what_was_there_is_lost(self):
        for _ in range(2):
            tool.run("-n", "3", "--output-dir", "x", PROGRAM, cwd=self.folder.name)
            self.expect_files(self.path / "x", 3)

    def test_tee(self):
        result = tool.run("-n", "3", "--output-dir", self.path, "--tee", "--tag-output", PROGRAM)
        self.expect_files(self.path, 3)
        expected = collections.Counter(f"[{rank}] {line.format(rank)}" for rank in range(3) for line in LINES)
        if os.environ.get("CLUMP_RANKS") == "processes":  # the C library's buffers do not know of lines
            self.assertEqual(collections.Counter(result.out.splitlines()), expected)
        else:
            for rank in range(3):
                self.assertIn(f"[{rank}] rank {rank}\n", result.out)
        self.assertEqual(sorted(result.err.splitlines()), [f"[{rank}] an error" for rank in range(3)])

    def test_of_ranks_that_join(self):
        result = tool.run("-n", "1", "--output-dir", self.path, tool.program("spawn"))
        self.assertEqual(result[:3], (0, "", ""))
        as_processes = os.environ.get("CLUMP_RANKS") == "processes"
        texts = {path.name: path.read_text() for path in self.path.iterdir()}
        if as_processes:  # the children are a job of their own, whose output is that of the rank that has started it
            self.assertEqual(sorted(texts["rank.0.out"].splitlines()), ["child", "child", "parent"])
        else:
            self.assertEqual(texts, {"rank.0.out": "parent\n", "rank.1.out": "child\n", "rank.2.out": "child\n",
                                     **{f"rank.{rank}.err": "" for rank in range(3)}})
        if not as_processes:
            result = tool.run("-n", "1", "-outfile-pattern", self.path / "%h" / "%r" / "out", tool.program("spawn"))
            self.assertEqual((result.code, result.out, (self.path / os.uname().nodename / "2" / "out").read_text()), (0, "", "child\n"))

    def test_other_launchers_names(self):
        tool.run("-n", "2", "-outfile-pattern", self.path / "o-%r-%h", "-errfile-pattern", self.path / "e-%r", PROGRAM)
        host = os.uname().nodename
        self.assertEqual(sorted(os.listdir(self.path)), ["e-0", "e-1", f"o-0-{host}", f"o-1-{host}"])
        both = tool.run("-n", "2", "--output-filename", self.path / "both", PROGRAM)
        self.expect_files(self.path / "both", 2)
        self.assertIn("an error", both.err)
        quiet = tool.run("-n", "2", "--output-filename", f"{self.path}/quiet:nocopy", PROGRAM)
        self.expect_files(self.path / "quiet", 2)
        self.assertEqual(quiet.out + quiet.err, "")

    def test_percent_signs(self):
        tool.run("-n", "2", "-outfile-pattern", self.path / "100%%" / "%r", PROGRAM)
        self.assertEqual(sorted(path.name for path in (self.path / "100%").iterdir()), ["0", "1"])
        tool.run("-n", "2", "--output-dir", self.path / "50%r", PROGRAM)
        self.assertTrue((self.path / "50%r" / "rank.1.out").is_file())
        tool.run("-n", "2", "--output-dir", self.path / "%h-10%%", PROGRAM)
        self.assertTrue((self.path / f"{os.uname().nodename}-10%" / "rank.1.out").is_file())

    def test_a_rank_that_fails_leaves_its_last_words(self):
        result = tool.run("-n", "3", "--output-dir", self.path, PROGRAM, "fail")
        self.assert_says(result, 3, "rank 1")
        self.assertEqual((self.path / "rank.1.out").read_text().splitlines()[-1], "last words")

    def test_bad_places(self):
        (self.path / "file").write_text("")
        self.assert_says(tool.run("--output-dir", self.path / "file", "-n", "2", PROGRAM), 126, str(self.path / "file"), "--output-dir")
        self.assert_says(tool.run("--output-dir", "/proc/none", "-n", "2", PROGRAM), 126, "cannot write /proc/none", "No such file")
        self.assert_says(tool.run("--outfile-pattern", "%%r", "-n", "2", PROGRAM), 2, "--outfile-pattern %%r", "write %r")
        self.assert_says(tool.run("--errfile-pattern", "%r.%x", "-n", "2", PROGRAM), 2, "'%x' has no meaning; there are %r")
        self.assert_says(tool.run("--outfile-pattern", "all", "-n", "2", PROGRAM), 2, "--outfile-pattern all", "write %r")
        self.assert_says(tool.run("--tee", "-n", "2", PROGRAM), 2, "--tee", "--output-dir")
        self.assert_says(tool.run("--output", "dir=", "-n", "2", PROGRAM), 2, "there is no 'dir='; there are tag, timestamp, dir=DIR, file=FILE")


class Collapse(tool.Case):
    def test_equal_lines_once(self):
        fewest = 16  # lines
        for _ in range(20):  # a machine that stands still for a tenth of a second may tear them apart
            result = tool.run("-n", "4", "--collapse", PROGRAM)
            self.assertEqual(result.code, 0)
            out = result.out.splitlines()
            # A rank may be so late that its line is another one: what each rank wrote, in order, is what counts.
            for rank in range(4):
                mine = [line.split("] ", 1)[1] for line in out if rank in ranks_of(line)]
                self.assertEqual(mine, [line.format(rank) for line in LINES])
            self.assertEqual(sum(len(ranks_of(line)) for line in result.err.splitlines()), 4)
            fewest = min(fewest, len(out))
            if fewest < 13:
                return
        self.fail(f"{fewest} lines of 16: {result}")

    def test_all_at_once(self):
        for _ in range(20):  # a machine that stands still for a tenth of a second may tear them apart
            result = tool.run("-n", "6", "--collapse", PROGRAM)
            if "[0-5] in two pieces\n" in result.out and "[0-5] an error\n" in result.err:
                return
        self.fail(result)

    def test_nobody_is_kept_waiting(self):
        words = [str(tool.TOOLS / "mpiexec"), "-n", "2", "--collapse", "sh", "-c", "echo now; exec sleep 100"]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as job:
            said = select.select([job.stdout], [], [], 90)[0]
            job.terminate()
            self.assertEqual(said, [job.stdout])
            self.assertIn(job.stdout.readline(), (b"[0-1] now\n", b"[0] now\n", b"[1] now\n"))

    def test_last_words_of_a_failed_job(self):
        result = tool.run("-n", "3", "--collapse", PROGRAM, "fail")
        self.assert_says(result, 3, "an error", "mpiexec: rank 1")
        self.assertIn("[1] last words\n", result.out)


class Soon(tool.Case):
    """Lines are shown when they are written, whatever mpiexec's output is, and not when the job ends."""

    def first_lines(self, lines, *words, number=signal.SIGINT, terminal=False):
        """What has come when so many lines have, and what comes when the job is ended then."""
        mine, its = pty.openpty() if terminal else os.pipe()
        with subprocess.Popen([str(tool.BIN / "mpiexec"), *map(str, words)], stdout=its, stderr=subprocess.PIPE) as job:
            os.close(its)
            text, end = b"", time.monotonic() + 120
            while text.count(b"\n") < lines:
                if not select.select([mine], [], [], max(end - time.monotonic(), 0))[0]:
                    job.kill()
                    self.fail(f"no line: {text}")
                text += os.read(mine, 65536)
            job.send_signal(number)
            self.assertEqual(job.wait(timeout=120), 128 + number)
            os.close(mine)
        return sorted(text.decode().replace("\r", "").splitlines())

    def test_of_programs_in_c(self):
        for terminal in (False, True):
            for lines in (1, 300):
                with self.subTest(lines=lines, terminal=terminal):
                    wanted = sorted(f"line {line} of rank {rank}" for line in range(lines) for rank in (0, 1))
                    self.assertEqual(self.first_lines(2 * lines, "-n", 2, tool.program("early_lines"), lines, terminal=terminal), wanted)

    def test_of_python(self):
        script = "import time; print('now'); time.sleep(100)"
        for terminal in (False, True):
            for ranks in (1, 2):
                self.assertEqual(self.first_lines(ranks, "-n", ranks, sys.executable, "-c", script, terminal=terminal, number=signal.SIGTERM), ["now"] * ranks)

    def test_python_is_left_alone_where_the_user_says_so(self):
        script = "import os; print(os.environ.get('PYTHONUNBUFFERED'))"
        self.assertEqual(tool.run(sys.executable, "-c", script, env={"PYTHONUNBUFFERED": ""}).out, "\n")
        self.assertEqual(tool.run(sys.executable, "-c", script).out, "1\n")


class Prompts(tool.Case):
    """The beginning of a line is shown when its rank waits for an answer."""

    def ask(self, options, prompt, *words):
        command = [str(tool.TOOLS / "mpiexec"), *options, *(words or ["-n", "2", tool.program("prompt")])]
        # `options` say all.
        environment = {name: value for name, value in os.environ.items() if name not in ("CLUMP_RANKS", "CLUMP_PER_PROCESS")}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as job:
            text = b""
            while text != prompt:
                if not select.select([job.stdout], [], [], tool.HANGS)[0]:
                    job.kill()
                    self.fail(f"no prompt: {text}")
                more = os.read(job.stdout.fileno(), 100)
                self.assertTrue(more, text)
                text += more
            out, _ = job.communicate(b"Anna\n")
            self.assertEqual(job.returncode, 0)
        return out

    def test_of_programs_in_c(self):
        for options in (["--ranks", "processes"], ["--per-process", "1"], []):
            with self.subTest(options=options):
                self.assertEqual(self.ask(options, b"name? "), b"hello Anna\n")
        self.assertEqual(self.ask(["--ranks", "processes", "--tag-output"], b"[0] name? "), b"hello Anna\n")

    def test_of_python(self):
        script = "import sys; line = input('name? ') if sys.argv[1] == '0' else None; line and print('hello', line)"
        words = ["-n", "1", sys.executable, "-c", script, "0", ":", "-n", "1", sys.executable, "-c", script, "1"]
        self.assertEqual(self.ask([], b"name? ", *words), b"hello Anna\n")


class Closed(tool.Case):
    """A daemon, or a batch system, has closed stdin, stdout or stderr."""

    def test_jobs(self):
        for closed in (">&-", "<&- >&-", "<&- >&- 2>&-", "2>&-"):
            with self.subTest(closed=closed):
                command = f"exec {shlex.quote(str(tool.TOOLS / 'mpiexec'))} -n 2 {tool.in_shell('lines')} {closed}"
                done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=tool.HANGS)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout.count("\n"), 800 if closed == "2>&-" else 0)

    def test_a_rank_without_mpiexec(self):
        """No descriptor of MPI's gets the number of stdout."""
        with subprocess.Popen(["sh", "-c", f"exec {tool.in_shell('early_lines')} 0 <&- >&-"]) as rank:
            limit, named = time.monotonic() + tool.HANGS, {}
            while len(named) < 2 and time.monotonic() < limit and rank.poll() is None:
                time.sleep(0.01)
                named = {}
                if os.path.samefile(f"/proc/{rank.pid}/exe", tool.program("early_lines")):  # not the shell any more
                    named = {number: os.readlink(path) for number in (0, 1) if os.path.lexists(path := f"/proc/{rank.pid}/fd/{number}")}
                if "/dev/null" not in named.values():
                    named = {}
            rank.kill()
        self.assertEqual(named, {0: "/dev/null", 1: "/dev/null"})

    def test_tools(self):
        for words in ("mpiexec --map -n 2", "clump info"):
            done = subprocess.run(["sh", "-c", f"exec {shlex.quote(str(tool.BIN))}/{words} <&- >&-"], stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Lost(tool.Case):
    """What cannot be written is told, and the exit code is not 0."""

    def run_to(self, out, *words, before=None):
        with open(out, "a") as file:
            done = subprocess.run([str(tool.BIN / "mpiexec"), *map(str, words)], stdout=file, stderr=subprocess.PIPE, text=True, timeout=240,
                                  preexec_fn=before)
        return tool.Result(done.returncode, "", done.stderr, 0)

    def test_a_full_disk(self):
        for options in ([], ["--tag-output"], ["--collapse"]):
            for ranks in (1, 3):
                with self.subTest(options=options, ranks=ranks):
                    result = self.run_to("/dev/full", "-n", ranks, *options, PROGRAM)
                    self.assert_says(result, 1, "mpiexec: ", "cannot write its output: No space left on device")
                    self.assertEqual(result.err.count("mpiexec:"), 1)

    def test_a_full_disk_under_files(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink("/dev/full", f"{folder}/rank.1.out")
            for options in ([], ["--tee"]):
                with self.subTest(options=options):
                    result = tool.run("-n", "3", "--output-dir", folder, *options, PROGRAM)
                    self.assert_says(result, 1, "cannot write its output", "is lost")
                    self.assertIn("rank 2\n", pathlib.Path(folder, "rank.2.out").read_text())

    def test_of_python(self):
        self.assertNotEqual(self.run_to("/dev/full", "-n", 2, sys.executable, "-c", "print(1)").code, 0)

    def test_a_limit_for_files(self):
        limit = 1 << 30  # the job's own memory is a file, too

        def little():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with tempfile.TemporaryDirectory() as folder:
            for options in ([], ["--tag-output"], ["--collapse"]):
                with self.subTest(options=options):
                    pathlib.Path(folder, "out").write_text("")
                    os.truncate(f"{folder}/out", limit - 100)
                    result = self.run_to(f"{folder}/out", "-n", 2, *options, tool.program("lines"), before=little)
                    self.assertNotEqual(result.code, 0)
                    self.assertRegex(result.err, "File too large|SIGXFSZ")

    def test_a_reader_that_goes_away(self):
        for options in ("", "--tag-output", "--collapse"):
            with self.subTest(options=options):
                command = f"{shlex.quote(str(tool.BIN / 'mpiexec'))} -n 2 {options} {tool.in_shell('early_lines')} 100000 | head -1; exit ${{PIPESTATUS[0]}}"
                done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=240)
                self.assertEqual((done.returncode, done.stdout.count("\n")), (141, 1))
                self.assertRegex(done.stderr, r"^mpiexec: .*cannot write its output: Broken pipe: .*\n$")

    def test_records(self):
        result = tool.run("-n", "2", "--trace", "/dev/full", PROGRAM)
        self.assert_says(result, 1, "mpiexec: cannot write /dev/full: No space left on device")
        with tempfile.TemporaryDirectory() as folder:
            os.symlink("/dev/full", f"{folder}/p.html")
            result = tool.run("-n", "2", f"--profile={folder}/p", PROGRAM)
            self.assert_says(result, 1, f"mpiexec: cannot write {folder}/p.html: No space left on device")

    def test_words_of_the_tools(self):
        for words in (["mpiexec", "--help"], ["mpiexec", "--map", "-n", "2"], ["clump", "info"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([str(tool.BIN / words[0]), *words[1:]], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, f"{words[0]}: cannot write its output: No space left on device\n"))


def ranks_of(line):
    """[0-2,5] text"""
    found = set()
    for part in line[1:line.index("]")].split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


if __name__ == "__main__":
    unittest.main()
