"""Writes what Fortran programs see: mpif.h, and the sources of the modules mpi, mpi_f08 and mpi_f08_types. All procedures are interfaces to those
of fortran.py; only the comparisons of handles are Fortran code."""

import re
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import pympistandard

from . import constants
from .fortran_model import Procedure

HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win")
# What a Fortran program does not get of the groups of constants: the tool information interface has no Fortran.
NOT_IN_FORTRAN = re.compile(r"MPI_T_|MPI_F_")
LENGTH_OF_STRING = re.compile(r"MPI_MAX_")
KINDS = (("MPI_ADDRESS_KIND", "8"), ("MPI_COUNT_KIND", "8"), ("MPI_INTEGER_KIND", "4"), ("MPI_OFFSET_KIND", "8"))
STATUS = (("MPI_STATUS_SIZE", "8"), ("MPI_SOURCE", "1"), ("MPI_TAG", "2"), ("MPI_ERROR", "3"))
# Variables with a meaning by their address: name, type in `mpi` and mpif.h, in mpi_f08, dimensions, symbol.
SENTINELS = (
    ("MPI_BOTTOM", "INTEGER", "INTEGER", "", "mpi_fortran_bottom"),
    ("MPI_IN_PLACE", "INTEGER", "INTEGER", "", "mpi_fortran_in_place"),
    ("MPI_BUFFER_AUTOMATIC", "INTEGER", "INTEGER", "", "mpi_fortran_buffer_automatic"),
    ("MPI_STATUS_IGNORE", "INTEGER", "TYPE(MPI_Status)", "(MPI_STATUS_SIZE)", "mpi_fortran_status_ignore"),
    ("MPI_STATUSES_IGNORE", "INTEGER", "TYPE(MPI_Status)", "(MPI_STATUS_SIZE,1)", "mpi_fortran_statuses_ignore"),
    ("MPI_ERRCODES_IGNORE", "INTEGER", "INTEGER", "(1)", "mpi_fortran_errcodes_ignore"),
    ("MPI_UNWEIGHTED", "INTEGER", "INTEGER", "(1)", "mpi_fortran_unweighted"),
    ("MPI_WEIGHTS_EMPTY", "INTEGER", "INTEGER", "(1)", "mpi_fortran_weights_empty"),
    ("MPI_ARGV_NULL", "CHARACTER(LEN=1)", "CHARACTER(LEN=1)", "(1)", "mpi_fortran_argv_null"),
    ("MPI_ARGVS_NULL", "CHARACTER(LEN=1)", "CHARACTER(LEN=1)", "(1,1)", "mpi_fortran_argvs_null"),
)
FUNCTIONS = (("DOUBLE PRECISION", "MPI_WTIME"), ("DOUBLE PRECISION", "MPI_WTICK"),
             ("INTEGER(KIND=MPI_ADDRESS_KIND)", "MPI_AINT_ADD"), ("INTEGER(KIND=MPI_ADDRESS_KIND)", "MPI_AINT_DIFF"))  # fmt: skip

_TOP = "! Written by gen/generate.py of Clump (gen/clump_gen/fortran_modules.py) from the data of the MPI standard.\n"


def _values(groups: List[constants.Group]) -> Iterator[Tuple[str, str, str]]:
    """Constants: group, name, value as a decimal number."""
    numbers: Dict[str, int] = {}
    kinds: Dict[str, str] = {}
    for group in groups:
        if "*" in group.how or group.how.startswith(("enum", "MPI_T_")):
            continue
        for name, value in group.constants:
            number = numbers[value] if value in numbers else int(value, 0)
            numbers[name] = number
            kinds[name] = kinds.get(value, group.how)  # a second name of a handle is one, too
            if not NOT_IN_FORTRAN.match(name):
                yield kinds[name], name, str(number - 1 if LENGTH_OF_STRING.match(name) else number)


def _wrap(line: str, indent: str) -> str:
    """A statement in lines of at most 120 characters."""
    lines, rest = [], indent + line
    while len(rest) > 120:
        at = rest.rfind(",", 0, 118) + 1
        lines.append(rest[:at] + " &\n")
        rest = indent + "  " + rest[at:].lstrip()
    return "".join(lines) + rest + "\n"


# mpif.h: lines that are right in fixed and in free form.

