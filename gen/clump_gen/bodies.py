"""The signatures of the bodies behind the entry points, and bodies.h, which declares them.

The body of MPI_Type_vector is clump::mpi::type_vector; both forms of a function with a large-count twin call the same one.
"""

import re
from dataclasses import dataclass
from typing import Dict, List

from . import checkings, kinds
from .overlay import Entry
from .standard import Form, Function, Parameter


@dataclass(frozen=True)
class Argument:
    """One parameter of a body, and what the entry point passes for it."""

    declaration: str
    value: str


_TO_INT = re.compile(r"MPI_\w+_toint$")
_FROM_INT = re.compile(r"MPI_\w+_fromint$")


def whole(function: Function) -> str:
    """The statement that is all there is to a function, where its prototype tells (MPI-5.0 section 20.3.4); else empty."""
    first = function.small.parameters[0].name if function.small.parameters else ""
    if _TO_INT.match(function.name):
        return f"return static_cast<int>(reinterpret_cast<std::intptr_t>({first}));"
    if _FROM_INT.match(function.name):
        return f"return reinterpret_cast<{function.small.returns}>(static_cast<std::intptr_t>({first}));"
    return ""


_NONBLOCKING = re.compile(r"MPI_I(?=[a-z])")
_PERSISTENT = re.compile(r"_init$")


def name_of(function: Function, entry: Entry) -> str:
    """The body's name. Those that are `timed` have the one of their blocking form."""
    name = function.name
    if "timed" in entry.flags:
        name = _PERSISTENT.sub("", _NONBLOCKING.sub("MPI_", name))
    return name[len("MPI_") :].lower()


def _timing(function: Function) -> str:
    if _NONBLOCKING.match(function.name):
        return "Timing{.request = request, .check = &later}"
    if _PERSISTENT.search(function.name):
        return "Timing{.request = request, .persistent = true, .check = &later}"
    return "Timing()"


def is_deferred(function: Function, entry: Entry) -> bool:
    """A collective that does not block: its check is the beginning of the operation."""
    return "timed" in entry.flags and _timing(function) != "Timing()"


def is_described(entry: Entry) -> bool:
    """A collective whose arguments are compared, too."""
    return bool(entry.flags & {"timed", "alike"})


def _described(function: Function, entry: Entry) -> List[Argument]:
    """All arguments of the body but the timing."""
    return arguments(function, entry)[: -1 if "timed" in entry.flags else None]


def received(function: Function, entry: Entry) -> str:
    """Where a collective that does not block puts what it receives; empty: nowhere, or it blocks."""
    if not is_deferred(function, entry):
        return ""
    names = [p.name for p in function.widest.parameters if p.kind == "BUFFER"]
    return next((name for name in ("recvbuf", "buffer") if name in names), "")


def check(function: Function, entry: Entry) -> str:
    """The call that compares what ranks call (src/mpi/check/checked.h); empty for a function that is not collective."""
    called = f"{{call.name, site{', &later' if is_deferred(function, entry) else ''}}}"
    if is_described(entry):
        values = ", ".join(a.value for a in _described(function, entry))
        return f"checked::{name_of(function, entry)}({values}, {called})"
    if "timed" in entry.flags:
        return f"checked::together(*the_comm, {called})"
    if entry.parameters.get("together"):
        return f"checked::together(*the_{min(entry.parameters['together'])}, {called})"
    return f"checked::together(*call.self, {called})" if "together" in entry.flags else ""


# Collective calls that are not `timed`, and of which it is not compared that all ranks make them.
_COLLECTIVE_ALONE = {"MPI_Comm_idup": "comm", "MPI_Comm_idup_with_info": "comm", "MPI_Comm_free": "comm",
                     "MPI_Comm_disconnect": "comm"}  # fmt: skip


def in_turn(function: Function, entry: Entry) -> str:
    """The communicator whose collective calls come one after the other, this among them (src/mpi/entry/turn.h); empty: none."""
    if "timed" in entry.flags:
        return "comm"
    return min(entry.parameters.get("together", {_COLLECTIVE_ALONE.get(function.name, "")}))


