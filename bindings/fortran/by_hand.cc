// The procedures that are not generated: those that hand over procedures, values of attributes, strings whose
// length is an argument, the start of MPI, and what the C library does not have.
#include <cstdlib>
#include <new>

#include "arguments.h"
#include "callbacks.h"
#include "compiler.h"
#include "predefined.h"

using namespace clump::fortran;  // NOLINT: nobody includes this file

// The start.

CLUMP_BOTH(init, (Integer * ierror)) {
  const int code = CLUMP_C(Init)(nullptr, nullptr);
  if (code == MPI_SUCCESS) tell_about_compiler();
  finish(ierror, code);
}

CLUMP_BOTH(init_thread, (Integer * required, Integer* provided, Integer* ierror)) {
  const int code = CLUMP_C(Init_thread)(nullptr, nullptr, *required, provided);
  if (code == MPI_SUCCESS) tell_about_compiler();
  finish(ierror, code);
}

CLUMP_BOTH(session_init, (Integer * info, Integer* errhandler, Integer* session, Integer* ierror)) {
  const int code = CLUMP_C(Session_init)(handle<MPI_Info>(*info), handle<MPI_Errhandler>(*errhandler),
                                         OutHandle<MPI_Session>(session));
  if (code == MPI_SUCCESS) tell_about_compiler();
  finish(ierror, code);
}

CLUMP_BOTH(info_create_env, (Integer * info, Integer* ierror)) {
  finish(ierror, CLUMP_C(Info_create_env)(0, nullptr, OutHandle<MPI_Info>(info)));
}

// Functions.

CLUMP_FUNCTION(double, wtime, ()) { return CLUMP_C(Wtime)(); }
CLUMP_FUNCTION(double, wtick, ()) { return CLUMP_C(Wtick)(); }
CLUMP_FUNCTION(MPI_Aint, aint_add, (MPI_Aint * base, MPI_Aint* disp)) {
  return CLUMP_C(Aint_add)(*base, *disp);
}
CLUMP_FUNCTION(MPI_Aint, aint_diff, (MPI_Aint * one, MPI_Aint* other)) {
  return CLUMP_C(Aint_diff)(*one, *other);
}

CLUMP_BOTH(pcontrol, (Integer * level)) { CLUMP_C(Pcontrol)(*level); }

// What only Fortran has.

CLUMP_F08(status_f2f08, (Integer * f_status, Integer* f08_status, Integer* ierror)) {
  for (int i = 0; i < kStatusSize; ++i) f08_status[i] = f_status[i];
  finish(ierror, MPI_SUCCESS);
}

CLUMP_F08(status_f082f, (Integer * f08_status, Integer* f_status, Integer* ierror)) {
  for (int i = 0; i < kStatusSize; ++i) f_status[i] = f08_status[i];
  finish(ierror, MPI_SUCCESS);
}

// Operations and error handlers.

CLUMP_BOTH(op_create, (UserFunction * user_fn, Logical* commute, Integer* op, Integer* ierror)) {
  MPI_User_function* const function = operation(user_fn);
  if (function == nullptr) return finish(ierror, too_many("MPI_Op_create", kOperations));
  finish(ierror, CLUMP_C(Op_create)(function, *commute != 0 ? 1 : 0, OutHandle<MPI_Op>(op)));
}

CLUMP_F08_LARGE(op_create, (UserFunctionLarge * user_fn, Logical* commute, Integer* op, Integer* ierror)) {
  MPI_User_function_c* const function = operation_large(user_fn);
  if (function == nullptr) return finish(ierror, too_many("MPI_Op_create_c", kOperations));
  finish(ierror, CLUMP_C(Op_create_c)(function, *commute != 0 ? 1 : 0, OutHandle<MPI_Op>(op)));
}

CLUMP_BOTH(comm_create_errhandler, (ErrorFunction * function, Integer* errhandler, Integer* ierror)) {
  auto* const own = comm_error_handler(function);
  if (own == nullptr) return finish(ierror, too_many("MPI_Comm_create_errhandler", kErrorHandlers));
  finish(ierror, CLUMP_C(Comm_create_errhandler)(own, OutHandle<MPI_Errhandler>(errhandler)));
}

