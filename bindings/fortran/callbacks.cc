#include "callbacks.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "handles.h"

namespace clump::fortran {

namespace {

/// The program's procedures of one type, and for each the C function that calls it.
template <typename Function, typename CFunction, int kSize>
class Pool {
 public:
  constexpr explicit Pool(CFunction* const (&all)[kSize]) : all_(all) {}
  CFunction* c_function_of(Function* function) {
    while (__atomic_test_and_set(&is_locked_, __ATOMIC_ACQUIRE)) {  // acquire: pairs with the release below
    }
    int at = 0;
    while (at < kSize && functions_[at] != nullptr && functions_[at] != function) ++at;
    if (at < kSize) functions_[at] = function;
    __atomic_clear(&is_locked_, __ATOMIC_RELEASE);  // release: pairs with the acquire above
    return at < kSize ? all_[at] : nullptr;
  }
  Function* operator[](int at) const { return functions_[at]; }

 private:
  CFunction* const (&all_)[kSize];
  Function* functions_[kSize] = {};
  bool is_locked_ = false;
};

template <typename CFunction, int kSize>
struct CFunctions {
  CFunction* all[kSize];
};

template <int kNumber>
void operate(void* in, void* in_and_out, int* count, MPI_Datatype* type);
template <int kNumber>
void operate_large(void* in, void* in_and_out, MPI_Count* count, MPI_Datatype* type);
template <typename Handle, int kNumber>
void handle_error(Handle* handle, int* code, ...);

template <int... kNumbers>
constexpr auto operations(std::integer_sequence<int, kNumbers...>) {
  return CFunctions<MPI_User_function, kOperations>{{operate<kNumbers>...}};
}
template <int... kNumbers>
constexpr auto large_operations(std::integer_sequence<int, kNumbers...>) {
  return CFunctions<MPI_User_function_c, kOperations>{{operate_large<kNumbers>...}};
}
template <typename Handle, int... kNumbers>
constexpr auto error_handlers(std::integer_sequence<int, kNumbers...>) {
  return CFunctions<void(Handle*, int*, ...), kErrorHandlers>{{handle_error<Handle, kNumbers>...}};
}

constexpr auto kOperate = operations(std::make_integer_sequence<int, kOperations>());
constexpr auto kOperateLarge = large_operations(std::make_integer_sequence<int, kOperations>());
template <typename Handle>
constexpr auto kHandleError = error_handlers<Handle>(std::make_integer_sequence<int, kErrorHandlers>());

constinit Pool<UserFunction, MPI_User_function, kOperations> operation_pool(kOperate.all);
constinit Pool<UserFunctionLarge, MPI_User_function_c, kOperations> large_operation_pool(kOperateLarge.all);
template <typename Handle>
constinit Pool<ErrorFunction, void(Handle*, int*, ...), kErrorHandlers> error_pool(kHandleError<Handle>.all);

template <int kNumber>
void operate(void* in, void* in_and_out, int* count, MPI_Datatype* type) {
  Integer own = integer(*type);
  operation_pool[kNumber](in, in_and_out, count, &own);
}

template <int kNumber>
void operate_large(void* in, void* in_and_out, MPI_Count* count, MPI_Datatype* type) {
  Integer own = integer(*type);
  large_operation_pool[kNumber](in, in_and_out, count, &own);
}

template <typename Handle, int kNumber>
void handle_error(Handle* handle, int* code, ...) {
  Integer own = integer(*handle);
  error_pool<Handle>[kNumber](&own, code);
}

/// Holds a flag that serialises threads of the rank for the time of a search.
class Lock {
 public:
  explicit Lock(bool& is_locked) : is_locked_(is_locked) {
    while (__atomic_test_and_set(&is_locked_, __ATOMIC_ACQUIRE)) {  // acquire: pairs with the release below
    }
  }
  ~Lock() { __atomic_clear(&is_locked_, __ATOMIC_RELEASE); }  // release: pairs with the acquire above
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  bool& is_locked_;
};

/// The integers that stand for attributes. Never freed: copies of an attribute, and C programs, may have the
/// address.
class Attributes {
 public:
  void* find_or_add(Address value) {
    const Lock lock(is_locked_);
    Cell*& first = lists_[static_cast<std::size_t>(value) % kLists];
    for (Cell* cell = first; cell != nullptr; cell = cell->next)
      if (cell->value == value) return &cell->value;
    if (blocks_ == nullptr || used_ == kCells) {
      auto* const block = static_cast<Block*>(std::malloc(sizeof(Block)));
      if (block == nullptr) return nullptr;
      block->next = blocks_;
      blocks_ = block;
      used_ = 0;
    }
    Cell& added = blocks_->cells[used_++];
    added = {value, first};
    first = &added;
    return &added.value;
  }
  bool has(const void* address) {
    const Lock lock(is_locked_);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (const Block* block = blocks_; block != nullptr; block = block->next) {
      const auto begin = reinterpret_cast<std::uintptr_t>(block->cells);
      if (at >= begin && at < begin + sizeof block->cells) return (at - begin) % sizeof(Cell) == 0;
    }
    return false;
  }

