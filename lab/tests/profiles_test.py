"""The tables that lab/nas/profiles.py makes of profiles, without a run."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "nas"))
import profiles  # noqa: E402


def profile(ranks, seconds, compute, waiting=0.0, outside=0, inside=0, sizes=()):
    parts = dict.fromkeys(("messages", "completion", "collectives", "other", "no_core"), 0.0)
    rank = {"seconds": seconds, "times": {**parts, "compute": compute, "waiting": waiting}, "message_sizes": sizes}
    return {"ranks": [rank] * ranks, "distances": {"within_process": {"messages": inside}, "within_host": {"messages": outside},
                                                   "between_hosts": {"messages": 1}}}


class Tables(unittest.TestCase):
    def test_efficiency_by_the_best_run(self):
        found = {1: [profile(1, 4.0, 4.0), profile(1, 5.0, 5.0)], 4: [profile(4, 9.0, 1.0), profile(4, 2.0, 1.25, 0.75)]}
        self.assertEqual(list(profiles.efficiency(found))[2:], ["| 1 | 4.000 | 1.00 | 4.000 | 1.00 | 0.000 | 0.000 | 0.000 |",
                                                                "| 4 | 2.000 | 0.50 | 1.250 | 1.25 | 0.750 | 0.750 | 0.000 |"])

    def test_messages_of_nodes_and_sizes(self):
        self.assertEqual(profiles.crossings(profile(2, 1.0, 1.0, outside=6, inside=4)), (7, 4))
        found = {2: [profile(2, 1.0, 1.0, sizes=[[8, 500, 0], [2048, 1, 0]])], 4: [profile(4, 1.0, 1.0, sizes=[[8, 600, 0]])]}
        self.assertEqual(list(profiles.sizes(found)), ["| ranks | 8 B | 2 KiB |", "|---|---|---|", "| 2 | 1,000 | 2 |", "| 4 | 2,400 |  |"])


if __name__ == "__main__":
    unittest.main()