CLUMP_BOTH(win_create_errhandler, (ErrorFunction * function, Integer* errhandler, Integer* ierror)) {
  auto* const own = win_error_handler(function);
  if (own == nullptr) return finish(ierror, too_many("MPI_Win_create_errhandler", kErrorHandlers));
  finish(ierror, CLUMP_C(Win_create_errhandler)(own, OutHandle<MPI_Errhandler>(errhandler)));
}

CLUMP_BOTH(file_create_errhandler, (ErrorFunction * function, Integer* errhandler, Integer* ierror)) {
  auto* const own = file_error_handler(function);
  if (own == nullptr) return finish(ierror, too_many("MPI_File_create_errhandler", kErrorHandlers));
  finish(ierror, CLUMP_C(File_create_errhandler)(own, OutHandle<MPI_Errhandler>(errhandler)));
}

CLUMP_BOTH(session_create_errhandler, (ErrorFunction * function, Integer* errhandler, Integer* ierror)) {
  auto* const own = session_error_handler(function);
  if (own == nullptr) return finish(ierror, too_many("MPI_Session_create_errhandler", kErrorHandlers));
  finish(ierror, CLUMP_C(Session_create_errhandler)(own, OutHandle<MPI_Errhandler>(errhandler)));
}

// Attributes. Of one that Fortran sets, and of predefined ones, C has the address of an integer
// (callbacks.h).

namespace {

/// What a predefined attribute, or one of the program's, is to Fortran.
Address value_of(int keyval, void* attribute) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<int*>(attribute);
    case MPI_WIN_SIZE:
      return *static_cast<MPI_Aint*>(attribute);
    default:
      return value_behind(attribute);
  }
}

template <typename Value>
int give_attribute(int code, int keyval, void* attribute, int is_there, Value* value, Logical* flag) {
  if (code != MPI_SUCCESS) return code;
  *flag = is_there != 0 ? 1 : 0;
  if (is_there != 0) *value = static_cast<Value>(value_of(keyval, attribute));
  return code;
}

}  // namespace

