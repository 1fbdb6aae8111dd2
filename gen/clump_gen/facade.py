"""Writes what the libraries for the ABIs of other families of MPI libraries have in common (bindings/): tables of numbers, and a function for
each of the standard's that converts its arguments, calls the standard's, and converts the results.

The functions of BY_HAND are in bindings/common/*.cc. What converts what is in arguments.h and numbers.h there, and in the family's handles.h
and family.h. What each family has of its own is in mpich.py and openmpi.py.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from . import constants
from .standard import Form, Function, Parameter

# Their bodies are written by hand.
BY_HAND = {
    "MPI_Op_create", "MPI_Op_free", "MPI_Comm_create_errhandler", "MPI_Win_create_errhandler", "MPI_File_create_errhandler",
    "MPI_Session_create_errhandler", "MPI_Comm_create_keyval", "MPI_Keyval_create", "MPI_Type_create_keyval", "MPI_Win_create_keyval",
    "MPI_Comm_get_attr", "MPI_Attr_get", "MPI_Win_get_attr", "MPI_Grequest_start", "MPI_Register_datarep", "MPI_Type_get_contents",
    "MPI_Group_translate_ranks", "MPI_Pcontrol", "MPI_Abi_get_version", "MPI_T_cvar_handle_alloc", "MPI_T_pvar_handle_alloc",
    "MPI_T_event_handle_alloc", "MPI_T_event_register_callback", "MPI_T_event_handle_free", "MPI_T_event_set_dropped_handler", "MPI_Get_version",
    "MPI_Get_library_version",
}  # fmt: skip
BY_HAND_FORMS = {"MPI_Type_create_struct"}
CONVERSIONS = re.compile(r"MPI_\w+_(toint|fromint)$")

HANDLES = {f"MPI_{name}": name for name in
           ("Comm", "Group", "Win", "Session", "Message", "Info", "Errhandler", "Request", "Op", "Datatype", "File")}  # fmt: skip

# Kinds of numbers whose constants differ: the table of facts.txt.
TABLES = {
    "KEYVAL": "keyval", "THREAD_LEVEL": "thread_level", "COMM_COMPARISON": "comparison", "GROUP_COMPARISON": "comparison",
    "TOPOLOGY_TYPE": "topology", "SPLIT_TYPE": "split_type", "ORDER": "order", "COMBINER": "combiner", "TYPECLASS": "type_class",
    "LOCK_TYPE": "lock", "UPDATE_MODE": "whence", "BIND_TYPE": "bind", "VARIABLE_SCOPE": "scope", "TOOL_VAR_VERBOSITY": "verbosity",
    "PVAR_CLASS": "pvar_class", "CALLBACK_SAFETY": "safety", "SOURCE_ORDERING": "source_order", "DISTRIB_ENUM": "distribution",
    "DTYPE_DISTRIBUTION": "distribution_argument", "ACCESS_MODE": "access_mode", "ASSERT": "assertion",
}  # fmt: skip
BITS = {"ACCESS_MODE", "ASSERT"}
# Kinds of numbers that are converted by functions of numbers.h: standard_X() and program_X().
FUNCTIONS = {"RANK": "rank", "RANK_NNI": "rank", "TAG": "tag", "ERROR_CODE": "code", "ERROR_CLASS": "class"}
# An exit code is no error code of MPI's.
PLAIN = {("MPI_Abort", "errorcode"), ("MPI_Get_address", "location")}
# The numbers of elements of arrays that the standard's data leaves open: communicators have as many peers, or neighbours.
PEERS = re.compile(r"MPI_I?[Aa]lltoallw")
NEIGHBOURS = re.compile(r"MPI_I?[Nn]eighbor_alltoallw")

TOP = "// Written by gen/generate.py of Clump (gen/clump_gen/).\n"


@dataclass
class Family:
    """In what the functions of one family differ from those of another."""

    # Strings that are longer in the standard's ABI than the program's place for them, by function and parameter: the standard's constant, and
    # the bytes of the program's place.
    strings: Dict[Tuple[str, str], Tuple[str, int]]
    # The family's own conversion of an argument; without a result the common one counts.
    convert: Optional[Callable[[Form, Parameter], Optional[str]]] = None

    def size_of_string(self, form: Form) -> Optional[int]:
        """Bytes of the program's place for the string of a function that gives one and its length."""
        return next((size for (name, _), (_, size) in self.strings.items() if name == form.name), None)


