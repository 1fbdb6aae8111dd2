"""mpiexec --profile and --trace: what they count is what the program did, in all ways to run ranks, and however the job ends."""

import json
import os
import pathlib
import re
import tempfile
import unittest

import browser
import tool

RANKS = 5
MODES = {
    "fibers": ["--ranks", "fibers"],
    "threads": ["--ranks", "threads"],
    "processes": ["--ranks", "processes"],
    "mixed": ["--per-process", 2],
}
if os.environ.get("CLUMP_SANITIZE"):
    del MODES["fibers"], MODES["mixed"]

MESSAGES = 3 + 2 + 5 + 1 + 1  # to the next rank (profile.c)
BYTES = 3 * 400 + 2 * 80 + 5 * 16 + 100000


class Case(tool.Case):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def run_profile(self, case, *options, ranks=RANKS, code=0, before=None):
        """The JSON of a job of our program, and what mpiexec has said."""
        return self.run_program(tool.program("profile"), case, options=options, ranks=ranks, code=code, before=before)

    def run_program(self, *words, options=(), ranks=RANKS, code=0, before=None):
        result = tool.run("--profile=one", *options, "-n", ranks, *words, cwd=self.folder, before=before)
        self.assertEqual(result.code, code, result)
        self.assertEqual(sorted(os.listdir(self.folder)), ["one.html", "one.json"])
        profile = json.loads((self.folder / "one.json").read_text())
        self.check(profile, ranks)
        return profile, result

    def check(self, profile, ranks):
        """What holds for every profile."""
        self.assertEqual(profile["clump_profile"], 2)
        self.assertEqual([rank["rank"] for rank in profile["ranks"]], list(range(ranks)))
        for rank in profile["ranks"]:
            self.assertAlmostEqual(sum(rank["times"].values()), rank["seconds"], delta=1e-6 + 1e-3 * rank["seconds"])
            self.assertTrue(all(seconds >= 0 for seconds in rank["times"].values()), rank)
            called = sum(call["seconds"] for call in rank["calls"].values())
            between_calls = rank["times"]["no_core"] - sum(call["no_core"] for call in rank["calls"].values()) / rank["mean_threads"]
            self.assertGreaterEqual(between_calls, -1e-6)
            self.assertAlmostEqual(called / rank["mean_threads"], rank["seconds"] - rank["times"]["compute"] - between_calls,
                                   delta=1e-6 + 1e-3 * rank["seconds"])
            waiting = sum(call["waiting"] for call in rank["calls"].values())
            self.assertAlmostEqual(waiting / rank["mean_threads"], rank["times"]["waiting"], delta=1e-6)
            self.assertLessEqual(sum(wait["seconds"] for wait in rank["waits"]), waiting + 1e-6)
            for call in rank["calls"].values():
                # Each of the three is rounded to a nanosecond.
                self.assertLessEqual(call["waiting"] + call["no_core"], call["seconds"] + 1e-8)
        for name, call in profile["calls"].items():
            for key in ("calls", "bytes"):
                self.assertEqual(call[key], sum(rank["calls"].get(name, {}).get(key, 0) for rank in profile["ranks"]))
        sent = [(messages, size) for rank in profile["ranks"] for _, messages, size in rank["sent"]]
        for i, key in enumerate(("messages", "bytes")):
            whole = sum(one[i] for one in sent)
            self.assertEqual(sum(far[key] for far in profile["distances"].values()), whole)
            self.assertEqual(sum(rank["received"][key] for rank in profile["ranks"]), whole)
            self.assertEqual(sum(size[1 + i] for rank in profile["ranks"] for size in rank["message_sizes"]), whole)

    def in_all_modes(self, look):
        for mode, options in MODES.items():
            with self.subTest(mode=mode):
                look(mode, options)


def calls_of(rank):
    return {name: call["calls"] for name, call in rank["calls"].items()}


def bytes_of(rank):
    return {name: call["bytes"] for name, call in rank["calls"].items() if call["bytes"]}


