"""Writes the Fortran libraries of the families whose ABIs have facades (bindings/mpich/fortran, bindings/openmpi/fortran): the procedures of
fortran.py, compiled with a header that has the family's types and constants, so that they call the family's C functions; and what only its
modules have.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from . import constants, facade, fortran, fortran_model, fortran_modules, header
from .standard import Form, Function

# What MPI-3.0 has removed, and functions with a result, in bindings/fortran/removed.cc and by_hand.cc.
MORE_NAMES = ("Address", "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed", "Type_struct", "Errhandler_create",
              "Errhandler_set", "Errhandler_get")  # fmt: skip
# Of the modules' comparisons.
COMPARED = ("comm", "datatype", "errhandler", "file", "group", "info", "message", "op", "request", "win")
# MPI_Sizeof is a procedure for each type.
SIZES = {"character": 1, "logical": 4, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "real32": 4, "real64": 8, "real128": 16,
         "complex32": 8, "complex64": 16, "complex128": 32}  # fmt: skip
SHORT_SIZES = {"ch": 1, "cx": 8, "d": 8, "i": 4, "i1": 1, "i2": 2, "i8": 8, "l": 4, "r": 4}

# Types that both families have.
_TYPES = """\
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;
"""

_STATUS = {
    "mpich": "  int internal[2];\n  int MPI_SOURCE;\n  int MPI_TAG;\n  int MPI_ERROR;\n",
    "openmpi": "  int MPI_SOURCE;\n  int MPI_TAG;\n  int MPI_ERROR;\n  int internal;\n  size_t bytes;\n",
}
# Addresses with a meaning of their own.
_ADDRESSES = {
    "mpich": {"MPI_BOTTOM": "((void*)0)", "MPI_IN_PLACE": "((void*)-1)", "MPI_STATUS_IGNORE": "((MPI_Status*)1)",
              "MPI_ERRCODES_IGNORE": "((int*)0)", "MPI_ARGVS_NULL": "((char***)0)", "MPI_UNWEIGHTED": "((int*)10)",
              "MPI_WEIGHTS_EMPTY": "((int*)11)", "MPI_BUFFER_AUTOMATIC": "((void*)-2)"},
    "openmpi": {"MPI_BOTTOM": "((void*)0)", "MPI_IN_PLACE": "((void*)1)", "MPI_STATUS_IGNORE": "((MPI_Status*)0)",
                "MPI_ERRCODES_IGNORE": "((int*)0)", "MPI_ARGVS_NULL": "((char***)0)", "MPI_UNWEIGHTED": "((int*)2)",
                "MPI_WEIGHTS_EMPTY": "((int*)3)"},
}  # fmt: skip


@dataclass(frozen=True)
class Data:
    """What there is to write from."""

    family: str  # "mpich" or "openmpi"
    functions: Dict[str, Function]
    callbacks: List[Form]
    groups: List[constants.Group]  # the standard's
    facts: List[constants.Group]  # the family's


def _handles(data: Data) -> Iterator[Tuple[str, str, str]]:
    """Predefined handles: type, name, value in C."""
    for group in data.facts:
        if group.how.startswith("handle "):
            for name, value in group.constants:
                yield group.how.split()[1], name, value


# The header.


def _types_of_handles(data: Data) -> str:
    text = []
    for name in sorted(header.HANDLES):
        if data.family == "mpich" and name != "File":
            text.append(f"enum class MPI_{name} : int {{}};\n")
        else:
            text.append(f"typedef struct MPI_{name}_of_program* MPI_{name};\n")
    return "".join(text)


def _predefined_handles(data: Data) -> str:
    text = []
    for kind, name, value in _handles(data):
        if data.family == "mpich":
            text.append(f"#define {name} ((MPI_{kind}){value})\n")
        else:
            thing = value.split(":")[0]
            text.append(f'extern "C" char {thing}[];\n#define {name} ((MPI_{kind})(void*){thing})\n')
    if data.family == "mpich":
        text.append("#define MPI_FILE_NULL ((MPI_File)0)\n")
    return "".join(text)


def _numbers(data: Data) -> str:
    """Constants that are numbers: the family's, or the standard's where the family has none."""
    own = {name: value for group in data.facts if group.how.startswith(("map ", "bits ", "length")) for name, value in group.constants}
    text = []
    for group in data.groups:
        if group.how in ("value", "MPI_Offset") and group.title != "Datatypes with two names":
            for name, value in group.constants:
                if not name.startswith(("MPI_T_", "MPI_F_")):
                    text.append(f"#define {name} ({own.get(name, value)})\n")
    return "".join(text)


def _is_of_tools(name: str) -> bool:
    return name.startswith("MPI_T_")


def _header(data: Data) -> str:
    text = [facade.TOP, _TYPES, _types_of_handles(data), f"struct MPI_Status {{\n{_STATUS[data.family]}}};\n", _predefined_handles(data), _numbers(data)]
    text.extend(f"#define {name} {value}\n" for name, value in _ADDRESSES[data.family].items())
    text.append('extern "C" {\n')
    for form in data.callbacks:
        if not _is_of_tools(form.name):
            parameters = ", ".join(p.declaration for p in form.parameters)
            text.append(f"typedef {form.returns} ({form.name})({parameters});\n")
    for prefix in ("", "P"):
        for function in data.functions.values():
            if not _is_of_tools(function.name):
                text.extend(f"{form.renamed(prefix + form.name).prototype};\n" for form in function.forms)
    for name in sorted(header.HANDLES):
        short = "Type" if name == "Datatype" else name
        text.append(f"MPI_Fint PMPI_{short}_c2f(MPI_{name} handle);\nMPI_{name} PMPI_{short}_f2c(MPI_Fint handle);\n")
    text.append("}\n")
    return "".join(text)


def _names(data: Data, names: List[str]) -> str:
    """For names.h: from a procedure's name in small letters to others."""
    taken = {name for group in data.groups if group.how == "value" for name, _ in group.constants}
    text = [facade.TOP]
    for name in sorted(set(names)):
        if "MPI_" + name.upper() in taken:
            raise SystemExit(f"MPI_{name.upper()} is a constant, too")
        text.append(f"#define CLUMP_CAPITALS_OF_{name.lower()} {name.upper()}\n#define CLUMP_NAME_IN_C_OF_{name.lower()} {name}_f\n")
    return "".join(text)


