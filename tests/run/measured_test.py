"""measured: what it writes, and that it ends as its command does. CLUMP_MEASURED names it."""

import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

MEASURED = os.environ["CLUMP_MEASURED"]


class Measured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "seconds"

    def run_it(self, *command):
        return subprocess.run([MEASURED, self.file, *command], capture_output=True, text=True).returncode

    def test_exit_code(self):
        self.assertEqual(self.run_it("sh", "-c", "exit 7"), 7)

    def test_signal(self):
        self.assertEqual(self.run_it("sh", "-c", "kill -TERM $$"), -signal.SIGTERM)

    def test_time_of_children_is_counted(self):
        used = "import resource, time\nwhile time.process_time() < 0.3: pass"
        self.assertEqual(self.run_it("sh", "-c", f"python3 -c '{used}'; true"), 0)
        self.assertGreaterEqual(sum(map(float, self.file.read_text().split())), 0.3)

    def test_no_such_command(self):
        self.assertEqual(self.run_it("/nonexistent/command"), 127)

    def test_an_earlier_file_goes_first(self):
        self.file.write_text("9 9\n")
        self.assertEqual(self.run_it("sh", "-c", f"test ! -e {self.file}"), 0)

    def test_a_killed_one_takes_its_command_along(self):
        with subprocess.Popen([MEASURED, self.file, "sh", "-c", "echo $$; exec sleep 600"], stdout=subprocess.PIPE, text=True) as measured:
            child = int(measured.stdout.readline())
            measured.kill()
        deadline = time.monotonic() + 60
        while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]:
            self.assertLess(time.monotonic(), deadline, f"process {child} still runs")
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
