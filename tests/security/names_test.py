"""Names that another user of the machine takes before a job does, links and FIFOs that he puts where a job's files are to be, and escape sequences in what
he names."""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "launcher"))
import tool  # noqa: E402

STRANGER = 65534
MEET, NAMES = tool.program("meet"), str(tool.BIN / "security_names")
ESCAPE = "\x1b]0;taken\x07"
only_root = unittest.skipUnless(os.geteuid() == 0, "only root may become another user, and make files of his")


@contextlib.contextmanager
def stranger_who_takes(names, listens=True):
    """A process of another user, which has these names in the abstract namespace."""
    ready, written = os.pipe()
    ends, stay = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(stay)
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            os.setresgid(STRANGER, STRANGER, STRANGER)
            os.setresuid(STRANGER, STRANGER, STRANGER)
            kept = [socket.socket(socket.AF_UNIX) for _ in names]
            for one, name in zip(kept, names):
                one.bind(f"\0{name}")
                if listens:
                    one.listen()
            os.write(written, b"y")
            os.read(ends, 1)
            code = 0
        finally:
            os._exit(code)
    for end in (written, ends):
        os.close(end)
    try:
        if os.read(ready, 1) != b"y":
            raise unittest.SkipTest("the other user does not get the names (ulimit -Hn?)")
        yield
    finally:
        os.close(stay)
        os.close(ready)
        os.waitpid(child, 0)


def names_in_use():
    """Of the abstract namespace, as any user sees them."""
    lines = pathlib.Path("/proc/net/unix").read_text().splitlines()
    return {words[7][1:] for words in map(str.split, lines) if len(words) == 8 and words[7].startswith("@clump")}


def name_of_service(service):
    number = 0xcbf29ce484222325
    for byte in service.encode():
        number = (number ^ byte) * 0x100000001b3 % 2**64
    return f"clump-name-{os.geteuid()}-{number:016x}"


class Case(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)

    def mpiexec(self, *words, **more):
        return tool.run(*words, limit=60, **more)


@only_root
class Sockets(Case):
    def setUp(self):
        super().setUp()
        self.port = self.folder / "port"

    def start(self, role, *words, options=()):
        job = subprocess.Popen([str(tool.TOOLS / "mpiexec"), *options, "-n", "2", MEET, role, str(self.port), *words], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def finish(self, job, code, *texts):
        said = tool.end_of(job, limit=60)[0]
        self.assertEqual(job.returncode, code, said)
        for text in texts:
            self.assertIn(text, said)

    def wait_for_port(self):
        limit = time.monotonic() + 60
        while not self.port.exists():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.005)

    def test_numbers_of_communicators(self):
        """Those of another user's jobs do not matter; who takes this user's, too, is named."""
        numbers = range(1 << 13)
        for pattern, code, text in (("clump-contexts-{}", 0, "met"), (f"clump-contexts-{STRANGER}-{{}}", 0, "met"),
                                    (f"clump-contexts-{os.geteuid()}-{{}}", 4, "; another user (uid 65534) has taken some of them")):
            with self.subTest(pattern), stranger_who_takes([pattern.format(number) for number in numbers]):
                server = self.start("accept", "short")
                self.wait_for_port()
                client = self.start("connect", "short")
                if code == 0:
                    self.finish(client, 0, text)
                    self.finish(server, 0, text)
                else:
                    said = [tool.end_of(job, limit=60)[0] for job in (client, server)]
                    self.assertIn(text, "".join(said))
                    self.assertNotEqual((client.returncode, server.returncode), (0, 0))
                self.port.unlink()

    def test_published_names(self):
        service = f"service {self.folder.name}"
        with stranger_who_takes([name_of_service(service)]):
            self.finish(self.start("accept", "name", service, options=["--name-server"]), 3,
                        "another user (uid 65534) has taken it on this machine: take another name")
            found = self.mpiexec("-n", "1", NAMES, "lookup", service)
            self.assertIn("another user (uid 65534) has taken it there", found.out)
        with stranger_who_takes([name_of_service(service)], listens=False):
            self.finish(self.start("accept", "name", service, options=["--name-server"]), 3, "perhaps another user's, has taken it on this machine")

    def test_where_processes_listen(self):
        """The name of one tells those of others to nobody, and who takes one that has become free is not spoken to."""
        server = self.start("accept", "short", options=["--per-process", "1"])
        self.wait_for_port()
        parts = self.port.read_text().split(":")
        names = {name for name in names_in_use() if name.startswith("clump-link-")}
        own = f"clump-link-{os.geteuid()}-"
        self.assertTrue([name for name in names if name.startswith(own)], names)
        for name in names:
            self.assertFalse([part for part in parts[4:] if len(part) == 16 and part in name], (parts, name))
        server.kill()
        server.wait()
        limit = time.monotonic() + 60
        while names & names_in_use():
            self.assertLess(time.monotonic(), limit, "the ranks have ended with mpiexec")
            time.sleep(0.005)
        with stranger_who_takes(names):
            self.finish(self.start("connect", "short"), 3, "another user (uid 65534) listens there: the job has ended, or has closed its ports")

    def test_cores(self):
        """Who takes them has not got them."""
        names = [f"clump core {core} {job}" for core in range(os.cpu_count()) for job in range(64)]
        with stranger_who_takes(names):
            done = self.mpiexec("-n", "2", "--map", NAMES, "none")
        self.assertEqual((done.code, done.out), (0, ""), done)


