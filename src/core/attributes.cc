#include "core/attributes.h"

#include <algorithm>

namespace clump::core {

namespace {

bool is_null_copy(Keyval::Copy copy) { return copy == nullptr; }
bool is_plain_copy(Keyval::Copy copy) { return copy == reinterpret_cast<Keyval::Copy>(MPI_COMM_DUP_FN); }

/// The Status of a user function's error code. The code goes to the caller of MPI unchanged.
base::Status answer(int code) { return base::Status::from_code(code); }

}  // namespace

void** Attributes::find(const Keyval& keyval) {
  for (Entry& entry : entries_)
    if (entry.keyval.get() == &keyval) return &entry.value;
  return nullptr;
}

Keyval* Attributes::key(int number) const {
  for (const Entry& entry : entries_)
    if (entry.keyval->number == number) return entry.keyval.get();
  return nullptr;
}

base::Status Attributes::set(void* handle, const base::Ref<Keyval>& keyval, void* value) {
  CLUMP_TRY(remove(handle, *keyval));
  // A delete function may have set this key anew. The caller's value replaces it.
  if (void** place = find(*keyval))
    *place = value;
  else
    entries_.push_back({keyval, value});
  return {};
}

bool Attributes::holds(const void* value) const {
  return std::ranges::find(entries_, value, &Entry::value) != entries_.end();
}

base::Status Attributes::remove(void* handle, const Keyval& keyval) {
  void** place = find(keyval);
  if (place == nullptr) return {};
  // The entry may hold the last reference to a key that the user has freed.
  const auto is_it = [&](const Entry& entry) { return entry.keyval.get() == &keyval; };
  const base::Ref<Keyval> alive = std::find_if(entries_.begin(), entries_.end(), is_it)->keyval;
  if (keyval.remove != nullptr) {
    ++alive->being_deleted;
    const int code = keyval.remove(handle, keyval.number, *place, keyval.extra_state);
    --alive->being_deleted;
    CLUMP_TRY(answer(code));
  }
  // The list is searched again: the user's function may have changed it.
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_it);
  if (found != entries_.end()) entries_.erase(found);
  return {};
}

base::Status Attributes::clear(void* handle) {
  while (!entries_.empty()) {
    const base::Ref<Keyval> last = entries_.back().keyval;
    CLUMP_TRY(remove(handle, *last));
  }
  return {};
}

base::Status Attributes::copy_from(void* old_handle, const Attributes& other) {
  const std::vector<Entry> originals = other.entries_;
  for (const Entry& entry : originals) {
    const Keyval& keyval = *entry.keyval;
    if (is_null_copy(keyval.copy)) continue;
    void* copied = entry.value;
    int wanted = 1;
    if (!is_plain_copy(keyval.copy))
      CLUMP_TRY(
          answer(keyval.copy(old_handle, keyval.number, keyval.extra_state, entry.value, &copied, &wanted)));
    if (wanted != 0) entries_.push_back({entry.keyval, copied});
  }
  return {};
}

}  // namespace clump::core
