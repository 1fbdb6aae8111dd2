"""Writes the library for programs that are made for MPICH's ABI (bindings/mpich): its handles, and what all such libraries have (facade.py)."""

from pathlib import Path
from typing import Dict, List, Optional

from . import constants, facade
from .standard import Form, Function, Parameter


def _convert(form: Form, p: Parameter) -> Optional[str]:
    """An operation that a call uses after it has returned: it may have a state of the program's (operations.h)."""
    if p.base == "MPI_Op" and any(other.base == "MPI_Request" for other in form.parameters):
        return f"standard_in_background({p.name})"
    return None


_FAMILY = facade.Family({
    ("MPI_Get_processor_name", "name"): ("MPI_MAX_PROCESSOR_NAME", 128),
    ("MPI_Info_get_nthkey", "key"): ("MPI_MAX_INFO_KEY", 255),
    ("MPI_Open_port", "port_name"): ("MPI_MAX_PORT_NAME", 256),
    ("MPI_Lookup_name", "port_name"): ("MPI_MAX_PORT_NAME", 256),
}, _convert)  # fmt: skip


def _handles(facts: List[constants.Group], values: Dict[str, str]) -> str:
    text = [facade.TOP]
    for group in facts:
        if not group.how.startswith("handle "):
            continue
        kind = group.how.split()[1]
        pairs = ", ".join(f"{{{values[name]}, {value}u}}" for name, value in group.constants)
        text.append(f"template <>\nstruct Facts<{kind}> {{\n  using Standard = MPI_{kind};\n"
                    f"  static constexpr HandlePair pairs[] = {{{pairs}}};\n}};\n")  # fmt: skip
    text.append("template <>\nstruct Facts<File> {\n  using Standard = MPI_File;\n};\n")
    return "".join(text)


def write(folder: Path, functions: Dict[str, Function], groups: List[constants.Group], facts: List[constants.Group]) -> Dict[Path, str]:
    """The files and their contents."""
    values = facade.standard_values(groups)
    return {folder / "handles.inc": _handles(facts, values), **facade.write(_FAMILY, folder, functions, facts, values)}
