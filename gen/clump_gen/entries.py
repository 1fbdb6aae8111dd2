"""The C entry points: PMPI_X, and MPI_X as a weak alias of it, for each function of the ABI; one source file per chapter."""

import re
from typing import Dict, List

from . import bodies, checkings, checks, kinds, recordings
from .overlay import Entry
from .standard import Form, Function, Parameter

# The value of these outputs is MPI_UNDEFINED where it does not fit (MPI-5.0 sections 3.2.5, 5.1.5 to 5.1.11, 5.2 and 3.6.1);
# others fail with MPI_ERR_VALUE_TOO_LARGE.
UNDEFINED_IF_TOO_LARGE = re.compile(r"MPI_(Get_count|Get_elements|Type_size|Type_get_(true_)?extent|Pack_size|(Comm_|Session_)?"
                                    r"Buffer_detach|\w+_detach_buffer)$")  # fmt: skip

# By these a rank asks whether something has come, and may do so again and again.
POLLS = re.compile(r"MPI_(Test(all|any|some)?|Im?probe|Win_test|Parrived|Request_get_status(_all|_any|_some)?)$")

# Where a call of the program's is, seen from the function that it calls.
_SITE = "__builtin_extract_return_addr(__builtin_return_address(0))"

_TOP = """\
// {title}: the C entry points, as gen/generate.py writes them. What they have in common: src/mpi/entry/entry.h.
#include "mpi/bodies.h"
#include "mpi/check/checking.h"
#include "mpi/entry/entry.h"
#include "mpi/entry/entry_checks.h"
#include "mpi/trace/recording.h"
#include "mpi/entry/turn.h"

#define CLUMP_ENTRY extern "C" __attribute__((visibility("default")))
// MPI_X is the same code as PMPI_X, and gives way to a tool's MPI_X.
#define CLUMP_ALIAS(name) __attribute__((visibility("default"), weak, alias(#name)))
// Each function that says so has a copy of its own; not for sanitizers, which take minutes to compile them all.
#ifdef CLUMP_SANITIZE
#define CLUMP_COPIED
#else
#define CLUMP_COPIED __attribute__((always_inline))
#endif

using namespace clump;       // NOLINT: nobody includes this file
using namespace clump::mpi;  // NOLINT
"""


def _alias(form: Form) -> str:
    types = ", ".join("..." if p.kind == "VARARGS" else p.type + p.array for p in form.parameters)
    return f'extern "C" CLUMP_ALIAS(P{form.name}) {form.returns} {form.name}({types or "void"});\n'


def _signature(form: Form, used: bool = True) -> str:
    def declare(p: Parameter) -> str:
        return p.declaration if used or p.kind == "VARARGS" else f"{p.type}{p.array}"

    return f"CLUMP_ENTRY {form.returns} P{form.name}({', '.join(declare(p) for p in form.parameters) or 'void'})"


def _missing(function: Function, form: Form) -> str:
    if form.returns != "int":
        raise SystemExit(f"{form.name} needs a body: it has no error code to return")
    if form.name.startswith("MPI_T_"):  # never calls an error handler (MPI-5.0 section 15.3.10)
        return f"{_signature(form, used=False)} {{ return MPI_T_ERR_NOT_SUPPORTED; }}\n"
    communicator = next((p for p in form.parameters if kinds.is_object(p) and p.kind == "COMMUNICATOR"), None)
    parameters = ", ".join(
        "..." if p.kind == "VARARGS" else p.declaration if p is communicator else f"{p.type}{p.array}" for p in form.parameters
    )
    argument = f", {communicator.name}" if communicator else ""
    return f'CLUMP_ENTRY int P{form.name}({parameters or "void"}) {{ return missing("{form.name}"{argument}); }}\n'


def _takes_site(function: Function, entry: Entry) -> bool:
    """Whether the code has to know which call of the program's it serves."""
    return bool(bodies.check(function, entry)) or checkings.is_checked(function, entry)


def is_about_files(function: Function) -> bool:
    """Whether the error handler is a file's, or that of MPI_FILE_NULL where there is none (MPI-5.0 section 14.7)."""
    return bool(re.match(r"MPI_(File_(?!create_errhandler)|Register_datarep)", function.name))