_MPIF_TOP = """\
!     MPI for Fortran without modules; "use mpi_f08" or "use mpi" check arguments. Written by gen/generate.py of Clump
!     (gen/clump_gen/fortran_modules.py).
!     A division by zero here: the compiler was told to make INTEGER 8 bytes long (-fdefault-integer-8, -i8); MPI's INTEGER
!     has 4 bytes. Compile without, and declare what needs it as INTEGER(8).
      INTEGER MPI_NEEDS_INTEGER_OF_4_BYTES
      PARAMETER (MPI_NEEDS_INTEGER_OF_4_BYTES=1/(64-BIT_SIZE(0)))
"""


def _mpif(groups: List[constants.Group], functions: List[str]) -> str:
    lines = [_MPIF_TOP]

    def parameter(kind: str, name: str, value: str) -> None:
        lines.append(f"      {kind} {name}\n      PARAMETER ({name}={value})\n")

    for name, value in KINDS + STATUS:
        parameter("INTEGER", name, value)
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        parameter("LOGICAL", name, ".FALSE.")
    for how, name, value in _values(groups):
        parameter("INTEGER(KIND=MPI_OFFSET_KIND)" if how == "MPI_Offset" else "INTEGER", name, value)
    for name, kind, _, dimensions, symbol in SENTINELS:
        lines.append(f"      {kind} {name}{dimensions}\n      COMMON /{symbol.upper()}/ {name}\n")
    for kind, name in FUNCTIONS:
        for each in (name, "P" + name):
            lines.append(f"      {kind} {each}\n      EXTERNAL {each}\n")
    lines.extend(f"      EXTERNAL {name}\n" for name in functions)
    text = "".join(lines)
    for line in text.splitlines():
        if len(line) > 72 and not line.startswith("!"):
            raise SystemExit(f"mpif.h: too long for fixed form: {line}")
    return text


# Interfaces.


def _split(declarations: List[Tuple[str, str, str]]) -> str:
    """Declarations: scalars first, as they are the lengths of arrays."""
    text = ""
    for wanted in (False, True):
        for declaration, name, dimensions in declarations:
            is_later = bool(dimensions) or re.search(r"LEN=[a-z]", declaration) is not None
            if is_later == wanted:
                text += _wrap(f"{declaration} :: {name}{dimensions}", "      ")
    return text


def _interface(name: str, arguments: List[str], result: str, body: str, link: str) -> str:
    what = f"{'FUNCTION' if result else 'SUBROUTINE'} {name}({', '.join(arguments)}){link}"
    text = _wrap(what, "    ") + "      IMPORT\n"
    if result:
        text += f"      {result} :: {name}\n"
    return text + body + f"    END {'FUNCTION' if result else 'SUBROUTINE'} {name}\n"


def _new_specific(procedure: Procedure, prefix: str) -> Tuple[str, str]:
    suffix = "_f08ts" if procedure.needs_descriptor else "_f08"
    name = f"{prefix}{procedure.name}{suffix}"
    link = f' BIND(C, NAME="{name.lower()}_")' if procedure.needs_descriptor else ""
    declarations = []
    for d in procedure.dummies:
        declaration = re.sub(r"LEN=\w+", "LEN=*", d.f08_declaration) if procedure.needs_descriptor else d.f08_declaration
        declarations.append((declaration, d.name, d.f08_dimensions))
    return name, _interface(name, [d.name for d in procedure.dummies], procedure.result, _split(declarations), link)


def _new_interfaces(new: List[Procedure]) -> str:
    generics: Dict[str, List[Procedure]] = {}
    for procedure in new:
        generics.setdefault(procedure.generic, []).append(procedure)
    text = []
    for prefix in ("", "P"):
        for generic, procedures in generics.items():
            bodies = "".join(_new_specific(p, prefix)[1] for p in procedures)
            text.append(f"  INTERFACE {prefix}{generic}\n{bodies}  END INTERFACE {prefix}{generic}\n")
    return "".join(text)


_CHOICE = """\
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}
      !DIR$ IGNORE_TKR {name}
"""


def _old_body(procedure: Procedure, c_pointer: bool) -> str:
    declarations, text = [], ""
    for d in procedure.dummies:
        name = d.name.upper()
        if d.f90_type == "<type>":
            text += _CHOICE.format(name=name)
            declarations.append(("TYPE(*)", name, "(*)"))
        elif d.kind == "C_BUFFER" and c_pointer:
            declarations.append(("TYPE(C_PTR)", name, ""))
        elif d.f90_type == "EXTERNAL":
            text += f"      EXTERNAL {name}\n"
        else:
            declarations.append((d.f90_type.replace("CHARACTER*(*)", "CHARACTER(LEN=*)"), name, d.f90_dimensions))
    return _split(declarations) + text


