"""Does the simulation count what it says, and do the collectives in it do what they are for?"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from transfers import clump, count, page, published  # noqa: E402
from transfers.coherence import FAR, Add, Exchange, Machine, Path as Transfers, Prefetch, Read, Store, Wait, Work  # noqa: E402


def alone(machine, *steps, core=0):
    """One core does that; its path."""
    def program(number):
        if number == core:
            for step in steps:   # a tuple cannot be sent answers, so no "yield from"
                yield step
    return machine.run(program)[core]


class Lines(unittest.TestCase):
    def setUp(self):
        self.machine = Machine(8, 2, at_once=False)

    def test_what_a_core_has_is_free(self):
        self.assertEqual(alone(self.machine, Store("a", {"x": 1}), Read("a"), Exchange("a", {"x": 2}), Add("a", "x"), Read("a")), Transfers())
        self.assertEqual(self.machine.lines["a"].values, {"x": 3})

    def test_a_line_of_a_neighbour_is_near_and_one_of_another_domain_is_far(self):
        alone(self.machine, Store("a", {"x": 1}))
        self.assertEqual(alone(self.machine, Read("a"), core=3), Transfers(1, 1, 0))
        self.assertEqual(alone(self.machine, Read("a"), core=4), Transfers(FAR, 0, 1))
        self.assertEqual(alone(self.machine, Read("a"), core=5), Transfers(1, 1, 0), "core 4 has brought it there")
        self.assertEqual(alone(self.machine, Read("a"), core=5), Transfers())

    def test_who_writes_takes_it_from_all(self):
        alone(self.machine, Store("a", {}))
        alone(self.machine, Read("a"), core=1)
        self.assertEqual(alone(self.machine, Exchange("a", {})), Transfers(1, 1, 0))
        self.assertEqual(alone(self.machine, Read("a"), core=1), Transfers(1, 1, 0))
        self.assertEqual(alone(self.machine, Exchange("a", {}), core=4), Transfers(FAR, 0, 1))
        self.assertEqual(alone(self.machine, Exchange("a", {}), core=4), Transfers())

    def test_a_store_is_not_waited_for_but_a_locked_instruction_waits_for_it(self):
        for name in "ab":
            alone(self.machine, Store(name, {}))
        self.assertEqual(alone(self.machine, Store("a", {}), core=1).time, 0)
        self.assertEqual(self.machine.cores[1].transfers.near, 1)
        self.assertEqual(alone(self.machine, Store("b", {}), Exchange("own", {}), core=2).time, 1)

    def test_stores_become_visible_in_order(self):
        for at_once in (False, True):
            machine, seen = Machine(8, 2, at_once), []
            alone(machine, Store("a", {"x": 0}), core=4)

            def program(number, seen=seen):
                if number == 0:
                    yield Store("a", {"x": 1})   # far away, so it takes longer than the next one
                    yield Store("b", {"x": 1})
                elif number == 1:
                    yield Wait([("b", lambda values: values.get("x") == 1)])
                    seen.append((yield Read("a")))
            machine.run(program)
            self.assertEqual(seen, [{"x": 1}])

    def test_fetching_ahead_hides_a_transfer(self):
        alone(self.machine, Store("a", {}), core=4)
        self.assertEqual(alone(self.machine, Prefetch("a"), Work(9), Exchange("a", {})), Transfers(9, 0, 0))
        self.assertEqual(self.machine.cores[0].transfers, Transfers(FAR, 0, 1))

    def test_in_turn_one_line_is_fetched_ahead_at_a_time(self):
        for at_once, longest in ((False, 2 * FAR), (True, FAR)):
            machine = Machine(8, 2, at_once)
            alone(machine, Store("a", {}), Store("b", {}), core=4)
            self.assertEqual(alone(machine, Prefetch("a"), Prefetch("b"), Work(FAR), Exchange("b", {})).time, longest)

    def test_who_waits_takes_a_line_back_that_is_fetched_ahead(self):
        for at_once in (False, True):
            machine = Machine(8, 2, at_once)

            def program(number):
                if number == 0:
                    yield Work(5)
                    yield Prefetch("a")
                    yield Work(5)
                    yield Exchange("a", {"x": 1})
                elif number == 1:
                    yield Wait([("a", lambda values: "x" in values)])
            self.assertEqual([path.time for path in machine.run(program)[:2]], [11, 12])
            self.assertEqual(machine.transfers(), Transfers(4, 4, 0), "fetched, read in vain, taken again, read")

    def test_readers_of_one_line(self):
        def program(number):
            if number:
                yield Read("a")
        for at_once, longest in ((False, FAR + 3), (True, FAR + 1)):
            machine = Machine(8, 2, at_once)
            alone(machine, Store("a", {}))
            self.assertEqual(max(machine.run(program)).time, longest)
            self.assertEqual(machine.transfers(), Transfers(6 + FAR, 6, 1))

    def test_lines_that_a_core_looks_at(self):
        for at_once, longest in ((False, 3), (True, 1)):
            machine = Machine(8, 2, at_once)
            for core in (1, 2, 3):
                alone(machine, Store(core, {"x": 1}), core=core)
            self.assertEqual(alone(machine, Wait([(core, lambda values: values["x"] == 1) for core in (1, 2, 3)])).time, longest)

    def test_who_waits_for_ever_is_told(self):
        with self.assertRaisesRegex(RuntimeError, "for ever"):
            alone(self.machine, Wait([("a", lambda values: "x" in values)]))

    def test_a_ping_pong_takes_two_transfers_each_way(self):
        def program(number):
            for turn in range(1, 11):
                if number == turn % 2:
                    yield Exchange(("to", 1 - number), {"turn": turn})
                elif number < 2:
                    yield Wait([(("to", number), lambda values, turn=turn: values.get("turn") == turn)])
        for times in (1, 2):
            self.assertEqual(max(self.machine.run(program)).time, 2 * 10, "ten ways: the line is taken from who waits for it, and read again")
            self.assertEqual(self.machine.transfers(), Transfers(20 * times, 20 * times, 0))


class Collectives(unittest.TestCase):
    def each(self, operation):
        for way in count.OPERATIONS[operation]:
            for workers, domains in ((2, 1), (8, 2), (12, 3)):
                for at_once in (False, True):
                    with self.subTest(way=way.name, workers=workers, at_once=at_once):
                        yield lambda late, way=way, workers=workers, domains=domains, at_once=at_once: count.ends_with_late_core(
                            way.make(workers, domains), workers, domains, late, at_once), workers

    def test_nobody_leaves_before_the_last_has_come(self):
        for operation in ("barrier", "allreduce"):
            for ends, workers in self.each(operation):
                for late in {0, 1, workers - 1}:
                    self.assertGreaterEqual(min(ends(late)), count.LATE)

    def test_nobody_has_a_broadcast_before_the_root_has_come(self):
        for ends, _ in self.each("bcast"):
            self.assertGreaterEqual(min(ends(0)), count.LATE)

    def test_clump_exchanges_what_the_library_does(self):
        sizes = {groups for groups, _ in clump.RECEIVED}
        self.assertIn(64, sizes)
        for groups in sizes:
            machine = Machine(groups, 1, at_once=True)
            arrivals = {number: [] for number in range(groups)}
            machine.run(lambda number: clump.exchange(number, groups, 1, arrivals=arrivals[number]))
            for number, came in arrivals.items():
                self.assertEqual([sum(1 << group for group in groups_in) for groups_in in came], clump.RECEIVED[groups, number], (groups, number))

    def test_clump_has_one_line_for_little_data(self):
        self.assertEqual((clump.FACTS["mail-lines"], clump.FACTS["ring-lines"], clump.FACTS["read-is-apart"]), ("1", "1", "1"))
        self.assertEqual([clump.FACTS["barrier", 0], clump.FACTS["bcast", 8], clump.FACTS["allreduce", 8], clump.FACTS["allreduce", 65536]],
                         ["shm barrier", "shm bcast ring", "shm small", "shm all"], "the simulation is of these")

    def test_only_fetching_ahead_is_in_turn_in_an_exchange(self):
        found = count.count(count.EXCHANGE, 16, 1)
        self.assertEqual((found.at_once, found.in_turn), (5, 5), "the other mailbox, and then the own one in each of four rounds")
        # Of the last round it is far. It comes when the other two have come, at 2 + FAR; at once it has come when it is needed, at 4.
        found = count.count(count.EXCHANGE, 16, 2)
        self.assertEqual((found.at_once, found.in_turn), (4 + FAR, 2 + FAR + FAR))

    def test_fetching_ahead_is_in_vain_where_the_others_wait(self):
        def late(way, domains):
            return tuple(count.time_of_late_core(way, 16, domains, at_once) for at_once in (True, False))
        # Each of four rounds takes a mailbox from who waits, and that one reads it.
        self.assertEqual(late(count.EXCHANGE, 1), (4 * 2, 4 * 2))
        self.assertEqual(late(count.BEFORE, 2)[0], 3 * 2 + 2 * FAR)
        # The far one comes at FAR, or in turn after two others, is fetched back, taken again, and read.
        self.assertEqual(late(count.EXCHANGE, 2), (4 * FAR, 2 + 4 * FAR))

    def test_clump_fetches_ahead_and_resets_last(self):
        now, before = count.count(count.EXCHANGE, 16, 2), count.count(count.BEFORE, 16, 2)
        self.assertEqual((now.near + now.far, before.near + before.far), (3 * 16 * 4, 3 * 16 * 4), "for each mail it is taken, read and reset")
        self.assertLess(now.in_turn, before.in_turn)
        self.assertLess(now.at_once, before.at_once)

    def test_barriers_move_as_many_lines_as_published(self):
        ways = {way.name: count.count(way, 16, 2) for way in count.OPERATIONS["barrier"]}
        self.assertEqual(ways["dissemination"].near + ways["dissemination"].far, 2 * 16 * 4)   # P log P flags, each written and read
        self.assertEqual(ways["tournament"].near + ways["tournament"].far, 2 * (2 * 16 - 2))   # 2 P - 2 flags

    def test_a_tree_for_each_package(self):
        tree = published.Trees(8, 2, 2)
        self.assertEqual(tree.children, {0: [4, 1, 2], 1: [3], 2: [], 3: [], 4: [5, 6], 5: [7], 6: [], 7: []})


class LargeAllreduce(unittest.TestCase):
    def test_slices_are_read_and_written_once(self):
        found = count.volume(count.CLUMP, 8, 1)
        # To combine, to write results, to read them, to write operands: each for all but the own one, which nobody else has read or written.
        self.assertEqual(found.near, 7 + 7 + 7 + 7)
        self.assertEqual(found.far, 0)

    def test_halving_crosses_between_domains_with_little(self):
        self.assertLess(count.volume("Rabenseifner", 16, 4).far, count.volume(count.CLUMP, 16, 4).far / 2)

    def test_every_rank_has_the_result(self):
        for name in count.LARGE:
            machine = Machine(16, 2, at_once=True)
            for phase in count.LARGE[name](16, 2, 16):
                machine.run(phase)
            self.assertEqual({(rank, line) for rank in range(16) for line in range(16)} - {key[1:] for key in machine.lines if key[0] == "result"}, set(), name)


class Page(unittest.TestCase):
    def test_says_that_it_is_no_measurement(self):
        self.assertIn("These are counts, not measurements.", page.INTRODUCTION)

    def test_verdict(self):
        def way(name, near, far):
            def program(number, workers, operation):   # so many lines that another core has written
                for line in range(near + far):
                    if number == (1 if line < near else workers - 1):
                        yield Store((name, line, operation), {})
                yield Work(100)
                if number == 0:
                    for line in range(near + far):
                        yield Read((name, line, operation))
            return count.Way(name, count.alike(program))
        ours, worse, better = way(count.CLUMP, 2, 1), way("slow", 3, 3), way("quick", 1, 0)
        self.assertIn("Clump against the best published way: *at once* 106 against 115 (slow) and *in turn* 106 against 115 (slow). None of them is better",
                      page.verdict([ours, worse], 8))
        self.assertIn("106 against 101 (quick)", page.verdict([ours, worse, better], 8))
        self.assertIn("**Here a published way is better.**", page.verdict([ours, worse, better], 8))


if __name__ == "__main__":
    unittest.main()