def _enter(function: Function, entry: Entry, inside: bool) -> List[str]:
    if "tool" in entry.flags:
        return ["instruments::Tool* const tool = enter_tool();", "if (tool == nullptr) return no_tool();"]
    if "always" in entry.flags:
        return ["call.enter_always();"]
    of_files = ["call.target.of_files = true;"] if is_about_files(function) else []
    form = "Call::Form::kUnchecked" if checkings.is_checked(function, entry) and not inside else ""
    polls = ["call.note_poll();"] if POLLS.match(function.name) else []
    return of_files + [f"CLUMP_TRY(call.{'enter_anytime' if 'anytime' in entry.flags else 'enter'}({form}));"] + polls


def _work(function: Function, entry: Entry, inside: bool) -> List[str]:
    """What follows the checks: the body, and storing outputs whose width depends on the form."""
    arguments = ", ".join(a.value for a in bodies.arguments(function, entry))
    scope = "checked::" if inside and checkings.has_body(function) else ""
    call = f"clump::mpi::{scope}{bodies.name_of(function, entry)}({arguments})"
    outputs = [p for p in function.widest.parameters if kinds.is_wide_output(p)]
    if not outputs:
        return [f"return {call};"]
    lines = []
    for p in outputs:
        lines.append(f"Count {bodies.local(p)} = {p.name + '.load()' if p.direction == 'inout' else '0'};")
    lines.append(f"CLUMP_TRY({call});")
    for p in outputs:
        if UNDEFINED_IF_TOO_LARGE.match(function.name):
            lines.append(f"{p.name}.store_or_undefined({bodies.local(p)});")
        else:
            lines.append(f'CLUMP_TRY({p.name}.store("{p.name}", {bodies.local(p)}));')
    return lines + ["return {};"]


def _copied(entry: Entry) -> str:
    """Both forms of a function share their code; where a call takes some tens of nanoseconds, each has its own copy."""
    return "CLUMP_COPIED " if entry.chapter in ("p2p", "rma") else ""


def _copied_into_forms(function: Function, entry: Entry) -> str:
    """So has the only form of a collective, which shares it with the call that is recorded."""
    return "CLUMP_COPIED " if entry.chapter == "collectives" and not function.large else _copied(entry)


def _failed(function: Function, entry: Entry, inside: bool) -> str:
    """What comes of a call that has not succeeded: it may be that it was not done yet."""
    arguments, name = _shared_arguments(function, entry), function.name[4:]
    failed = "call.raise(outcome)"
    if inside:
        return failed
    if checkings.is_checked(function, entry):
        failed = f"call.slow_path == Call::SlowPath::kChecked ? checked_{name}({arguments}) : {failed}"
    if recordings.is_recorded(entry):
        failed = f"call.slow_path == Call::SlowPath::kRecorded ? recorded_{name}({arguments}) : {failed}"
    return failed


def _code(function: Function, entry: Entry, inside: bool = False) -> List[str]:
    """The statements of a function, given a `call`; those for tools need none. `inside`: of a Checking."""
    writer = checks.Writer(function, entry).write()
    work = _work(function, entry, inside)
    raises = "raises" in entry.flags
    check = bodies.check(function, entry)
    if check:
        into = bodies.received(function, entry)
        lead = [f"if (later != nullptr) {into} = later->stand_in({into});"] if into else []
        work = ["if (checked::wanted(*call.self)) [[unlikely]] CLUMP_TRY(" + check + ");"] + lead + work
    turn = bodies.in_turn(function, entry)
    if turn:
        p = next(p for p in function.widest.parameters if p.name == turn)
        value = "*" * p.pointers + p.name
        alone = ", Turn::Alone::kFree" if bodies.is_meeting(function) else ""
        work = [f'const Turn turn({{"{p.name}", {value}}}, *{bodies.local(p)}, call.name{alone});', "CLUMP_TRY(turn.outcome());"] + work
    lines = list(writer.declarations)
    if bodies.is_deferred(function, entry):
        lines.append("std::unique_ptr<coll::Check> later;")
    lines.append(f"const base::Status outcome = [&]() {_copied(entry)}-> base::Status {{")
    lines.extend("  " + s for s in _enter(function, entry, inside) + writer.statements + (["return {};"] if raises else work))
    lines.append("}();")
    failed = _failed(function, entry, inside)
    if raises:  # the body calls the error handler itself
        lines.append(f"if (!outcome.ok()) [[unlikely]] return {failed};")
        lines.append(work[0].replace(";", ".code();"))
    elif function.name.startswith("MPI_T_"):  # never calls an error handler
        lines.append("return outcome.error_class();")
    else:
        lines.append(f"return outcome.ok() ? MPI_SUCCESS : {failed};")
    return lines


