"""The command line of mpiexec, with programs that do not use MPI."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import tool


class Options(tool.Case):
    def test_help_and_version(self):
        help_text = tool.run("--help")
        self.assertEqual(help_text.code, 0)
        for word in ("--tag-output", "-np", "--wdir", "--genv", "--timeout"):
            self.assertIn(word, help_text.out)
        self.assertRegex(tool.run("-V").out, r"^mpiexec \(Clump\) \d+\.\d+\.\d+\n$")
        self.assertEqual(tool.run("--version", tool="mpirun").code, 0)

    def test_number_of_ranks(self):
        for form in (["-n", "3"], ["-np", "3"], ["--np", "3"], ["-np=3"], ["--n", "3"]):
            self.assertEqual(tool.run(*form, "echo", "x").out, "x\nx\nx\n", form)
        self.assertEqual(tool.run("echo", "x").out, "x\n")

    def test_bad_numbers(self):
        self.assert_says(tool.run("-n", "0", "true"), 2, "-n 0: must be at least 1")
        self.assert_says(tool.run("-n", "-4", "true"), 2, "-n -4: must be at least 1")
        self.assert_says(tool.run("-n", "many", "true"), 2, "'many' is not a whole number")
        self.assert_says(tool.run("-n", "2x", "true"), 2, "'2x' is not a whole number")
        self.assert_says(tool.run("-n", "99999999999999999999", "true"), 2, "too large")

    def test_two_numbers_of_ranks(self):
        """-c is srun's for what each rank has of the machine. The same option again replaces the first."""
        self.assertEqual(tool.run("-n", "3", "-np", "2", "echo", "x").out, "x\nx\n")
        self.assert_says(tool.run("-n", "4", "-c", "2", "true"), 2, "-n 4 and -c 2: each is the number of ranks", "--cpus-per-task")
        self.assert_says(tool.run("-c", "2", "-n", "4", "true"), 2, "-c 2 and -n 4")
        self.assertEqual(tool.run("-c", "1", "echo", "x", ":", "-n", "1", "echo", "x").out, "x\nx\n")

    def test_a_trace_overwrites_no_program(self):
        """Intel MPI's -trace needs no word."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
            self.assert_says(tool.run("-trace", program, "echo", "x"), 2, f"{program} is a program, which the trace would overwrite", "-trace FILE.json")
            self.assertEqual(program.read_text(), "#!/bin/sh\n")

    def test_more_ranks_than_there_can_be(self):
        part = ["-n", "16777216", "true", ":"]
        self.assert_says(tool.run(*part, "-n", "1", "true"), 2, "16777217 ranks in all are too many: a job has at most 16777216")
        self.assert_says(tool.run(*part * 128, "true"), 2, "too many")  # 2^31
        self.assert_says(tool.run("--host", ",".join(f"h{n}" for n in range(128)), "--ppn", "16777216", "true"), 2, "2147483648 ranks in all are too many")
        self.assert_says(tool.run("-n"), 2, "-n needs a value")

    def test_no_program(self):
        self.assert_says(tool.run(), 2, "no program given", "--help")
        self.assert_says(tool.run("-n", "2"), 2, "no program given")
        self.assert_says(tool.run("-n", "1", "true", ":"), 2, "part 2", "names no program")
        self.assert_says(tool.run(":", "true"), 2, "part 1", "names no program")

    def test_unknown_option(self):
        self.assert_says(tool.run("--frobnicate", "true"), 2, "unknown option --frobnicate")
        self.assert_says(tool.run("--tag-ouput", "true"), 2, "did you mean --tag-output?")
        self.assert_says(tool.run("--genv=1", "true"), 2, "--genv=1")

    def test_options_end_at_the_program(self):
        self.assertEqual(tool.run("-n", "1", "echo", "-n2", "--help").out, "-n2 --help\n")
        self.assertEqual(tool.run("-n", "1", "--", "echo", "a").out, "a\n")

    def test_ignored_options_are_named_once(self):
        result = tool.run("--bind-to", "core", "--bind-to", "core", "-n", "1", "true", ":", "--bind-to", "core", "true")
        self.assert_says(result, 0, "option --bind-to core is ignored")
        self.assertEqual(result.err.count("--bind-to"), 1)
        quiet = tool.run("-q", "--mca", "btl", "self,vader", "--map-by", "node", "-ppn", "2", "-n", "3", "true")
        self.assertEqual((quiet.code, quiet.err), (0, ""))

    def test_hosts_are_checked(self):
        self.assert_says(tool.run("--host", "a:0", "true"), 2, "--host", "'a:0'", "behind ':'")
        self.assert_says(tool.run("--host", ":3", "true"), 2, "--host", "':3' is no host")
        self.assert_says(tool.run("--hostfile", "none", "true"), 2, "--hostfile none", "No such file")
        self.assert_says(tool.run("--host", "a,b", "--ppn", "2", "-n", "5", "true"), 2, "5 ranks on 2 hosts", "at most 4")
        self.assert_says(tool.run("--proxy"), 2, "not for users")

    def test_choice_of_collectives(self):
        chosen = tool.run("--coll", "allreduce=two-stage,broadcast=recursive", "true")
        self.assert_says(chosen, 2, "--coll broadcast=recursive: not an algorithm for broadcast", "binomial_tree", "flat")
        self.assert_says(tool.run("--coll", "reduction=flat", "true"), 2, "--coll reduction=flat", "reduce_scatter")
        self.assert_says(tool.run("--coll", "allreduce", "true"), 2, "--coll allreduce: not an algorithm")
        result = tool.run("--coll", "allreduce=two-stage,reduce-scatter=direct", "printenv", "CLUMP_ALLREDUCE_ALGORITHM")
        self.assertEqual((result.code, result.out), (0, "two_stage\n"))

    def test_this_host_needs_no_network(self):
        result = tool.run("--host", "localhost:1", "-n", "3", tool.program("show"))
        self.assertEqual((result.code, len(result.out.splitlines())), (0, 3), result)

    def test_programs_with_hosts_of_their_own_get_the_slots_of_these(self):
        result = tool.run("--host", "localhost:2", "echo", "a", ":", "--host", "127.0.0.1:1", "echo", "b")
        self.assertEqual((result.code, sorted(result.out.split())), (0, ["a", "a", "b"]), result)

    def test_other_hosts_need_ssh(self):
        result = tool.run("--host", "elsewhere", "true", env={"PATH": "/usr/bin:/bin", "PRTE_MCA_plm_ssh_agent": "/nonexistent"})
        self.assert_says(result, 126, "other hosts are reached by '/nonexistent'")

    def test_variables_of_other_launchers_do_no_harm(self):
        """To a job of one host: nothing that they name is looked for, and no other process is started."""
        stale = {"HYDRA_LAUNCHER": "no such", "HYDRA_BOOTSTRAP": "slurm", "HYDRA_LAUNCHER_EXEC": "/no/ssh", "HYDRA_BOOTSTRAP_EXEC": "/no/ssh", "HYDRA_RMK": "slurm",
                 "HYDRA_IFACE": "none0", "PRTE_MCA_plm_ssh_agent": "/no/ssh", "OMPI_MCA_plm_rsh_agent": "/no/ssh", "PBS_NODEFILE": "/no/file",
                 "CLUMP_LAUNCHER": "slurm", "CLUMP_LAUNCHER_EXEC": "/no/ssh", "CLUMP_IFACE": "none0", "CLUMP_RMK": "pbs"}
        for words in (), ("--host", "localhost"):
            result = tool.run(*words, "-n", "2", tool.program("show"), env=stale)
            self.assertEqual((result.code, len(result.out.splitlines()), result.err), (0, 2, ""), result)
        with tempfile.TemporaryDirectory() as folder:
            empty = pathlib.Path(folder, "hosts")
            empty.write_text("# none\n")
            for name, why in (("/no/file", "/no/file: No such file or directory"), (empty, f"{empty}: no host is named in it")):
                result = tool.run("-n", "2", tool.program("show"), env={"HYDRA_HOST_FILE": str(name)})
                self.assertEqual((result.code, result.err), (0, f"mpiexec: HYDRA_HOST_FILE is ignored: HYDRA_HOST_FILE {why}\n"), result)

    def test_spawned_ranks_stay_on_this_host(self):
        """A rank that spawns others may start an mpiexec for them, which sees the variables of the job."""
        with tempfile.TemporaryDirectory() as folder:
            hosts = pathlib.Path(folder, "hosts")
            hosts.write_text("no-such-host:4\n")
            for ranks in "fibers", "processes":
                result = tool.run("--host", "localhost", "--ranks", ranks, "-n", "1", tool.program("spawn"), env={"HYDRA_HOST_FILE": str(hosts)})
                self.assertEqual((result.code, result.err, sorted(result.out.split())), (0, "", ["child", "child", "parent"]), result)

    def test_options_of_launchers(self):
        names = "ssh, rsh, fork, slurm, sge, lsf, pbs, manual"
        self.assert_says(tool.run("-launcher", "sh", "true"), 2, f"-launcher sh: there is no such launcher; there are {names}")
        self.assert_says(tool.run("-rmk=cobalt", "true"), 2, "-rmk cobalt: there is no such batch system; there are slurm, pbs, sge, lsf")
        result = tool.run("-launcher", "fork", "-bootstrap-exec", "/no/ssh", "-iface", "none0", "--prefix", "/no", "--host", "localhost", "true")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_a_proxy_that_nobody_has_started(self):
        # Not 126, by which a shell says that it cannot run a program.
        for said, why in (b"", b""), (b"no message at all\n" * 10, b"mpiexec --proxy 3: what mpiexec has sent is no message\n"):
            done = subprocess.run([tool.TOOLS / "mpiexec", "--proxy", "3"], input=said, capture_output=True, timeout=tool.HANGS)
            self.assertEqual((done.returncode, done.stderr), (1, why), done)
            self.assertRegex(done.stdout, rb"^\nclump-proxy \S+ /.*mpiexec\n")
        result = tool.run("--proxy", "of", "whom")
        self.assert_says(result, 2, "--proxy is how mpiexec starts itself on other hosts: it is not for users")

    def test_options_that_ask_for_what_happens_anyway(self):
        result = tool.run("--allow-run-as-root", "--oversubscribe", "-memory-alloc-kinds", "system,cuda:device", "-n", "40", "true")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_cores_of_each_rank_are_named_as_ignored(self):
        for value in "node:PE=2", "slot:pe=2", "ppr:1:node:PE=2":
            self.assert_says(tool.run("--map-by", value, "-n", "1", "true"), 0, f"option PE= of --map-by {value} is ignored")

    def test_refused_options_say_why(self):
        for option, why in ((("--nolocal",), "--host"), (("--rankfile", "f"), "--map-by"),
                            (("-ckpointlib", "blcr"), "no checkpoints")):
            self.assert_says(tool.run(*option, "true"), 2, f"option {option[0]} is not supported", why)

    def test_what_says_elsewhere_how_many_ranks_there_are(self):
        self.assertEqual(tool.run("--npernode", "3", "echo", "x").out, "x\n" * 3)
        self.assertEqual(tool.run("--pernode", "echo", "x").out, "x\n")
        for option in (("--npersocket", "2"), ("--map-by", "ppr:2:socket")):
            self.assert_says(tool.run(*option, "true"), 2, " ".join(option), "give it by -n")
            self.assert_says(tool.run(*option, "-n", "2", "true"), 0, f"option {' '.join(option)} is ignored")
        cores = len(os.sched_getaffinity(0))
        self.assert_says(tool.run("--nooversubscribe", "-n", cores + 1, "true"), 2, f"{cores + 1} ranks are more than")
        self.assertEqual(tool.run("--nooversubscribe", "-n", "1", "true").code, 0)

    def test_soft(self):
        for soft, ranks in (("5", 5), ("1:4", 4), ("1:9:3", 4), ("2,3,9", 3), ("8:2:-2", 4), ("7:1:-2", 5), ("-3,0,2", 2), ("5:5", 5), ("-2147483648:5:3", 4)):
            self.assertEqual(tool.run("-n", "5", "-soft", soft, "echo", "x").out, "x\n" * ranks, soft)
            self.assertEqual(tool.run("-soft", soft, "-n", "5", "echo", "x").out, "x\n" * ranks, soft)
        self.assert_says(tool.run("-n", "5", "-soft", "6:9", "true"), 2, "-soft 6:9: none of these is from 1 to 5")
        for bad in ("", "a", "1:", "1:2:0", "1:2:3:4", "1;2", "1,,2"):
            self.assert_says(tool.run("-n", "5", "-soft", bad, "true"), 2, f"-soft {bad}", "is no number of ranks")

    def test_architecture(self):
        machine = os.uname().machine
        for name in (machine, machine.upper(), {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)):
            self.assertEqual(tool.run("-arch", name, "echo", "x").out, "x\n")
        self.assert_says(tool.run("-arch", "sparc", "true"), 2, f"-arch sparc: this host is {machine}")

    def test_path(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("launcher-only-here", "echo"):
                with open(f"{folder}/{name}", "w", encoding="utf-8") as script:
                    script.write("#!/bin/sh\nprintf 'found\\n'\n")
                os.chmod(f"{folder}/{name}", 0o755)
            self.assertEqual(tool.run("-path", folder, "launcher-only-here").out, "found\n")
            self.assertEqual(tool.run("-path", f"/nowhere:{folder}", "echo", "x").out, "found\n")
            self.assertEqual(tool.run("-wdir", folder, "-path", ".", "launcher-only-here").out, "found\n")
            both = tool.run("-path", folder, "echo", ":", "echo", "x")
            self.assertEqual(sorted(both.out.splitlines()), ["found", "x"])
            self.assertEqual(tool.run("-path", folder, "true").code, 0)
        self.assert_says(tool.run("-path", "/nowhere", "launcher-only-here"), 127, "was not found in PATH")

    def test_files_of_options(self):
        with tempfile.TemporaryDirectory() as folder:
            def write(text):
                with open(f"{folder}/words", "w", encoding="utf-8") as file:
                    file.write(text)
                return f"{folder}/words"

            config = write("# a comment\n\n-n 2 echo 'a  b' \"c 'd'\" e\\ f\n  -n 1 \\\n  echo last\n")
            for option in ("-configfile", "--app"):
                self.assertEqual(sorted(tool.run(option, config).out.splitlines()), ["a  b c 'd' e f"] * 2 + ["last"])
            self.assertEqual(sorted(tool.run("-n", "1", "echo", "x", ":", "-configfile", config).out.splitlines())[-1], "x")
            self.assertEqual(tool.run("-q", "-configfile", config).code, 0)
            self.assert_says(tool.run("-configfile", config, "true"), 2, "-configfile", "'true' comes behind it")
            self.assertEqual(tool.run("-file", write("-n 3\n-env LAUNCHER_A x"), "sh", "-c", "echo $LAUNCHER_A").out, "x\n" * 3)
            self.assert_says(tool.run("-configfile", write("-n 2 echo 'x")), 2, "line 1: a quotation does not end")
            self.assert_says(tool.run("-configfile", write(f"-configfile {folder}/words")), 2, "do they name each other?")
            self.assert_says(tool.run("-configfile", write("")), 2, "no program given")
        self.assert_says(tool.run("-configfile", "/no/such"), 2, "-configfile /no/such", "No such file")

    def test_environment(self):
        show = ["sh", "-c", "echo $LAUNCHER_A-$LAUNCHER_B"]
        env = {"LAUNCHER_A": "outer"}
        self.assertEqual(tool.run(*show, env=env).out, "outer-\n")
        self.assertEqual(tool.run("-x", "LAUNCHER_A=x", "-env", "LAUNCHER_B", "y z", *show, env=env).out, "x-y z\n")
        self.assertEqual(tool.run("-x", "LAUNCHER_A", "-genv", "LAUNCHER_B", "g", *show, env=env).out, "outer-g\n")
        self.assertEqual(tool.run("-envnone", "/bin/sh", "-c", "echo ${LAUNCHER_A-none}", env=env).out, "none\n")
        self.assertEqual(tool.run("-genvlist", "PATH,LAUNCHER_A", *show, env={**env, "LAUNCHER_B": "b"}).out, "outer-\n")
        self.assert_says(tool.run("-x", "LAUNCHER_UNSET", *show), 0, "LAUNCHER_UNSET", "not set")
        local = tool.run("-genv", "LAUNCHER_A", "g", "-env", "LAUNCHER_A", "first", *show, ":", *show)
        self.assertEqual(sorted(local.out.split()), ["first-", "g-"])

    def test_working_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(tool.run("-wdir", folder, "pwd").out, folder + "\n")
            both = tool.run("-gwdir", folder, "-wdir", "/", "pwd", ":", "pwd")
            self.assertEqual(sorted(both.out.split()), ["/", folder])
        self.assert_says(tool.run("-wdir", "/no/such", "pwd"), 126, "'/no/such' does not exist")

    def test_a_working_directory_that_is_closed(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = f"{parent}/closed"
            os.mkdir(folder, mode=0)
            os.chmod(parent, 0o755)
            result = tool.run("-wdir", folder, "pwd", cwd="/", before=tool.lose_power_over_files)
            self.assert_says(result, 126, f"mpiexec: working directory '{folder}': Permission denied")

    def test_timeout(self):
        result = tool.run("--timeout", "1", "-n", "2", "sleep", "50")
        self.assert_says(result, 124, "not ended within 1 s", "ranks 0,1 have not called MPI_Init")

    def test_an_option_in_the_place_of_a_value(self):
        self.assert_says(tool.run("--trace", "-n", "4", "true"), 2, "option --trace needs a value, FILE, and -n is an option", "--trace=-n")
        self.assert_says(tool.run("-n", "--trace", "t", "true"), 2, "option -n needs a value", "--trace is an option")
        self.assertEqual(tool.run("-env", "FLAGS", "-n", "sh", "-c", "echo [$FLAGS]").out, "[-n]\n")
        self.assert_says(tool.run("--timeout", "-3", "true"), 2, "--timeout -3: must be at least 1")

    def test_cores(self):
        mine = ["sh", "-c", "taskset -cp $$ | sed 's/.*: //'"]
        last = max(os.sched_getaffinity(0))
        self.assertEqual(tool.run("--cores", last, *mine).out, f"{last}\n")
        self.assertEqual(tool.run("-n", "2", "-cpu-set", f"{last},{last}", *mine).out, f"{last}\n" * 2)
        self.assert_says(tool.run("--cores", "60000", "true"), 2, "--cores 60000: core 60000 is not usable here; these are:")
        for bad in ("", "x", "1-", "2-1", "0,,1", "-1", "0;1", "99999999999"):
            self.assert_says(tool.run("--cores", bad, "true"), 2, f"--cores '{bad}': not a list of cores")
        self.assert_says(tool.run("--workers", "0", "true"), 2, "--workers 0: must be at least 1")

    def test_map(self):
        first = min(os.sched_getaffinity(0))
        shown = tool.run("--map", "-n", "7", "--scheduler", "fibers", "--cores", f"{first},{first}")
        self.assertEqual(shown.out, f"map: 7 ranks as fibers, run by 2 workers (core: ranks)\n    {first}: 0-3  {first}: 4-6\n")
        self.assert_says(tool.run("--report-bindings", "-n", "2", "true"), 0, "map: 2 ranks as processes, on")
        self.assert_says(tool.run("--map", "-n", "2", "true", ":"), 2, "part 2", "names no program")
        many = tool.run("--map", "-n", "1000", "--scheduler", "fibers", "--use-hwthread-cpus")
        self.assertEqual((many.code, many.err), (0, ""))
        self.assertRegex(many.out, r"-999\n$")

    def test_scheduler(self):
        self.assert_says(tool.run("--scheduler", "green", "true"), 2, "--scheduler 'green': there is 'fibers' and 'threads'")
        self.assert_says(tool.run("true", env={"CLUMP_SCHEDULER": "x"}), 2, "CLUMP_SCHEDULER 'x': there is 'fibers' and 'threads'")
        self.assertEqual(tool.run("--scheduler", "fibers", "true").code, 0)

    def test_malloc(self):
        self.assert_says(tool.run("--malloc", "good", "true"), 2, "--malloc good: there is libc, mimalloc, jemalloc,")
        self.assert_says(tool.run("--malloc", "/no/such.so", "true"), 2, "--malloc /no/such.so: /no/such.so was not found")
        self.assert_says(tool.run("--malloc", "libm.so.6", "true"), 2, "libm.so.6 defines no malloc() and free()")
        self.assert_says(tool.run("true", env={"CLUMP_MALLOC": "libnone.so"}), 2, "libnone.so was not found", "LD_LIBRARY_PATH")
        self.assertEqual(tool.run("--malloc", "libc", "true").code, 0)
        self.assert_says(tool.run("--explain", "--malloc", "libc.so.6", "-n", "2", "true"), 0, "as --malloc asks")

    def test_explain(self):
        self.assert_says(tool.run("--explain", "-n", "2", "true"), 0, "2 ranks as processes: 'true' is not linked to an MPI library")


if __name__ == "__main__":
    unittest.main()
