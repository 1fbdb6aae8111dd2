"""Are runs repeated when they should be?"""

import unittest

import nearness


class Looks(nearness.Nearness):
    """One that sees what it is told to see."""

    def __init__(self, *looks, seconds=60):
        super().__init__(None)
        self.looks, self.seconds_left = list(looks), seconds

    def look(self):
        return self.looks.pop(0)


class Runs(unittest.TestCase):
    def setUp(self):
        self.pause, nearness.PAUSE_SECONDS = nearness.PAUSE_SECONDS, 0
        self.runs = 0

    def tearDown(self):
        nearness.PAUSE_SECONDS = self.pause

    def measure(self):
        self.runs += 1
        return self.runs

    def test_one_is_enough_while_the_cores_are_near(self):
        looks = Looks(True, True)
        self.assertEqual((looks.run(self.measure), looks.describe()), (1, ""))

    def test_does_not_begin_while_they_are_apart(self):
        looks = Looks(False, False, True, True)
        self.assertEqual((looks.run(self.measure), looks.describe()), (1, ""))

    def test_repeats_when_they_were_moved_apart_meanwhile(self):
        looks = Looks(True, False, False, True, True)
        self.assertEqual(looks.run(self.measure), 2)
        self.assertIn("1 runs were repeated", looks.describe())

    def test_says_so_when_there_is_no_time_left(self):
        looks = Looks(False, seconds=0)
        self.assertEqual(looks.run(self.measure), 1)
        self.assertIn("IN 1 RUNS", looks.describe())


if __name__ == "__main__":
    unittest.main()
