"""The procedures of the standard's Fortran bindings: what the package pympistandard has of `mpif.h`, `mpi` and `mpi_f08`, beside the
C function that each of them calls."""

import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

import pympistandard

from . import standard
from .standard import Form, Parameter

# Strings. In a BIND(C) procedure these are CHARACTER(LEN=*), and come in a descriptor.
CHARACTERS = {"STRING", "STRING_ARRAY", "STRING_2DARRAY"}
BUFFERS = {"BUFFER"}

# Collective operations that combine data: predefined operations want predefined datatypes, so a section cannot become a datatype.
REDUCTION = re.compile(r"MPI_I?(reduce|allreduce|scan|exscan|reduce_scatter|reduce_scatter_block|reduce_local)(_init)?(_c)?$", re.I)
# Buffers with a block for each process, or each partition.
BLOCKS = {
    "recvbuf": re.compile(r"MPI_I?(neighbor_)?(gatherv?|allgatherv?|alltoall[vw]?)(_init)?(_c)?$", re.I),
    "sendbuf": re.compile(r"MPI_I?(neighbor_)?(scatterv?|alltoall[vw]?)(_init)?(_c)?$", re.I),
    "buf": re.compile(r"MPI_P(send|recv)_init(_c)?$", re.I),
}
# Those that work on one element.
ONE_ELEMENT = re.compile(r"MPI_(Fetch_and_op|Compare_and_swap)$")
# After these the library still uses the buffer.
NOT_BLOCKING = re.compile(
    r"MPI_(I(?!nfo|nit|ntercomm|s_)|R(put|get|accumulate|get_accumulate)(_c)?$|File_i|File_\w+_begin|Put|Get(_c)?$|Accumulate|Get_acc|Fetch|"
    r"Compare_and)|\w+_init(_c)?$"
)
PARTITIONED = re.compile(r"MPI_P(send|recv)_init")
# These look at the address of a buffer alone, and at what is behind it later.
ADDRESS = re.compile(r"MPI_(Win_detach|Free_mem|Get_address|File_\w+_end)")
KEPT = re.compile(r"MPI_(Buffer_attach|Comm_attach_buffer|Session_attach_buffer|Win_create|Win_attach)")


@dataclass(frozen=True)
class Dummy:
    """A dummy argument of a procedure."""

    name: str
    kind: str
    f90_type: str
    f90_dimensions: str
    f08_declaration: str  # what stands before "::"
    f08_dimensions: str


@dataclass(frozen=True)
class Procedure:
    """A procedure of one of the modules; `c` is what it calls, null if there is no such function."""

    name: str  # MPI_Send, MPI_Send_c
    generic: str  # the name in a program: of a procedure with large counts that of the other one
    c: Optional[Form]
    dummies: Tuple[Dummy, ...]
    result: str  # the type of a function's result; empty: a subroutine
    is_large: bool
    has_buffers: bool
    has_characters: bool

    @property
    def short(self) -> str:
        return self.name[len("MPI_"):].lower()

    @property
    def needs_descriptor(self) -> bool:
        """In `use mpi_f08` it is BIND(C), and takes descriptors. Others have the compiler's own convention, as in `use mpi`."""
        return self.has_buffers or any(d.kind == "C_BUFFER2" for d in self.dummies)

    def parameter(self, name: str) -> Optional[Parameter]:
        return next((p for p in self.c.parameters if p.name == name), None) if self.c else None


def _f08(p) -> Tuple[str, str]:
    return p.descriptor, p.name_length


def _dummies(f90, f08) -> Tuple[Dummy, ...]:
    old = {p._parseset["name"].lower(): p for p in f90.parameters} if f90 else {}
    new = {p._parseset["name"].lower(): p for p in f08.parameters} if f08 else {}
    found = []
    for name in new if f08 else old:
        a, b = old.get(name), new.get(name)
        declaration, dimensions = _f08(b) if b else ("", "")
        found.append(Dummy((b or a)._parseset["name"], (b or a)._parseset["kind"], a.type if a else "", a.dimensions if a else "",
                           declaration, dimensions))  # fmt: skip
    return tuple(found)