CLUMP_BOTH(comm_create_keyval, (CopyFunction * copy_fn, DeleteFunction* delete_fn, Integer* keyval,
                                Address* extra_state, Integer* ierror)) {
  Keyval* const key = keyval_of(copy_fn, delete_fn, *extra_state, false);
  if (key == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  finish(ierror, CLUMP_C(Comm_create_keyval)(copy_comm, delete_comm, keyval, key));
}

CLUMP_BOTH(type_create_keyval, (CopyFunction * copy_fn, DeleteFunction* delete_fn, Integer* keyval,
                                Address* extra_state, Integer* ierror)) {
  Keyval* const key = keyval_of(copy_fn, delete_fn, *extra_state, false);
  if (key == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  finish(ierror, CLUMP_C(Type_create_keyval)(copy_type, delete_type, keyval, key));
}

CLUMP_BOTH(win_create_keyval, (CopyFunction * copy_fn, DeleteFunction* delete_fn, Integer* keyval,
                               Address* extra_state, Integer* ierror)) {
  Keyval* const key = keyval_of(copy_fn, delete_fn, *extra_state, false);
  if (key == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  finish(ierror, CLUMP_C(Win_create_keyval)(copy_win, delete_win, keyval, key));
}

CLUMP_ENTRY(keyval_create, (OldCopyFunction * copy_fn, OldDeleteFunction* delete_fn, Integer* keyval,
                            Integer* extra_state, Integer* ierror)) {
  Keyval* const key = keyval_of(reinterpret_cast<CopyFunction*>(copy_fn),
                                reinterpret_cast<DeleteFunction*>(delete_fn), *extra_state, true);
  if (key == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  finish(ierror, CLUMP_C(Keyval_create)(copy_comm, delete_comm, keyval, key));
}

CLUMP_BOTH(comm_get_attr, (Integer * comm, Integer* keyval, Address* value, Logical* flag, Integer* ierror)) {
  void* attribute = nullptr;
  int is_there = 0;
  const int key = c_keyval(*keyval);
  const int code = CLUMP_C(Comm_get_attr)(handle<MPI_Comm>(*comm), key, &attribute, &is_there);
  finish(ierror, give_attribute(code, key, attribute, is_there, value, flag));
}

CLUMP_BOTH(type_get_attr,
           (Integer * datatype, Integer* keyval, Address* value, Logical* flag, Integer* ierror)) {
  void* attribute = nullptr;
  int is_there = 0;
  const int key = c_keyval(*keyval);
  const int code = CLUMP_C(Type_get_attr)(handle<MPI_Datatype>(*datatype), key, &attribute, &is_there);
  finish(ierror, give_attribute(code, key, attribute, is_there, value, flag));
}

CLUMP_BOTH(win_get_attr, (Integer * win, Integer* keyval, Address* value, Logical* flag, Integer* ierror)) {
  void* attribute = nullptr;
  int is_there = 0;
  const int key = c_keyval(*keyval);
  const int code = CLUMP_C(Win_get_attr)(handle<MPI_Win>(*win), key, &attribute, &is_there);
  finish(ierror, give_attribute(code, key, attribute, is_there, value, flag));
}

CLUMP_ENTRY(attr_get, (Integer * comm, Integer* keyval, Integer* value, Logical* flag, Integer* ierror)) {
  void* attribute = nullptr;
  int is_there = 0;
  const int key = c_keyval(*keyval);
  const int code = CLUMP_C(Attr_get)(handle<MPI_Comm>(*comm), key, &attribute, &is_there);
  finish(ierror, give_attribute(code, key, attribute, is_there, value, flag));
}

CLUMP_BOTH(comm_set_attr, (Integer * comm, Integer* keyval, Address* value, Integer* ierror)) {
  finish(ierror, CLUMP_C(Comm_set_attr)(handle<MPI_Comm>(*comm), *keyval, attribute_of(*value)));
}

CLUMP_BOTH(type_set_attr, (Integer * datatype, Integer* keyval, Address* value, Integer* ierror)) {
  finish(ierror, CLUMP_C(Type_set_attr)(handle<MPI_Datatype>(*datatype), *keyval, attribute_of(*value)));
}

CLUMP_BOTH(win_set_attr, (Integer * win, Integer* keyval, Address* value, Integer* ierror)) {
  finish(ierror, CLUMP_C(Win_set_attr)(handle<MPI_Win>(*win), *keyval, attribute_of(*value)));
}

CLUMP_ENTRY(attr_put, (Integer * comm, Integer* keyval, Integer* value, Integer* ierror)) {
  finish(ierror, CLUMP_C(Attr_put)(handle<MPI_Comm>(*comm), *keyval, attribute_of(*value)));
}

// Generalised requests and data representations. In C MPI_CONVERSION_FN_NULL is null.

CLUMP_BOTH(grequest_start, (QueryFunction * query_fn, FreeFunction* free_fn, CancelFunction* cancel_fn,
                            Address* extra_state, Integer* request, Integer* ierror)) {
  auto* const state = static_cast<Grequest*>(std::malloc(sizeof(Grequest)));
  if (state == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  *state = {query_fn, free_fn, cancel_fn, *extra_state};
  const int code = CLUMP_C(Grequest_start)(query_request, free_request, cancel_request, state,
                                           OutHandle<MPI_Request>(request));
  if (code != MPI_SUCCESS) std::free(state);
  finish(ierror, code);
}

CLUMP_BOTH(register_datarep,
           (char* datarep, ConversionFunction* read, ConversionFunction* write, ExtentFunction* extent,
            Address* extra_state, Integer* ierror, Length datarep_length)) {
  auto* const state = static_cast<Datarep*>(std::malloc(sizeof(Datarep)));
  if (state == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  *state = {read, write, nullptr, nullptr, extent, *extra_state};
  auto* const own_read = read == mpi_conversion_fn_null_ ? nullptr : &datarep_read;
  auto* const own_write = write == mpi_conversion_fn_null_ ? nullptr : &datarep_write;
  const int code = CLUMP_C(Register_datarep)(InString(datarep, datarep_length), own_read, own_write,
                                             datarep_extent, state);
  if (code != MPI_SUCCESS) std::free(state);
  finish(ierror, code);
}

CLUMP_F08_LARGE(register_datarep,
                (char* datarep, ConversionFunctionLarge* read, ConversionFunctionLarge* write,
                 ExtentFunction* extent, Address* extra_state, Integer* ierror, Length datarep_length)) {
  auto* const state = static_cast<Datarep*>(std::malloc(sizeof(Datarep)));
  if (state == nullptr) return finish(ierror, MPI_ERR_NO_MEM);
  *state = {nullptr, nullptr, read, write, extent, *extra_state};
  auto* const own_read = read == mpi_conversion_fn_null_c_ ? nullptr : &datarep_read_large;
  auto* const own_write = write == mpi_conversion_fn_null_c_ ? nullptr : &datarep_write_large;
  const int code = CLUMP_C(Register_datarep_c)(InString(datarep, datarep_length), own_read, own_write,
                                               datarep_extent, state);
  if (code != MPI_SUCCESS) std::free(state);
  finish(ierror, code);
}

// Strings whose length is an argument: in C it counts the final zero.

CLUMP_BOTH(info_get, (Integer * info, char* key, Integer* valuelen, char* value, Logical* flag,
                      Integer* ierror, Length key_length, Length value_length)) {
  const long size = *valuelen > 0 ? *valuelen : 0;
  Scratch<char> text(size + 1);
  int is_there = 0;
  const int code = CLUMP_C(Info_get)(handle<MPI_Info>(*info), InStripped(key, key_length), *valuelen,
                                     text.data(), &is_there);
  if (code == MPI_SUCCESS) {
    *flag = is_there != 0 ? 1 : 0;
    if (is_there != 0) pad(value, value_length, text.data());
  }
  finish(ierror, code);
}

CLUMP_BOTH(info_get_string, (Integer * info, char* key, Integer* buflen, char* value, Logical* flag,
                             Integer* ierror, Length key_length, Length value_length)) {
  const long wanted = *buflen > 0 ? *buflen : 0;
  const long size = wanted < static_cast<long>(value_length) ? wanted : static_cast<long>(value_length);
  Scratch<char> text(size + 1);
  int length = *buflen <= 0 ? *buflen : static_cast<int>(size) + 1;
  int is_there = 0;
  const int code = CLUMP_C(Info_get_string)(handle<MPI_Info>(*info), InStripped(key, key_length), &length,
                                            text.data(), &is_there);
  if (code == MPI_SUCCESS) {
    *flag = is_there != 0 ? 1 : 0;
    if (is_there != 0 && *buflen > 0) pad(value, value_length, text.data());
    if (is_there != 0) *buflen = length - 1;
  }
  finish(ierror, code);
}

CLUMP_BOTH(session_get_nth_pset, (Integer * session, Integer* info, Integer* n, Integer* pset_len,
                                  char* pset_name, Integer* ierror, Length pset_name_length)) {
  const long wanted = *pset_len > 0 ? *pset_len : 0;
  const long size =
      wanted < static_cast<long>(pset_name_length) ? wanted : static_cast<long>(pset_name_length);
  Scratch<char> text(size + 1);
  int length = *pset_len <= 0 ? *pset_len : static_cast<int>(size) + 1;
  const int code = CLUMP_C(Session_get_nth_pset)(handle<MPI_Session>(*session), handle<MPI_Info>(*info), *n,
                                                 &length, text.data());
  if (code == MPI_SUCCESS) {
    if (*pset_len > 0) pad(pset_name, pset_name_length, text.data());
    *pset_len = length - 1;
  }
  finish(ierror, code);
}

// Command lines. They, the numbers of processes and the info mean something at the root only: elsewhere a
// list need not end.

namespace {

/// Fortran's list of arguments, which ends with a blank one, as C's. Elements are `stride` strings apart.
class Arguments {
 public:
  Arguments(const char* list, Length length, long stride) {
    if (list == nullptr || has_no_arguments(list)) return;
    const auto step = static_cast<long>(length) * stride;
    long count = 0;
    while (!stripped(list + count * step, static_cast<long>(length)).empty()) ++count;
    const auto bytes = static_cast<std::size_t>(count + 1) * sizeof(char*);
    all_ = static_cast<char**>(std::malloc(bytes + static_cast<std::size_t>(count) * (length + 1)));
    if (all_ == nullptr) std::abort();
    char* text = reinterpret_cast<char*>(all_) + bytes;
    for (long i = 0; i < count; ++i) {
      const std::string_view from = stripped(list + i * step, static_cast<long>(length));
      std::memcpy(text, from.data(), from.size());
      text[from.size()] = '\0';
      all_[i] = text;
      text += from.size() + 1;
    }
    all_[count] = nullptr;
  }
  ~Arguments() { std::free(all_); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  [[nodiscard]] char** list() const { return all_; }

 private:
  char** all_ = nullptr;
};

}  // namespace

CLUMP_BOTH(comm_spawn, (char* command, char* argv, Integer* maxprocs, Integer* info, Integer* root,
                        Integer* comm, Integer* intercomm, Integer* array_of_errcodes, Integer* ierror,
                        Length command_length, Length argv_length)) {
  const bool is_here = is_root(handle<MPI_Comm>(*comm), *root);
  const Arguments arguments(is_here ? argv : nullptr, argv_length, 1);
  finish(ierror, CLUMP_C(Comm_spawn)(InStripped(command, command_length), arguments.list(), *maxprocs,
                                     is_here ? handle<MPI_Info>(*info) : MPI_INFO_NULL, *root,
                                     handle<MPI_Comm>(*comm), OutHandle<MPI_Comm>(intercomm),
                                     c_error_codes(array_of_errcodes)));
}

CLUMP_BOTH(comm_spawn_multiple,
           (Integer * count, char* array_of_commands, char* array_of_argv, Integer* array_of_maxprocs,
            Integer* array_of_info, Integer* root, Integer* comm, Integer* intercomm,
            Integer* array_of_errcodes, Integer* ierror, Length commands_length, Length argv_length)) {
  const Integer counted = is_root(handle<MPI_Comm>(*comm), *root) ? *count : 0;
  const long programs = counted > 0 ? counted : 0;
  auto** const commands =
      static_cast<char**>(std::calloc(static_cast<std::size_t>(programs) + 1, sizeof(char*)));
  auto*** const lists =
      static_cast<char***>(std::calloc(static_cast<std::size_t>(programs) + 1, sizeof(char**)));
  auto** const owners =
      static_cast<Arguments**>(std::calloc(static_cast<std::size_t>(programs) + 1, sizeof(Arguments*)));
  if (commands == nullptr || lists == nullptr || owners == nullptr) std::abort();
  const bool has_lists = programs > 0 && !has_no_arguments(array_of_argv);
  for (long i = 0; i < programs; ++i) {
    const std::string_view name = stripped(array_of_commands + i * static_cast<long>(commands_length),
                                           static_cast<long>(commands_length));
    commands[i] = ::strndup(name.data(), name.size());
    if (!has_lists) continue;
    // ARRAY_OF_ARGV(COUNT, *): the arguments of a command are COUNT strings apart.
    owners[i] = static_cast<Arguments*>(std::malloc(sizeof(Arguments)));
    if (owners[i] == nullptr) std::abort();
    lists[i] =
        (new (owners[i]) Arguments(array_of_argv + i * static_cast<long>(argv_length), argv_length, programs))
            ->list();
  }
  const int code =
      CLUMP_C(Comm_spawn_multiple)(counted, commands, has_lists ? lists : MPI_ARGVS_NULL, array_of_maxprocs,
                                   Handles<MPI_Info>(array_of_info, programs), *root, handle<MPI_Comm>(*comm),
                                   OutHandle<MPI_Comm>(intercomm), c_error_codes(array_of_errcodes));
  for (long i = 0; i < programs; ++i) {
    std::free(commands[i]);
    if (owners[i] != nullptr) owners[i]->~Arguments();
    std::free(owners[i]);
  }
  std::free(owners);
  std::free(lists);
  std::free(commands);
  finish(ierror, code);
}