class Files(Case):
    def plant(self, name, kind):
        """Something of another user's, in a folder to which all may write."""
        path = self.folder / name
        if kind == "link":
            path.symlink_to("precious")
        else:
            os.mkfifo(path, 0o666)
        os.lchown(path, STRANGER, STRANGER)
        return path

    @only_root
    def test_what_a_job_writes(self):
        (self.folder / "precious").write_text("kept")
        for kind in ("link", "fifo"):
            with self.subTest(kind):
                profile, page, trace = (self.plant(f"{kind}.{end}", kind) for end in ("json", "html", "trace"))
                done = self.mpiexec("-n", "2", f"--profile={profile}", "--trace", trace, NAMES, "none")
                self.assertEqual(done.code, 0, done)
                self.assertEqual([path for path in (profile, page, trace) if path.is_symlink() or not path.is_file()], [])
                for path in (profile, trace):
                    json.loads(path.read_text())
        self.assertEqual((self.folder / "precious").read_text(), "kept")
        self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith(".")], [])

    @only_root
    def test_output_of_ranks(self):
        (self.folder / "precious").write_text("kept")
        for kind in ("link", "fifo"):
            for ranks in ("fibers", "processes"):
                with self.subTest(kind=kind, ranks=ranks):
                    path = self.plant("rank.1.out", kind)
                    done = self.mpiexec("-n", "2", "--ranks", ranks, "--output-dir", self.folder, NAMES, "none")
                    self.assert_says(done, 126, f"cannot write {path}: another user (uid 65534) has put a link or a FIFO there")
                    path.unlink()
        self.assertEqual((self.folder / "precious").read_text(), "kept")

    def test_own_links_and_devices(self):
        """Go on to be written through."""
        (self.folder / "link").symlink_to("target")
        done = self.mpiexec("-n", "1", "--trace", self.folder / "link", NAMES, "none")
        self.assertEqual(done.code, 0, done)
        json.loads((self.folder / "target").read_text())
        self.assertTrue((self.folder / "link").is_symlink())
        done = self.mpiexec("-n", "1", "--trace", "/dev/null", NAMES, "none")
        self.assertEqual(done.code, 0, done)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        command = f"'{tool.TOOLS}/mpiexec' -n 1 --trace >(cat >'{self.folder}/copy') '{NAMES}' none"
        done = subprocess.run(["bash", "-c", command + "; wait"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done)
        json.loads((self.folder / "copy").read_text())

    def in_bash(self, words):
        return subprocess.run(["bash", "-c", f"exec '{tool.TOOLS}/mpiexec' {words}"], capture_output=True, text=True, timeout=60, check=False)

    def test_pipes_that_a_shell_makes(self):
        for words in ("-f <(echo localhost) -n 1 echo word", "-configfile <(printf '%s\\n' '-n 1 echo word')", "-f /dev/stdin -n 1 echo word <<<localhost",
                      "--coll-rules <(true) -n 1 echo word"):
            with self.subTest(words):
                done = self.in_bash(words)
                self.assertEqual((done.returncode, done.stdout), (0, "word\n"), done)

    @only_root
    def test_what_a_job_reads(self):
        fifo = self.plant("fifo", "fifo")
        for option in ("--hostfile", "-configfile", "--coll-rules"):
            with self.subTest(option):
                self.assert_says(self.mpiexec(option, fifo, *([] if option == "-configfile" else ["true"])), 2, f"{option} {fifo}: it is a FIFO of another user (uid 65534)")

    def test_programs_and_libraries(self):
        """A FIFO is no program, and no library: it is not waited for."""
        fifo = self.folder / "libsecurity.so"
        os.mkfifo(fifo, 0o755)
        self.assert_says(self.mpiexec("-n", "1", fifo), 126, "is not a program but a directory or a device")
        library = self.folder / "made" / "libsecurity.so"
        library.parent.mkdir()
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no compiler")
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input="int f(void) { return 0; }\n", text=True, check=True)
        program = self.folder / "program"
        subprocess.run([compiler, "-x", "c", "-", "-x", "none", library, "-o", program], input="int f(void); int main(void) { return f(); }\n", text=True, check=True)
        done = tool.run("explain", program, tool="clump", limit=60, env={"LD_LIBRARY_PATH": f"{self.folder}:{library.parent}"})
        self.assertIn("each rank is a process", done.out, done)


