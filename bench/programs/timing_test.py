"""Is a run's time that of all that it starts, and does nothing of it stay?"""

import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import timing  # noqa: E402

SPIN = "import time; begin = time.process_time()\nwhile time.process_time() < begin + 0.2: pass"


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        timing.adopt_orphans()

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_shell(self, script, limit=200.0):
        return timing.run(["sh", "-c", script], self.folder, dict(os.environ), limit)

    def test_output_and_wall_time(self):
        timed = self.run_shell("echo one; echo two >&2; sleep 0.2")
        self.assertEqual(timed.output, "one\ntwo\n")
        self.assertGreaterEqual(timed.seconds, 0.2)
        self.assertLess(timed.processor, timed.seconds)

    def test_processor_time_of_children(self):
        self.assertGreaterEqual(self.run_shell(f"'{sys.executable}' -c '{SPIN}'; true").processor, 0.2)

    def test_processor_time_of_what_is_left_behind(self):
        script = f"(setsid '{sys.executable}' -c '{SPIN}\nprint(1, file=open(\"done\", \"w\")); time.sleep(1000)' &) ; while [ ! -e done ]; do sleep 0.05; done"
        timed = self.run_shell(script)
        self.assertGreaterEqual(timed.processor, 0.2)
        self.assertEqual(timing.children(), [])

    def test_a_session_of_its_own(self):
        self.run_shell("ps -o sid= -p $$ >sid 2>/dev/null || cut -d' ' -f6 /proc/$$/stat >sid")
        self.assertNotEqual(int((self.folder / "sid").read_text()), os.getsid(0))

    def test_time_limit(self):
        begin = time.monotonic()
        with self.assertRaisesRegex(timing.Failed, "did not end within 1 s"):
            self.run_shell("sleep 200 & sleep 200", limit=1)
        self.assertLess(time.monotonic() - begin, 150)  # 1 s is usual
        self.assertEqual(timing.children(), [])

    def test_exit_codes(self):
        with self.assertRaisesRegex(timing.Failed, "exit code 3: no such matrix"):
            self.run_shell("echo; echo no such matrix; exit 3")
        with self.assertRaisesRegex(timing.Failed, "ended by SIGKILL"):
            self.run_shell("kill -9 $$")


if __name__ == "__main__":
    unittest.main()
