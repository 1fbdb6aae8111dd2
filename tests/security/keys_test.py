"""Jobs whose launcher gives no stream: by hand, where this test plays the user, and by a stand-in for pbsdsh. An attacker has the network and an account."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
import cluster  # noqa: E402
from cluster import CLUSTER, on, processes, tool, words_of  # noqa: E402
from listen_test import listening  # noqa: E402

setUpModule = cluster.skip_without_hosts
ATTACKER = pathlib.Path(__file__).resolve().with_name("attacker.py")
HOSTS = ("h0", "h1", "h2", "h3")
RING = tool.BIN / "cluster_ring"

# As pbsdsh -n: starts a task on the host of that line of the list. Tasks have no standard input, the environment of the batch system, and no shell between; what
# they write goes to the job's file of output.
PBSDSH = """#!/bin/sh
[ "$1" = -n ] || exit 2
host=$(sed -n "$(($2 + 1))p" "$PBS_NODEFILE")
shift 2
[ "$1" = -- ] && shift
%(before)s
exec env -i HOME="$HOME" PATH=/usr/sbin:/usr/bin:/sbin:/bin %(hosts)s run %(cluster)s "$host" "$@" </dev/null >>%(output)s 2>&1
"""


def command_lines() -> str:
    return "\n".join(" ".join(words_of(pid)) for host in HOSTS for pid in processes(host))


class Terminal:
    """A terminal, and a process whose terminal it is."""

    def __init__(self, case, words, **options):
        self.master, slave = pty.openpty()
        case.addCleanup(os.close, self.master)

        def own():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(words, preexec_fn=own, text=True, **{name: slave for name in options.pop("on_it", ())}, **options)
        # Kept: a terminal that no process has open gives no more bytes.
        case.addCleanup(os.close, slave)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)
        self.text = ""

    def read_until(self, pattern: str) -> re.Match:
        end = time.monotonic() + tool.HANGS
        while not (found := re.search(pattern, self.text)):
            if select.select([self.master], [], [], 0.1)[0]:
                self.text += os.read(self.master, 1 << 12).decode(errors="replace")
            elif self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"'{pattern}' does not come, code {self.process.returncode}: {self.text}")
        return found

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())


class Case(cluster.Case):
    def attacker(self, host: str, *words: object) -> subprocess.Popen:
        """He is ready."""
        began = subprocess.Popen(on(host, sys.executable, ATTACKER, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(began.wait)
        self.addCleanup(began.stdout.close)
        self.addCleanup(began.stdin.close)
        self.addCleanup(began.kill)
        self.assertEqual(began.stdout.readline(), "there\n")
        return began

    def end(self, *attackers: subprocess.Popen) -> None:
        for one in attackers:
            one.kill()
            one.wait()

    def assert_only_ranks_listen(self) -> None:
        there = [(host, name, address, port) for host in HOSTS[:3] for _, name, address, port in listening(host)]
        self.assertTrue(there)
        self.assertTrue(all(name.startswith("rank") for _, name, _, _ in there), there)


class Manual(Case):
    def job(self, *words: object, environment: dict = {}) -> None:
        """It has told the user what to type."""
        self.terminal = Terminal(self, on("h0", tool.BIN / "mpiexec", "--launcher", "manual", *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env={**os.environ, **environment})
        self.mpiexec = self.terminal.process
        self.key = self.terminal.read_until(r"  key:  ([0-9a-f]{64})\r\n").group(1)
        self.commands = dict(re.findall(r"  on (\S+):  (.*)\r\n", self.terminal.text))
        self.address, self.port = re.search(r"--join (\S+)@(\d+)", self.terminal.text).groups()

    def proxy(self, host: str, at=None, key=None, name=None, **options) -> subprocess.Popen:
        """The user types the command on a host, and gives it the key by a pipe; `at`: an attacker has changed where it is to connect."""
        command = self.commands[name or host]
        if at is not None:
            command = re.sub(r"--join \S+", f"--join {at}", command)
        began = subprocess.Popen(on(host, "sh", "-c", command), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(began.wait)
        self.addCleanup(began.stderr.close)
        self.addCleanup(began.kill)
        began.stdin.write((key or self.key) + "\n")
        began.stdin.close()
        return began

    def assert_runs(self, ranks: int) -> None:
        out, errors = tool.end_of(self.mpiexec)
        self.assertEqual((self.mpiexec.returncode, sorted(line[:3] for line in out.splitlines())), (0, [f"{rank} {ranks}" for rank in range(ranks)]), errors)
        self.assertNotIn(self.key, out + errors)

    def test_a_job_by_hand(self):
        """On one host the key is typed at a terminal, which does not show it."""
        self.job("--host", "h1,h2", "-n", 4, tool.program("show"))
        self.assertEqual(set(self.commands), {"h1", "h2"})
        self.assertEqual(self.address, "10.77.0.1")
        typed = Terminal(self, on("h1", "sh", "-c", self.commands["h1"]), on_it=("stdin", "stdout", "stderr"))
        typed.read_until("the job's key: ")
        self.assertNotIn(self.key, command_lines())
        self.assertIn(f"{self.address}@{self.port}", command_lines())
        typed.type(self.key + "\r")
        typed.read_until("this host has joined the job")
        self.assertNotIn(self.key, typed.text)
        self.proxy("h2")
        self.assert_runs(4)

    def test_nothing_of_mpiexec_listens_when_ranks_run(self):
        self.job("--host", "h1,h2", "-n", 4, RING, 250)
        self.assertIn(("mpiexec", "10.77.0.1", int(self.port)), [one[1:] for one in listening("h0")])
        for host in self.commands:
            self.proxy(host)
        self.assertEqual(self.mpiexec.stdout.readline(), "begun\n")
        self.assert_only_ranks_listen()
        self.mpiexec.terminate()
        tool.end_of(self.mpiexec)
        self.assertEqual(self.mpiexec.returncode, 128 + signal.SIGTERM)

    def test_this_host_needs_no_hands(self):
        self.job("--host", "h0,h1", "-n", 2, tool.program("show"))
        self.assertEqual(set(self.commands), {"h1"})
        self.proxy("h1")
        self.assert_runs(2)

    def test_a_wrong_key_is_refused_at_once(self):
        self.job("--host", "h1", "-n", 1, tool.program("show"))
        wrong = self.proxy("h1", key="0" * 64)
        said = wrong.stderr.read()
        self.assertEqual(wrong.wait(), 1)
        self.assertIn("10.77.0.1 port", said)
        self.assertIn("does not know the job's key", said)
        none = self.proxy("h1", key="what?")
        self.assertIn("this is not a job's key", none.stderr.read())
        self.proxy("h1")
        self.assert_runs(1)

    def test_the_prefix_is_in_the_command(self):
        there = self.folder() / "clump"
        there.symlink_to(tool.BUILD)
        self.job("--prefix", there, "--host", "h1", "-n", 1, tool.program("show"))
        self.assertTrue(self.commands["h1"].startswith(f"{there}/bin/mpiexec --proxy 0 --join "), self.commands)
        self.mpiexec.terminate()
        self.mpiexec.wait(tool.HANGS)
        self.mpiexec.stdout.close()
        self.mpiexec.stderr.close()

    def test_without_a_terminal_it_says_so(self):
        done = self.run_job("--launcher", "manual", "--host", "h1", "-n", 1, tool.program("show"), stdin=subprocess.DEVNULL, start_new_session=True)
        self.assertEqual(done.returncode, 126, done)
        self.assertIn("there is no terminal on which the job's key could be shown", done.stderr)

    def test_the_port_is_on_the_interface_that_is_named(self):
        cluster.ip("h0", "addr", "add", "10.78.0.1/24", "dev", "eth0", "label", "eth0")
        self.addCleanup(cluster.ip, "h0", "addr", "del", "10.78.0.1/24", "dev", "eth0")
        self.job("--iface", "eth0", "--host", "h1", "-n", 1, tool.program("show"))
        self.assertEqual(self.address, "10.77.0.1,10.78.0.1")
        self.assertEqual({address for _, _, address, _ in listening("h0")}, {"10.77.0.1", "10.78.0.1"})
        self.proxy("h1")
        self.assert_runs(1)
        done = self.run_job("--launcher", "manual", "--iface", "none0", "--host", "h1", "-n", 1, tool.program("show"), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 126, done)
        self.assertIn("--iface none0: ", done.stderr)

    def test_a_host_that_is_lost_is_named(self):
        self.job("--host", "h1,h2", "-n", 4, RING, 250)
        proxies = {host: self.proxy(host) for host in self.commands}
        self.assertEqual(self.mpiexec.stdout.readline(), "begun\n")
        [proxy] = [pid for pid in processes("h2") if cluster.name_of(pid) == "mpiexec"]
        os.kill(proxy, signal.SIGKILL)
        _, errors = tool.end_of(self.mpiexec)
        self.assertEqual(self.mpiexec.returncode, 1, errors)
        self.assertIn("lost h2: its proxy, or the connection to it, is gone", errors)
        proxies["h2"].wait()

    def test_strangers_at_the_port_keep_no_host_out(self):
        self.job("--host", "h1,h2", "-n", 4, tool.program("show"))
        attackers = [self.attacker("h3", "flood", self.address, self.port, 500) for _ in range(3)]
        for host in self.commands:
            self.proxy(host)
        self.assert_runs(4)
        self.end(*attackers)

    def test_a_false_listener_is_refused(self):
        """He answers faster than mpiexec, at an address to which the proxy connects, too."""
        folder = self.folder()
        self.job("--host", "h1", "-n", 2, tool.program("show"), environment={"KEYS_SECRET": "a-secret-of-the-user"})
        attacker = self.attacker("h3", "lie", self.port, folder)
        refused = self.proxy("h1", at=f"10.77.0.4@{self.port}")
        self.assertIn("does not know the job's key", refused.stderr.read())
        self.assertEqual(refused.wait(), 1)
        self.proxy("h1", at=f"10.77.0.4,10.77.0.1@{self.port}")
        self.assert_runs(2)
        heard = (folder / "heard").read_bytes()
        self.assertGreaterEqual(len(heard), 48)
        self.assertEqual(len(heard) % 48, 0)  # he was told the number of a host, and numbers that change each time
        self.assertEqual(heard[:16], b"clump-join 1" + bytes(4))
        self.end(attacker)

    def test_a_listener_at_an_address_that_all_hosts_have(self):
        """As that of a bridge for containers. mpiexec does not know the name of the host, and so tells all of its own addresses."""
        for host in ("h0", "h1"):
            cluster.ip(host, "addr", "add", "10.88.0.1/32", "dev", "lo")
            self.addCleanup(cluster.ip, host, "addr", "del", "10.88.0.1/32", "dev", "lo")
        folder = self.folder()
        self.job("--host", "hx", "-n", 2, tool.program("show"))
        self.assertEqual(sorted(self.address.split(",")), ["10.77.0.1", "10.88.0.1"])
        attacker = self.attacker("h1", "lie", self.port, folder)
        self.proxy("h1", name="hx")
        self.assert_runs(2)
        self.assertIn(b"clump-join 1", (folder / "heard").read_bytes())
        self.end(attacker)

    def relayed(self, *words: object):
        """A job, a man in the middle between mpiexec and its only other host, and where he writes what passes him."""
        folder = self.folder()
        self.job("--host", "h1", *words, environment={"KEYS_SECRET": "a-secret-of-the-user"})
        attacker = self.attacker("h3", "relay", self.port, self.address, self.port, folder)
        return attacker, folder / "wire", self.proxy("h1", at=f"10.77.0.4@{self.port}")

    def test_a_man_in_the_middle_reads_nothing(self):
        attacker, wire, _ = self.relayed("-n", 2, tool.program("show"), "words-of-the-user")
        self.assert_runs(2)
        passed = wire.read_bytes()
        self.assertGreater(len(passed), 1000)
        for secret in (b"a-secret", b"words-of", b"mpiexec", b"KEYS_SECRET", self.key.encode()):
            self.assertNotIn(secret, passed)
        self.end(attacker)

    def test_a_connection_that_is_taken_over_is_not_obeyed(self):
        for attack in ("inject", "reflect"):
            with self.subTest(attack):
                attacker, _, proxy = self.relayed("-n", 2, RING, 250)
                self.assertEqual(self.mpiexec.stdout.readline(), "begun\n")
                attacker.stdin.write(attack + "\n")
                attacker.stdin.flush()
                _, errors = tool.end_of(self.mpiexec)
                self.assertEqual(self.mpiexec.returncode, 1, errors)
                self.assertIn("lost h1: ", errors)
                self.assertIn("what mpiexec has sent is no message", proxy.stderr.read())
                self.end(attacker)


class Pbs(Case):
    def setUp(self):
        self.place = self.folder()
        self.place.chmod(0o755)
        self.home = self.place / "home"
        self.home.mkdir(mode=0o755)
        self.nodes = self.place / "nodes"
        self.nodes.write_text("h0\nh0\nh1\nh1\nh2\nh2\n")
        self.output = self.place / "output"

    def stand_in(self, before: str = "") -> None:
        path = self.place / "pbsdsh"
        places = {"hosts": cluster.hosts.SCRIPT, "cluster": CLUSTER, "output": self.output}
        path.write_text(PBSDSH % {"before": before, **{name: shlex.quote(str(place)) for name, place in places.items()}})
        path.chmod(0o755)

    def start_job(self, *words: object, launcher=("--launcher", "pbs")) -> subprocess.Popen:
        environment = {**os.environ, "PATH": f"{self.place}:{os.environ['PATH']}", "HOME": str(self.home), "PBS_NODEFILE": str(self.nodes), "PBS_JOBID": "1.h0"}
        job = subprocess.Popen(cluster.mpiexec(*launcher, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def key_files(self) -> list:
        return [*self.home.glob(".clump-key-*/key")]

    def test_a_job_of_pbs(self):
        """Its key is seen by no other user, on no command line, and is gone when all hosts have come."""
        self.stand_in(f'for i in $(seq 100); do cat "$HOME"/.clump-key-*/key >"{self.place}/copy" 2>/dev/null && break; sleep 0.05; done')
        job = self.start_job("--host", "h0,h1,h2", "-n", 6, RING, 250)
        self.assertEqual(job.stdout.readline(), "begun\n", self.output.read_text() if self.output.exists() else "")
        key = (self.place / "copy").read_text().split()[0]
        self.assertRegex(key, "^[0-9a-f]{64}$")
        self.assertNotIn(key, command_lines())
        self.assertEqual([*self.home.iterdir()], [])
        self.assert_only_ranks_listen()
        job.terminate()
        out, errors = tool.end_of(job)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM, errors)
        self.assertNotIn(key, out + errors + self.output.read_text())

    def held_up(self) -> subprocess.Popen:
        """A job whose hosts do not come until the file `go` is there; its key is in its file."""
        self.stand_in(f"while [ ! -e {self.place}/go ]; do sleep 0.05; done")
        job = self.start_job("--host", "h1,h2", "-n", 2, tool.program("show"))
        self.assertEqual(len(self.wait_for(self.key_files)), 1)
        return job

    def assert_runs(self, job: subprocess.Popen) -> None:
        (self.place / "go").touch()
        out, errors = tool.end_of(job)
        self.assertEqual((job.returncode, sorted(line[:3] for line in out.splitlines())), (0, ["0 2", "1 2"]), errors)
        self.assertEqual([*self.home.iterdir()], [])

    def test_another_user_cannot_read_the_key(self):
        job = self.held_up()
        [file] = self.key_files()
        self.assertEqual((file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777), (0o600, 0o700))
        tries = subprocess.run(["cat", str(file)], user=65534, group=65534, extra_groups=[], capture_output=True, text=True)
        self.assertNotEqual(tries.returncode, 0)
        self.assertIn("Permission denied", tries.stderr)
        self.assert_runs(job)

    def test_the_key_goes_with_mpiexec(self):
        job = self.held_up()
        [mpiexec] = [pid for pid in processes("h0") if words_of(pid)[:1] == [str(tool.BIN / "mpiexec")] and "--launcher" in words_of(pid) and
                     cluster.name_of(pid) == "mpiexec"]
        os.kill(mpiexec, signal.SIGKILL)
        self.assertEqual(self.wait_for(lambda: [*self.home.iterdir()] == [] and "gone"), "gone")
        tool.end_of(job)

    def test_strangers_at_the_port_keep_no_host_out(self):
        job = self.held_up()
        where = self.key_files()[0].read_text().split()[1]
        address, port = where.split("@")
        self.assertEqual(address, "10.77.0.1")
        attackers = [self.attacker("h3", "flood", address, port, 500) for _ in range(3)]
        self.assert_runs(job)
        self.end(*attackers)

    def test_a_key_of_another_user_is_not_used(self):
        """He has put a file in its place, and has a listener: the proxy does not follow."""
        job = self.held_up()
        [file] = self.key_files()
        attacker = self.attacker("h3", "lie", 7007, self.place)
        file.unlink()
        file.write_text("0" * 64 + " 10.77.0.4@7007\n")
        file.chmod(0o600)
        os.chown(file, 65534, 65534)
        (self.place / "go").touch()
        _, errors = tool.end_of(job)
        self.assertEqual(job.returncode, 126, errors)
        self.assertIn("pbsdsh", errors)
        self.assertIn("is not a file of this user alone", self.output.read_text())
        self.assertFalse((self.place / "heard").exists())
        self.end(attacker)

    def test_a_host_that_pbs_has_not_given_is_named(self):
        self.stand_in()
        job = self.start_job("--host", "h1,h3", "-n", 2, tool.program("show"))
        _, errors = tool.end_of(job)
        self.assertEqual(job.returncode, 126, errors)
        self.assertIn("h3", errors)
        self.assertIn("PBS_NODEFILE", errors)

    def test_a_task_that_cannot_begin_is_told(self):
        self.stand_in('[ "$host" = h1 ] || { echo "pbsdsh: task not spawned" >&2; exit 3; }')
        job = self.start_job("--host", "h1,h2", "-n", 2, tool.program("show"))
        _, errors = tool.end_of(job)
        self.assertEqual(job.returncode, 126, errors)
        self.assertIn("h2: pbsdsh does not reach it (exit code 3): pbsdsh: task not spawned", errors)
        self.assertEqual([*self.home.iterdir()], [])


if __name__ == "__main__":
    unittest.main()
