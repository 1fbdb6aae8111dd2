#include "predefined.h"

#include <cstdio>
#include <cstdlib>

using namespace clump::fortran;  // NOLINT: nobody includes this file

namespace {

void copy_nothing(Logical* flag, Integer* error) {
  *flag = 0;
  *error = MPI_SUCCESS;
}

template <typename Value>
void duplicate(const Value* in, Value* out, Logical* flag, Integer* error) {
  *out = *in;
  *flag = 1;
  *error = MPI_SUCCESS;
}

[[noreturn]] void never_called(const char* name) {
  std::fprintf(stderr, "%s is an argument of MPI_REGISTER_DATAREP, and cannot be called\n", name);
  std::abort();
}

}  // namespace

CLUMP_PREDEFINED(comm_null_copy_fn,
                 (Integer*, Integer*, Address*, Address*, Address*, Logical* flag, Integer* error)) {
  copy_nothing(flag, error);
}
CLUMP_PREDEFINED(type_null_copy_fn,
                 (Integer*, Integer*, Address*, Address*, Address*, Logical* flag, Integer* error)) {
  copy_nothing(flag, error);
}
CLUMP_PREDEFINED(win_null_copy_fn,
                 (Integer*, Integer*, Address*, Address*, Address*, Logical* flag, Integer* error)) {
  copy_nothing(flag, error);
}
CLUMP_PREDEFINED(null_copy_fn,
                 (Integer*, Integer*, Integer*, Integer*, Integer*, Logical* flag, Integer* error)) {
  copy_nothing(flag, error);
}

CLUMP_PREDEFINED(comm_dup_fn,
                 (Integer*, Integer*, Address*, Address* in, Address* out, Logical* flag, Integer* error)) {
  duplicate(in, out, flag, error);
}
CLUMP_PREDEFINED(type_dup_fn,
                 (Integer*, Integer*, Address*, Address* in, Address* out, Logical* flag, Integer* error)) {
  duplicate(in, out, flag, error);
}
CLUMP_PREDEFINED(win_dup_fn,
                 (Integer*, Integer*, Address*, Address* in, Address* out, Logical* flag, Integer* error)) {
  duplicate(in, out, flag, error);
}
CLUMP_PREDEFINED(dup_fn,
                 (Integer*, Integer*, Integer*, Integer* in, Integer* out, Logical* flag, Integer* error)) {
  duplicate(in, out, flag, error);
}

CLUMP_PREDEFINED(comm_null_delete_fn, (Integer*, Integer*, Address*, Address*, Integer* error)) {
  *error = MPI_SUCCESS;
}
CLUMP_PREDEFINED(type_null_delete_fn, (Integer*, Integer*, Address*, Address*, Integer* error)) {
  *error = MPI_SUCCESS;
}
CLUMP_PREDEFINED(win_null_delete_fn, (Integer*, Integer*, Address*, Address*, Integer* error)) {
  *error = MPI_SUCCESS;
}
CLUMP_PREDEFINED(null_delete_fn, (Integer*, Integer*, Integer*, Integer*, Integer* error)) {
  *error = MPI_SUCCESS;
}

CLUMP_PREDEFINED(conversion_fn_null, (void*, Integer*, Integer*, void*, MPI_Offset*, Address*, Integer*)) {
  never_called("MPI_CONVERSION_FN_NULL");
}
CLUMP_PREDEFINED(conversion_fn_null_c,
                 (void*, Integer*, MPI_Count*, void*, MPI_Offset*, Address*, Integer*)) {
  never_called("MPI_CONVERSION_FN_NULL_C");
}
