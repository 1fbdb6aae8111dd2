"""Which entry points have a second form for calls that are watched (mpiexec --check, src/mpi/check/checking.h), and what that does."""

import re
from typing import List

from .overlay import Entry
from .standard import Function, Parameter

# Point-to-point calls whose messages carry labels then: they have bodies of their own (src/mpi/check/checked_messages.cc).
_LABELLED = re.compile(r"MPI_(I?[bsr]?send(_init)?|I?sendrecv(_replace)?|I?m?recv|Recv_init|I?m?probe)$", re.IGNORECASE)
# Calls that complete or start operations, or take something back: what these have done is told with the place of the call.
_COMPLETING = re.compile(
    r"MPI_((Wait|Test)(all|any|some)?|Start(all)?|Request_get_status(_all|_any|_some)?|Request_free|Reduce_local|P(ready|arrived)\w*"
    r"|(Comm_|Session_)?(Buffer_(attach|detach|flush)|(attach|detach|flush)_buffer)|((Comm|Type)_free_keyval|Keyval_free))$"
)
# Accesses to windows, which may conflict with others, and what orders them: these have such bodies, too (checked_windows.cc).
_ONE_SIDED = re.compile(
    r"MPI_(R?(put|get|accumulate|get_accumulate)|Fetch_and_op|Compare_and_swap"
    r"|Win_(fence|start|complete|post|wait|test|(un)?lock(_all)?|flush(_local)?(_all)?|sync))$",
    re.IGNORECASE,
)
# Handles that are to be freed.
_MADE = {"COMMUNICATOR", "GROUP", "DATATYPE", "OPERATION", "ERRHANDLER", "INFO", "REQUEST", "MESSAGE", "KEYVAL",
         "WINDOW"}  # fmt: skip


def has_body(function: Function) -> bool:
    return bool(_LABELLED.match(function.name) or _ONE_SIDED.match(function.name))


def _is_made(p: Parameter) -> bool:
    return p.kind in _MADE and p.direction == "out" and p.pointers == 1 and not p.array


def made(function: Function) -> List[str]:
    """The parameters where a call puts new handles."""
    return [p.name for p in function.widest.parameters if _is_made(p)]


def is_checked(function: Function, entry: Entry) -> bool:
    if not entry.has_body or entry.flags & {"plain", "tool", "always"}:
        return False
    is_collective = bool(entry.flags & {"timed", "together"}) or "together" in entry.parameters
    names_itself = _COMPLETING.match(function.name) or function.name == "MPI_File_open"  # which is to be closed
    return has_body(function) or is_collective or bool(names_itself) or bool(made(function))


def write(function: Function, code: List[str]) -> str:
    """The statements around `code`, which is that of the call and returns its result."""
    lines = ["const Checking checking(name_of_call, site);", "Call call(name_of_call);", "const int code = [&]() -> int {"]
    lines += ["  " + line for line in code] + ["}();"]
    handles = made(function)
    if handles:
        lines.append("if (code == MPI_SUCCESS) {")
        lines += [f"  checking.made(*call.self, {name});" for name in handles] + ["}"]
    lines.append("return code;")
    return "".join(f"  {line}\n" for line in lines)
