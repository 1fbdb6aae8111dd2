"""What entry points tell of their calls where these are written down (src/mpi/trace/recording.h): one more function for each of them."""

import re
from typing import List

from . import bodies
from .overlay import Entry
from .standard import Function, Parameter

_IN_PLACE = "sendbuf == MPI_IN_PLACE"

# By body: the bytes that a rank gives to a collective operation, all blocks together.
GIVEN = {
    "barrier": "0",
    "bcast": "recording.at_root(root, comm) ? recording.bytes(count, datatype) : 0",
    "gather": f"root < 0 ? 0 : {_IN_PLACE} ? recording.bytes(recvcount, recvtype) : recording.bytes(sendcount, sendtype)",
    "gatherv": f"root < 0 ? 0 : {_IN_PLACE} ? recording.own_block(recvcounts, recvtype, comm) : recording.bytes(sendcount, sendtype)",
    "scatter": "recording.at_root(root, comm) ? recording.takers(comm) * recording.bytes(sendcount, sendtype) : 0",
    "scatterv": "recording.at_root(root, comm) ? recording.bytes(sendcounts, recording.takers(comm), sendtype) : 0",
    "allgather": f"{_IN_PLACE} ? recording.bytes(recvcount, recvtype) : recording.bytes(sendcount, sendtype)",
    "allgatherv": f"{_IN_PLACE} ? recording.own_block(recvcounts, recvtype, comm) : recording.bytes(sendcount, sendtype)",
    "alltoall": f"recording.takers(comm) * ({_IN_PLACE} ? recording.bytes(recvcount, recvtype) : recording.bytes(sendcount, sendtype))",
    "alltoallv": f"{_IN_PLACE} ? recording.bytes(recvcounts, recording.takers(comm), recvtype) : "
                 "recording.bytes(sendcounts, recording.takers(comm), sendtype)",
    "alltoallw": f"{_IN_PLACE} ? recording.bytes(recvcounts, recording.takers(comm), recvtypes) : "
                 "recording.bytes(sendcounts, recording.takers(comm), sendtypes)",
    "reduce": "root < 0 ? 0 : recording.bytes(count, datatype)",
    "allreduce": "recording.bytes(count, datatype)",
    "scan": "recording.bytes(count, datatype)",
    "exscan": "recording.bytes(count, datatype)",
    "reduce_scatter": "recording.bytes(recvcounts, recording.members(comm), datatype)",
    "reduce_scatter_block": "recording.members(comm) * recording.bytes(recvcount, datatype)",
    "neighbor_allgather": "recording.neighbours(comm) * recording.bytes(sendcount, sendtype)",
    "neighbor_allgatherv": "recording.neighbours(comm) * recording.bytes(sendcount, sendtype)",
    "neighbor_alltoall": "recording.neighbours(comm) * recording.bytes(sendcount, sendtype)",
    "neighbor_alltoallv": "recording.for_neighbours(sendcounts, sendtype, comm)",
    "neighbor_alltoallw": "recording.for_neighbours(sendcounts, sendtypes, comm)",
}  # fmt: skip

# Calls that do nothing of their own before they wait, nor after.
_ONLY_WAIT = ("MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Wait", "MPI_Waitall")
# Where ranks wait for the root if they are no team, and where they need not wait for anybody.
_FROM_ROOT = ("bcast", "scatter", "scatterv")
_LOOSE = ("gather", "gatherv", "reduce", "scan", "exscan")


def is_recorded(entry: Entry) -> bool:
    """What may be called before MPI_Init, or needs no rank, is nothing that a program spends time in."""
    return entry.has_body and not entry.flags & {"plain", "tool", "always", "anytime"}


class _Facts:
    def __init__(self, function: Function, entry: Entry) -> None:
        self.function, self.entry = function, entry
        self.parameters = {p.name: p for p in function.widest.parameters}
        self.persistent = bool(re.search(r"_init$", function.name))
        self.body = bodies.name_of(function, entry)

    def has(self, *names: str) -> bool:
        return all(name in self.parameters for name in names)

    @property
    def blocks(self) -> bool:
        """A call that comes back when it is done: it has a status, and makes no request."""
        return not self.persistent and "request" not in self.parameters

    @property
    def is_collective(self) -> bool:
        return "timed" in self.entry.flags and not self.persistent

    @property
    def collective(self) -> str:
        """The communicator all ranks of which have to come, if they do so before anybody goes on; else empty."""
        if "timed" in self.entry.flags:
            return "comm" if self.is_collective and self.blocks and not self.body.startswith("neighbor_") else ""
        named = self.entry.parameters.get("together")
        if named and self.blocks:
            return self._handle(self.parameters[min(named)])
        return "MPI_COMM_WORLD" if "together" in self.entry.flags else ""

    @staticmethod
    def _handle(p: Parameter) -> str:
        return f"*{p.name}" if p.pointers else p.name


def _before(facts: _Facts) -> List[str]:
    lines = []
    if facts.has("source", "comm") and facts.blocks and facts.entry.chapter == "p2p":
        lines.append("recording.receives(source, comm);")
    if facts.function.name in _ONLY_WAIT:
        lines.append("recording.only_waits();")
    if facts.function.name == "MPI_Start":
        lines.append("recording.starts(request);")
    if facts.function.name == "MPI_Startall":
        lines.append("recording.starts(count, array_of_requests);")
    if facts.collective:
        lines.append(f"recording.begins_collective({facts.collective});")
    return lines


def _after(facts: _Facts) -> List[str]:
    lines = []
    if facts.has("dest", "comm") and not facts.persistent:
        prefix = "send" if facts.has("sendtag") else ""
        count = "sendcount" if facts.has("sendcount") else "count"
        data = "sendtype" if facts.has("sendtype") else "datatype"
        lines.append(f"recording.sent({count}, {data}, dest, {prefix}tag, comm);")
    if facts.has("source", "comm", "status") and facts.has("datatype" if "recvtype" not in facts.parameters else "recvtype"):
        lines.append("recording.received(status, comm);")
    if facts.function.name in ("MPI_Probe", "MPI_Mprobe"):
        lines.append("recording.found(status, comm);")
    if facts.function.name in ("MPI_Start", "MPI_Startall"):
        lines.append("recording.started();")
    if facts.is_collective:
        lines.append(f"recording.gave({GIVEN[facts.body]});")
    if facts.collective and facts.body in _FROM_ROOT:
        lines.append("recording.met_root(root, comm);")
    elif facts.collective and facts.body in _LOOSE:
        lines.append("recording.met_in_team(comm);")
    elif facts.collective:
        lines.append("recording.ends_collective();")
    return lines


def _wants_status(facts: _Facts) -> bool:
    """Even if the user ignores it."""
    return facts.has("source", "comm", "status") and facts.blocks


def write(function: Function, entry: Entry, number: int, call: str) -> str:
    """The statements around `call`, which is what is recorded; its arguments have the names of the parameters."""
    facts = _Facts(function, entry)
    lines = [f"Recording recording({number});"]
    if _wants_status(facts):
        lines.append("status = recording.status(status);")
    lines += _before(facts)
    after = _after(facts)
    lines.append(f"const int code = {call};")
    if len(after) > 1:
        lines += ["if (recording.ended(code)) {"] + ["  " + line for line in after] + ["}"]
    else:
        lines.append(f"if (recording.ended(code)) {after[0]}" if after else "recording.ended(code);")
    lines.append("return code;")
    return "".join(f"  {line}\n" for line in lines)
