"""The command line of mpiexec, with programs that do not use MPI."""

import os
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
        self.assert_says(tool.run("--agent"), 126, "not for users")

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

    def test_other_hosts_need_prterun(self):
        result = tool.run("--host", "elsewhere", "true", env={"PATH": "/usr/bin:/bin", "CLUMP_PRTERUN": "/nonexistent"})
        self.assert_says(result, 126, "CLUMP_PRTERUN=/nonexistent")

    def test_options_that_ask_for_what_happens_anyway(self):
        result = tool.run("--allow-run-as-root", "--oversubscribe", "-n", "40", "true")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_refused_options_say_why(self):
        self.assert_says(tool.run("-configfile", "x", "true"), 2, "-configfile", "':' between them")

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
        self.assert_says(tool.run("-env", "A=1", "2", "true"), 2, "A=1")

    def test_working_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(tool.run("-wdir", folder, "pwd").out, folder + "\n")
            both = tool.run("-gwdir", folder, "-wdir", "/", "pwd", ":", "pwd")
            self.assertEqual(sorted(both.out.split()), ["/", folder])
        self.assert_says(tool.run("-wdir", "/no/such", "pwd"), 126, "'/no/such' does not exist")

    def test_timeout(self):
        result = tool.run("--timeout", "1", "-n", "2", "sleep", "50")
        self.assert_says(result, 124, "not ended within 1 s")
        self.assertLess(result.seconds, 5)

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
