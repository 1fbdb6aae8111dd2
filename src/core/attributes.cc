#include "core/attributes.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace clump::core {

namespace {

bool is_null_copy(Keyval::Copy copy) { return copy == nullptr; }
bool is_plain_copy(Keyval::Copy copy) { return copy == reinterpret_cast<Keyval::Copy>(MPI_COMM_DUP_FN); }

/// The Status of a user function's error code. The code goes to the caller of MPI unchanged.
base::Status answer(int code) { return base::Status::from_code(code); }

/// The calling thread of control.
const void* caller() { return reinterpret_cast<const void*>(::pthread_self()); }

}  // namespace

Attributes::Entry* Attributes::entry_of(const Keyval& keyval) {
  const auto is_it = [&](const Entry& entry) { return entry.keyval.get() == &keyval; };
  const auto found = std::ranges::find_if(entries_, is_it);
  return found != entries_.end() ? &*found : nullptr;
}

const Attributes::Entry* Attributes::entry_of(int number, const Keyval* live) const {
  const auto is_it = [&](const Entry& entry) {
    return live != nullptr ? entry.keyval.get() == live : entry.keyval->number == number;
  };
  const auto found = std::ranges::find_if(entries_, is_it);
  return found != entries_.end() ? &*found : nullptr;
}

std::optional<void*> Attributes::find(int number, const Keyval* live) const {
  const std::lock_guard lock(mutex_);
  const Entry* const found = entry_of(number, live);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

bool Attributes::holds(const void* value) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(entries_, value, &Entry::value) != entries_.end();
}

base::Ref<Keyval> Attributes::key(int number, const Keyval* live) const {
  const std::lock_guard lock(mutex_);
  const Entry* const found = entry_of(number, live);
  return found != nullptr ? found->keyval : base::Ref<Keyval>();
}

bool Attributes::put(const base::Ref<Keyval>& keyval, void* value) {
  const std::lock_guard lock(mutex_);
  Entry* const found = entry_of(*keyval);
  if (found == nullptr) {
    entries_.push_back({keyval, value, caller()});
    return true;
  }
  // A delete function may have set this key anew; the caller's value replaces it. So it does where another
  // thread removes a value: for that thread it is gone.
  if (found->remover == nullptr && found->setter != caller()) return false;
  found->value = value;
  found->setter = caller();
  found->remover = nullptr;
  return true;
}

base::Status Attributes::set(void* handle, const base::Ref<Keyval>& keyval, void* value) {
  do {
    CLUMP_TRY(remove(handle, *keyval));
  } while (!put(keyval, value));
  return {};
}

base::Status Attributes::remove(void* handle, const Keyval& keyval) {
  Entry removed;  // keeps the key: this may be the last reference to one that the user has freed
  {
    const std::lock_guard lock(mutex_);
    Entry* const found = entry_of(keyval);
    if (found == nullptr || found->remover != nullptr) return {};
    found->remover = &removed;
    removed = *found;
  }
  int code = MPI_SUCCESS;
  if (keyval.remove != nullptr) {
    ++removed.keyval->being_deleted;
    code = keyval.remove(handle, keyval.number, removed.value, keyval.extra_state);
    --removed.keyval->being_deleted;
  }
  // The list is searched again: the user's function, or another thread, may have changed it.
  Entry last;  // dropped after the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, static_cast<const void*>(&removed), &Entry::remover);
  if (found != entries_.end()) {
    found->remover = nullptr;
    if (code == MPI_SUCCESS) {
      last = std::move(*found);
      entries_.erase(found);
    }
  }
  return answer(code);
}

base::Status Attributes::clear(void* handle) {
  for (;;) {
    base::Ref<Keyval> last;
    {
      const std::lock_guard lock(mutex_);
      const auto is_there = [](const Entry& entry) { return entry.remover == nullptr; };
      const auto found = std::find_if(entries_.rbegin(), entries_.rend(), is_there);
      if (found == entries_.rend()) return {};
      last = found->keyval;
    }
    CLUMP_TRY(remove(handle, *last));
  }
}

base::Status Attributes::copy_from(void* old_handle, const Attributes& other) {
  std::vector<Entry> originals;
  {
    const std::lock_guard lock(other.mutex_);
    originals = other.entries_;
  }
  for (const Entry& entry : originals) {
    const Keyval& keyval = *entry.keyval;
    if (is_null_copy(keyval.copy) || entry.remover != nullptr) continue;
    void* copied = entry.value;
    int wanted = 1;
    if (!is_plain_copy(keyval.copy))
      CLUMP_TRY(
          answer(keyval.copy(old_handle, keyval.number, keyval.extra_state, entry.value, &copied, &wanted)));
    if (wanted == 0) continue;
    const std::lock_guard lock(mutex_);
    entries_.push_back({entry.keyval, copied, caller()});
  }
  return {};
}

}  // namespace clump::core
