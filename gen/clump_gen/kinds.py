"""What the kinds of parameters of the standard mean for a body's signature and for the checks before it."""

from dataclasses import dataclass

from .standard import Parameter


@dataclass(frozen=True)
class Handle:
    """A kind of handle that bodies get as an object."""

    object: str  # the C++ type of the object
    check: str  # the function of entry_checks.h that finds it


HANDLES = {
    "COMMUNICATOR": Handle("core::Comm", "comm"),
    "DATATYPE": Handle("const datatype::Datatype", "datatype"),
    "GROUP": Handle("const core::Group", "group"),
    "OPERATION": Handle("core::Op", "op"),
    "ERRHANDLER": Handle("core::Errhandler", "errhandler"),
    "INFO": Handle("core::Info", "info"),
    "SESSION": Handle("core::Session", "session"),
    "WINDOW": Handle("rma::Window", "win"),
    "FILE": Handle("core::File", "file"),
}

# Numbers of elements of a message, as its scalar or as one of its arrays.
MESSAGE_COUNTS = {
    "POLYXFER_NUM_ELEM", "POLYXFER_NUM_ELEM_NNI", "XFER_NUM_ELEM_NNI", "POLYDTYPE_NUM_ELEM", "POLYDTYPE_NUM_ELEM_NNI",
}  # fmt: skip
MESSAGE_DISPLACEMENTS = {"POLYDISPLACEMENT", "DISPLACEMENT"}
# Sizes of a packed buffer: what stands before them is no message of typed elements.
PACKED_SIZES = {"POLYNUM_BYTES_NNI", "POLYDTYPE_PACK_SIZE"}

# Scalars that must not be negative, with the error class that says so.
NOT_NEGATIVE = {
    **dict.fromkeys(MESSAGE_COUNTS | {"XFER_NUM_ELEM"}, "MPI_ERR_COUNT"),
    **dict.fromkeys(PACKED_SIZES | {"POLYNUM_PARAM_VALUES", "DEGREE", "INFO_VALUE_LENGTH", "ALLOC_MEM_NUM_BYTES"}, "MPI_ERR_ARG"),
    **dict.fromkeys(("ARRAY_LENGTH", "ARRAY_LENGTH_NNI", "ARRAY_LENGTH_PI"), "MPI_ERR_ARG"),
    "NUM_DIMS": "MPI_ERR_DIMS",
}
# A stride may be negative, whatever its kind says.
MAY_BE_NEGATIVE = {"stride"}

# Null means something, or is nobody's business: ignored statuses, weights, command lines, the user's own pointers.
MAY_BE_NULL = {
    "ARGUMENT_LIST", "ARGUMENT_COUNT", "ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10", "BUFFER", "EXTRA_STATE", "EXTRA_STATE2",
    "LOGICAL_OPTIONAL", "STRING_2DARRAY", "STRING_ARRAY", "WEIGHT", "TOOL_MPI_OBJ", "VARARGS",
}  # fmt: skip
# Functions of the user without which nothing can be done; null copy and delete functions of attributes are predefined ones.
NEEDED_FUNCTIONS = ("errhandler_function", "User_function", "User_function_c", "Grequest_query_function", "Grequest_free_function",
                    "Grequest_cancel_function")  # fmt: skip

# The error class of a null pointer, where it is not MPI_ERR_ARG.
NULL_CLASS = {"REQUEST": "MPI_ERR_REQUEST", "COMMUNICATOR": "MPI_ERR_COMM", "DATATYPE": "MPI_ERR_TYPE", "GROUP": "MPI_ERR_GROUP",
              "OPERATION": "MPI_ERR_OP", "INFO": "MPI_ERR_INFO", "ERRHANDLER": "MPI_ERR_ERRHANDLER",
              "SESSION": "MPI_ERR_SESSION", "WINDOW": "MPI_ERR_WIN", "FILE": "MPI_ERR_FILE"}  # fmt: skip
# The same for strings that a function reads, by the parameter's name.
NULL_STRING_CLASS = {"key": "MPI_ERR_INFO_KEY", "value": "MPI_ERR_INFO_VALUE"}

# The lengths of arrays that the standard's data leaves open, by function and parameter.
LENGTHS = {
    **{(f"MPI_{name}", "array_of_indices"): "incount" for name in ("Testsome", "Waitsome", "Request_get_status_some")},
}


def is_poly(p: Parameter) -> bool:
    """Whether the two forms of the function give it different types."""
    return p.kind.startswith("POLY")


def is_wide_array(p: Parameter) -> bool:
    """An array of counts or displacements whose width differs between the forms: a Counts for the body."""
    return is_poly(p) and p.is_array


def is_wide_output(p: Parameter) -> bool:
    """A single count or displacement that is written: a Count* for the body."""
    return is_poly(p) and not p.is_array and p.direction != "in" and p.kind != "POLYFUNCTION"


def is_object(p: Parameter) -> bool:
    """A handle that comes in by itself."""
    return p.kind in HANDLES and p.is_scalar and p.direction == "in"


def null_class(p: Parameter) -> str:
    if p.kind == "STRING" and p.direction == "in":
        return NULL_STRING_CLASS.get(p.name, "MPI_ERR_ARG")
    return NULL_CLASS.get(p.kind, "MPI_ERR_ARG") if p.direction == "inout" else "MPI_ERR_ARG"


def may_be_null(p: Parameter) -> bool:
    if p.kind == "STATUS":
        return p.direction == "out"
    if p.kind == "ERROR_CODE":
        return p.is_array  # MPI_ERRCODES_IGNORE
    if "FUNCTION" in p.kind:
        return not p.base.endswith(NEEDED_FUNCTIONS)
    if p.kind in ("ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10"):
        return p.direction == "in"
    return p.kind in MAY_BE_NULL