# What only modules have, as a file of C.

_MODULES_TOP = """\
#include <stdint.h>
#define PUBLIC __attribute__((visibility("default")))
#define CONSTANT(name, value) PUBLIC const int name = value;
#define COMPARISON(name, operator) \\
  PUBLIC int name(const int* a, const int* b) { return *a operator *b; }
#define SIZE(name, bytes) \\
  PUBLIC void name(const void* x, int* size, int* error) { (void)x; *size = bytes; if (error) *error = 0; }
"""


def _constants_in_fortran(data: Data) -> Iterator[Tuple[str, int]]:
    """Handles as the modules have them."""
    if data.family == "mpich":
        values = {name: int(value, 0) for _, name, value in _handles(data)}
        values.update({"MPI_FILE_NULL": 0, "MPI_LB": 0x4C000010, "MPI_UB": 0x4C000011})
    else:
        values = {name: int(value.split(":")[0]) for group in data.facts if group.how in ("fortran", "objects") for name, value in group.constants}
        values["MPI_CXX_COMPLEX"] = values["MPI_CXX_FLOAT_COMPLEX"]
    for group in data.groups:
        if group.title == "Datatypes with two names":
            values.update({name: values[value] for name, value in group.constants})
    for name, value in values.items():
        yield name, value - 2**32 if value >= 2**31 else value


def _modules_of_openmpi(data: Data) -> str:
    text = []
    for name, value in _constants_in_fortran(data):
        short = name.lower()
        text.append(f"CONSTANT(__mpi_f08_types_MOD_{short}, {value})\nCONSTANT(ompi_f08_{short.replace('_t', '') if short.endswith('_t') else short}, {value})\n")
    for kind in COMPARED:
        text.append(f"COMPARISON(__mpi_f08_types_MOD_ompi_{kind}_op_eq, ==)\nCOMPARISON(__mpi_f08_types_MOD_ompi_{kind}_op_ne, !=)\n")
    for kind, size in SIZES.items():
        for rank in ["scalar"] + [f"r{i}" for i in range(1, 16)]:
            text.append(f"SIZE(mpi_sizeof_{kind}_{rank}_, {size})\nSIZE(pmpi_sizeof_{kind}_{rank}_, {size})\n")
    return "".join(text)


def _modules_of_mpich(data: Data) -> str:
    text = []
    for name, value in _constants_in_fortran(data):
        text.append(f"CONSTANT(__mpi_f08_compile_constants_MOD_{name.lower()}, {value})\n")
    for kind in COMPARED + ("session",):
        for name in ("eq", "f08_eq_f", "f_eq_f08"):
            text.append(f"COMPARISON(__mpi_f08_types_MOD_mpi_{kind}_{name}, ==)\n")
            text.append(f"COMPARISON(__mpi_f08_types_MOD_mpi_{kind}_{name.replace('eq', 'neq')}, !=)\n")
        text.append(f"COMPARISON(__mpi_constants_MOD_{kind}eq, ==)\nCOMPARISON(__mpi_constants_MOD_{kind}neq, !=)\n")
    for kind, size in SIZES.items():
        prefix = "" if kind in ("character", "logical") else "x"
        text.append(f"SIZE(__mpi_f08_types_MOD_mpi_sizeof_{prefix}{kind}, {size})\n")
    for kind, size in SHORT_SIZES.items():
        text.append(f"SIZE(__mpi_sizeofs_MOD_mpi_sizeof_{kind}, {size})\nSIZE(__mpi_sizeofs_MOD_mpi_sizeof_{kind}v, {size})\n")
    return "".join(text)


def write(folder: Path, data: Data) -> Dict[Path, str]:
    """The files and their contents."""
    old, new = fortran_model.old_procedures(data.functions), fortran_model.new_procedures(data.functions)
    names = [p.name[len("MPI_"):] for p in old + new] + list(MORE_NAMES)
    names += [name[len("MPI_"):].capitalize() for name in fortran_modules.predefined() + ["MPI_CONVERSION_FN_NULL_C"]]
    style = {"mpich": fortran.MPICH, "openmpi": fortran.OPENMPI}[data.family]
    modules = _modules_of_mpich(data) if data.family == "mpich" else _modules_of_openmpi(data)
    return {
        folder / "mpi.h": _header(data),
        folder / "names.inc": _names(data, names),
        folder / "modules.c": facade.TOP + _MODULES_TOP + modules,
        **fortran.procedures(folder, old, new, style),
    }
