"""Writes the procedures of Fortran's bindings (bindings/fortran, and fortran/ in bindings/mpich and bindings/openmpi), in C++: for each of the standard's a function that Fortran calls, which converts
the arguments, calls the C function of the standard's ABI, and converts the results.

Those of BY_HAND are in bindings/fortran/by_hand.cc. What converts what is in arguments.h, handles.h, strings.h and section.h there.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Tuple

from . import constants, fortran_model, fortran_modules
from .fortran_model import Dummy, Procedure
from .standard import Form, Function, Parameter

# In by_hand.cc: functions that take functions, values of attributes, strings whose length counts, and what C does not have.
BY_HAND = {
    "MPI_Op_create", "MPI_Op_create_c", "MPI_Comm_create_errhandler", "MPI_Win_create_errhandler", "MPI_File_create_errhandler",
    "MPI_Session_create_errhandler", "MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Win_create_keyval", "MPI_Keyval_create",
    "MPI_Attr_get", "MPI_Attr_put", "MPI_Comm_get_attr", "MPI_Type_get_attr", "MPI_Win_get_attr", "MPI_Comm_set_attr",
    "MPI_Type_set_attr", "MPI_Win_set_attr", "MPI_Grequest_start", "MPI_Register_datarep", "MPI_Register_datarep_c", "MPI_Info_get",
    "MPI_Info_get_string", "MPI_Session_get_nth_pset", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Init", "MPI_Init_thread",
    "MPI_Session_init", "MPI_Wtime", "MPI_Wtick", "MPI_Aint_add", "MPI_Aint_diff", "MPI_Sizeof", "MPI_Status_f2f08", "MPI_Status_f082f",
    "MPI_F_sync_reg", "MPI_Pcontrol", "MPI_Info_create_env",
}  # fmt: skip
HANDLES = ("MPI_Comm", "MPI_Group", "MPI_Win", "MPI_Session", "MPI_Message", "MPI_Info", "MPI_Errhandler", "MPI_Request", "MPI_Op",
           "MPI_Datatype", "MPI_File")  # fmt: skip

# Those that have error handlers.
OWNERS = ("MPI_Comm", "MPI_File", "MPI_Win", "MPI_Session")

# Lengths of strings that are written, in C.
STRINGS = {
    "MPI_Comm_get_name": "MPI_MAX_OBJECT_NAME", "MPI_Type_get_name": "MPI_MAX_OBJECT_NAME", "MPI_Win_get_name": "MPI_MAX_OBJECT_NAME",
    "MPI_Error_string": "MPI_MAX_ERROR_STRING", "MPI_Get_library_version": "MPI_MAX_LIBRARY_VERSION_STRING",
    "MPI_Get_processor_name": "MPI_MAX_PROCESSOR_NAME", "MPI_Info_get_nthkey": "MPI_MAX_INFO_KEY", "MPI_Open_port": "MPI_MAX_PORT_NAME",
    "MPI_Lookup_name": "MPI_MAX_PORT_NAME", "MPI_File_get_view": "MPI_MAX_DATAREP_STRING",
}  # fmt: skip
# Arrays whose length the standard's data leaves open.
LENGTHS = {
    ("MPI_Cart_sub", "remain_dims"): "dimensions_of(handle<MPI_Comm>(*comm))",
}
PEERS = re.compile(r"MPI_I?[Aa]lltoallw")
NEIGHBOURS = re.compile(r"MPI_I?[Nn]eighbor_alltoallw")

# Persistent collective operations, which Open MPI 4 has by names with MPIX_.
EARLY_NAMES = {
    "Allgather_init", "Allgatherv_init", "Allreduce_init", "Alltoall_init", "Alltoallv_init", "Alltoallw_init", "Barrier_init",
    "Bcast_init", "Exscan_init", "Gather_init", "Gatherv_init", "Neighbor_allgather_init", "Neighbor_allgatherv_init",
    "Neighbor_alltoall_init", "Neighbor_alltoallv_init", "Neighbor_alltoallw_init", "Reduce_init", "Reduce_scatter_block_init",
    "Reduce_scatter_init", "Scan_init", "Scatter_init", "Scatterv_init",
}  # fmt: skip

_TOP = "// Written by gen/generate.py of Clump (gen/clump_gen/fortran.py).\n"


@dataclass(frozen=True)
class Style:
    """How procedures of mpi_f08 take their arguments, in one library or another."""

    descriptor: str  # the type of a buffer's descriptor; empty: buffers are addresses, as those of mpif.h
    is_bind_c: bool  # those with descriptors are BIND(C): strings come in such, too
    headers: Tuple[str, ...]

    @property
    def includes(self) -> str:
        return "".join(f'#include "{name}"\n' for name in self.headers) + "\nusing namespace clump::fortran;  // NOLINT: nobody includes this file\n\n"

    def has_descriptors(self, procedure: Procedure) -> bool:
        return procedure.needs_descriptor if self.is_bind_c else bool(self.descriptor) and procedure.has_buffers


STANDARD = Style("Descriptor", True, ("arguments.h", "section.h"))
MPICH = Style("CompilersDescriptor", False, ("arguments.h", "compilers_descriptor.h", "section.h"))
OPENMPI = Style("", False, ("arguments.h",))


def _base(p: Parameter) -> str:
    if p.base in HANDLES or p.kind == "LOGICAL":
        return "Integer"
    if p.base == "MPI_Status" or p.base in ("MPI_Fint", "MPI_F08_status"):
        return "Integer"
    return {"char": "char", "void": "void"}.get(p.base, p.base)


def _is_of_f08(how: str) -> bool:
    return how.startswith("CLUMP_F08")


def _is_with_descriptors(how: str) -> bool:
    return how.startswith("CLUMP_F08TS")


def _has_strings_in_descriptors(how: str, style: Style) -> bool:
    return _is_with_descriptors(how) and style.is_bind_c


def _declared(dummy: Dummy, p: Parameter, how: str, style: Style) -> str:
    if dummy.kind == "ERROR_CODE" and p is None:
        return f"Integer* {dummy.name}"
    if _is_with_descriptors(how) and dummy.kind in fortran_model.BUFFERS:
        return f"const {style.descriptor}* {dummy.name}{'' if style.is_bind_c else '_argument'}"
    if _has_strings_in_descriptors(how, style) and dummy.kind in fortran_model.CHARACTERS:
        return f"const Descriptor* {dummy.name}"
    if p.kind == "C_BUFFER2" and not _is_of_f08(how):
        return "void*"  # no address can be given back to a choice argument
    if p.kind in ("ATTRIBUTE_VAL", "C_BUFFER", "C_BUFFER2"):
        return f"void** {dummy.name}"
    return f"{_base(p)}* {dummy.name}"


def _length(procedure: Procedure, p: Parameter, in_descriptor: bool) -> str:
    """The number of elements of an array."""
    form = procedure.c
    if (form.name, p.name) in LENGTHS:
        return LENGTHS[form.name, p.name]
    names = {q.name for q in form.parameters}
    if isinstance(p.length, str) and p.length in names:
        return f"*{p.length}"
    if NEIGHBOURS.match(form.name):
        return f"neighbours_of(handle<MPI_Comm>(*comm), {'true' if p.name == 'sendtypes' else 'false'})"
    if PEERS.match(form.name):
        if p.name == "sendtypes":
            address = "sendbuf_.address()" if in_descriptor else "c_buffer(sendbuf)"
            return f"{address} == MPI_IN_PLACE ? 0 : peers_of(handle<MPI_Comm>(*comm))"
        return "peers_of(handle<MPI_Comm>(*comm))"
    for name in ("count", "incount"):
        if name in names:
            return "*" + name
    raise SystemExit(f"{form.name}: how long is {p.name}?")


def _handle(procedure: Procedure, p: Parameter, in_descriptor: bool) -> str:
    if p.is_scalar:
        return f"handle<{p.base}>(*{p.name})"
    if p.is_array:
        name = {"in": "Handles", "out": "OutHandles", "inout": "ChangedHandles"}[p.direction]
        return f"{name}<{p.base}>({p.name}, {_length(procedure, p, in_descriptor)})"
    return f"{'OutHandle' if p.direction == 'out' else 'ChangedHandle'}<{p.base}>({p.name})"


def _string(procedure: Procedure, p: Parameter, in_descriptor: bool) -> str:
    argument = p.name if in_descriptor else f"{p.name}, {p.name}_length"
    if p.direction == "in":
        is_of_info = procedure.c.name.startswith("MPI_Info_") and p.name in ("key", "value")
        return f"{'InStripped' if is_of_info else 'InString'}({argument})"
    return f"OutString({argument}, {STRINGS[procedure.c.name]})"


def _logical(procedure: Procedure, p: Parameter) -> str:
    if p.is_scalar:
        return f"*{p.name} != 0 ? 1 : 0"
    if not p.is_array:
        return f"OutLogical({p.name})"
    return f"Logicals({p.name}, {_length(procedure, p, False)})" if p.direction == "in" else p.name


def _index(procedure: Procedure, p: Parameter) -> str:
    if p.direction == "in" or not procedure.c.name.startswith(("MPI_Wait", "MPI_Test", "MPI_Request")):
        return f"*{p.name}" if p.is_scalar else p.name
    return f"OutIndices({p.name}, outcount)" if p.is_array else f"OutIndex({p.name})"


def _argument(procedure: Procedure, p: Parameter, how: str, style: Style) -> str:
    in_descriptor = _is_with_descriptors(how)
    if p.base in HANDLES:
        return _handle(procedure, p, in_descriptor)
    if p.base == "MPI_Status":
        return f"c_status({p.name})"
    if p.kind == "BUFFER":
        return f"{p.name}_.address()" if in_descriptor else f"c_buffer({p.name})"
    if p.kind == "C_BUFFER2":
        return f"OutBuffer({p.name})" if _is_of_f08(how) else "OutBuffer(nullptr)"
    if p.kind == "ATTRIBUTE_VAL":
        return f"*{p.name}"
    if p.kind in fortran_model.CHARACTERS:
        return _string(procedure, p, _has_strings_in_descriptors(how, style))
    if p.kind == "LOGICAL":
        return _logical(procedure, p)
    if p.kind == "INDEX":
        return _index(procedure, p)
    if p.kind == "WEIGHT":
        return f"c_weights({p.name})"
    if "[3]" in p.array:
        return f"reinterpret_cast<int(*)[3]>({p.name})"
    return f"*{p.name}" if p.is_scalar else p.name


def _message(form: Form, buffer: Parameter, use: str) -> str:
    """The count and the datatype of what is in a buffer, as far as the call says them with one number."""
    count, datatype = fortran_model.message_of(form, buffer)
    if use == "kAddress" or datatype is None or not datatype.is_scalar:
        return ""
    if fortran_model.ONE_ELEMENT.match(form.name):
        return f"1, *{datatype.name}"
    # With MPI_IN_PLACE a buffer has more than the recvcount of MPI_Reduce_scatter_block.
    if count is not None and count.is_scalar and (use != "kMemory" or count.name == "count"):
        return f"*{count.name}, *{datatype.name}"
    return f"Message::kUnsaid, *{datatype.name}" if use == "kBlocks" else ""


def _sections(procedure: Procedure) -> List[str]:
    """The buffers of a procedure of `use mpi_f08`, which may be sections of arrays: a line for each."""
    lines, form = [], procedure.c
    end_of_use = fortran_model.end_of_use(form)
    for p in form.parameters:
        if p.kind != "BUFFER":
            continue
        use = fortran_model.buffer_use(form, p)
        access = "kRead" if p.direction == "in" else "kWrite"
        arguments = [p.name, f"Purpose{{Use::{use}, Call::{end_of_use}, Access::{access}}}"]
        message, at = _message(form, p, use), fortran_model.significance(form, p)
        if message or at != "kAll":
            arguments.append(f"Message{{{message}}}")
        if at != "kAll":
            arguments.append(f"Where{{Where::At::{at}, *comm, *root}}")
        lines.append(f"  Section {p.name}_({', '.join(arguments)});\n")
    return lines


def _substitutes(procedure: Procedure) -> Dict[str, str]:
    """What is handed to C for counts and datatypes of buffers that may be sections."""
    found, form = {}, procedure.c
    for p in form.parameters:
        use = fortran_model.buffer_use(form, p) if p.kind == "BUFFER" else ""
        if use not in ("kOneBlock", "kBlocks"):
            continue
        count, datatype = fortran_model.message_of(form, p)
        if datatype.name in found:
            raise SystemExit(f"{form.name}: {datatype.name} belongs to two buffers")
        found[datatype.name] = f"{p.name}_.datatype()"
        if use == "kOneBlock":
            found[count.name] = f"{p.name}_.count()" if count.base == "MPI_Count" else f"static_cast<{count.base}>({p.name}_.count())"
    return found


def _refusals(form: Form) -> str:
    """Ends the call if a buffer is a section with which it cannot be done."""
    scalars = {p.name: p.base for p in form.parameters if p.is_scalar}
    owner = next((f"handle<{base}>(*{name})" for name, base in scalars.items() if base in OWNERS), "MPI_COMM_SELF")
    lines = []
    for p in form.parameters:
        if p.kind == "BUFFER" and fortran_model.buffer_use(form, p) != "kAddress":
            refuse = f'{p.name}_.refuse("{form.name}", "{p.name}", {owner})'
            lines.append(f"  if (!{p.name}_.is_right()) return finish(ierror, {refuse});\n")
    return "".join(lines)


def _kept(procedure: Procedure) -> str:
    """Hands copies of sections over to the request that a call has made."""
    form = procedure.c
    if fortran_model.end_of_use(form) not in ("kRequest", "kPersistent"):
        return ""
    return "".join(f"  {p.name}_.keep_until_done(request, code);\n" for p in form.parameters if p.kind == "BUFFER")


def _own_descriptors(procedure: Procedure) -> str:
    """Turns a compiler's descriptors of buffers into ours."""
    text = ""
    for p in procedure.c.parameters:
        if p.kind == "BUFFER":
            text += f"  const Described {p.name}_described({p.name}_argument);\n  const Descriptor* const {p.name} = {p.name}_described.descriptor();\n"
    return text


