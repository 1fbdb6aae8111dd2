"""The functions and callbacks of the MPI standard's C binding, as the package pympistandard has them.

The standard's data has no notion of its ABI (MPI-5.0 chapter 20), so this module also knows in what the ABI differs:
FORTRAN_INTEROPERABILITY is not part of it, and LARGE_TWINS are.
"""

import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

import pympistandard

# Conversions between C and Fortran handles and statuses belong to the Fortran support library (MPI-5.0 section 20.4).
FORTRAN_INTEROPERABILITY = re.compile(r"_(c2f|f2c|c2f08|f082c|f082f|f2f08)$")
# Partitioned operations have had a large count from the start; the ABI gives them a _c name too, with the same prototype.
LARGE_TWINS = ("MPI_Psend_init", "MPI_Precv_init")
# Where the data describes a parameter otherwise than the standard's text: (function, parameter) -> (base, pointers, array).
CORRECTIONS = {("MPI_Info_create_env", "argv"): ("char", 1, "[]")}
# The data says of these that they mean something at the root only, but every rank receives.
NOT_ROOT_ONLY = {("MPI_Scatterv_init", "recvbuf"), ("MPI_Scatterv_init_c", "recvbuf")}
# What the data has no field for, its text says of a parameter: that it means something at the leader of a group only.
_LEADER_ONLY = re.compile(r"significant only at.*local.*leader")
# Arrays in whose place a small constant may stand (MPI_UNWEIGHTED) are declared as pointers, which is the same to the language:
# of an array GCC believes that it is read, and warns of the address.
OR_CONSTANT = {"WEIGHT"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function, as C sees it."""

    name: str
    kind: str  # the standard's name of what it is, e.g. "RANK"; with the prefix POLY if its width differs in the large form
    direction: str  # in, out or inout
    constant: bool
    base: str  # "int", "MPI_Comm", "void", ...
    pointers: int
    array: str  # "", "[]" or "[][3]"
    length: Optional[object]  # the name of the parameter that holds the length, "*", a number, a list of these, or None
    root_only: bool  # at other ranks than the root it may be anything
    leader_only: bool  # the same of the rank local_leader
    large_only: bool

    @property
    def type(self) -> str:
        """What stands before the name in a declaration."""
        return ("const " if self.constant else "") + self.base + ("*" * self.pointers if self.pointers else "")

    @property
    def declaration(self) -> str:
        return "..." if self.kind == "VARARGS" else f"{self.type} {self.name}{self.array}"

    @property
    def is_array(self) -> bool:
        return bool(self.array)

    @property
    def is_scalar(self) -> bool:
        return not self.pointers and not self.array


@dataclass(frozen=True)
class Form:
    """A function with its small or with its large counts."""

    name: str
    returns: str
    parameters: Tuple[Parameter, ...]

    @property
    def prototype(self) -> str:
        return f"{self.returns} {self.name}({', '.join(p.declaration for p in self.parameters) or 'void'})"

    def renamed(self, name: str) -> "Form":
        return Form(name, self.returns, self.parameters)


@dataclass(frozen=True)
class Function:
    """An MPI function; `large` is its twin with the suffix _c, if it has one."""

    small: Form
    large: Optional[Form]
    deprecated: bool

    @property
    def name(self) -> str:
        return self.small.name

    @property
    def widest(self) -> Form:
        return self.large or self.small

    @property
    def forms(self) -> List[Form]:
        return [self.small] + ([self.large] if self.large else [])


def _form(symbol) -> Form:
    parameters = []
    for p in symbol.parameters:
        raw = p._parseset  # the public interface has no kind names, directions or lengths
        as_in_text = CORRECTIONS.get((symbol.name, raw["name"]))
        if raw["kind"] == "VARARGS":
            base, pointers, array = "", 0, ""
        else:
            base, pointers, array = as_in_text or (p.base_type, p.pointer_level, p.array)
        if array and raw["kind"] in OR_CONSTANT:
            pointers, array = pointers + 1, ""
        parameters.append(
            Parameter(
                name=raw["name"],
                kind=raw["kind"],
                direction=raw["param_direction"],
                constant=bool(p.constant),
                base=base,
                pointers=pointers,
                array=array,
                length=raw["length"],
                root_only=bool(raw["root_only"]) and (symbol.name, raw["name"]) not in NOT_ROOT_ONLY,
                leader_only=bool(_LEADER_ONLY.search(raw["desc"] or "")),
                large_only=bool(raw["large_only"]),
            )
        )
    return Form(symbol.name, symbol.return_type, tuple(parameters))


def load() -> None:
    """Reads the data that comes with the package, whatever the environment says."""
    pympistandard.use_api_version(1, force_bundled=True)


def functions() -> Dict[str, Function]:
    """All functions of the standard ABI's C library, by their name without suffix, in alphabetical order."""
    found = {}
    for procedure in pympistandard.all_iso_c_procedures():
        small = _form(procedure.express.iso_c)
        if FORTRAN_INTEROPERABILITY.search(small.name):
            continue
        embiggened = procedure.express.embiggen.iso_c
        large = _form(embiggened) if embiggened else None
        if small.name in LARGE_TWINS:
            large = small.renamed(small.name + "_c")
        deprecated = bool(procedure._parseset["attributes"]["deprecated"])
        found[small.name] = Function(small, large, deprecated)
    return dict(sorted(found.items()))


def callbacks() -> List[Form]:
    """The types of the functions that a user hands to MPI."""
    found = []
    for callback in pympistandard.CALLBACKS.values():
        for symbol in (callback.express.iso_c, callback.express.embiggen.iso_c):
            if symbol is not None:
                found.append(_form(symbol))
    return found