def _shared_parameters(function: Function, entry: Entry) -> List[str]:
    """Declarations of what all forms of a function, and its recorded call, hand to the code that they share."""
    found = ["const char* name_of_call"] + (["const void* site"] if _takes_site(function, entry) else [])
    found += [_shared_parameter(p) if function.large else p.declaration for p in function.widest.parameters]
    return found + (["bool large"] if "form" in entry.flags else [])


def _shared_arguments(function: Function, entry: Entry) -> str:
    """The same, handed on."""
    found = ["name_of_call"] + (["site"] if _takes_site(function, entry) else [])
    for p in function.widest.parameters:
        both = function.large and p.kind == "POLYFUNCTION"
        found += [p.name, p.name + "_c"] if both else [p.name]
    return ", ".join(found + (["large"] if "form" in entry.flags else []))


def _shared_parameter(p: Parameter) -> str:
    """A parameter of the function that both forms call."""
    if p.kind == "POLYFUNCTION":
        return f"{p.base[:-2]}* {p.name}, {p.base}* {p.name}_c"
    if kinds.is_wide_array(p):
        return f"Counts {p.name}"
    if kinds.is_wide_output(p):
        return f"CountOut {p.name}"
    return f"Count {p.name}" if kinds.is_poly(p) else p.declaration


def _shared_argument(p: Parameter, form: Form, large: bool) -> str:
    if all(q.name != p.name for q in form.parameters):  # large_only
        return "nullptr" if p.is_array else f"&no_{p.name}" if kinds.is_wide_output(p) else "0"
    if p.kind == "POLYFUNCTION":
        return f"nullptr, {p.name}" if large else f"{p.name}, nullptr"
    return p.name


def _form(function: Function, entry: Entry, form: Form) -> str:
    large = form is function.large
    site = [_SITE] if _takes_site(function, entry) else []
    arguments = [f'"{form.name}"'] + site + [_shared_argument(p, form, large) for p in function.widest.parameters]
    if "form" in entry.flags:
        arguments.append("true" if large else "false")
    absent = [p for p in function.widest.parameters if kinds.is_wide_output(p) and all(q.name != p.name for q in form.parameters)]
    lines = [f"MPI_Count no_{p.name} = 0;" for p in absent]
    lines.append(f"return {function.name[4:]}({', '.join(arguments)});")
    return f"{_signature(form)} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _shared(function: Function, entry: Entry, number: int) -> str:
    """The code behind all forms of a function, and what records or watches a call of it."""
    parameters, name = ", ".join(_shared_parameters(function, entry)), function.name[4:]
    head = f"{_copied_into_forms(function, entry)}static inline int {name}({parameters})"
    lines = ["Call call(name_of_call);"] + _code(function, entry)
    code = head + " {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
    before, after = "", ""
    if recordings.is_recorded(entry):
        call = f"{name}({_shared_arguments(function, entry)})"
        recorded = f"static int recorded_{name}({parameters})"
        before += f"{recorded};\n"
        after += f"[[gnu::noinline]] {recorded} {{\n{recordings.write(function, entry, number, call)}}}\n"
    if checkings.is_checked(function, entry):
        checked = f"static int checked_{name}({parameters})"
        before += f"{checked};\n"
        after += f"[[gnu::noinline, gnu::cold]] {checked} {{\n{checkings.write(function, _code(function, entry, inside=True))}}}\n"
    return before + code + after


def _function(function: Function, entry: Entry, number: int) -> str:
    whole = bodies.whole(function)
    if whole:
        return f"{_signature(function.small)} {{ {whole} }}\n" + _alias(function.small)
    if not entry.has_body:
        return "".join(_missing(function, form) + _alias(form) for form in function.forms)
    if "plain" in entry.flags:
        arguments = ", ".join(a.value for a in bodies.arguments(function, entry))
        call = f"return clump::mpi::{bodies.name_of(function, entry)}({arguments});"
        return f"{_signature(function.small)} {{ {call} }}\n" + _alias(function.small)
    if not function.large and not recordings.is_recorded(entry) and not checkings.is_checked(function, entry):
        lines = ([] if "tool" in entry.flags else [f'Call call("{function.name}");']) + _code(function, entry)
        return f"{_signature(function.small)} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n" + _alias(function.small)
    return _shared(function, entry, number) + "".join(_form(function, entry, form) + _alias(form) for form in function.forms)


def write(chapter: str, functions: Dict[str, Function], entries: Dict[str, Entry]) -> str:
    text = [_TOP.format(title=chapter)]
    for number, (name, function) in enumerate(functions.items()):
        if entries[name].chapter == chapter:
            text.append("\n" + _function(function, entries[name], number))
    return "".join(text)
