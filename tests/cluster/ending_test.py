"""How jobs on several hosts are ended from outside, by a signal or by --timeout, whatever ssh and the hosts do at that time; and what
they do with a large environment, or that of another job."""

import os
import pathlib
import pty
import select
import signal
import subprocess
import time
import unittest

import cluster
from agents import Agent
from cluster import LIMIT, mpiexec, name_of, on, processes, send, tool

setUpModule = cluster.skip_without_hosts

MOST = LIMIT  # from what ends a job to its end


class Ending(cluster.Case):
    def begin(self, command: list) -> subprocess.Popen:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        return job

    def end(self, job: subprocess.Popen, seconds: float = MOST) -> str:
        _, errors = tool.end_of(job, limit=seconds)
        self.assert_nothing_left()
        return errors

    def starts(self, *programs: str):
        """Waits for these on h0."""
        self.assertTrue(self.wait_for(lambda: set(programs) <= {name_of(pid) for pid in processes("h0")}))

    def test_ssh_hangs(self):
        for hosts in {"h1": "hangs"}, {"h1": "hangs", "h2": "hangs"}:
            agent = Agent(self, **hosts)
            with self.subTest("timeout", hosts=hosts):
                job = self.begin(agent.mpiexec("--timeout", 2, "--host", "h0,h1,h2", "-n", 3, "hostname"))
                errors = self.end(job, 2 + MOST)
                self.assertEqual(job.returncode, 124, errors)
                self.assertIn("mpiexec: the job has not ended within 2 s (--timeout): ending it", errors)
            for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
                with self.subTest(signal=number, hosts=hosts):
                    job = self.begin(agent.mpiexec("--host", "h0,h1,h2", "-n", 3, "hostname"))
                    self.starts("sleep")
                    job.send_signal(number)
                    errors = self.end(job)
                    self.assertEqual(job.returncode, 128 + number, errors)
                    self.assertIn(f"mpiexec: the job was ended by {number.name}", errors)
        with self.subTest("mpiexec is killed"):
            job = self.begin(agent.mpiexec("--host", "h0,h1,h2", "-n", 3, "hostname"))
            self.starts("sleep")
            job.kill()
            self.end(job)

    def test_ssh_dies(self):
        job = self.begin(Agent(self, h2="dies").mpiexec("--host", "h0,h1,h2", "-n", 3, tool.program("busy")))
        errors = self.end(job, 2 + MOST)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("h2", errors)

    def test_ssh_fails(self):
        job = self.begin(Agent(self, h1="fails").mpiexec("--host", "h0,h1,h2", "-n", 3, "hostname"))
        errors = self.end(job)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("Connection refused", errors)

    def test_ssh_talks(self):
        job = self.begin(Agent(self, h1="talks").mpiexec("--host", "h0,h1,h2", "-n", 3, "hostname"))
        out, errors = tool.end_of(job)
        self.assertEqual((job.returncode, errors, sorted(out.split())), (0, "", ["h0", "h1", "h2"]))

    def test_from_the_first_moment_on(self):
        for delay in 0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5:
            for number in signal.SIGTERM, signal.SIGINT:
                with self.subTest(delay=delay, signal=number):
                    job = self.begin(mpiexec("--host", "h0,h1,h2", "-n", 3, tool.program("busy")))
                    self.wait_for(lambda: "mpiexec" in {name_of(pid) for pid in processes("h0")})
                    time.sleep(delay)
                    job.send_signal(number)
                    errors = self.end(job)
                    if job.returncode != -number:  # it was no more than begun
                        self.assertEqual(job.returncode, 128 + number, errors)

    def test_a_signal_in_the_middle(self):
        for hosts in "h0,h1,h2", "h1":
            for number in signal.SIGTERM, signal.SIGINT:
                with self.subTest(hosts=hosts, signal=number):
                    job = self.start("--host", hosts, "-n", 6)
                    job.send_signal(number)
                    errors = self.end(job)
                    self.assertEqual(job.returncode, 128 + number, errors)
                    self.assertEqual(errors.count(f"mpiexec: the job was ended by {number.name}"), 1, errors)
                    if number == signal.SIGTERM:
                        self.assertRegex(errors, r"where the ranks were:\n.*rank.*MPI_")

    def test_timeout_in_the_middle(self):
        for hosts in "h0,h1,h2", "h1":
            with self.subTest(hosts=hosts):
                job = self.begin(mpiexec("--timeout", 10, "--host", hosts, "-n", 6, tool.program("busy")))
                errors = self.end(job, 10 + MOST)
                self.assertEqual(job.returncode, 124, errors)
                self.assertEqual(errors.count("mpiexec: "), 1, errors)
                self.assertRegex(errors, r"mpiexec: the job has not ended within 10 s \(--timeout\): ending it; where the ranks were:\n.*rank.*MPI_")

    def test_ranks_that_handle_the_signal(self):
        """They have time for that, though those of other hosts have ended at once; and they have a say."""
        def script(code):
            return f'if [ $PMI_RANK = 0 ]; then trap "sleep 2; echo saved; exit {code}" TERM; fi; echo ready; while :; do sleep 0.1; done'
        for code, expected in (3, 3), (0, 143):
            with self.subTest(code=code):
                job = self.begin(mpiexec("--host", "h1,h2", "-n", 2, "sh", "-c", script(code)))
                self.assertEqual([job.stdout.readline() for _ in range(2)], ["ready\n"] * 2)
                job.send_signal(signal.SIGTERM)
                self.assertEqual(job.stdout.readline(), "saved\n")
                errors = self.end(job)
                self.assertIn(job.returncode, (expected, 143), errors)

    def ignored(self, times: int) -> int:
        """How far ranks count, in tenths of a second, that ignore a signal, which is sent so often. How long the job takes to end says less: ending
        it takes seconds in any case."""
        count = 'trap "" TERM INT; echo ready; while :; do echo; sleep 0.1; done'
        job = self.begin(mpiexec("--host", "h1,h2", "-n", 2, "sh", "-c", count))
        ready = 0
        while ready < 2:
            line = job.stdout.readline()
            self.assertIn(line, ("ready\n", "\n"))
            ready += line == "ready\n"
        for time_of_it in range(times):
            time.sleep(1.3 * time_of_it)  # within a second it is the same request
            job.send_signal(signal.SIGINT)
        out, errors = tool.end_of(job, limit=MOST)
        self.assertEqual(job.returncode, 128 + signal.SIGINT, errors)
        self.assert_nothing_left()
        return len(out)

    def test_ranks_that_ignore_the_signal(self):
        job = self.begin(mpiexec("--host", "h1,h2", "-n", 2, "sh", "-c", 'trap "" TERM; echo ready; while :; do sleep 0.1; done'))
        self.assertEqual([job.stdout.readline() for _ in range(2)], ["ready\n"] * 2)
        job.send_signal(signal.SIGTERM)
        errors = self.end(job)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM, errors)

    def test_a_host_stands_still(self):
        for number in signal.SIGTERM, signal.SIGINT:
            with self.subTest(signal=number):
                job = self.start("--host", "h0,h1,h2", "-n", 6)
                there = processes("h2")
                send(there, signal.SIGSTOP)
                try:
                    job.send_signal(number)
                    _, errors = tool.end_of(job, limit=MOST)
                finally:
                    send(there, signal.SIGCONT)
                self.assertEqual(job.returncode, 128 + number, errors)
                self.assert_nothing_left()

    def test_asked_twice(self):
        once = self.ignored(1)
        self.assertGreater(once, 20)  # two ranks have 5 s to end
        self.assertLess(self.ignored(2), once / 2)

    def test_the_first_failure_is_told_first_and_gives_the_exit_code(self):
        """h1 ends later than h2, because it has another rank, which does not take SIGTERM."""
        pid = self.folder() / "pid"
        first = ["sh", "-c", f"echo $$ >{pid}.new; mv {pid}.new {pid}; sleep 1; exit 7"]
        second = ["sh", "-c", f"while [ ! -e {pid} ]; do sleep 0.05; done; tail --pid=$(cat {pid}) -s 0.02 -f /dev/null; sleep 0.3; exit 9"]
        stays = ["sh", "-c", "trap '' TERM; sleep 100"]
        job = self.run_job("--host", "h1:2,h2:1", "-n", 1, *first, ":", "-n", 1, *stays, ":", "-n", 1, *second)
        self.assertRegex(job.stderr, r"\Ampiexec: rank 0 of 3 on h1 ended with exit code 7\b")
        self.assertEqual(job.returncode, 7, job)


