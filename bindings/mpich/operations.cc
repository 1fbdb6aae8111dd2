#include "operations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "abi_library.h"
#include "arguments.h"
#include "entry.h"
#include "numbers.h"

namespace clump::facade {
namespace {

using Function = void (*)(void* in, void* in_and_out, MPI_Count count, Datatype type, void* state);
using Destructor = void (*)(void* state);

/// One of a fixed number, as the standard's functions are given no state of the program's. `function` null:
/// it is free. The threads of the rank change them under a Lock, and that of an operation only when it begins
/// and ends.
struct Operation {
  Function function;
  Destructor destroy;
  void* state;
  Op op;
  bool in_background;  ///< a call that may not have ended has used it
  bool freed;
};
constexpr int kOperations = 256;
Operation operations[kOperations];

class Lock {
 public:
  Lock() {
    while (__atomic_test_and_set(&is_locked, __ATOMIC_ACQUIRE)) {  // acquire: pairs with the release below
    }
  }
  ~Lock() { __atomic_clear(&is_locked, __ATOMIC_RELEASE); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  static bool is_locked;
};
bool Lock::is_locked = false;

template <int kNumber>
void operate(void* in, void* in_and_out, MPI_Count* count, MPI_Datatype* type) {
  const Operation& mine = operations[kNumber];
  mine.function(in, in_and_out, *count, program<Datatype>(*type), mine.state);
}

template <int... kNumbers>
MPI_User_function_c* function_of(int number, std::integer_sequence<int, kNumbers...>) {
  static constexpr MPI_User_function_c* kAll[] = {operate<kNumbers>...};
  return kAll[number];
}

/// Null: there is none.
Operation* find(Op op) {
  const auto is_it = [op](const Operation& one) {
    return one.function != nullptr && !one.freed && one.op == op;
  };
  Operation* const found = std::find_if(std::begin(operations), std::end(operations), is_it);
  return found != std::end(operations) ? found : nullptr;
}

/// Its place is free when the program's function has returned.
void destroy(Operation& operation) {
  if (operation.destroy != nullptr) operation.destroy(operation.state);
  const Lock lock;
  operation = {};
}

/// In MPI_Finalize, whose first act is to delete what MPI_COMM_SELF has: all calls have ended.
int destroy_freed(MPI_Comm, int, void*, void*) {
  for (Operation& operation : operations)
    if (operation.freed) destroy(operation);
  return MPI_SUCCESS;
}

/// Once, by the first operation. In a program of sessions there is no MPI_Finalize.
void see_finalize() {
  static bool is_seen = false;
  if (__atomic_exchange_n(&is_seen, true, __ATOMIC_RELAXED)) return;
  int begun = 0, key = 0;
  if (abi::Initialized()(&begun) != MPI_SUCCESS || begun == 0) return;
  if (abi::Comm_create_keyval()(MPI_COMM_NULL_COPY_FN, destroy_freed, &key, nullptr) != MPI_SUCCESS) return;
  abi::Comm_set_attr()(MPI_COMM_SELF, key, nullptr);
  abi::Comm_free_keyval()(&key);
}

}  // namespace

MPI_Op standard_in_background(Op op) {
  const Lock lock;
  if (Operation* const mine = find(op)) mine->in_background = true;
  return standard(op);
}

void operation_ends(Op op) {
  Operation* mine;
  {
    const Lock lock;
    mine = find(op);
    if (mine == nullptr) return;
    mine->freed = true;
    if (mine->in_background) return;
  }
  destroy(*mine);
}

}  // namespace clump::facade

using namespace clump::facade;  // NOLINT: the function below is of no namespace

CLUMP_ENTRY(int, MPIX_Op_create_x,
            (Function function, Destructor destroy, int commute, void* state, Op* op)) {
  if (function == nullptr) return program_code(abi::Op_create_c()(nullptr, commute, Out<Op>(op)));
  see_finalize();
  Operation* mine;
  {
    const Lock lock;
    mine = std::find_if(std::begin(operations), std::end(operations),
                        [](const Operation& one) { return one.function == nullptr; });
    if (mine != std::end(operations)) *mine = {function, destroy, state, Op(), false, false};
  }
  if (mine == std::end(operations))
    return program_code(abi::Comm_call_errhandler()(MPI_COMM_SELF, MPI_ERR_NO_MEM));
  const int number = static_cast<int>(mine - operations);
  MPI_User_function_c* const own = function_of(number, std::make_integer_sequence<int, kOperations>());
  const int code = program_code(abi::Op_create_c()(own, commute, Out<Op>(op)));
  const Lock lock;
  if (code == MPI_SUCCESS)
    mine->op = *op;
  else
    *mine = {};
  return code;
}
