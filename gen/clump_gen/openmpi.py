"""Writes the library for programs that are made for Open MPI's ABI (bindings/openmpi): the objects whose addresses are its handles, functions
that Open MPI 4 has under other names, and what all such libraries have (facade.py).
"""

from pathlib import Path
from typing import Dict, List, Optional

from . import constants, facade, fortran
from .standard import Form, Function, Parameter

# Objects that programs know by name and that are no handle of the standard's ABI: an address is all there is to them. Bytes.
OTHER_OBJECTS = {
    "ompi_mpi_lb": 512, "ompi_mpi_ub": 512, "ompi_mpi_2cplex": 512, "ompi_mpi_2dblcplex": 512, "ompi_mpi_ldblcplex": 512,
    "ompi_mpi_cxx_sfltcplex": 512, "ompi_mpi_short_float": 512, "ompi_mpi_c_short_float_complex": 512, "ompi_mpi_unavailable": 512,
}  # fmt: skip
# Second objects of one handle: programs of Open MPI 4 have the first, those of 5 the second. Its C++ bindings' MPI::ERRORS_THROW_EXCEPTIONS throws
# nothing where they are built without exceptions, as Debian's are: the call returns.
SECOND_OBJECTS = {"ompi_mpi_c_complex": ("MPI_C_FLOAT_COMPLEX", 512), "ompi_mpi_errors_throw_exceptions": ("MPI_ERRORS_RETURN", 1024)}


def _convert(_: Form, p: Parameter) -> Optional[str]:
    """MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY and MPI_T_PVAR_ALL_HANDLES are constants; in the standard's ABI these have other values."""
    if p.kind == "WEIGHT":
        return f"standard_weights({p.name})"
    if p.base == "MPI_T_pvar_handle" and p.is_scalar:
        return f"standard_variable({p.name})"
    return None


_FAMILY = facade.Family({
    ("MPI_Comm_get_name", "comm_name"): ("MPI_MAX_OBJECT_NAME", 64),
    ("MPI_Type_get_name", "type_name"): ("MPI_MAX_OBJECT_NAME", 64),
    ("MPI_Win_get_name", "win_name"): ("MPI_MAX_OBJECT_NAME", 64),
    ("MPI_Error_string", "string"): ("MPI_MAX_ERROR_STRING", 256),
    ("MPI_Info_get_nthkey", "key"): ("MPI_MAX_INFO_KEY", 36),
}, _convert)  # fmt: skip


def _objects(facts: List[constants.Group], values: Dict[str, str]) -> str:
    """A C file: the objects, from the standard's values to their addresses, and all addresses."""
    text = [facade.TOP, '#define PUBLIC __attribute__((visibility("default"), aligned(32)))\n']
    places = []
    defined = set()

    def define(name: str, size: int, value: str) -> None:
        if name not in defined:
            text.append(f"PUBLIC struct {{ unsigned long handle; char rest[{size - 8}]; }} {name} = {{{value}, {{0}}}};\n")
        defined.add(name)

    for group in facts:
        if group.how.startswith("handle "):
            for constant, known in group.constants:
                name, size = known.split(":")
                define(name, int(size), values[constant])
                places.append(f"    [{values[constant]}] = &{name},\n")
    for name, (constant, size) in SECOND_OBJECTS.items():
        define(name, size, values[constant])
    for name, size in OTHER_OBJECTS.items():
        define(name, size, "0x3ff")
    hidden = '__attribute__((visibility("hidden"))) void* const '
    text.append(f"{hidden}clump_openmpi_objects[1024] = {{\n" + "".join(places) + "};\n")
    text.append(f"{hidden}clump_openmpi_all[] = {{{', '.join(f'&{name}' for name in sorted(defined))}, 0}};\n")
    return "".join(text)


def _fortran_numbers(facts: List[constants.Group], values: Dict[str, str]) -> str:
    """For each type of handles the standard's values of those that have a number in Fortran, in the order of these numbers; 0: none. And the
    numbers of objects that are no handles of the standard's."""
    kinds = {name: group.how.split()[1] for group in facts if group.how.startswith("handle ") for name, _ in group.constants}
    numbers: Dict[str, Dict[int, str]] = {kind: {} for kind in kinds.values()}
    text = [facade.TOP]
    for group in facts:
        if group.how == "fortran":
            for name, number in group.constants:
                numbers[kinds[name]][int(number)] = values[name]
        if group.how == "objects":
            for name, known in group.constants:
                number, thing = known.split(":")
                text.append(f'extern "C" long {thing}[64] __attribute__((visibility("default")));\n')
                text.append(f"inline constexpr int k{name[len('MPI_'):].title().replace('_', '')} = {number};\n")
    for kind, known in numbers.items():
        row = ", ".join(known.get(i, "0") for i in range(max(known, default=0) + 1))
        text.append(f"template <>\nstruct FortranNumbers<{kind}> {{\n  static constexpr std::uint16_t standard[] = {{{row}}};\n}};\n")
    return "".join(text)


def _early_name(name: str, prefix: str) -> str:
    return (f'extern "C" CLUMP_PUBLIC decltype(facade_PMPI_{name}) facade_{prefix}MPIX_{name} __asm__("{prefix}MPIX_{name}")\n'
            f'    __attribute__((alias("PMPI_{name}")));\n')  # fmt: skip


def write(folder: Path, functions: Dict[str, Function], groups: List[constants.Group], facts: List[constants.Group]) -> Dict[Path, str]:
    """The files and their contents."""
    values = facade.standard_values(groups)
    early = "".join(_early_name(name, prefix) for name in sorted(fortran.EARLY_NAMES) for prefix in ("", "P"))
    return {folder / "objects.c": _objects(facts, values), folder / "fortran_numbers.inc": _fortran_numbers(facts, values),
            **facade.write(_FAMILY, folder, functions, facts, values, early)}