class Words(Case):
    """What is told of them has `\\x1b` where a terminal would obey."""

    def assert_named(self, done, *codes):
        for text in (done.out, done.err):
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", done)
        self.assertIn("\\x1b]0;taken\\x07", done.out + done.err)
        if codes:
            self.assertIn(done.code, codes, done)

    def test_programs(self):
        there = self.folder / f"prog{ESCAPE}"
        shutil.copy(NAMES, there)
        self.assert_named(self.mpiexec("-n", "1", f"./no{ESCAPE}"), 127)
        self.assert_named(self.mpiexec("-n", "1", f"--no{ESCAPE}", "true"), 2)
        self.assert_named(self.mpiexec("-n", "1", there, "comm"))
        self.assert_named(self.mpiexec("-n", "1", "--profile", there, "none", cwd=self.folder), 0)
        self.assertTrue((self.folder / "clump-profile-prog_]0;taken_.json").is_file())
        self.assert_named(tool.run("explain", there, tool="clump"))
        self.assert_named(tool.run("which", f"{there}no", tool="clump"))

    def test_libraries(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no compiler")
        library, program = self.folder / "libplain.so", self.folder / "program"
        subprocess.run([compiler, "-shared", "-fPIC", f"-Wl,-soname,lib{ESCAPE}.so", "-x", "c", "-", "-o", library], input="int f(void) { return 0; }\n", text=True, check=True)
        subprocess.run([compiler, "-x", "c", "-", "-x", "none", library, "-o", program], input="int f(void); int main(void) { return f(); }\n", text=True, check=True)
        self.assert_named(self.mpiexec("-n", "1", program), 126)
        self.assert_named(tool.run("explain", program, tool="clump"))

    def test_communicators(self):
        self.assert_named(self.mpiexec("-n", "1", "--check", NAMES, "left"))
        self.assert_named(self.mpiexec("-n", "1", "--check", NAMES, "hang"))
        self.assert_named(self.mpiexec("-n", "2", NAMES, "window"))
        for how in ("comm", "abort"):  # without mpiexec it tells itself
            self.assert_named(self.mpiexec("-n", "1", NAMES, how))
            done = subprocess.run([NAMES, how], capture_output=True, text=True, timeout=60, check=False)
            self.assert_named(tool.Result(done.returncode, done.stdout, done.stderr, 0))

    def test_services_and_ports(self):
        done = self.mpiexec("-n", "1", NAMES, "lookup")
        self.assert_named(done, 0)
        self.assertEqual(done.out.count("\\x1b"), 2, done)

    def test_hosts(self):
        shell = self.folder / "shell"
        shell.write_text(f"#!/bin/sh\nprintf '%s\\r\\n' '{ESCAPE}host key' >&2\nexit 255\n")
        shell.chmod(0o755)
        done = self.mpiexec("--host", "clump-none-1,clump-none-2", "-n", "2", "true", env={"PRTE_MCA_plm_ssh_agent": str(shell)})
        self.assert_named(done)
        self.assertNotEqual(done.code, 0)
        hosts = self.folder / "hosts"
        hosts.write_text(f"one {ESCAPE}\n")
        self.assert_named(self.mpiexec("-f", hosts, "-n", "1", "true"), 2)


if __name__ == "__main__":
    unittest.main()