# They wait for ranks that are in no communicator with the caller. A rank alone may be in several at a time, as its threads have nothing to agree
# about: mpi4py.futures spawns for each pool in MPI_COMM_SELF.
_MEETINGS = {"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}


def is_meeting(function: Function) -> bool:
    return function.name in _MEETINGS


def local(p: Parameter) -> str:
    """The entry point's variable for what a parameter stands for."""
    return f"the_{p.name}"


def is_optional_info(function: Function, p: Parameter) -> bool:
    """MPI_INFO_NULL is an answer, except where the info object is what the call is about."""
    about_it = function.name.startswith("MPI_Info_") or function.name.endswith(("_set_info", "_set_fortran_info"))
    about_it = about_it and not function.name.startswith("MPI_File_")
    return p.kind == "INFO" and not about_it


def _of_parameter(function: Function, entry: Entry, p: Parameter) -> List[Argument]:
    if kinds.is_object(p) and not (entry.about("raw", p.name) or entry.about("unchecked", p.name)):
        handle = kinds.HANDLES[p.kind]
        if is_optional_info(function, p):
            return [Argument(f"{handle.object}* {p.name}", local(p))]
        found = [Argument(f"{handle.object}& {p.name}", f"*{local(p)}")]
        if entry.about("handle", p.name):
            found.append(Argument(f"{p.base} {p.name}_handle", p.name))
        return found
    if p.kind == "POLYFUNCTION":  # both types; the one that does not belong to the form of the call is null
        small = p.base[: -len("_c")]
        return [Argument(f"{small}* {p.name}", p.name), Argument(f"{p.base}* {p.name}_c", f"{p.name}_c")]
    if kinds.is_wide_array(p):
        return [Argument(f"Counts {p.name}", p.name)]
    if kinds.is_wide_output(p):
        return [Argument(f"Count* {p.name}", f"&{local(p)}")]
    if kinds.is_poly(p):
        return [Argument(f"Count {p.name}", p.name)]
    if p.kind == "VARARGS":
        return []
    return [Argument(p.declaration, p.name)]


def self_of(entry: Entry) -> List[Argument]:
    if "plain" in entry.flags:
        return []
    if "tool" in entry.flags:
        return [Argument("instruments::Tool& tool", "*tool")]
    if "always" in entry.flags:
        return [Argument("core::Rank* self", "call.self")]
    return [Argument("core::Rank& self", "*call.self")]


def arguments(function: Function, entry: Entry) -> List[Argument]:
    found = self_of(entry)
    timed = "timed" in entry.flags
    for p in function.widest.parameters:
        if timed and p.kind in ("INFO", "REQUEST"):
            continue
        if "plain" in entry.flags:
            found.extend([] if p.kind == "VARARGS" else [Argument(p.declaration, p.name)])
        else:
            found.extend(_of_parameter(function, entry, p))
    if "form" in entry.flags:
        found.append(Argument("bool large", "large"))
    if timed:
        found.append(Argument("const Timing& timing", _timing(function)))
    return found


def returns(form: Form, entry: Entry) -> str:
    return form.returns if "plain" in entry.flags else "base::Status"


_TOP = """\
// The bodies behind the entry points, by chapter of the standard; written in src/mpi. See gen/README.md for how their parameters
// follow from the standard's, and entry.h for what is done before and after them.
#pragma once

#include "base/status.h"
#include "base/types.h"
#include "core/comm.h"
#include "core/rank.h"
#include "datatype/datatype.h"
#include "mpi/check/checked.h"
#include "mpi/entry/counts.h"
#include "mpi/entry/timing.h"
#include "rma/window.h"

namespace clump::instruments {
class Tool;
}

namespace clump::mpi {
"""


def write(functions: Dict[str, Function], entries: Dict[str, Entry]) -> str:
    text, declared = [_TOP], set()
    for chapter in sorted({entry.chapter for entry in entries.values()}):
        text.append(f"\n// {chapter}\n")
        for name, function in functions.items():
            entry = entries[name]
            if entry.chapter != chapter or not entry.has_body or whole(function) or (name_of(function, entry) in declared):
                continue
            declared.add(name_of(function, entry))
            parameters = ", ".join(a.declaration for a in arguments(function, entry))
            text.append(f"{returns(function.small, entry)} {name_of(function, entry)}({parameters});\n")
            if checkings.has_body(function):
                text.append(f"namespace checked {{\n[[gnu::cold]] base::Status {name_of(function, entry)}({parameters});\n}}\n")
            if is_described(entry):
                parameters = ", ".join([a.declaration for a in _described(function, entry)] + ["const Called& called"])
                name = name_of(function, entry)
                text.append(f"namespace checked {{\n[[gnu::cold]] base::Status {name}({parameters});\n}}\n")
    text.append("\n}  // namespace clump::mpi\n")
    return "".join(text)