def _camel(name: str) -> str:
    return "k" + "".join(word.capitalize() for word in name.split("_"))


def _short(form: Form) -> str:
    return form.name[len("MPI_"):]


def _is_by_hand(function: Function, form: Form) -> bool:
    return function.name in BY_HAND or form.name in BY_HAND_FORMS or bool(CONVERSIONS.match(form.name))


def _forms(functions: Dict[str, Function]) -> Iterator[Form]:
    for function in functions.values():
        yield from function.forms


# Tables.


def standard_values(groups: List[constants.Group]) -> Dict[str, str]:
    values = {name: value for group in groups for name, value in group.constants}
    return {name: values.get(value, value) for name, value in values.items()}


def _numbers(facts: List[constants.Group], values: Dict[str, str]) -> str:
    text = [TOP]
    for group in facts:
        if group.how.startswith(("map ", "bits ")) and group.how != "map offset":
            name = _camel(group.how.split()[1])
            pairs = ", ".join(f"{{{values[constant]}, {value}}}" for constant, value in group.constants)
            text.append(f"inline constexpr Pair {name}Pairs[] = {{{pairs}}};\n")
            text.append(f"inline constexpr Table {name} = {{{name}Pairs, {len(group.constants)}}};\n")
    return "".join(text)


def _functions(functions: Dict[str, Function]) -> str:
    """Calls of the library with the standard's ABI. The number is the place in _names()."""
    text = [TOP]
    for number, form in enumerate(_forms(functions)):
        text.append(f"inline decltype(&::{form.name}) {_short(form)}() {{ return reinterpret_cast<decltype(&::{form.name})>(function({number})); }}\n")
    return "".join(text)


def _names(functions: Dict[str, Function]) -> str:
    return TOP + "".join(f'"{form.name}",\n' for form in _forms(functions))


# Functions.


def _type(p: Parameter) -> str:
    """What the program's compiler has for the parameter."""
    base = HANDLES.get(p.base, "Status" if p.base == "MPI_Status" else p.base)
    if p.base in ("MPI_T_cb_safety", "MPI_T_source_order"):
        base = "int"
    return ("const " if p.constant else "") + base + "*" * p.pointers


def _declaration(p: Parameter) -> str:
    return f"{_type(p)} {p.name}{p.array}"


def _length(form: Form, p: Parameter) -> str:
    """The number of elements of an array of the parameter."""
    names = {q.name: q for q in form.parameters}
    if p.root_only:  # elsewhere the array and its length may be anything
        return f"is_root(standard(comm), root) ? {p.length} : 0"
    if isinstance(p.length, str) and p.length in names:
        return f"({p.length} != nullptr ? *{p.length} : 0)" if names[p.length].pointers else p.length
    if NEIGHBOURS.match(form.name):
        return f"neighbours_of(standard(comm), {'true' if p.name == 'sendtypes' else 'false'})"
    if PEERS.match(form.name):
        in_place = "standard_buffer(sendbuf) == MPI_IN_PLACE ? 0 : " if p.name == "sendtypes" else ""
        return f"{in_place}peers_of(standard(comm))"
    for name in ("count", "incount"):
        if name in names:
            return name
    raise SystemExit(f"{form.name}: how long is {p.name}?")


def _read(p: Parameter) -> str:
    """The last argument of an object that the call writes: whether the call reads it, too."""
    return ", true" if p.direction != "out" else ""


def _shown(wrapper: str, p: Parameter) -> str:
    """A handle that the call changes, as that of a request that is complete: an error handler sees it, too."""
    return f"Shown<{wrapper}>" if p.direction == "inout" else wrapper


def _handle(form: Form, p: Parameter) -> str:
    kind = HANDLES[p.base]
    if p.is_scalar:
        return f"standard({p.name})"
    if p.is_array:
        if p.direction == "in":
            return f"Handles<{kind}>({p.name}, {_length(form, p)})"
        return _shown(f"OutHandles<{kind}>", p) + f"({p.name}, {_length(form, p)}{_read(p)})"
    return _shown(f"Out<{kind}>", p) + f"({p.name}{_read(p)})"