def _function(procedure: Procedure, how: str, style: Style) -> str:
    """`how` is a macro of bindings/fortran/entry.h: CLUMP_ENTRY, a procedure of mpif.h; CLUMP_BOTH, of mpif.h and of mpi_f08; CLUMP_F08 and
    CLUMP_F08TS, of mpi_f08 alone."""
    form, in_descriptor = procedure.c, _is_with_descriptors(how)
    short = procedure.short
    if procedure.is_large:
        how, short = how + "_LARGE", short[:-len("_c")]
    declared, hidden = [], []
    for dummy in procedure.dummies:
        declared.append(_declared(dummy, procedure.parameter(dummy.name), how, style))
        if dummy.kind in fortran_model.CHARACTERS and not _has_strings_in_descriptors(how, style):
            hidden.append(f"Length {dummy.name}_length")
    lines, substitutes, refusals = [], {}, ""
    if in_descriptor and procedure.has_buffers:
        lines, substitutes, refusals = _sections(procedure), _substitutes(procedure), _refusals(form)
        if not style.is_bind_c:
            lines.insert(0, _own_descriptors(procedure))
    arguments = ", ".join(substitutes.get(p.name) or _argument(procedure, p, how, style) for p in form.parameters)
    parameters = ", ".join(declared + hidden)
    call = f"CLUMP_C({form.name[len('MPI_'):]})({arguments})"
    kept = _kept(procedure) if lines else ""
    end = f"  const int code = {call};\n{kept}  finish(ierror, code);\n" if kept else f"  finish(ierror, {call});\n"
    text = f"{how}({short}, ({parameters})) {{\n" + "".join(lines) + refusals + end + "}\n"
    if how == "CLUMP_BOTH" and any(d.kind == "C_BUFFER" for d in procedure.dummies):
        text += f"CLUMP_ALIAS({short}_cptr, {short}, ({parameters}))\n"  # with TYPE(C_PTR) in `use mpi`
    if style is OPENMPI and form.name[len("MPI_"):] in EARLY_NAMES and not _is_of_f08(how):
        text += f"CLUMP_EARLY_NAMES({short}, ({parameters}))\n"
    return text