class Terminals(cluster.Case):
    """What a terminal sends goes to all processes of its foreground group, to launchers like ssh, too: these leave it to mpiexec."""

    def on_terminal(self, *words: object, env=None) -> tuple:
        mine, its = pty.openpty()
        job = subprocess.Popen(["setsid", "--ctty", *mpiexec(*words)], stdin=its, stdout=its, stderr=its, env=env)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        os.close(its)
        self.addCleanup(os.close, mine)
        return job, mine

    def read_until(self, terminal: int, text: str) -> str:
        said = ""
        while text not in said:
            self.assertTrue(select.select([terminal], [], [], LIMIT)[0], said)
            try:
                said += os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                self.fail(f"no {text!r} in {said!r}")
        return said

    def test_ssh_asks_for_a_password(self):
        env = self.agent('[ "$1" != h1 ] || { printf "password: " >/dev/tty; read -r word </dev/tty; [ "$word" = secret ] || exit 255; }')
        job, terminal = self.on_terminal("--host", "h1,h2", "-n", 2, "sh", "-c", "read line; echo read $line", env=env)
        self.read_until(terminal, "password: ")
        os.write(terminal, b"secret\n")
        time.sleep(0.5)
        os.write(terminal, b"a line of the first rank\n")
        self.read_until(terminal, "read a line of the first rank")
        self.assertEqual(job.wait(LIMIT), 0)

    def test_ctrl_c(self):
        script = 'trap "echo heard; exit 3" INT; echo ready; while :; do sleep 0.1; done'
        job, terminal = self.on_terminal("--host", "h0,h1,h2", "-n", 3, "sh", "-c", script)
        self.read_until(terminal, "ready\r\nready\r\nready")
        os.write(terminal, b"\x03")
        said = self.read_until(terminal, "mpiexec: the job was ended by SIGINT")
        self.assertEqual(said.count("heard"), 3, said)
        self.assertEqual(job.wait(LIMIT), 3)

    def test_ctrl_z(self):
        script = 'trap "echo heard; exit 0" USR1; echo ready; while :; do sleep 0.1; done'
        job, terminal = self.on_terminal("--host", "h1,h2", "-n", 2, "sh", "-c", script)
        self.read_until(terminal, "ready\r\nready")
        own = next(pid for pid in processes("h0") if name_of(pid) == "mpiexec")
        state = lambda: pathlib.Path(f"/proc/{own}/stat").read_text().rpartition(")")[2].split()[0]
        os.kill(own, signal.SIGTSTP)  # setsid has made its group an orphan, which a terminal does not stop
        self.assertTrue(self.wait_for(lambda: state() == "T"))
        time.sleep(8)  # longer than it waits for a silent host
        os.kill(own, signal.SIGCONT)
        time.sleep(0.5)
        os.kill(own, signal.SIGUSR1)
        self.read_until(terminal, "heard\r\nheard")
        self.assertEqual(job.wait(LIMIT), 0)

    def test_timeout_ends_its_group(self):
        script = 'trap "echo saved; exit 3" TERM; echo ready; while :; do sleep 0.1; done'
        words = mpiexec("--host", "h1,h2", "-n", 2, "sh", "-c", script)
        job = subprocess.run(["timeout", "4", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual((job.returncode, job.stdout), (124, "ready\n" * 2 + "saved\n" * 2), job)


class Environment(cluster.Case):
    def test_large_variables(self):
        environment = {**os.environ, **{f"LARGE_{i}": str(i) * 100_000 for i in range(7)}}
        job = self.run_job("--host", "h0,h1", "-n", 2, "sh", "-c", "echo ${#LARGE_0} ${#LARGE_6}", env=environment)
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "100000 100000\n" * 2, ""))

    def test_many_parts(self):
        environment = {**os.environ, "LARGE": "x" * 60_000}
        words = sum([[":", "-n", "1", "sh", "-c", f"echo part {i} ${{#LARGE}}"] for i in range(24)], [])[1:]
        job = self.run_job("--host", "h0,h1", *words, env=environment)
        self.assertEqual((job.returncode, job.stderr), (0, ""))
        self.assertEqual(sorted(job.stdout.splitlines()), sorted(f"part {i} 60000" for i in range(24)))

    def test_what_another_job_has_left(self):
        left = ["PRTE_MCA_ess=env", "PRTE_MCA_ess_base_nspace=prterun-a@0", "PRTE_MCA_prte_hnp_uri=x", "PRTE_LAUNCHED=1", "PMIX_NAMESPACE=x",
                "PMIX_RANK=1", "PMIX_SERVER_URI41=x;tcp4://127.0.0.1:1", "PMIX_SERVER_TMPDIR=/nowhere", "PMIX_PREFIX=/nowhere"]
        job = subprocess.run(on("h0", "env", *left, tool.BIN / "mpiexec", "--host", "h0,h1", "-n", 2, "hostname"), capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=240, check=False)
        self.assertEqual((job.returncode, sorted(job.stdout.split()), job.stderr), (0, ["h0", "h1"], ""))


if __name__ == "__main__":
    unittest.main()
