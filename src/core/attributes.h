// Caching: attributes of communicators, datatypes and windows (MPI-5.0 section 7.7).
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/ref.h"
#include "base/status.h"

namespace clump::core {

/// A key (MPI_Comm_create_keyval and its family). One signature serves the three kinds, because the handles
/// of all three are pointer-sized.
class Keyval final : public base::RefCounted {
 public:
  enum class Kind { kComm, kType, kWin };
  using Copy = int (*)(void* handle, int keyval, void* extra_state, void* value_in, void* value_out,
                       int* flag);
  using Delete = int (*)(void* handle, int keyval, void* value, void* extra_state);

  Keyval(Kind kind, Copy copy, Delete remove, void* extra_state)
      : kind(kind), copy(copy), remove(remove), extra_state(extra_state) {}

  const Kind kind;
  const Copy copy;      ///< may be MPI_NULL_COPY_FN (0) or MPI_DUP_FN (1)
  const Delete remove;  ///< may be MPI_NULL_DELETE_FN (0)
  void* const extra_state;
  int number = MPI_KEYVAL_INVALID;    ///< the value that the user holds
  std::atomic<int> being_deleted{0};  ///< calls of `remove` that have not returned
};

/// The attributes of one object, in the order in which they were set. Any threads of the object's rank, at
/// the same time: mutex_ guards the list.
///
/// The user's functions are called from here without the lock, and may themselves set and delete attributes
/// of the same object. A code other than MPI_SUCCESS that one of them returns becomes the Status, as it is
/// (MPI-5.0 section 7.7.2). `handle` is what those functions get: the MPI_Comm, MPI_Datatype or MPI_Win. The
/// delete function is called once for each value that was set: while it runs the value can still be asked
/// for, and another call that removes it finds nothing to do.
class Attributes {
 public:
  // By the number that the user has for a key, which it may have freed since. `live`: the key that has this
  // number now (Rank::keyval); null: there is none, so the number is that of a key that was freed.
  /// The value; nothing if the key was not set.
  std::optional<void*> find(int number, const Keyval* live) const;
  /// Whether `value` is the value of one of the attributes.
  bool holds(const void* value) const;
  /// The key itself; null if it was not set.
  base::Ref<Keyval> key(int number, const Keyval* live) const;

  /// Calls the delete function of an older value first; if that fails, the older value stays.
  base::Status set(void* handle, const base::Ref<Keyval>& keyval, void* value);
  /// Does nothing if `keyval` was not set.
  base::Status remove(void* handle, const Keyval& keyval);
  /// Calls all delete functions, the attribute that was set last first (MPI-5.0 section 11.4.1 asks for this
  /// order where MPI_Finalize frees MPI_COMM_SELF); stops at the first that fails.
  base::Status clear(void* handle);
  /// What MPI_Comm_dup and MPI_Type_dup do: calls the copy functions of the attributes of `old_handle`, which
  /// are `other`. If one fails, this object has those that were copied before.
  base::Status copy_from(void* old_handle, const Attributes& other);

 private:
  struct Entry {
    base::Ref<Keyval> keyval;
    void* value = nullptr;
    const void* setter = nullptr;   ///< the thread of control that has set it
    const void* remover = nullptr;  ///< the call of remove() that calls its delete function; null: none
  };
  Entry* entry_of(const Keyval& keyval);
  const Entry* entry_of(int number, const Keyval* live) const;
  /// set() without an older value; false if another thread of the rank has set one meanwhile.
  bool put(const base::Ref<Keyval>& keyval, void* value);

  mutable base::ShortMutex mutex_;  // guards what follows; not held while a function of the user runs
  std::vector<Entry> entries_;
};

}  // namespace clump::core
