"""Writes mpi.h: the constants, types and prototypes of the MPI-5.0 standard ABI."""

from typing import Dict, List

from . import constants, standard

# Incomplete struct types behind the handles; their names are part of the ABI, because C++ mangles them into symbols.
HANDLES = ("Op", "Comm", "Group", "Win", "File", "Session", "Message", "Info", "Errhandler", "Request", "Datatype")
TOOL_HANDLES = ("T_enum", "T_cvar_handle", "T_pvar_handle", "T_pvar_session", "T_event_registration", "T_event_instance")
# Older names of types of functions.
ALIASES = {f"MPI_{kind}_errhandler_fn": f"MPI_{kind}_errhandler_function" for kind in ("Comm", "File", "Win", "Session")}

_TOP = """\
/* mpi.h: the interface of the MPI-5.0 standard with its standard ABI (chapter 20), for C89 and C++98 or later.
   Written by gen/generate.py of Clump; any program compiled with it runs with any MPI library that has this ABI. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

/* Which library's header this is. */
#define CLUMP 1
#define CLUMP_VERSION "@VERSION@"
#define CLUMP_NUMVERSION @NUMBER@ /* 10000 * major + 100 * minor + patch */

/* C89 has no inline functions. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define CLUMP_INLINE static inline
#elif defined(__GNUC__)
#define CLUMP_INLINE static __inline__
#else
#define CLUMP_INLINE static
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes and positions. A compiler without intptr_t or int64_t may define the three names below before this header. */
#ifndef MPI_ABI_Aint
#define MPI_ABI_Aint intptr_t
#endif
#ifndef MPI_ABI_Offset
#define MPI_ABI_Offset int64_t
#endif
#ifndef MPI_ABI_Count
#define MPI_ABI_Count MPI_Offset
#endif
#ifndef MPI_ABI_Fint /* Fortran's default INTEGER */
#define MPI_ABI_Fint int
#endif
typedef MPI_ABI_Aint MPI_Aint;
typedef MPI_ABI_Offset MPI_Offset;
typedef MPI_ABI_Count MPI_Count;
typedef MPI_ABI_Fint MPI_Fint;
#undef MPI_ABI_Aint
#undef MPI_ABI_Offset
#undef MPI_ABI_Count
#undef MPI_ABI_Fint

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;
"""

_STATUS_CONVERSIONS = """\
CLUMP_INLINE int MPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  const int* from = (const int*)c_status;
  int i;
  for (i = 0; i < MPI_F_STATUS_SIZE; ++i) f_status[i] = (MPI_Fint)from[i];
  return MPI_SUCCESS;
}
CLUMP_INLINE int MPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  int* to = (int*)c_status;
  int i;
  for (i = 0; i < MPI_F_STATUS_SIZE; ++i) to[i] = (int)f_status[i];
  return MPI_SUCCESS;
}
"""

_FORTRAN_IGNORE = """
/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of mpif.h and the module mpi (section 19.3.5): addresses of variables of libmpifort_abi.so.1. Null in
   a program without Fortran. */
extern MPI_Fint mpi_fortran_status_ignore_[] __attribute__((weak));
extern MPI_Fint mpi_fortran_statuses_ignore_[] __attribute__((weak));
#define MPI_F_STATUS_IGNORE               ((MPI_Fint*)mpi_fortran_status_ignore_)
#define MPI_F_STATUSES_IGNORE             ((MPI_Fint*)mpi_fortran_statuses_ignore_)
"""

_BOTTOM = """
#undef CLUMP_INLINE
#ifdef __cplusplus
}
#endif

#endif /* MPI_H_ABI */
"""


def _constants(groups: List[constants.Group]) -> str:
    text = []
    for group in groups:
        text.append(f"\n/* {group.title} */")
        if group.how.startswith("enum "):
            name = group.how.split()[1]
            members = ",\n".join(f"  {constant} = {value}" for constant, value in group.constants)
            text.append(f"typedef enum {name} {{\n{members}\n}} {name};")
        else:
            text.extend(f"#define {name:<34} {group.expression(value)}" for name, value in group.constants)
    return "\n".join(text) + "\n"


def _callback(form: standard.Form) -> str:
    parameters = ", ".join(p.declaration for p in form.parameters)
    return f"typedef {form.returns} ({form.name})({parameters});"


def _fortran_conversions() -> str:
    """The ABI library has no such symbols. A Fortran handle is the int that MPI_X_toint gives, so these work with any library
    that has the ABI; the standard allows handle conversions to be macros (section 2.6.4)."""
    text = ["\n/* Handles and statuses as Fortran has them (section 19.3.4) */\n"]
    for name in sorted(HANDLES):
        short = "Type" if name == "Datatype" else name
        text.append(f"CLUMP_INLINE MPI_Fint MPI_{short}_c2f(MPI_{name} handle) {{ return (MPI_Fint)MPI_{short}_toint(handle); }}\n")
        text.append(f"CLUMP_INLINE MPI_{name} MPI_{short}_f2c(MPI_Fint handle) {{ return MPI_{short}_fromint((int)handle); }}\n")
    return "".join(text) + _STATUS_CONVERSIONS + _FORTRAN_IGNORE


def _top(version: str) -> str:
    """`version` is the library's: "0.1.0"."""
    major, minor, patch = map(int, version.split("."))
    return _TOP.replace("@VERSION@", version).replace("@NUMBER@", str(10000 * major + 100 * minor + patch))


def write(functions: Dict[str, standard.Function], callbacks: List[standard.Form], groups: List[constants.Group], version: str) -> str:
    text = [_top(version), "\n/* Handles */\n"]
    text.extend(f"typedef struct MPI_ABI_{name}* MPI_{name};\n" for name in HANDLES + TOOL_HANDLES)
    text.append(_constants(groups))
    text.append("\n/* Functions that a program hands to MPI */\n")
    text.extend(_callback(form) + "\n" for form in callbacks)
    text.extend(f"typedef {function} {alias};\n" for alias, function in ALIASES.items())
    for prefix, title in (("", "Functions"), ("P", "Their names for tools that put themselves in between (chapter 15)")):
        text.append(f"\n/* {title} */\n")
        for function in functions.values():
            text.extend(f"{form.renamed(prefix + form.name).prototype};\n" for form in function.forms)
    text.append(_fortran_conversions())
    text.append(_BOTTOM)
    return "".join(text)
