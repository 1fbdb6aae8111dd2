"""Calls of every function that has a body, with arguments that are right, in C: null_calls.py and bad_values.py replace one at a time.

right_calls.h has what these arguments name.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

GEN = Path(__file__).resolve().parents[3] / "gen"
sys.path.insert(0, str(GEN))
sys.dont_write_bytecode = True
from clump_gen import bodies, overlay, standard  # noqa: E402

# They end the job, or MPI, or are what the program has begun with.
NOT_CALLED = {"MPI_Abort", "MPI_Finalize", "MPI_Init", "MPI_Init_thread", "MPI_T_init_thread", "MPI_T_finalize", "MPI_Pcontrol"}
# They need another group of ranks, or a program: tests/mpi/dynamic.
NOT_CALLED |= {"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}
# Only a callback may call them.
IN_CALLBACK = re.compile(r"MPI_T_event_(read|copy|get_timestamp|get_source)$")

# What a number is, by kind of parameter; otherwise 0.
SCALARS = {
    "ALLOC_MEM_NUM_BYTES": "64", "ARRAY_LENGTH": "1", "ARRAY_LENGTH_NNI": "1", "ARRAY_LENGTH_PI": "1", "CALLBACK_SAFETY": "MPI_T_CB_REQUIRE_NONE",
    "COMM_SIZE": "size", "COMM_SIZE_PI": "1", "DEGREE": "1", "DIMENSION": "1", "ERROR_CLASS": "new_error_class()",
    "ERROR_CODE": "new_error_class()", "GROUP": "group", "INFO": "MPI_INFO_NULL", "INFO_VALUE_LENGTH": "8", "KEYVAL": "comm_keyval",
    "NUM_DIMS": "1", "OPERATION": "MPI_SUM", "ERRHANDLER": "MPI_ERRORS_RETURN", "SESSION": "session", "ORDER": "MPI_ORDER_C",
    "POLYDISPLACEMENT_AINT_COUNT": "4", "POLYDTYPE_NUM_ELEM": "1", "POLYDTYPE_NUM_ELEM_NNI": "1", "POLYDTYPE_PACK_SIZE": "64",
    "POLYDTYPE_STRIDE_BYTES": "4", "POLYNUM_BYTES_NNI": "64", "POLYNUM_PARAM_VALUES": "8", "POLYXFER_NUM_ELEM": "1",
    "POLYXFER_NUM_ELEM_NNI": "1", "XFER_NUM_ELEM_NNI": "1", "XFER_NUM_ELEM": "1", "PARTITION": "0", "PVAR_CLASS": "pvar_class",
    "SPLIT_TYPE": "MPI_COMM_TYPE_SHARED", "TYPECLASS": "MPI_TYPECLASS_REAL", "TYPECLASS_SIZE": "4", "DATATYPE": "MPI_INT",
    "TOOLS_ENUM": "enumeration", "CVAR": "cvar", "PVAR": "pvar", "PVAR_SESSION": "pvar_session", "EVENT_REGISTRATION": "registration",
    "WINDOW": "window", "WINDOW_SIZE": "64", "WIN_ATTACH_SIZE": "64", "LOCK_TYPE": "MPI_LOCK_SHARED", "POLYRMA_DISPLACEMENT": "4",
    "CVAR_INDEX_SPECIAL": "0", "REQUEST": "new_request()", "MATH": "6", "DISTRIB_ENUM": "MPI_DISTRIBUTE_BLOCK",
    "FILE": "file", "ACCESS_MODE": "MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE", "UPDATE_MODE": "MPI_SEEK_SET",
}  # fmt: skip
# What stands in an array, or where a pointer leads to; otherwise zeros.
POINTEES = {
    "DATATYPE": "MPI_INT", "COMMUNICATOR": "new_comm()", "GROUP": "new_group()", "OPERATION": "new_op()", "ERRHANDLER": "new_errhandler()",
    "INFO": "new_info()", "SESSION": "new_session()", "REQUEST": "MPI_REQUEST_NULL", "MESSAGE": "MPI_MESSAGE_NO_PROC",
    "POLYXFER_NUM_ELEM_NNI": "1", "POLYDTYPE_NUM_ELEM_NNI": "1", "POLYDTYPE_NUM_ELEM_PI": "2", "PROCESS_GRID_SIZE": "1",
    "DISTRIB_ENUM": "MPI_DISTRIBUTE_BLOCK", "DTYPE_DISTRIBUTION": "MPI_DISTRIBUTE_DFLT_DARG", "DEGREE": "1", "INDEX": "1",
    "STRING_LENGTH": "8", "INFO_VALUE_LENGTH": "8", "CVAR": "new_cvar()", "PVAR": "new_pvar()", "PVAR_SESSION": "new_pvar_session()",
    "WINDOW": "new_window()", "FILE": "new_file()", "KEYVAL": "new_comm_keyval()", "ARRAY_LENGTH_NNI": "1", "DIMENSION": "size", "WEIGHT": "1",
    "POLYDISPLACEMENT": "4 * i", "DISPLACEMENT": "4 * i",
}  # fmt: skip
# What does not follow from the kind.
SPECIAL = {
    "Cancel.request": "new_pending()", "Start.request": "new_request()", "Startall.array_of_requests": "new_request()",
    "Request_free.request": "new_request()", "Type_commit.datatype": "new_type()", "Type_free.datatype": "new_type()",
    "Type_free_keyval.type_keyval": "new_type_keyval()", "Type_set_attr.type_keyval": "type_keyval", "Type_get_attr.type_keyval": "type_keyval",
    "Type_delete_attr.type_keyval": "type_keyval", "Type_get_contents.datatype": "vector", "Type_set_name.datatype": "vector",
    "Type_set_attr.datatype": "vector", "Type_get_attr.datatype": "vector", "Type_match_size.size": "4", "Add_error_code.errorclass": "new_error_class()",
    "Group_incl.n": "1", "Group_range_incl.n": "1", "Group_range_excl.n": "1", "Dims_create.nnodes": "1", "Cart_create.dims": "1",
    "Cart_map.dims": "1", "Graph_create.nnodes": "1", "Graph_map.nnodes": "1", "Graph_create.index": "1", "Graph_map.index": "1",
    "Cart_get.maxdims": "1", "Cart_coords.maxdims": "1", "Cart_shift.direction": "0", "Comm_create_from_group.stringtag": '"a tag"',
    "Intercomm_create_from_groups.local_group": "own_group", "Intercomm_create_from_groups.remote_group": "other_group",
    "Intercomm_create.local_comm": "MPI_COMM_SELF", "Intercomm_create.peer_comm": "MPI_COMM_WORLD", "Intercomm_create.remote_leader": "other",
    "Intercomm_create_from_groups.stringtag": '"another tag"', "Pready_list.request": "new_partitioned()", "Parrived.request": "new_partitioned_receive()",
    "Pready_list.length": "1", "Dist_graph_create.sources": "rank", "Dist_graph_create.destinations": "rank",
    "Dist_graph_create_adjacent.sources": "rank", "Dist_graph_create_adjacent.destinations": "rank", "Type_create_f90_integer.r": "6",
    "Session_get_nth_pset.n": "0", "Alloc_mem.size": "64", "Abi_get_fortran_booleans.logical_size": "4",
    "Abi_set_fortran_booleans.logical_size": "4", "Abi_set_fortran_booleans.logical_true": "&one", "Abi_set_fortran_booleans.logical_false": "&zero",
    "Free_mem.base": "NULL", "Buffer_attach.buffer": "detached()", "Session_attach_buffer.buffer": "detached()",
    "Comm_attach_buffer.buffer": "detached()", "Buffer_detach.buffer_addr": "attached(&(void*){0})",
    "Comm_detach_buffer.buffer_addr": "attached(&(void*){0})", "Session_detach_buffer.buffer_addr": "attached(&(void*){0})",
    "T_cvar_get_index.name": "cvar_name", "T_pvar_get_index.name": "pvar_name", "T_category_get_index.name": "category_name",
    "T_event_get_index.name": "event_name", "Attr_put.keyval": "comm_keyval", "T_pvar_start.handle": "pvar",
    "Comm_set_info.info": "info", "Abi_set_fortran_info.info": "info", "Unpack.position": "0", "Type_create_resized.extent": "8",
    "Group_from_session_pset.pset_name": '"mpi://SELF"', "Session_get_pset_info.pset_name": '"mpi://SELF"',
    "Pack_external.datarep": '"external32"', "Unpack_external.datarep": '"external32"', "Pack_external_size.datarep": '"external32"',
    "Reduce_local.inbuf": "other_data", "Add_error_string.string": '"text"', "Type_create_struct.array_of_types": "MPI_INT",
    "T_event_handle_free.event_registration": "new_registration()", "T_cvar_handle_alloc.obj_handle": "&comm",
    "T_pvar_handle_alloc.obj_handle": "&comm", "T_event_handle_alloc.obj_handle": "&comm", "Type_create_subarray.array_of_starts": "0",
    "Dims_create.dims": "0", "Graph_get.maxindex": "size", "Graph_get.maxedges": "size",
    "Comm_create_group.tag": "7", "Get_elements_x.datatype": "MPI_INT", "Comm_split.color": "0", "Testany.index": "0",
    "Win_start.group": "MPI_GROUP_EMPTY", "Win_post.group": "MPI_GROUP_EMPTY", "Win_attach.win": "with_memory(0)", "Win_detach.win": "with_memory(1)",
    "Win_set_attr.win_keyval": "win_keyval", "Win_get_attr.win_keyval": "win_keyval", "Win_delete_attr.win_keyval": "win_keyval",
    "Win_free_keyval.win_keyval": "new_win_keyval()", "Win_set_info.info": "info",
    "File_open.comm": "MPI_COMM_SELF", "File_open.filename": "other_path", "File_delete.filename": "existing_path()", "File_set_view.datarep": '"native"',
    "Register_datarep.datarep": "new_representation()", "File_set_info.info": "info",
    "Close_port.port_name": "open_port()", "Publish_name.service_name": "new_name()", "Lookup_name.service_name": "published_name()",
    "Unpublish_name.service_name": "published_name()", "Publish_name.port_name": "a_port", "Unpublish_name.port_name": "a_port",
    "Psend_init.partitions": "1", "Precv_init.partitions": "1",
}  # fmt: skip
FUNCTIONS = {
    "MPI_Comm_errhandler_function": "ignore_comm_error", "MPI_File_errhandler_function": "ignore_file_error",
    "MPI_Win_errhandler_function": "ignore_win_error", "MPI_Session_errhandler_function": "ignore_session_error",
    "MPI_User_function": "add", "MPI_User_function_c": "add_large", "MPI_Grequest_query_function": "query", "MPI_Grequest_free_function": "let_go",
    "MPI_Grequest_cancel_function": "do_cancel", "MPI_Datarep_extent_function": "extent",
}  # fmt: skip


def communicator(function: str, chapter: str) -> str:
    if function.startswith("Cart_") and function not in ("Cart_create", "Cart_map") or function == "Cartdim_get":
        return "cart"
    if function in ("Graph_get", "Graph_neighbors", "Graph_neighbors_count", "Graphdims_get"):
        return "graph"
    if function.startswith("Dist_graph_neighbors") or "eighbor_" in function:
        return "dist_graph"
    return "inter" if function in ("Comm_remote_group", "Comm_remote_size", "Intercomm_merge") else "comm"


# The epochs in which functions may be called; others need none.
EPOCHS = {
    **dict.fromkeys(("Win_lock", "Win_lock_all", "Win_start", "Win_post", "Win_fence"), "IDLE"),
    **dict.fromkeys(("Put", "Get", "Accumulate", "Get_accumulate", "Rput", "Rget", "Raccumulate", "Rget_accumulate", "Fetch_and_op",
                     "Compare_and_swap", "Win_unlock_all", "Win_flush", "Win_flush_local", "Win_flush_all", "Win_flush_local_all"), "LOCKED_ALL"),
    "Win_unlock": "LOCKED", "Win_complete": "STARTED", "Win_wait": "POSTED", "Win_test": "POSTED",
}  # fmt: skip


# Split collective operations, which have to have begun before they end; no other may begin.
SPLIT = re.compile(r"File_(\w+)_(begin|end)$")


def is_pointer(p) -> bool:
    return bool(p.pointers or p.is_array or "FUNCTION" in p.kind) and p.kind != "VARARGS"


def is_about_info(function: str) -> bool:
    return function.startswith("Info_") and function != "Info_create_env"


def scalar(function: str, chapter: str, p) -> str:
    special = SPECIAL.get(f"{function}.{p.name}")
    if special is not None:
        return special
    if p.kind == "COMMUNICATOR":
        return communicator(function, chapter)
    if p.kind == "WINDOW" and function in EPOCHS:
        return f"in_epoch({EPOCHS[function]})"
    if p.kind == "FILE" and SPLIT.match(function):
        operation, half = SPLIT.match(function).groups()
        return "in_split(NONE)" if half == "begin" else f"in_split({operation.upper()})"
    if p.kind == "INFO" and is_about_info(function):
        return "with_key()"
    if p.kind == "RANK":
        return "MPI_PROC_NULL" if p.name in ("dest", "source") else "0"
    return SCALARS.get(p.kind, "0")


def pointee(function: str, p) -> str:
    return SPECIAL.get(f"{function}.{p.name}", POINTEES.get(p.kind, "0"))


def needs_value(function: str, p) -> bool:
    return p.direction != "out" and (f"{function}.{p.name}" in SPECIAL or p.kind in POINTEES)


def pointer(function: str, p, local: str, declarations: list) -> str:
    """The address that is right: of a variable of the function, for most."""
    special = SPECIAL.get(f"{function}.{p.name}")
    if "FUNCTION" in p.kind:
        return FUNCTIONS.get(p.base.rstrip("*"), "NULL")
    if p.kind == "BUFFER" or p.base == "void":
        if special is not None:
            return special
        return "data" if p.direction == "in" else "results"
    if p.base == "char" and p.pointers + p.is_array > 1:
        return "NULL"
    if p.base == "char":
        return (special or '"a key"') if p.direction == "in" else "text"
    declarations.append(f"static {p.base} {local}[64][3];" if p.array.endswith("[3]") else f"static {p.base} {local}[64];")
    if p.array.endswith("[3]"):
        declarations.append(f"{local}[0][2] = 1;")  # the stride of a range
    elif needs_value(function, p):
        declarations.append(f"for (int i = 0; i < 64; ++i) {local}[i] = {pointee(function, p)};" if p.is_array and
                            "(" not in pointee(function, p) else f"{local}[0] = {pointee(function, p)};")
    return local


@dataclass(frozen=True)
class Wrong:
    """What a parameter is in the call of this number."""

    number: int
    value: str
    element: bool = False  # stands in the first element, or where the pointer leads


def completion(form, function: str, wrong: dict) -> str:
    """What has to be done with the requests of a call that has succeeded."""
    if function in ("Session_init", "Session_finalize"):
        return "if (v_session[0] != MPI_SESSION_NULL) MPI_Session_finalize(&v_session[0]);"
    if any(p.kind == "WINDOW" and p.direction == "out" for p in form.parameters):
        there = "".join(f" && wrong != {w.number}" for w in wrong.get("win", []))
        return f"if (code == MPI_SUCCESS{there}) MPI_Win_free(&v_win[0]);"
    if function == "File_open":
        there = "".join(f" && wrong != {w.number}" for w in wrong.get("fh", []))
        return f"if (code == MPI_SUCCESS{there}) MPI_File_close(&v_fh[0]);"
    if SPLIT.match(function):
        return "in_split(NONE);"
    made = [p for p in form.parameters if p.kind == "REQUEST" and p.direction == "out"]
    if not made:
        return "end_requests();" if function in ("Start", "Startall") else ""
    if function == "Grequest_start":
        return "if (code == MPI_SUCCESS) MPI_Grequest_complete(v_request[0]), complete(v_request);"
    end = "MPI_Request_free" if form.name.removesuffix("_c").endswith("_init") else "complete"
    there = "".join(f" && wrong != {w.number}" for w in wrong.get(made[0].name, []))
    return f"if (code == MPI_SUCCESS{there}) {end}(&v_{made[0].name}[0]);"


def call(form, function: str, chapter: str, wrong: dict) -> str:
    """A function of C that makes the call number `wrong`: 0 is the one in which all is right. `wrong`: by parameter, a list of Wrong."""
    before, after, arguments = [], [], []
    for p in form.parameters:
        if p.kind == "VARARGS":
            continue
        local = f"v_{p.name}"
        value = pointer(function, p, local, before) if is_pointer(p) else scalar(function, chapter, p)
        for w in wrong.get(p.name, []):
            if w.element:
                before += [f"const {p.base} kept_{w.number} = {local}[0];", f"if (wrong == {w.number}) {local}[0] = {w.value};"]
                after.append(f"if (wrong == {w.number}) {local}[0] = kept_{w.number};")
            elif value != w.value:
                value = f"wrong == {w.number} ? {w.value} : {value}"
        arguments.append(value)
    lines = before + [f"const int code = {form.name}({', '.join(arguments)});"] + after
    end = completion(form, function, wrong)
    lines += [end] if end else []
    if not any("wrong" in line for line in lines):
        lines.insert(0, "(void)wrong;")
    return f"static int call_{form.name[4:]}(int wrong) {{\n" + "".join(f"  {line}\n" for line in lines) + "  return code;\n}\n"


def functions() -> list:
    """All that are called, as (function, its entry of the overlay)."""
    standard.load()
    known = standard.functions()
    table = overlay.load(GEN / "overlay" / "chapters", known)
    return [
        (function, table[name]) for name, function in known.items()
        if table[name].has_body and not bodies.whole(function) and name not in NOT_CALLED and not IN_CALLBACK.match(name)
    ]


def program(header: str, code: list, rows: list) -> str:
    return (f'#include "{header}"\n\n' + "\n".join(code) + "\nstatic const struct function functions[] = {\n" + "".join(rows) +
            "};\n\nint main(int argc, char** argv) {\n  return try_all(functions, sizeof functions / sizeof *functions, argc, argv);\n}\n")
