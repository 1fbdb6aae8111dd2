// Caching: attributes of communicators, datatypes and windows (MPI-5.0 section 7.7).
#pragma once

#include <vector>

#include "base/ref.h"
#include "base/status.h"

namespace clump::core {

/// A key (MPI_Comm_create_keyval and its family). One signature serves the three kinds, whose handles are all pointer-sized.
class Keyval final : public base::RefCounted {
 public:
  enum class Kind { kComm, kType, kWin };
  using Copy = int (*)(void* handle, int keyval, void* extra_state, void* value_in, void* value_out, int* flag);
  using Delete = int (*)(void* handle, int keyval, void* value, void* extra_state);

  Keyval(Kind kind, Copy copy, Delete remove, void* extra_state)
      : kind(kind), copy(copy), remove(remove), extra_state(extra_state) {}

  const Kind kind;
  const Copy copy;      ///< may be MPI_NULL_COPY_FN (0) or MPI_DUP_FN (1)
  const Delete remove;  ///< may be MPI_NULL_DELETE_FN (0)
  void* const extra_state;
  int number = MPI_KEYVAL_INVALID;  ///< what the user holds
};

/// The attributes of one object, in the order in which they were set. Used by threads of one rank under MPI's rules: not concurrently.
class Attributes {
 public:
  void** find(int keyval);
  /// Calls the delete function of an older value first.
  base::Status set(void* handle, const base::Ref<Keyval>& keyval, void* value);
  base::Status remove(void* handle, int keyval);
  /// Calls all delete functions in reverse order (MPI-5.0 section 7.7.1); stops at the first that fails.
  base::Status clear(void* handle);
  /// What MPI_Comm_dup and MPI_Type_dup do: calls the copy functions.
  base::Status copy_from(void* handle, const Attributes& other);

 private:
  struct Entry {
    base::Ref<Keyval> keyval;
    void* value;
  };
  std::vector<Entry> entries_;
};

}  // namespace clump::core
