// Functions that a program hands to MPI, made into functions of the standard's ABI. They belong to one rank,
// as all data of this library does.
#pragma once

#include "arguments.h"
#include "kept.h"

namespace clump::facade {

using UserFunction = void (*)(void* in, void* in_and_out, int* count, Datatype* type);
using UserFunctionLarge = void (*)(void* in, void* in_and_out, MPI_Count* count, Datatype* type);

/// What the standard's function is given that has no argument for the program's own function: one of a fixed
/// number of functions, which knows it. The same function gets the same one, and keeps it. Null if all are in
/// use.
MPI_User_function* standard(UserFunction function);
MPI_User_function_c* standard(UserFunctionLarge function);

template <typename Handle>
using ErrorFunction = void (*)(Handle* handle, int* error_code, ...);
MPI_Comm_errhandler_function* standard(ErrorFunction<Comm> function);
MPI_Win_errhandler_function* standard(ErrorFunction<Win> function);
MPI_File_errhandler_function* standard(ErrorFunction<File> function);
MPI_Session_errhandler_function* standard(ErrorFunction<Session> function);

/// Copy and delete functions of a key; `extra_state` of the standard's function.
template <typename Handle>
struct Key {
  using Copy = int (*)(Handle from, int key, void* extra_state, void* value, void* copy, int* flag);
  using Delete = int (*)(Handle handle, int key, void* value, void* extra_state);
  Copy copy;
  Delete destroy;
  void* extra_state;

  static int copy_it(StandardOf<Handle> from, int key, void* self, void* value, void* copy, int* flag) {
    const Key& known = *static_cast<Key*>(self);
    if (known.copy == nullptr) return *flag = 0, MPI_SUCCESS;
    return standard_code(known.copy(program<Handle>(from), facade::program(kKeyval, key), known.extra_state,
                                    value, copy, flag));
  }
  static int delete_it(StandardOf<Handle> handle, int key, void* value, void* self) {
    const Key& known = *static_cast<Key*>(self);
    if (known.destroy == nullptr) return MPI_SUCCESS;
    return standard_code(
        known.destroy(program<Handle>(handle), facade::program(kKeyval, key), value, known.extra_state));
  }
};

}  // namespace clump::facade