 private:
  static constexpr int kLists = 1021, kCells = 511;
  struct Cell {
    Address value;
    Cell* next;
  };
  struct Block {
    Block* next;
    Cell cells[kCells];
  };
  bool is_locked_ = false;
  Block* blocks_ = nullptr;
  int used_ = 0;
  Cell* lists_[kLists] = {};
};
constinit Attributes attributes;

/// The states of keys, each once. `is_locked_` guards the lists; what is in them does not change.
class Keyvals {
 public:
  Keyval* find_or_add(const Keyval& wanted) {
    const Lock lock(is_locked_);
    const auto mixed =
        (reinterpret_cast<std::uintptr_t>(wanted.copy) >> 4) + static_cast<std::uintptr_t>(wanted.state);
    Cell*& first = lists_[mixed % kLists];
    for (Cell* cell = first; cell != nullptr; cell = cell->next) {
      const Keyval& has = cell->value;
      if (has.copy == wanted.copy && has.erase == wanted.erase && has.state == wanted.state &&
          has.is_old == wanted.is_old)
        return &cell->value;
    }
    auto* const added = static_cast<Cell*>(std::malloc(sizeof(Cell)));
    if (added == nullptr) return nullptr;
    *added = {wanted, first};
    first = added;
    return &added->value;
  }

 private:
  static constexpr int kLists = 127;
  struct Cell {
    Keyval value;
    Cell* next;
  };

