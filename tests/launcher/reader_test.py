"""A reader that stops does not stop mpiexec: the job ends when it has to, with the right code, and what mpiexec has read comes to a reader that goes on."""

import fcntl
import mmap
import os
import pathlib
import pty
import re
import shlex
import signal
import struct
import subprocess
import tempfile
import time
import tty
import unittest

import tool

LINE = 1000  # bytes; of spew.c
KEPT = 1 << 20  # what mpiexec keeps of a reader that stops: output/output_buffer.h


class Spew(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "words"
        self.path.write_bytes(bytes(8))
        with open(self.path, "r+b") as file:
            self.words = mmap.mmap(file.fileno(), 8)
        self.addCleanup(self.words.close)

    def word(self, number):
        return struct.unpack_from("i", self.words, 4 * number)[0]

    def start(self, *options, descriptor=1, fifo=None, terminal=False, keeps=False):
        """A job whose output on `descriptor`, or `fifo`, goes to a pipe, or a terminal, that is not read."""
        struct.pack_into("ii", self.words, 0, 0, 0)
        command = [str(tool.BIN / "mpiexec"), "-n", "2", *options, tool.program("spew"), str(descriptor), str(self.path)]
        streams = {1: subprocess.DEVNULL, 2: subprocess.DEVNULL}
        if fifo:
            self.mine = os.open(fifo, os.O_RDWR)
        elif terminal:
            self.mine, streams[descriptor] = pty.openpty()
            tty.setraw(streams[descriptor])
        else:
            self.mine, streams[descriptor] = os.pipe()
        if descriptor == 1:
            streams[2] = subprocess.PIPE
        self.job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=streams[1], stderr=streams[2])
        self.addCleanup(self.clean)
        self.its = streams[descriptor]
        if not fifo and not keeps:
            os.close(self.its)

    def clean(self):
        if self.job.poll() is None:
            self.job.kill()
            self.job.wait()
        if self.job.stderr:
            self.job.stderr.close()
        if self.mine >= 0:
            os.close(self.mine)
            self.mine = -1

    def wait_until_stuck(self, least):
        """Until rank 0 waits in write(), and has written so many bytes."""
        end, lines, since = time.monotonic() + tool.HANGS, -1, 0
        while lines != self.word(0) or lines * LINE < least or time.monotonic() - since < 0.1:
            self.assertLess(time.monotonic(), end, f"{self.word(0)} lines were written")
            self.assertIsNone(self.job.poll())
            if lines != self.word(0):
                lines, since = self.word(0), time.monotonic()
            time.sleep(0.01)

    def rest(self):
        """All that is in the pipe, or comes before the job has ended."""
        os.set_blocking(self.mine, False)
        text, end = bytearray(), time.monotonic() + tool.HANGS
        while True:
            ended = self.job.poll() is not None
            try:
                more = os.read(self.mine, 1 << 20)
            except BlockingIOError:
                more = b""
            except OSError:  # nothing has the terminal open any more
                more = b""
            text += more
            if ended and not more:
                return text.decode()
            if not more:
                time.sleep(0.01)
            self.assertLess(time.monotonic(), end, f"not ended; {len(text)} bytes have come")

    def assert_lines(self, text, least):
        """Lines from the first on without a gap; all that were written, but for the one that was being written."""
        numbers = [int(line) for line in re.findall(r"^(?:\[0\] )?line (\d+) \.+$", text, re.M)]
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertGreaterEqual(len(numbers) * LINE, least)
        return len(numbers)

    def end(self, how):
        """Returns the exit code that has to come."""
        if how == "fail":
            struct.pack_into("i", self.words, 4, 3)
            return 3
        if how == "timeout":
            return 124
        self.job.send_signal(how)
        return 128 + how

    WAYS = [  # options, descriptor, what the reader reads
        (["--ranks", "processes"], 1, "pipe"),
        (["--ranks", "processes"], 2, "pipe"),
        (["--ranks", "processes", "--tag-output"], 1, "terminal"),
        (["--collapse"], 1, "pipe"),
        (["--ranks", "processes", "--tee"], 1, "fifo"),  # which is a file of --output-dir
    ]
    ENDS = ["fail", signal.SIGTERM, signal.SIGINT, "timeout"]

    def test_a_reader_that_goes_on(self):
        for number, (options, descriptor, kind) in enumerate(self.WAYS):
            how = self.ENDS[number % len(self.ENDS)]
            with self.subTest(options=options, descriptor=descriptor, how=how):
                fifo = self.folder / "rank.0.out" if kind == "fifo" else None
                if fifo:
                    os.mkfifo(fifo)
                    options = [*options, "--output-dir", self.folder]
                self.start(*(["--timeout", "2"] if how == "timeout" else []), *map(str, options), descriptor=descriptor, fifo=fifo,
                           terminal=kind == "terminal")
                self.wait_until_stuck(KEPT)
                code = self.end(how)
                text = self.rest()
                self.assertEqual(self.job.wait(), code)
                self.assertIn(self.word(0) - self.assert_lines(text, KEPT), (0, -1))
                if fifo:
                    self.assertNotIn(b"lost", self.job.stderr.read())
                self.clean()

    def test_a_reader_that_never_goes_on(self):
        for how in (signal.SIGTERM, "timeout"):
            with self.subTest(how=how):
                self.start("--ranks", "processes", *(["--timeout", "2"] if how == "timeout" else []))
                self.wait_until_stuck(KEPT)
                code = self.end(how)
                self.assertEqual(self.job.wait(timeout=tool.HANGS), code)
                self.assertRegex(self.job.stderr.read().decode(), r"mpiexec: \d+ bytes of output are lost: what reads it has stopped reading\n")
                self.assert_lines(self.rest(), 10 * LINE)
                self.clean()

    def test_a_reader_that_is_a_child(self):
        """Of mpiexec, which a shell has become by exec: it is no process of the job."""
        command = f"exec {shlex.quote(str(tool.BIN / 'mpiexec'))} -n 2 echo word > >(sleep 0.3; cat; echo end)"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=tool.HANGS)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "word\nword\nend\n", ""))

    def test_one_that_goes_while_another_stands_still(self):
        """stderr is full, and its reader takes nothing: the job ends as soon as stdout cannot be written."""
        # Rank 1 writes to stderr only after rank 0 has: else both might stop there.
        script = ('[ "$PMI_RANK" = 0 ] || { while [ ! -e "$0" ]; do sleep 0.01; done; exec yes >&2; }; '
                  'yes | head -c 900000 >&2; : >"$0"; echo full; exec yes')  # fmt: skip
        with subprocess.Popen([str(tool.BIN / "mpiexec"), "--ranks", "processes", "-n", "2", "sh", "-c", script, str(self.folder / "full")], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:  # fmt: skip
            self.addCleanup(job.kill)
            self.assertEqual(job.stdout.readline(), b"full\n")
            job.stdout.close()
            self.assertEqual(job.wait(timeout=tool.HANGS), 141)
            self.assertGreater(len(os.read(job.stderr.fileno(), 1000)), 0)

    def test_a_second_signal(self):
        """Ends it at once; and a rank's failure is told before the reader goes on."""
        self.start("--ranks", "processes", keeps=True)
        self.addCleanup(os.close, self.its)
        before = fcntl.fcntl(self.its, fcntl.F_GETFL)
        self.wait_until_stuck(KEPT)
        # Others have the same open file description: what mpiexec changed there would change theirs.
        self.assertEqual(fcntl.fcntl(self.its, fcntl.F_GETFL), before)
        self.end("fail")
        self.assertIn(b"rank 1 of 2", self.job.stderr.readline())
        self.job.send_signal(signal.SIGINT)
        self.job.send_signal(signal.SIGTERM)
        self.assertEqual(self.job.wait(timeout=tool.HANGS), 3)


if __name__ == "__main__":
    unittest.main()