def _status(form: Form, p: Parameter) -> str:
    if p.is_array:
        return f"Shown<OutStatuses>({p.name}, {_length(form, p)})"
    return f"{ {'in': 'InStatus', 'out': 'Shown<OutStatus>', 'inout': 'ChangedStatus'}[p.direction] }({p.name})".replace(" ", "")


def _number(form: Form, p: Parameter) -> str:
    if p.kind in FUNCTIONS:
        to_standard, to_program = f"standard_{FUNCTIONS[p.kind]}", f"program_{FUNCTIONS[p.kind]}"
        if p.is_scalar:
            return f"{to_standard}({p.name})"
        if p.is_array:  # in arrays of ranks there are none with a meaning of their own, but in MPI_Group_translate_ranks
            return f"SpawnCodes({p.name})" if p.kind == "ERROR_CODE" else p.name
        return f"Number<int, {to_program}, {to_standard}>({p.name})"
    table, bits = _camel(TABLES[p.kind]), "_bits" if p.kind in BITS else ""
    if p.is_scalar:
        value = f"standard{bits}({table}, {p.name})"
        return value if p.base == "int" else f"static_cast<{p.base}>({value})"
    if p.is_array:
        return f"Numbers({table}, {p.name}, {_length(form, p)})"
    return f"Number<{p.base}, to_program{bits}<{table}>, to_standard{bits}<{table}>>({p.name}{_read(p)})"


def _argument(family: Family, form: Form, p: Parameter) -> str:
    own = family.convert(form, p) if family.convert else None
    if own is not None:
        return own
    if (form.name, p.name) in PLAIN:
        return p.name
    if (form.name, p.name) in family.strings:
        constant, size = family.strings[form.name, p.name]
        return f"OutString<{constant}, {size}>({p.name})"
    if p.name == "resultlen" and family.size_of_string(form) is not None:
        return f"OutLength<{family.size_of_string(form)}>({p.name})"
    if p.base in HANDLES:
        return _handle(form, p)
    if p.base == "MPI_Status":
        return _status(form, p)
    if p.kind in TABLES or p.kind in FUNCTIONS:
        return _number(form, p)
    if p.kind == "BUFFER":
        return f"standard_buffer({p.name})"
    if p.kind == "C_BUFFER2":
        return f"OutBuffer({p.name})"
    if p.kind == "OFFSET" and form.name == "MPI_File_set_view":
        return f"standard_offset({p.name})"
    if "FUNCTION" in p.kind:
        raise SystemExit(f"{form.name} is handed a function: it has to be written by hand")
    return p.name


def _function(family: Family, form: Form) -> str:
    parameters = ", ".join(_declaration(p) for p in form.parameters)
    arguments = ", ".join(_argument(family, form, p) for p in form.parameters)
    call = f"abi::{_short(form)}()({arguments})"
    result = f"program_code({call})" if form.returns == "int" else call
    return f"CLUMP_ENTRY({form.returns}, {form.name}, ({parameters})) {{ return {result}; }}\n"


_ENTRIES = """\
#include "abi_library.h"
#include "arguments.h"
#include "entry.h"
#include "peers.h"

using namespace clump::facade;  // NOLINT: nobody includes this file

namespace {
template <const Table& table> int to_program(int value) { return program(table, value); }
template <const Table& table> int to_standard(int value) { return standard(table, value); }
template <const Table& table> int to_program_bits(int value) { return program_bits(table, value); }
template <const Table& table> int to_standard_bits(int value) { return standard_bits(table, value); }
}  // namespace

"""


def write(family: Family, folder: Path, functions: Dict[str, Function], facts: List[constants.Group], values: Dict[str, str],
          more: str = "") -> Dict[Path, str]:  # fmt: skip
    """The files that all families have, and their contents. `values`: standard_values(). `more`: the end of the functions' file."""
    entries = [TOP + _ENTRIES]
    for function in functions.values():
        entries.extend(_function(family, form) for form in function.forms if not _is_by_hand(function, form))
    return {
        folder / "numbers.inc": _numbers(facts, values),
        folder / "abi_functions.inc": _functions(functions),
        folder / "abi_names.inc": _names(functions),
        folder / "entries.cc": "".join(entries) + more,
    }
