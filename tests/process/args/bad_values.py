#!/usr/bin/env python3
"""Writes a C program that calls every function that has a body once for each of its checked arguments and each value that is bad there.

usage: bad_values.py OUT    OUT: the file to be written

Which arguments are checked, and how, is read off the checks that the generator writes (gen/clump_gen/checks.py), so a new function is
called without being named here. What is bad, and which error that is, is said here for each kind of check (src/mpi/entry/entry_checks.h).
NULL is null_calls.py's. bad_values.h is the rest of the program, and says what is demanded of each call.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import right_calls
from right_calls import Wrong

from clump_gen import checks, kinds  # noqa: E402  (right_calls has made it known)

# Checks whose bad value is NULL.
OF_NULL = {"pointer", "array", "displacements"}
# No check: what a type becomes that means nothing.
NOT_A_CHECK = {"no_op", "no_type"}


@dataclass(frozen=True)
class Bad:
    """A value that is an error of this class, and what stands for it in the message: "(argument = shown"."""

    value: str
    error_class: str
    shown: str
    says: str = ""  # also in the message


def number(value: int, error_class: str) -> Bad:
    return Bad(str(value), error_class, f"{value}): ")


def constant(name: str, error_class: str, says: str = "") -> Bad:
    return Bad(name, error_class, f"{name}): ", says)


def handle(kind: str, error_class: str, null: bool = True) -> list:
    bad = [Bad(f"freed_{kind.lower()}", error_class, "0x", "freed")]
    return bad + ([constant(f"MPI_{kind}_NULL", error_class, "is needed here")] if null else [])


UNCOMMITTED = Bad("uncommitted", "MPI_ERR_TYPE", "", "MPI_Type_commit")
RANKS = [number(9999, "MPI_ERR_RANK"), number(-7, "MPI_ERR_RANK")]
TAGS = [number(-9, "MPI_ERR_TAG"), number(1 << 30, "MPI_ERR_TAG")]
# By the name of the check.
BAD = {
    "comm": handle("COMM", "MPI_ERR_COMM"),
    "datatype": handle("DATATYPE", "MPI_ERR_TYPE"),
    "committed": handle("DATATYPE", "MPI_ERR_TYPE") + [UNCOMMITTED],
    "types": handle("DATATYPE", "MPI_ERR_TYPE") + [UNCOMMITTED],
    "group": handle("GROUP", "MPI_ERR_GROUP"),
    "op": handle("OP", "MPI_ERR_OP"),
    "errhandler": handle("ERRHANDLER", "MPI_ERR_ERRHANDLER"),
    "new_errhandler": handle("ERRHANDLER", "MPI_ERR_ERRHANDLER"),
    "info": handle("INFO", "MPI_ERR_INFO"),
    "info_or_null": handle("INFO", "MPI_ERR_INFO", null=False),
    "session": handle("SESSION", "MPI_ERR_SESSION"),
    "win": handle("WIN", "MPI_ERR_WIN"),
    "file": handle("FILE", "MPI_ERR_FILE"),
    "intra": [Bad("inter", "MPI_ERR_COMM", "0x", "is an intercommunicator")],
    "topology": [Bad("comm", "MPI_ERR_TOPOLOGY", "0x", "has no topology")],
    "root": [number(9999, "MPI_ERR_ROOT"), number(-7, "MPI_ERR_ROOT"), Bad("MPI_ROOT", "MPI_ERR_ROOT", "", "MPI_ROOT is for")],
    "destination": RANKS + [constant("MPI_ANY_SOURCE", "MPI_ERR_RANK")],
    "source": RANKS,
    "member": RANKS,
    "send_tag": TAGS + [constant("MPI_ANY_TAG", "MPI_ERR_TAG")],
    "receive_tag": TAGS,
    "not_negative": [],  # see bad_values()
    "buffer": [constant("MPI_BUFFER_AUTOMATIC", "MPI_ERR_BUFFER"), constant("MPI_IN_PLACE", "MPI_ERR_BUFFER")],
    "in_place": [constant("MPI_IN_PLACE", "MPI_ERR_BUFFER")],
    "apart": [],
}
# Parameters that the standard says to be valid, by kind, and so must have a check.
MUST_HAVE_CHECKS = {*kinds.HANDLES, "RANK", "TAG"} | kinds.MESSAGE_COUNTS
# But for ranks of a group that only the body knows, and one that may be any number.
MAY_LACK_CHECKS = {
    "MPI_Intercomm_create.remote_leader", "MPI_Intercomm_create_from_groups.local_leader", "MPI_Intercomm_create_from_groups.remote_leader",
    "MPI_Status_set_source.source",
}  # fmt: skip

CHECK = re.compile(r'check::(\w+)\((?:call, )?(?:\{"(\w+)", ([*{]?)(.*))?')


@dataclass(frozen=True)
class Checked:
    """A check of an argument, as the generator has written it."""

    check: str
    argument: str
    leads_there: bool  # the argument is the address of what is checked
    rest: str
    condition: str  # under which it is looked at


def checked(function, entry) -> list:
    found, block = [], ""
    if "plain" in entry.flags:
        return found
    for statement in checks.Writer(function, entry).write().statements:
        opened = re.fullmatch(r"if \((.*)\) \{", statement)
        if opened or statement.startswith("}"):
            block = opened.group(1) if opened else ""
            continue
        match = CHECK.search(statement)
        if not match:
            continue
        name, argument, sign, rest = match.groups()
        if name in NOT_A_CHECK | OF_NULL:
            continue
        if name not in BAD:
            sys.exit(f"bad_values.py: says nothing of check::{name}, which {function.name} uses")
        alone = re.match(r"\s*if \((.*?)\) (?:\[\[unlikely\]\] )?CLUMP_TRY", statement)
        condition = " && ".join(c for c in (block, alone.group(1) if alone else "") if c)
        found.append(Checked(name, argument, sign == "*", rest, condition))
    return found


def bad_values(c: Checked, in_place: set) -> list:
    if c.check == "not_negative":
        error_class = re.search(r"MPI_ERR_\w+", c.rest)
        return [number(-3, error_class.group() if error_class else "MPI_ERR_COUNT")]
    if c.check == "buffer" and c.argument in in_place:
        return BAD["buffer"][:1]
    if c.check == "new_errhandler":
        other = "comm" if "kSession" in c.rest else "session"
        return BAD[c.check] + [Bad(f"{other}_errhandler", "MPI_ERR_ARG", "0x", "_create_errhandler")]
    if c.check == "apart":
        first = c.argument
        second = re.search(r'\{"(\w+)", \{', c.rest).group(1)
        return [Bad("other_data" if first == "inbuf" else "data", "MPI_ERR_BUFFER", f"{second} = 0x", "must not overlap")]
    return BAD[c.check]


def flags_of(c: Checked) -> str:
    if c.check in ("in_place", "intra"):
        return "TWO_RANKS"  # there is an intercommunicator
    return "ONE_RANK" if "at_root" in c.condition else "0"


def wrong_of(c: Checked, bad: Bad, number: int, is_array: bool) -> list:
    """(parameter, Wrong) of one call."""
    if c.check == "in_place":
        return [("comm", Wrong(number, "inter")), (c.argument, Wrong(number, bad.value))]
    if c.check == "apart":
        return [(re.search(r'\{"(\w+)", \{', c.rest).group(1), Wrong(number, bad.value))]
    return [(c.argument, Wrong(number, bad.value, element=is_array or c.leads_there))]


def rows_of(form, found: list) -> tuple:
    """What is wrong, by parameter, and the rows that say what comes of it."""
    parameters = {p.name: p for p in form.parameters}
    in_place = {c.argument for c in found if c.check == "in_place"}
    wrong, rows = {}, []
    for c in found:
        if c.argument not in parameters or "rank != 0" in c.condition:  # means nothing at rank 0, which would wait for the others
            continue
        if c.check == "in_place" and ", true, " in c.rest:  # allowed in all communicators that the call takes
            continue
        is_array = parameters[c.argument].is_array
        for bad in bad_values(c, in_place):
            for name, what in wrong_of(c, bad, len(rows) + 1, is_array):
                wrong.setdefault(name, []).append(what)
            shown = f"{form.name}({c.argument}{'[0]' if is_array else ''} = {bad.shown}"
            rows.append(f'{{"{c.argument} = {bad.value}", {flags_of(c)}, {bad.error_class}, "{shown}", "{bad.says}"}}')
    return wrong, rows


def unchecked(function, entry, found: list) -> list:
    """Parameters without a check that must have one."""
    there = {c.argument for c in found}
    return [
        p.name for p in function.widest.parameters
        if p.kind in MUST_HAVE_CHECKS and p.is_scalar and p.direction == "in" and p.name not in there
        and not entry.about("unchecked", p.name) and f"{function.name}.{p.name}" not in MAY_LACK_CHECKS
        and p.name not in kinds.MAY_BE_NEGATIVE and not entry.flags & {"plain", "tool"}
    ]


def main() -> None:
    code, tables, functions, used = [], [], [], set()
    for function, entry in right_calls.functions():
        found = checked(function, entry)
        used |= {c.check for c in found}
        lacking = unchecked(function, entry, found)
        if lacking:
            sys.exit(f"bad_values.py: {function.name} does not check {', '.join(lacking)}")
        for form in function.forms:
            wrong, rows = rows_of(form, found)
            if form.returns != "int" or not rows:
                continue
            name = form.name[4:]
            code.append(right_calls.call(form, function.name[4:], entry.chapter, wrong))
            tables.append(f"static const struct bad bad_{name}[] = {{\n  " + ",\n  ".join(rows) + ",\n};\n")
            functions.append(f'{{"{form.name}", call_{name}, {len(rows)}, bad_{name}}},\n')
    if used != set(BAD):
        sys.exit(f"bad_values.py: no function uses check::{', '.join(sorted(set(BAD) - used))}")
    Path(sys.argv[1]).write_text(right_calls.program("bad_values.h", code + tables, functions))


if __name__ == "__main__":
    main()