class Profile(Case):
    def test_messages(self):
        def look(mode, options):
            profile, _ = self.run_profile("messages", *options)
            for rank in profile["ranks"]:
                to = lambda distance: (rank["rank"] + distance) % RANKS
                self.assertEqual(sorted(rank["sent"]), sorted([[to(1), MESSAGES, BYTES], [to(2), 1, 1]]))
                self.assertEqual(rank["received"], {"messages": MESSAGES + 1, "bytes": BYTES + 1})
                self.assertEqual(rank["message_sizes"], [[0, 1, 0], [1, 1, 1], [16, 5, 80], [64, 2, 160], [256, 3, 1200], [65536, 1, 100000]])
                self.assertEqual(calls_of(rank), {
                    "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Irecv": 6, "MPI_Send": 4, "MPI_Wait": 4, "MPI_Isend": 2, "MPI_Waitall": 6,
                    "MPI_Recv_init": 1, "MPI_Send_init": 1, "MPI_Startall": 5, "MPI_Request_free": 2, "MPI_Ssend": 1, "MPI_Buffer_attach": 1,
                    "MPI_Bsend": 1, "MPI_Recv": 1, "MPI_Sendrecv": 1, "MPI_Finalize": 1})
                self.assertEqual(bytes_of(rank), {"MPI_Send": 1200, "MPI_Isend": 160, "MPI_Startall": 80, "MPI_Bsend": 100000,
                                                  "MPI_Recv": 100000, "MPI_Sendrecv": 2})
            near = {"fibers": ["within_process"], "threads": ["within_process"], "processes": ["within_host"],
                    "mixed": ["within_process", "within_host"]}[mode]
            self.assertEqual([name for name, far in profile["distances"].items() if far["messages"]], near)
            if mode == "mixed":  # ranks 0 and 1, 2 and 3, 4: to the next one 2 of 5 stay inside
                self.assertEqual(profile["distances"]["within_process"]["messages"], 2 * MESSAGES)

        self.in_all_modes(look)

    def test_collectives(self):
        def look(_, options):
            profile, _ = self.run_profile("collectives", *options)
            for rank in profile["ranks"]:
                number = rank["rank"]
                expected = {"MPI_Allreduce": 48, "MPI_Iallreduce": 32, "MPI_Alltoall": 8 * RANKS, "MPI_Gather": 12}
                if number == 1:
                    expected["MPI_Bcast"] = 2000
                if number == 2:
                    expected["MPI_Scatter"] = 5 * RANKS
                self.assertEqual(bytes_of(rank), expected)
                calls = {"MPI_Barrier": 4, "MPI_Bcast": 2, "MPI_Allreduce": 3, "MPI_Iallreduce": 1, "MPI_Alltoall": 1, "MPI_Gather": 1,
                         "MPI_Scatter": 1}
                self.assertEqual({name: count for name, count in calls_of(rank).items() if name in calls}, calls)
                self.assertEqual(sum(size[1] for size in rank["collective_sizes"]), sum(calls.values()))
                self.assertEqual(rank["sent"], [])

        self.in_all_modes(look)

    def test_threads_of_a_rank(self):
        def look(_, options):
            profile, _ = self.run_profile("threads", *options, ranks=3)
            for rank in profile["ranks"]:
                self.assertEqual(rank["threads"], 3)
                self.assertEqual(calls_of(rank)["MPI_Sendrecv"], 3000)
                self.assertEqual(rank["sent"], [[(rank["rank"] + 1) % 3, 3000, 24000]])

        self.in_all_modes(look)

    def test_short_threads_hardly_count(self):
        """Rank 0 waits in a receive nearly all the time; nine threads that end at once have called MPI, too."""
        profile, _ = self.run_profile("short_threads", ranks=2)
        rank = profile["ranks"][0]
        self.assertEqual(rank["threads"], 10)
        self.assertLess(rank["mean_threads"], 3)
        self.assertGreater(rank["times"]["waiting"], rank["seconds"] / 3)

    def test_name_that_is_no_text(self):
        """Bytes of a file's name that are not UTF-8, and some that are: the files are JSON all the same."""
        name = b"caf\xe9 \xc3\xa9 \xed\xa0\x80 \xf0\x9f\x98\x80 \xc0\x80 <\xf5"
        shown = "caf\ufffd \u00e9 \ufffd\ufffd\ufffd \U0001f600 \ufffd\ufffd <\ufffd"
        program = os.path.join(os.fsencode(self.folder), name)
        os.symlink(tool.program("show"), program)
        result = tool.run("--profile=one", "--trace", "events.json", "-n", 2, os.fsdecode(program), "started", cwd=self.folder)
        self.assertEqual(result.code, 0, result)
        for file in ("one.json", "events.json"):
            text = json.loads((self.folder / file).read_bytes().decode())
            self.assertEqual((text if file == "one.json" else text["otherData"])["program"], shown)
        self.assertIn(shown.replace("<", "\\u003c").replace("\ufffd", "\\ufffd"), (self.folder / "one.html").read_bytes().decode())

    def test_calls_inside_of_calls_are_part_of_them(self):
        profile, _ = self.run_profile("callbacks")
        for rank in profile["ranks"]:
            self.assertEqual((calls_of(rank)["MPI_Allreduce"], calls_of(rank)["MPI_Comm_rank"]), (10, 1))

    def test_who_waits_for_whom(self):
        def look(_, options):
            profile, result = self.run_profile("waits", *options, ranks=4)
            waits = {(rank["rank"], wait["for"], wait["in"]): wait["seconds"] for rank in profile["ranks"] for wait in rank["waits"]}
            # Much less than 0.9 and 0.7 s: on a busy machine a rank may come late, and waits less.
            self.assertGreater(waits[1, 0, "MPI_Recv"], 0.2)
            self.assertGreater(waits[3, 2, "MPI_Waitall"], 0.2)
            self.assertGreater(waits[3, 2, "MPI_Probe"], 0.1)
            for rank in (0, 1, 3):
                self.assertGreater(waits[rank, 2, "MPI_Barrier"], 0.2)
            waiting = [rank["times"]["waiting"] for rank in profile["ranks"]]
            self.assertLess(waiting[2], min(waiting[rank] for rank in (0, 1, 3)))
            self.assert_says(result, 0, "profile of launcher_profile: 4 ranks on 1 host", "of that waiting", "MPI_Barrier",
                             "waited", "written: ")
            self.assertRegex(result.err, r"rank 1 waited [\d.]+ m?s for rank 0 in MPI_Recv \(once\)")

        self.in_all_modes(look)

    def test_computing(self):
        profile, result = self.run_profile("compute", "--ranks", "processes", ranks=3)
        passed = [rank["times"]["compute"] + rank["times"]["no_core"] for rank in profile["ranks"]]
        self.assertGreaterEqual(passed[2], 0.4)
        self.assertGreaterEqual(passed[0], 0.2)
        self.assertIn("load imbalance: rank 2 computes", result.err)

    def test_more_ranks_than_cores(self):
        """On one core six ranks compute as long as the job lasts, together; the rest of their time they wait, for each other or for the core."""
        ranks = 6
        only_core = {min(os.sched_getaffinity(0))}

        def look(_, options):
            profile, result = self.run_profile("crowd", *options, ranks=ranks, before=lambda: os.sched_setaffinity(0, only_core))
            whole = max(rank["seconds"] for rank in profile["ranks"])
            computed = sum(rank["times"]["compute"] for rank in profile["ranks"])
            without = sum(rank["times"]["no_core"] for rank in profile["ranks"])
            self.assertLess(computed, 1.2 * whole + 0.01)
            self.assertGreater(without, 0.2 * ranks * whole)
            self.assertIn("waiting for a core", result.err)

        self.in_all_modes(look)

    def test_control(self):
        def look(_, options):
            profile, result = self.run_profile("control", *options)
            for rank in profile["ranks"]:
                self.assertEqual(rank["sent"], [[(rank["rank"] + 1) % RANKS, 2, 16]])
                self.assertEqual(calls_of(rank), {"MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Sendrecv": 2})
                self.assertGreater(result.seconds - rank["seconds"], 2)  # which it passes while nothing is recorded

        self.in_all_modes(look)

    def test_sessions(self):
        def look(_, options):
            profile, _ = self.run_profile("session", *options)
            for rank in profile["ranks"]:
                self.assertEqual(rank["sent"], [[(rank["rank"] + 1) % RANKS, 1, 12]])
                self.assertEqual(calls_of(rank)["MPI_Session_finalize"], 1)

        self.in_all_modes(look)

    def test_failing_jobs(self):
        def look(mode, options):
            for case, code in (("abort", 7), ("kill", 137), ("deadlock", 1)):
                if case == "deadlock" and mode in ("processes", "mixed"):
                    continue  # nobody notices
                with self.subTest(case=case):
                    profile, result = self.run_profile(case, *options, code=code)
                    self.assertEqual(profile["exit_code"], code)
                    for rank in profile["ranks"]:
                        self.assertEqual(rank["sent"], [[(rank["rank"] + 1) % RANKS, 1, 8]])
                        call = {"abort": "MPI_Abort", "kill": None}.get(case, "MPI_Recv") if rank["rank"] == 1 else "MPI_Recv"
                        self.assertEqual(rank.get("unfinished", {}).get("call"), call)
                    self.assertIn("rank 0 was in MPI_Recv for", result.err)

        self.in_all_modes(look)

    def test_errors_are_what_they_are_without(self):
        result = tool.run("--profile=one", "-n", 2, tool.BIN / "mpi_environment_arguments", cwd=self.folder)
        self.assertEqual(result.code, 0, result)
        self.check(json.loads((self.folder / "one.json").read_text()), 2)
        for case in ("bcast_root", "one_leaves"):
            with self.subTest(case=case):
                words = ["-n", 4, "--check", tool.program("check"), case]
                plain, recorded = tool.run(*words), tool.run("--profile=one", *words, cwd=self.folder)
                self.assertEqual(plain.code, recorded.code)
                # Who is the first to say so, and in which call, is not always the same.
                lines = [line for line in plain.err.splitlines() if line.startswith("  rank ")]
                self.assertEqual(len(lines), 2, plain.err)
                self.assertTrue(all("check.c:" in line for line in lines), plain.err)
                for line in lines:
                    self.assertIn(line, recorded.err)

    def test_several_programs(self):
        for options in ([], ["--ranks", "processes"]):
            result = tool.run("--profile", *options, "-n", 2, tool.program("profile"), "messages", ":", "-n", 3, tool.program("profile"), "messages",
                              cwd=self.folder)
            self.assertEqual(result.code, 0, result)
            profile = json.loads((self.folder / "clump-profile-launcher_profile.json").read_text())
            self.check(profile, RANKS)
            self.assertEqual([rank["received"]["bytes"] for rank in profile["ranks"]], [BYTES + 1] * RANKS)
            self.assertRegex(profile["command"], r"mpiexec -n 2 \S+ messages : -n 3 ")

    @unittest.skipUnless((tool.BIN / "image_units").exists(), "this build has no Fortran program")
    def test_fortran(self):
        result = tool.run("--profile=units.html", "-n", 3, tool.BIN / "image_units", cwd=self.folder)
        self.assertEqual(result.code, 0, result)
        profile = json.loads((self.folder / "units.json").read_text())
        self.check(profile, 3)
        self.assertEqual(profile["calls"]["MPI_Barrier"]["calls"], 3)

    def test_many_ranks(self):
        profile, _ = self.run_profile("messages", "--ranks", "fibers" if "fibers" in MODES else "threads", ranks=200)
        self.assertEqual(profile["ranks"][199]["sent"], [[0, MESSAGES, BYTES], [1, 1, 1]])

    def test_programs_without_mpi(self):
        result = tool.run("--profile=one", "-n", 2, "true", cwd=self.folder)
        self.assert_says(result, 0, "no rank has called MPI_Init")
        self.assertNotIn("times", json.loads((self.folder / "one.json").read_text())["ranks"][0])

    def test_files_that_cannot_be(self):
        (self.folder / "folder.html").mkdir()
        (self.folder / "file").write_text("")
        run = lambda option: tool.run(*option.split(), "-n", 2, tool.program("show"), "started", cwd=self.folder)
        for option, why in (("--profile=nowhere/one", "the folder"), ("--profile=file/one", "is no folder"), ("--profile=folder", "is a folder: name a file"),
                            ("--profile=", "no name of a file"), ("--trace nowhere/one", "is not there: make it"), ("--trace .", "is a folder")):
            with self.subTest(option=option):
                result = run(option)
                self.assert_says(result, 126, "mpiexec: " + option, why)
                self.assertEqual(result.out, "")
        self.assert_says(tool.run("--trace"), 2, "--trace needs a value")
        self.assertEqual(sorted(os.listdir(self.folder)), ["file", "folder.html"])