def _gives_address(procedure: Procedure) -> bool:
    return any(d.kind == "C_BUFFER2" for d in procedure.dummies)


def procedures(folder: Path, old: List[Procedure], new: List[Procedure], style: Style) -> Dict[Path, str]:
    """The files of procedures, and their contents."""
    both = {p.name for p in new if not style.has_descriptors(p) and not _gives_address(p)}
    text = [_TOP, style.includes]
    more = list(text)
    for procedure in old:
        if procedure.name not in BY_HAND:
            text.append(_function(procedure, "CLUMP_BOTH" if procedure.name in both else "CLUMP_ENTRY", style))
    known = {p.name for p in old}
    for procedure in new:
        if procedure.name in BY_HAND or (procedure.is_large and not style.descriptor):
            continue
        if style.has_descriptors(procedure):
            more.append(_function(procedure, "CLUMP_F08TS", style))
        elif procedure.name not in known or _gives_address(procedure):
            more.append(_function(procedure, "CLUMP_F08", style))
    return {folder / "procedures.cc": "".join(text), folder / "procedures_f08.cc": "".join(more)}


def write(folder: Path, functions: Dict[str, Function], groups: List[constants.Group]) -> Dict[Path, str]:
    """The files and their contents."""
    old, new = fortran_model.old_procedures(functions), fortran_model.new_procedures(functions)
    files = procedures(folder, old, new, STANDARD)
    files.update(fortran_modules.write(folder, old, new, groups))
    return files
