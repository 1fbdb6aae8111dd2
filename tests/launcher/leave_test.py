"""Calls of MPI that the program leaves by its error handler, with longjmp() or an exception: what follows is recorded and checked as ever."""

import json
import pathlib
import tempfile
import unittest

import tool

# By way to leave: what of rank 0 is written down, besides the messages that follow.
WAYS = {
    "longjmp": {"MPI_Send": 1},
    "return": {"MPI_Send": 1},
    "throw": {"MPI_Send": 1},
    "call": {},
    "wait": {"MPI_Irecv": 1, "MPI_Send": 1, "MPI_Wait": 1},
    "throw_delete": {"MPI_Comm_delete_attr": 1},  # a function of an attribute
    "throw_wait": {"MPI_Irecv": 1, "MPI_Send": 1, "MPI_Wait": 1},
}


class Leave(tool.Case):
    def test_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            for way, more in WAYS.items():
                with self.subTest(way=way):
                    result = tool.run("--profile=one", "-n", 2, tool.program("leave"), way, cwd=folder)
                    self.assertEqual(result.code, 0, result)
                    first, second = json.loads((pathlib.Path(folder) / "one.json").read_text())["ranks"]
                    calls = [{name: call["calls"] for name, call in rank["calls"].items()} for rank in (first, second)]
                    for name in ("MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Comm_delete_attr"):
                        self.assertEqual(calls[0].get(name, 0), more.get(name, 0) + 10 * (name == "MPI_Send"), calls[0])
                    self.assertEqual(calls[1]["MPI_Recv"], 10)
                    for rank in calls:
                        self.assertEqual(rank["MPI_Sendrecv_replace"], 1)
                        self.assertEqual(rank["MPI_Finalize"], 1)

    def test_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            for way, more in WAYS.items():
                with self.subTest(way=way):
                    result = tool.run("--trace=one.json", "-n", 2, tool.program("leave"), way, cwd=folder)
                    self.assertEqual(result.code, 0, result)
                    events = json.loads((pathlib.Path(folder) / "one.json").read_text())["traceEvents"]
                    names = [event["name"] for event in events if event["ph"] == "X" and event["tid"] == 0]
                    self.assertEqual(names.count("MPI_Send"), more.get("MPI_Send", 0) + 10, names)
                    self.assertEqual(names.count("MPI_Comm_size"), int(way != "throw_delete"), names)  # the error handler's

    def test_check(self):
        for way in WAYS:
            with self.subTest(way=way):
                result = tool.run("--check", "-n", 2, tool.program("leave"), way)
                self.assertEqual((result.code, result.err), (0, ""), result)


if __name__ == "__main__":
    unittest.main()