def _procedure(name: str, generic: str, c: Optional[Form], f90, f08, is_large: bool) -> Procedure:
    dummies = _dummies(f90, f08)
    kinds = {d.kind for d in dummies}
    result = (f08 or f90).return_type or ""
    return Procedure(name, generic, c, dummies, result, is_large, bool(kinds & BUFFERS), bool(kinds & CHARACTERS))


def _types(symbol) -> List[str]:
    """The types of the arguments, in which procedures of a generic one have to differ; addresses and counts have the same kind in the ABI."""
    return [re.sub(r"MPI_(COUNT|ADDRESS|OFFSET)_KIND", "8", p.type) + p.name_length for p in symbol.parameters] + [symbol.name]


def _named(text) -> str:
    return text.name


def old_procedures(functions: Dict[str, standard.Function]) -> List[Procedure]:
    """Those of mpif.h and `use mpi`."""
    found = []
    for procedure in pympistandard.PROCEDURES.values():
        f90 = procedure.express.f90
        if f90 is None:
            continue
        name = procedure._parseset["name"]
        c = functions.get(name)
        found.append(_procedure(name, name, c.small if c else None, f90, None, False))
    return sorted(found, key=_named)


def new_procedures(functions: Dict[str, standard.Function]) -> List[Procedure]:
    """Those of `use mpi_f08`."""
    found = []
    for procedure in pympistandard.PROCEDURES.values():
        f08 = procedure.express.f08
        if f08 is None:
            continue
        name = procedure._parseset["name"]
        c = functions.get(name)
        found.append(_procedure(name, name, c.small if c else None, None, f08, False))
        large = procedure.express.embiggen.f08 if procedure.express.embiggen else None
        if large is not None and _types(large) != _types(f08):
            # MPI_Op_create_c is a name in programs; other procedures with large counts have the name of those without.
            found.append(_procedure(name + "_c", large.name, c.large, None, large, True))
    return sorted(found, key=_named)


def message_of(form: Form, buffer: Parameter) -> Tuple[Optional[Parameter], Optional[Parameter]]:
    """The count and the datatype that belong to a buffer, if it is a message of typed elements."""
    names = {p.name: p for p in form.parameters}
    prefix = {"sendbuf": "send", "recvbuf": "recv", "origin_addr": "origin_", "result_addr": "result_"}.get(buffer.name, "")
    if form.name.startswith(("MPI_Unpack", "MPI_Pack")):
        typed = "outbuf" if form.name.startswith("MPI_Unpack") else "inbuf"
        if buffer.name != typed:
            return None, None
        return names["outcount" if typed == "outbuf" else "incount"], names["datatype"]
    count = names.get(prefix + "count") or names.get("count")
    datatype = names.get(prefix + "type") or names.get(prefix + "datatype") or names.get("datatype")
    return count, datatype


def buffer_use(form: Form, buffer: Parameter) -> str:
    """What a buffer is to the function (enum class Use of bindings/fortran/section.h)."""
    if ADDRESS.match(form.name):
        return "kAddress"
    if KEPT.match(form.name) or REDUCTION.match(form.name):
        return "kMemory"
    count, datatype = message_of(form, buffer)
    if datatype is None or not datatype.is_scalar:
        return "kMemory"
    blocks = BLOCKS.get(buffer.name)
    if blocks is not None and blocks.match(form.name):
        return "kBlocks"
    return "kOneBlock" if count is not None and count.is_scalar else "kMemory"


def significance(form: Form, buffer: Parameter) -> str:
    """At which ranks a buffer means something (enum class At of bindings/fortran/section.h)."""
    if not {"root", "comm"} <= {p.name for p in form.parameters}:
        return "kAll"
    kind = re.search(r"gather|scatter|reduce|bcast", form.name, re.I).group().lower()
    if kind == "bcast":
        return "kSenders"
    return "kRoot" if (buffer.name == "sendbuf") == (kind == "scatter") else "kPeers"


def end_of_use(form: Form) -> str:
    """When the library is done with a buffer (enum class Call of bindings/fortran/section.h)."""
    if not NOT_BLOCKING.match(form.name) and not KEPT.match(form.name):
        return "kBlocking"
    # Partitions are sent when the program says so: a copy would be made before.
    if "request" not in {p.name for p in form.parameters} or PARTITIONED.match(form.name):
        return "kLater"
    return "kPersistent" if "_init" in form.name else "kRequest"