def _old_interfaces(old: List[Procedure]) -> str:
    text = []
    for prefix in ("", "P"):
        for procedure in old:
            if procedure.name in ("MPI_Sizeof", "MPI_Status_f2f08", "MPI_Status_f082f"):
                continue
            name = prefix + procedure.name.upper()
            arguments = [d.name.upper() for d in procedure.dummies]
            body = _interface(name, arguments, procedure.result, _old_body(procedure, False), "")
            if any(d.kind == "C_BUFFER" for d in procedure.dummies):
                pointer = _interface(name + "_CPTR", arguments, procedure.result, _old_body(procedure, True), "")
                # The generic procedure has the name of its first specific one.
                text.append(f"  INTERFACE {name}\n{body}{pointer}  END INTERFACE {name}\n")
            else:
                text.append(f"  INTERFACE\n{body}  END INTERFACE\n")
        text.append(f"""\
  INTERFACE {prefix}MPI_SIZEOF
    SUBROUTINE {prefix}MPI_SIZEOF_TS(X, SIZE, IERROR) BIND(C, NAME="{prefix.lower()}mpi_sizeof_f08ts_")
      TYPE(*), DIMENSION(..) :: X
      INTEGER :: SIZE, IERROR
    END SUBROUTINE {prefix}MPI_SIZEOF_TS
  END INTERFACE {prefix}MPI_SIZEOF
""")
    return "".join(text)


def _status_conversions(statuses: str) -> str:
    """MPI_Status_f2f08 and MPI_Status_f082f, which `mpi` has too."""
    text = ""
    for prefix in ("", "P"):
        for name, first, second in (("f2f08", "f_status", "f08_status"), ("f082f", "f08_status", "f_status")):
            generic = f"{prefix}MPI_Status_{name}"
            text += f"  INTERFACE {generic}\n    SUBROUTINE {generic}_f08({first}, {second}, ierror)\n      IMPORT\n"
            for each, intent in ((first, "IN"), (second, "OUT")):
                kind = "TYPE(MPI_Status)" if each == "f08_status" else "INTEGER"
                size = "" if each == "f08_status" else "(MPI_STATUS_SIZE)"
                text += f"      {kind}, INTENT({intent}) :: {each}{size}\n"
            text += f"      INTEGER, OPTIONAL, INTENT(OUT) :: ierror\n    END SUBROUTINE {generic}_f08\n  END INTERFACE {generic}\n"
    return text + statuses


# Modules.


def _callbacks() -> str:
    text = []
    for callback in pympistandard.CALLBACKS.values():
        express = callback.express
        for symbol in (express.f08, express.embiggen.f08 if express.embiggen else None):
            if symbol is None:
                continue
            declarations = [(p.descriptor, p.name, p.name_length) for p in symbol.parameters]
            text.append(_interface(symbol.name, [p.name for p in symbol.parameters], "", _split(declarations), ""))
    return "  ABSTRACT INTERFACE\n" + "".join(text) + "  END INTERFACE\n"


def predefined() -> List[str]:
    """Names of functions that a program hands over and does not define: MPI_COMM_DUP_FN."""
    return sorted(f._parseset["name"].upper() for f in pympistandard.PREDEFINED_FUNCTIONS.values() if f.express.f90 is not None)


def _predefined_interfaces() -> str:
    text = []
    for function in pympistandard.PREDEFINED_FUNCTIONS.values():
        f08 = function.express.f08
        if f08 is None:
            continue
        symbols = [f08]
        if function.express.embiggen and function.express.embiggen.f08:
            symbols.append(function.express.embiggen.f08)
        for symbol in symbols:
            declarations = [(re.sub(r", INTENT\(\w+\)", "", p.descriptor), p.name, p.name_length) for p in symbol.parameters]
            text.append(_interface(symbol.name.upper(), [p.name for p in symbol.parameters], "", _split(declarations), ""))
    return "  INTERFACE\n" + "".join(text) + "  END INTERFACE\n"