class Trace(Case):
    def trace(self, case, *options, code=0, ranks=RANKS):
        result = tool.run("--trace", "events.json", *options, "-n", ranks, tool.program("profile"), case, cwd=self.folder)
        self.assertEqual(result.code, code, result)
        trace = json.loads((self.folder / "events.json").read_text())
        self.assertEqual(os.listdir(self.folder), ["events.json"])
        return trace, result

    def test_events(self):
        def look(_, options):
            trace, result = self.trace("messages", *options)
            calls = [event for event in trace["traceEvents"] if event["ph"] == "X"]
            names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
            self.assertEqual(names, {rank: f"rank {rank}" for rank in range(RANKS)})
            for rank in range(RANKS):
                mine = sorted((event for event in calls if event["tid"] == rank), key=lambda event: event["ts"])
                self.assertEqual(len(mine), 39)
                for before, after in zip(mine, mine[1:]):
                    self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 0.002)
                sends = [event["args"] for event in mine if event["name"] == "MPI_Send"]
                self.assertEqual([(one["to"], one["sent_bytes"], one["send_tag"]) for one in sends[:3]],
                                 [((rank + 1) % RANKS, 400, tag) for tag in range(3)])
            self.assertRegex(result.err, r"^trace: 195 calls, and \d+ messages as arrows, in \S+/events.json\n$")

        self.in_all_modes(look)

    def test_arrows(self):
        trace, _ = self.trace("control", ranks=3)
        calls = {(event["tid"], number): event for rank in range(3) for number, event in
                 enumerate(event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] == rank and "to" in event["args"])}
        ends = {kind: {event["id"]: event for event in trace["traceEvents"] if event["ph"] == kind} for kind in "sf"}
        self.assertEqual(len(ends["s"]), 6)
        for number, start in ends["s"].items():
            end = ends["f"][number]
            self.assertEqual(end["tid"], (start["tid"] + 1) % 3)
            inside = lambda one: [key for key, call in calls.items() if key[0] == one["tid"] and call["ts"] - 0.002 <= one["ts"] <= call["ts"] + call["dur"] + 0.002]
            self.assertEqual(inside(start)[0][1], inside(end)[0][1])

    def test_arrows_of_several_threads(self):
        """Two threads of a rank send in turn in one stream: the arrows are in the order of time."""
        trace, _ = self.trace("turns", ranks=2)
        ends = {kind: {event["id"]: event for event in trace["traceEvents"] if event["ph"] == kind} for kind in "sf"}
        self.assertEqual(len(ends["s"]), 10)
        self.assertEqual(len({event["tid"] for event in ends["s"].values()}), 2)
        for number, start in ends["s"].items():
            self.assertLessEqual(start["ts"], ends["f"][number]["ts"])
        in_order = [[number for number, _ in sorted(ends[kind].items(), key=lambda one: one[1]["ts"])] for kind in "sf"]
        self.assertEqual(in_order[0], in_order[1])

    def test_no_arrows_where_messages_are_not_known(self):
        """Of two messages the first is sent by MPI_Start, or with another one by MPI_Startall, and the second received by MPI_Irecv. In a
        stream of its own one message is sent by MPI_Start, and received by MPI_Recv."""
        for case, known in (("start", ["MPI_Start"]), ("startall", [])):
            trace, _ = self.trace(case, ranks=2)
            calls = {(event["tid"], event["ts"]): event["name"] for event in trace["traceEvents"] if event["ph"] == "X"}
            self.assertEqual([calls[event["tid"], event["ts"]] for event in trace["traceEvents"] if event["ph"] == "s"], known)

    def test_too_many_events(self):
        trace, result = self.trace("threads", ranks=3)
        self.assertEqual(trace["otherData"]["dropped"], "0")
        self.assertEqual(len({event["tid"] for event in trace["traceEvents"] if event["ph"] == "X"}), 9)
        many, result = self.trace("flood", ranks=2)
        self.assertEqual(int(many["otherData"]["events"]) + int(many["otherData"]["dropped"]), 2 * 150003)
        self.assertGreater(int(many["otherData"]["dropped"]), 2 * 40000)
        self.assertRegex(result.err, r"; \d+ calls more found no room \(MPI_Pcontrol")

    def test_failing_jobs(self):
        trace, _ = self.trace("abort", code=7)
        self.assertEqual(sum(event["name"] == "MPI_Barrier" for event in trace["traceEvents"]), RANKS)


