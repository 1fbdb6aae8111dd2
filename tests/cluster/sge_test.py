"""mpiexec in jobs of SGE (Grid Engine): one of three hosts (hosts.sh) with daemons of its own, and `qrsh -inherit`. Skipped where there is no SGE."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import CLUSTER, hosts, name_of, processes, send, tool, words_of

NODES = ("h0", "h1", "h2")
SGE = pathlib.Path("/usr/lib/gridengine")
SHARED = pathlib.Path("/usr/share/gridengine")

BOOTSTRAP = """\
admin_user none
default_domain none
ignore_fqdn false
spooling_method classic
spooling_lib libspoolc
spooling_params {root}/default/common;{root}/spool
binary_path {sge}
qmaster_spool_dir {root}/spool
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
jvm_threads 0
"""
ENVIRONMENT = """\
pe_name mpi
slots 99
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule 1
control_slaves TRUE
job_is_first_task FALSE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
"""


def changed(text: str, **values: object) -> str:
    """Lines "NAME VALUE" with other values."""
    for name, value in values.items():
        text = re.sub(rf"(?m)^{name} .*$", f"{name} {value}", text)
    return text


def setUpModule() -> None:
    if not pathlib.Path(CLUSTER, "agent").exists():
        sys.exit(77)
    missing = [name for name in ("sge_qmaster", "sge_execd", "qrsh", "qsub", "spoolinit") if not (SGE / name).exists()]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (Debian: gridengine-master gridengine-exec gridengine-client)")
        sys.exit(77)


class Sge(tool.Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="clump-sge-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        cls.root.chmod(0o755)
        common = cls.root / "default" / "common"
        for folder in (common, cls.root / "spool", cls.root / "execd", cls.root / "bin", cls.root / "utilbin", *(cls.root / f"tmp.{node}" for node in NODES)):
            folder.mkdir(parents=True)
        (cls.root / "util").symlink_to(SHARED / "util")
        for folder in "bin", "utilbin":
            (cls.root / folder / "lx-amd64").symlink_to(SGE)
        (common / "bootstrap").write_text(BOOTSTRAP.format(root=cls.root, sge=SGE))
        (common / "act_qmaster").write_text("h0\n")
        configuration = cls.file("configuration", changed((SHARED / "default-configuration").read_text(), execd_spool_dir=cls.root / "execd", min_uid=0, min_gid=0))
        cls.command("spoolinit", "classic", "libspoolc", f"{common};{cls.root}/spool", "init")
        cls.command("spooldefaults", "configuration", configuration)
        for what, named in ("complexes", "centry"), ("usersets", "usersets"):
            cls.command("spooldefaults", what, SHARED / "util" / "resources" / named)
        cls.command("spooldefaults", "managers", "root")
        cls.start("h0", "sge_qmaster")
        cls.wait_for(lambda: cls.command("qconf", "-sh").returncode == 0, "qmaster")
        cls.command("qconf", "-ah", ",".join(NODES))
        cls.command("qconf", "-as", ",".join(NODES))
        cls.command("qconf", "-Ap", cls.file("environment", ENVIRONMENT))
        scheduler = changed(cls.command("qconf", "-ssconf").stdout, schedule_interval="0:0:1", flush_submit_sec=1, flush_finish_sec=1)
        cls.command("qconf", "-Msconf", cls.file("scheduler", scheduler))
        temporary = ",".join([f"{cls.root}/tmp.h0", *(f"[{node}={cls.root}/tmp.{node}]" for node in NODES[1:])])
        queue = changed(cls.command("qconf", "-sq").stdout, qname="all.q", hostlist=" ".join(NODES), slots=2, pe_list="mpi", shell="/bin/sh",
                        shell_start_mode="unix_behavior", load_thresholds="NONE", tmpdir=temporary)
        for node in NODES:
            cls.start(node, "sge_execd")
        cls.command("qconf", "-Aq", cls.file("queue", queue))
        cls.wait_for(lambda: cls.command("qstat", "-f").stdout.count("lx-amd64") == len(NODES) and "au" not in cls.command("qstat", "-f").stdout, "execd")

    @classmethod
    def file(cls, name: str, text: str) -> pathlib.Path:
        path = cls.root / name
        path.write_text(text)
        return path

    @classmethod
    def wait_for(cls, what, name: str) -> None:
        end = time.monotonic() + tool.HANGS
        while not what():
            if time.monotonic() > end:
                raise RuntimeError(f"{name} does not begin: {(cls.root / 'daemons.log').read_text()[-3000:]}")
            time.sleep(0.1)

    @classmethod
    def on(cls, host: str, program: str, *words: object) -> list:
        path = f"{SGE}:{os.environ['PATH']}"
        variables = (f"SGE_ROOT={cls.root}", "SGE_CELL=default", "SGE_QMASTER_PORT=6444", "SGE_EXECD_PORT=6445", "SGE_ND=1", f"PATH={path}")
        return [str(hosts.SCRIPT), "run", CLUSTER, host, "env", *variables, str(SGE / program), *map(str, words)]

    @classmethod
    def start(cls, host: str, program: str) -> None:
        with open(cls.root / "daemons.log", "a", encoding="utf8") as log:
            daemon = subprocess.Popen(cls.on(host, program), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.addClassCleanup(daemon.wait)
        cls.addClassCleanup(daemon.terminate)

    @classmethod
    def command(cls, program: str, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run(cls.on("h0", program, *words), capture_output=True, text=True, timeout=tool.HANGS)

    def job(self, script: str) -> subprocess.Popen:
        """A shell's script on the first of three hosts; `mpiexec` there is Clump's."""
        path = self.file("script", f'#!/bin/sh\nmpiexec() {{ "{tool.BIN}/mpiexec" -rmk sge "$@"; }}\n{script}\necho "code $?"\n')
        for name in "out", "err":
            self.file(name, "")
        words = ("-sync", "y", "-V", "-pe", "mpi", len(NODES), "-o", self.root / "out", "-e", self.root / "err", path)
        return subprocess.Popen(self.on("h0", "qsub", *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_job(self, script: str) -> tuple:
        said, _ = tool.end_of(self.job(script))
        self.assertIn("exited with exit code 0", said)
        *lines, code = (self.root / "out").read_text().splitlines()
        return int(code.removeprefix("code ")), sorted(lines), (self.root / "err").read_text()

    def of_jobs(self, host: str) -> list:
        return [pid for pid in processes(host) if name_of(pid) in ("mpiexec", "clump-supervise", "qrsh") or "launcher_busy" in " ".join(words_of(pid))]

    def test_hosts(self):
        self.assertEqual(self.run_job("mpiexec -n 3 hostname"), (0, ["h0", "h1", "h2"], ""))
        self.assertEqual(self.run_job("CLUMP_TREE_WIDTH=1 mpiexec -n 3 hostname"), (0, ["h0", "h1", "h2"], ""))
        self.assertEqual(self.run_job(f"mpiexec -n 6 {tool.BIN}/mpi_collectives_reductions"), (0, [], ""))

    def test_bytes_both_ways(self):
        data = "".join(f"{number}\n" for number in range(100_000)) + "no end of a line \x00\x01\x7f"
        given = self.file("data", data)
        code, lines, errors = self.run_job(f"""mpiexec -n 3 --stdin 1 sh -c '[ "$PMI_RANK" != 1 ] || {{ cat; echo; echo end >&2; }}' <{given}""")
        self.assertEqual((code, lines, errors), (0, sorted(data.split("\n")), "end\n"))

    def test_codes(self):
        code, lines, errors = self.run_job("mpiexec -n 3 sh -c 'exit $((PMI_RANK == 1 ? 7 : 0))'")
        self.assertEqual((code, lines, errors), (7, [], "mpiexec: rank 1 of 3 on h1 ended with exit code 7\n"))
        code, lines, errors = self.run_job("mpiexec --prefix /no/clump --host h0,nohost -n 2 hostname")
        self.assertEqual((code, lines), (126, []), errors)
        self.assertRegex(errors, r"^mpiexec: nohost: qrsh does not reach it \(exit code \d+\): .*\n")

    def test_kills(self):
        for victim in "qrsh", "proxy":
            with self.subTest(victim):
                job = self.job(f"mpiexec -n 3 {tool.program('busy')}")
                self.wait_for(lambda: "busy" in (self.root / "out").read_text(), "job")
                found = [pid for host in NODES for pid in processes(host)
                         if (name_of(pid) == "qrsh" if victim == "qrsh" else words_of(pid)[1:2] == ["--proxy"] and name_of(pid) == "mpiexec" and words_of(pid)[2] != "0")]
                send(found[:1], signal.SIGKILL)
                tool.end_of(job)
                self.assertRegex((self.root / "err").read_text(), r"mpiexec: lost h\d: its proxy, or the connection to it, is gone \(qrsh")
                self.wait_for(lambda: not any(self.of_jobs(host) for host in NODES), "the end")


if __name__ == "__main__":
    unittest.main()
