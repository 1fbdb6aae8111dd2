// What Open MPI has beside the standard's functions. The questions for support of devices have answers; the
// functions behind the constants for attributes are there; all others end with an error that has their name,
// so that programs that may call them start.
#include <cstdio>
#include <cstdlib>

#include "missing.h"

using namespace clump::facade;  // NOLINT: the functions below are of no namespace

namespace {

/// A function of Open MPI's own parts. Its callers rely on more of these.
[[noreturn]] void internal(const char* name) {
  std::fprintf(stderr, "%s is a function of Open MPI's own parts, which Clump does not have\n", name);
  abi::Abort()(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace

/// What all headers from 3.0 on say, so that programs do not look for what their header does not have.
CLUMP_ENTRY(int, MPI_Get_version, (int* version, int* subversion)) {
  *version = 3;
  *subversion = 1;
  return MPI_SUCCESS;
}

CLUMP_ENTRY(int, MPIX_Query_cuda_support, ()) { return 0; }
CLUMP_ENTRY(int, MPIX_Query_rocm_support, ()) { return 0; }

#define CLUMP_ATTRIBUTES(kind, type)                                                                       \
  extern "C" CLUMP_PUBLIC int OMPI_C_MPI_##kind##NULL_DELETE_FN(type, int, void*, void*) {                 \
    return MPI_SUCCESS;                                                                                    \
  }                                                                                                        \
  extern "C" CLUMP_PUBLIC int OMPI_C_MPI_##kind##NULL_COPY_FN(type, int, void*, void*, void*, int* flag) { \
    *flag = 0;                                                                                             \
    return MPI_SUCCESS;                                                                                    \
  }                                                                                                        \
  extern "C" CLUMP_PUBLIC int OMPI_C_MPI_##kind##DUP_FN(type, int, void*, void* value, void* copy,         \
                                                        int* flag) {                                       \
    *flag = 1;                                                                                             \
    *static_cast<void**>(copy) = value;                                                                    \
    return MPI_SUCCESS;                                                                                    \
  }
CLUMP_ATTRIBUTES(, Comm)
CLUMP_ATTRIBUTES(COMM_, Comm)
CLUMP_ATTRIBUTES(TYPE_, Datatype)
CLUMP_ATTRIBUTES(WIN_, Win)

/// "Unknown" for each of the three questions: where ranks run is told by `mpiexec --display map`.
extern "C" CLUMP_PUBLIC int OMPI_Affinity_str(int, char bound[1024], char current[1024], char exists[1024]) {
  bound[0] = current[0] = exists[0] = '\0';
  return MPI_SUCCESS;
}

CLUMP_MISSING(MPI_Session_set_info)
CLUMP_MISSING(MPIX_Comm_ack_failed)
CLUMP_MISSING(MPIX_Comm_agree)
CLUMP_MISSING(MPIX_Comm_failure_ack)
CLUMP_MISSING(MPIX_Comm_failure_get_acked)
CLUMP_MISSING(MPIX_Comm_get_failed)
CLUMP_MISSING(MPIX_Comm_iagree)
CLUMP_MISSING(MPIX_Comm_is_revoked)
CLUMP_MISSING(MPIX_Comm_revoke)
CLUMP_MISSING(MPIX_Comm_shrink)

// What libmpi_cxx.so.40 of Open MPI 4 takes of the library, beside the C functions: programs are linked to it
// by their compiler, and few call it.
#define CLUMP_INTERNAL(name) \
  extern "C" CLUMP_PUBLIC void name() { internal(#name); }
CLUMP_INTERNAL(ompi_attr_create_keyval)
CLUMP_INTERNAL(ompi_errhandler_create)
CLUMP_INTERNAL(ompi_errhandler_invoke)
CLUMP_INTERNAL(ompi_op_set_cxx_callback)

// By which programs tell Open MPI from others, with dlsym().
CLUMP_INTERNAL(ompi_mpi_init)
CLUMP_INTERNAL(ompi_mpi_finalize)
CLUMP_INTERNAL(ompi_mpi_abort)