  bool is_locked_ = false;
  Cell* lists_[kLists] = {};
};
constinit Keyvals keyvals;

template <typename Handle>
int copy(Handle handle, int keyval, void* state, void* in, void* out, int* flag) {
  const auto& key = *static_cast<Keyval*>(state);
  Integer own = integer(handle);
  Address value = value_behind(in);
  Address copied = 0;
  Address user_state = key.state;
  Logical is_copied = 0;
  Integer error = MPI_SUCCESS;
  if (key.is_old) {
    auto old_value = static_cast<Integer>(value);
    auto old_state = static_cast<Integer>(user_state);
    Integer old_copied = 0;
    reinterpret_cast<OldCopyFunction*>(key.copy)(&own, &keyval, &old_state, &old_value, &old_copied,
                                                 &is_copied, &error);
    copied = old_copied;
  } else {
    key.copy(&own, &keyval, &user_state, &value, &copied, &is_copied, &error);
  }
  *flag = is_copied != 0 ? 1 : 0;
  if (is_copied == 0) return error;
  void* const attribute = attribute_of(copied);
  *static_cast<void**>(out) = attribute;
  return attribute != nullptr ? error : MPI_ERR_NO_MEM;
}

template <typename Handle>
int erase(Handle handle, int keyval, void* value, void* state) {
  const auto& key = *static_cast<Keyval*>(state);
  Integer own = integer(handle);
  Address user_value = value_behind(value);
  Address user_state = key.state;
  Integer error = MPI_SUCCESS;
  if (key.is_old) {
    auto old_value = static_cast<Integer>(user_value);
    auto old_state = static_cast<Integer>(user_state);
    reinterpret_cast<OldDeleteFunction*>(key.erase)(&own, &keyval, &old_value, &old_state, &error);
  } else {
    key.erase(&own, &keyval, &user_value, &user_state, &error);
  }
  return error;
}

template <typename Function, typename Count>
int convert(Function* function, void* user, MPI_Datatype type, Count count, void* file, MPI_Offset position,
            Address state) {
  Integer own = integer(type);
  Integer error = MPI_SUCCESS;
  function(user, &own, &count, file, &position, &state, &error);
  return error;
}

}  // namespace

void* attribute_of(Address value) { return attributes.find_or_add(value); }

Address value_behind(void* attribute) {
  return attributes.has(attribute) ? *static_cast<Address*>(attribute) : reinterpret_cast<Address>(attribute);
}

Keyval* keyval_of(CopyFunction* copy, DeleteFunction* erase, Address state, bool is_old) {
  return keyvals.find_or_add({copy, erase, state, is_old});
}

MPI_User_function* operation(UserFunction* function) { return operation_pool.c_function_of(function); }
MPI_User_function_c* operation_large(UserFunctionLarge* function) {
  return large_operation_pool.c_function_of(function);
}
MPI_Comm_errhandler_function* comm_error_handler(ErrorFunction* function) {
  return error_pool<MPI_Comm>.c_function_of(function);
}
MPI_Win_errhandler_function* win_error_handler(ErrorFunction* function) {
  return error_pool<MPI_Win>.c_function_of(function);
}
MPI_File_errhandler_function* file_error_handler(ErrorFunction* function) {
  return error_pool<MPI_File>.c_function_of(function);
}
MPI_Session_errhandler_function* session_error_handler(ErrorFunction* function) {
  return error_pool<MPI_Session>.c_function_of(function);
}

int too_many(const char* what, int limit) {
  std::fprintf(stderr, "%s: more than %d different procedures of Fortran; hand over the same ones again\n",
               what, limit);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}

int copy_comm(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
  return copy(comm, keyval, state, in, out, flag);
}
int copy_type(MPI_Datatype type, int keyval, void* state, void* in, void* out, int* flag) {
  return copy(type, keyval, state, in, out, flag);
}
int copy_win(MPI_Win win, int keyval, void* state, void* in, void* out, int* flag) {
  return copy(win, keyval, state, in, out, flag);
}
int delete_comm(MPI_Comm comm, int keyval, void* value, void* state) {
  return erase(comm, keyval, value, state);
}
int delete_type(MPI_Datatype type, int keyval, void* value, void* state) {
  return erase(type, keyval, value, state);
}
int delete_win(MPI_Win win, int keyval, void* value, void* state) { return erase(win, keyval, value, state); }

int query_request(void* state, MPI_Status* status) {
  auto& request = *static_cast<Grequest*>(state);
  Integer error = MPI_SUCCESS;
  request.query(&request.state, reinterpret_cast<Integer*>(status), &error);
  return error;
}

int free_request(void* state) {
  auto* const request = static_cast<Grequest*>(state);
  Integer error = MPI_SUCCESS;
  request->free(&request->state, &error);
  std::free(request);
  return error;
}

int cancel_request(void* state, int complete) {
  auto& request = *static_cast<Grequest*>(state);
  Logical is_complete = complete != 0 ? 1 : 0;
  Integer error = MPI_SUCCESS;
  request.cancel(&request.state, &is_complete, &error);
  return error;
}

int datarep_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  auto& datarep = *static_cast<Datarep*>(state);
  Integer own = integer(type);
  Integer error = MPI_SUCCESS;
  datarep.extent(&own, extent, &datarep.state, &error);
  return error;
}

int datarep_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  return convert(static_cast<Datarep*>(state)->read, user, type, count, file, position,
                 static_cast<Datarep*>(state)->state);
}
int datarep_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  return convert(static_cast<Datarep*>(state)->write, user, type, count, file, position,
                 static_cast<Datarep*>(state)->state);
}
int datarep_read_large(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                       void* state) {
  return convert(static_cast<Datarep*>(state)->read_large, user, type, count, file, position,
                 static_cast<Datarep*>(state)->state);
}
int datarep_write_large(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                        void* state) {
  return convert(static_cast<Datarep*>(state)->write_large, user, type, count, file, position,
                 static_cast<Datarep*>(state)->state);
}

}  // namespace clump::fortran