@unittest.skipUnless(browser.path(), "there is no headless browser: ./dev setup --browser")
class Page(Case):
    def look(self, file, dark):
        with browser.Browser(dark=dark) as page:
            page.open(str(file))
            self.assertEqual(page.problems, [])
            for canvas, colors in (("bars", 4), ("matrix", 3), ("sizes", 3)):
                count = page.evaluate(f"""(() => {{
                  const canvas = document.getElementById("{canvas}"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                  const colors = new Map();
                  for (let i = 0; i < pixels.length; i += 4) {{ const one = pixels.slice(i, i + 4).join(); colors.set(one, (colors.get(one) || 0) + 1); }}
                  return [...colors.values()].filter(count => count > 100).length;
                }})()""")
                self.assertGreaterEqual(count, colors, canvas)
            rows = lambda: page.evaluate("[...document.querySelectorAll('#calls tbody tr')].map(row => row.cells[0].textContent)")
            before = rows()
            page.evaluate("document.querySelector('#calls th button').click()")
            self.assertEqual(rows(), sorted(before))
            page.evaluate("document.querySelectorAll('.choice button').forEach(button => button.click())")
            x, y = page.evaluate("(() => { const box = document.getElementById('bars').getBoundingClientRect(); return [box.x + box.width / 2, box.y + 35]; })()")
            page.move_to(x, y)
            self.assertRegex(page.evaluate("document.getElementById('tip').textContent"), r"^rank \d+ on .*\n.*%")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 1280)
            self.assertEqual(page.problems, [])
            return page.evaluate("document.body.innerText")

    def test_page(self):
        self.run_profile("waits", ranks=4)
        for dark in (False, True):
            text = self.look(self.folder / "one.html", dark)
            self.assertTrue(text.startswith("launcher_profile\n"), text)
            self.assertRegex(text, r"rank 1 waited \d+\s+ms for rank 0 in MPI_Recv once")

    def test_many_ranks(self):
        self.run_profile("messages", ranks=100)
        self.assertIn("100 ranks", self.look(self.folder / "one.html", False))

    def test_jacobi(self):
        profile, _ = self.run_program(tool.example("jacobi"), 256, 500, ranks=16)
        text = self.look(self.folder / "one.html", False)
        self.assertTrue(text.startswith("jacobi\n"), text)
        self.assertIn("MPI_Waitall", text)
        # The grid is 4 x 4: whoever is inside of it has four neighbours, each of which gets 64 points in an iteration.
        self.assertEqual(profile["ranks"][5]["sent"], [[other, 500, 500 * 64 * 8] for other in (1, 4, 6, 9)])

    def test_nothing(self):
        for name in ("&lt;b>'\"</script>", "ordinary"):  # names are texts, whatever they are
            tool.run("--profile=one", "-n", 1, "sh", "-c", "true", name, cwd=self.folder)
            with browser.Browser() as page:
                page.open(str(self.folder / "one.html"))
                self.assertEqual(page.problems, [])
                self.assertIn(f"sh -c true {name}", page.evaluate("document.body.innerText"))


if __name__ == "__main__":
    unittest.main()