def _types(groups: List[constants.Group]) -> str:
    text = [_TOP, "MODULE mpi_f08_types\n  IMPLICIT NONE\n"]
    text.extend(f"  TYPE, BIND(C) :: MPI_{name}\n    INTEGER :: MPI_VAL\n  END TYPE MPI_{name}\n" for name in HANDLES)
    text.append("  TYPE, BIND(C) :: MPI_Status\n    INTEGER :: MPI_SOURCE\n    INTEGER :: MPI_TAG\n    INTEGER :: MPI_ERROR\n"
                "    INTEGER :: MPI_internal(5)\n  END TYPE MPI_Status\n")  # fmt: skip
    text.extend(f"  INTEGER, PARAMETER :: {name} = {value}\n" for name, value in KINDS + STATUS)
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        text.append(f"  LOGICAL, PARAMETER :: {name} = .TRUE.\n")
    for how, name, value in _values(groups):
        if how == "MPI_Offset":
            text.append(f"  INTEGER(KIND=MPI_OFFSET_KIND), PARAMETER :: {name} = {value}\n")
        elif how.startswith("MPI_"):
            text.append(f"  TYPE({how}), PARAMETER :: {name} = {how}({value})\n")
        else:
            text.append(f"  INTEGER, PARAMETER :: {name} = {value}\n")
    for name, _, kind, dimensions, symbol in SENTINELS:
        if kind == "TYPE(MPI_Status)":
            dimensions, symbol = "(1)" if "1" in dimensions else "", symbol + "_f08"
        text.append(f'  {kind}, BIND(C, NAME="{symbol}_"), PROTECTED, TARGET :: {name}{dimensions}\n')
    for operator, letters in (("==", "eq"), ("/=", "ne")):
        text.append(f"  INTERFACE OPERATOR({operator})\n")
        text.extend(f"    MODULE PROCEDURE MPI_{name}_{letters}\n" for name in HANDLES)
        text.append("  END INTERFACE\n")
    text.extend(f"  PRIVATE :: MPI_{name}_eq, MPI_{name}_ne\n" for name in HANDLES)
    text.append("CONTAINS\n")
    for name in HANDLES:
        for operator, letters in (("==", "eq"), ("/=", "ne")):
            function = f"MPI_{name}_{letters}"
            text.append(f"  ELEMENTAL LOGICAL FUNCTION {function}(a, b)\n    TYPE(MPI_{name}), INTENT(IN) :: a, b\n"
                        f"    {function} = a%MPI_VAL {operator} b%MPI_VAL\n  END FUNCTION {function}\n")  # fmt: skip
    return "".join(text) + "END MODULE mpi_f08_types\n"


def _f08(new: List[Procedure]) -> str:
    return (_TOP + "MODULE mpi_f08\n  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR\n  USE mpi_f08_types\n  IMPLICIT NONE\n"
            "  PRIVATE :: C_PTR\n" + _callbacks() + _predefined_interfaces() + _new_interfaces(new) + "END MODULE mpi_f08\n")  # fmt: skip


def _mpi(old: List[Procedure], groups: List[constants.Group], functions: List[str]) -> str:
    shared = [f"MPI_{name}" for name in HANDLES + ("Status",)] + [name for name, kind, new_kind, _, _ in SENTINELS if kind == new_kind]
    text = [_TOP, "MODULE mpi\n  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR\n"
            "  USE mpi_f08_types, ONLY : " + ", &\n    ".join(shared) + ", OPERATOR(==), OPERATOR(/=)\n"
            "  IMPLICIT NONE\n  PRIVATE :: C_PTR\n"]  # fmt: skip
    text.extend(f"  INTEGER, PARAMETER :: {name} = {value}\n" for name, value in KINDS + STATUS)
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        text.append(f"  LOGICAL, PARAMETER :: {name} = .FALSE.\n")
    for how, name, value in _values(groups):
        kind = "INTEGER(KIND=MPI_OFFSET_KIND)" if how == "MPI_Offset" else "INTEGER"
        text.append(f"  {kind}, PARAMETER :: {name} = {value}\n")
    for name, kind, new_kind, dimensions, symbol in SENTINELS:
        if kind != new_kind:  # the others are those of mpi_f08: a file may use both modules, and has each symbol once
            text.append(f'  {kind}, BIND(C, NAME="{symbol}_"), PROTECTED, TARGET :: {name}{dimensions}\n')
    text.extend(f"  EXTERNAL :: {name}\n" for name in functions)
    return "".join(text) + _old_interfaces(old) + _status_conversions("") + "END MODULE mpi\n"


def write(folder: Path, old: List[Procedure], new: List[Procedure], groups: List[constants.Group]) -> Dict[Path, str]:
    functions = predefined()
    return {
        folder / "mpif.h": _mpif(groups, functions),
        folder / "mpi_f08_types.f90": _types(groups),
        folder / "mpi_f08.f90": _f08(new),
        folder / "mpi.f90": _mpi(old, groups, functions),
    }
