"""The C entry points: PMPI_X, and MPI_X as a weak alias of it, for each function of the ABI; one source file per chapter."""

import re
from typing import Dict, List

from . import bodies, checks, kinds
from .overlay import Entry
from .standard import Form, Function, Parameter

# The value of these outputs is MPI_UNDEFINED where it does not fit (MPI-5.0 sections 3.2.5, 5.1.5 to 5.1.11, 5.2 and 3.6.1);
# others fail with MPI_ERR_VALUE_TOO_LARGE.
UNDEFINED_IF_TOO_LARGE = re.compile(r"MPI_(Get_count|Get_elements|Type_size|Type_get_(true_)?extent|Pack_size|(Comm_|Session_)?"
                                    r"Buffer_detach|\w+_detach_buffer)$")  # fmt: skip

# Where a call of the program's is, seen from the function that it calls.
_SITE = "__builtin_extract_return_addr(__builtin_return_address(0))"

_TOP = """\
// {title}: the C entry points, as gen/generate.py writes them. What they have in common: src/mpi/entry.h.
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "mpi/entry_checks.h"

#define CLUMP_ENTRY extern "C" __attribute__((visibility("default")))
// MPI_X is the same code as PMPI_X, and gives way to a tool's MPI_X.
#define CLUMP_ALIAS(name) __attribute__((visibility("default"), weak, alias(#name)))

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


def _enter(entry: Entry) -> List[str]:
    if "tool" in entry.flags:
        return ["instruments::Tool* const tool = enter_tool();", "if (tool == nullptr) return no_tool();"]
    if "always" in entry.flags:
        return ["call.enter_always();"]
    return [f"CLUMP_TRY(call.{'enter_anytime' if 'anytime' in entry.flags else 'enter'}());"]


def _work(function: Function, entry: Entry, writer: checks.Writer) -> List[str]:
    """What follows the checks: the body, and storing outputs whose width depends on the form."""
    arguments = ", ".join(a.value for a in bodies.arguments(function, entry))
    call = f"clump::mpi::{bodies.name_of(function, entry)}({arguments})"
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
    return "__attribute__((always_inline)) " if entry.chapter == "p2p" else ""


def _code(function: Function, entry: Entry) -> List[str]:
    """The statements of a function, given a `call`; those for tools need none."""
    writer = checks.Writer(function, entry).write()
    work = _work(function, entry, writer)
    raises = "raises" in entry.flags
    check = bodies.check(function, entry)
    if check:
        work = ["if (checked::wanted(*call.self)) [[unlikely]] CLUMP_TRY(" + check + ");"] + work
    lines = list(writer.declarations)
    if bodies.is_deferred(function, entry):
        lines.append("std::unique_ptr<coll::Check> later;")
    lines.append(f"const base::Status outcome = [&]() {_copied(entry)}-> base::Status {{")
    lines.extend("  " + s for s in _enter(entry) + writer.statements + (["return {};"] if raises else work))
    lines.append("}();")
    if raises:  # the body calls the error handler itself
        lines.append("if (!outcome.ok()) [[unlikely]] return call.raise(outcome);")
        lines.append(work[0].replace(";", ".code();"))
    elif function.name.startswith("MPI_T_"):  # never calls an error handler
        lines.append("return outcome.error_class();")
    else:
        lines.append("return outcome.ok() ? MPI_SUCCESS : call.raise(outcome);")
    return lines


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


def _form_of_two(function: Function, entry: Entry, form: Form) -> str:
    large = form is function.large
    site = [_SITE] if bodies.check(function, entry) else []
    arguments = [f'"{form.name}"'] + site + [_shared_argument(p, form, large) for p in function.large.parameters]
    if "form" in entry.flags:
        arguments.append("true" if large else "false")
    absent = [p for p in function.large.parameters if kinds.is_wide_output(p) and all(q.name != p.name for q in form.parameters)]
    lines = [f"MPI_Count no_{p.name} = 0;" for p in absent]
    lines.append(f"return {function.name[4:]}({', '.join(arguments)});")
    return f"{_signature(form)} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _function(function: Function, entry: Entry) -> str:
    whole = bodies.whole(function)
    if whole:
        return f"{_signature(function.small)} {{ {whole} }}\n" + _alias(function.small)
    if not entry.has_body:
        return "".join(_missing(function, form) + _alias(form) for form in function.forms)
    if "plain" in entry.flags:
        arguments = ", ".join(a.value for a in bodies.arguments(function, entry))
        call = f"return clump::mpi::{bodies.name_of(function, entry)}({arguments});"
        return f"{_signature(function.small)} {{ {call} }}\n" + _alias(function.small)
    code = _code(function, entry)
    if not function.large:
        lines = ([] if "tool" in entry.flags else [f'Call call("{function.name}");']) + code
        if bodies.check(function, entry):
            lines.insert(0, f"const void* const site = {_SITE};")
        return f"{_signature(function.small)} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n" + _alias(function.small)
    parameters = ["const char* name_of_call"] + (["const void* site"] if bodies.check(function, entry) else [])
    parameters += [_shared_parameter(p) for p in function.large.parameters]
    if "form" in entry.flags:
        parameters.append("bool large")
    code = ["Call call(name_of_call);"] + code
    text = f"{_copied(entry)}static inline int {function.name[4:]}({', '.join(parameters)}) {{\n" + "".join(f"  {line}\n" for line in code) + "}\n"
    return text + "".join(_form_of_two(function, entry, form) + _alias(form) for form in function.forms)


def write(chapter: str, functions: Dict[str, Function], entries: Dict[str, Entry]) -> str:
    text = [_TOP.format(title=chapter)]
    for name, function in functions.items():
        if entries[name].chapter == chapter:
            text.append("\n" + _function(function, entries[name]))
    return "".join(text)
