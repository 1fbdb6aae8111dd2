// Thread-specific data: each rank may have as many keys as the C library gives to a process.
//
// A thread belongs to one rank, so one key of the C library serves one key of every rank. The C library's
// keys are slots here. A rank's keys are the slots that it uses, and the destructor of a slot calls the
// destructor that the exiting thread's rank has set. pthread_getspecific() and pthread_setspecific() are the
// C library's own. Keys of shared libraries are keys of the C library, used by the threads of all ranks.
#include <pthread.h>
#include <threads.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <new>
#include <utility>

#include "base/types.h"
#include "fiber/identity.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

using Destructor = void (*)(void*);

struct Slot {
  pthread_key_t key = 0;
  int users = 0;             ///< how many ranks have a key here; 0: there is no key of the C library
  std::uint64_t number = 0;  ///< of the key: each new key has a different one
};

// Never held during a call that waits, allocates or belongs to a program.
constinit ForkMutex lock;  // guards the slots and every rank's KeyState
constinit std::array<Slot, KeyState::kMost> slots;
constinit std::uint64_t keys_made = 0;

/// Called by the C library when a thread ends, with the thread's value at slot `index`.
template <std::size_t index>
void destruct(void* value) {
  Destructor destructor = nullptr;
  {
    const HeldForProcess hold(lock);
    if (const KeyState* const mine = current_image().state().keys.get()) {
      const KeyState::Key& key = mine->all[index];
      if (key.used) destructor = key.destructor;
    }
  }
  if (destructor != nullptr) destructor(value);
}

template <std::size_t... index>
constexpr auto destructors_of(std::index_sequence<index...>) {
  return std::array<Destructor, sizeof...(index)>{&destruct<index>...};
}
constexpr auto kDestructors = destructors_of(std::make_index_sequence<KeyState::kMost>());

/// Whether the rank has deleted a key here while another rank still had one, so that its threads may still
/// have values of the deleted key.
bool is_spent(const KeyState::Key& key, const Slot& slot) {
  return slot.users > 0 && key.spent_number == slot.number;
}

int create_for(KeyState& mine, pthread_key_t* result, Destructor destructor) {
  static constinit Hidden<int(pthread_key_t*, Destructor)> real{"pthread_key_create"};
  for (std::size_t i = 0; i < KeyState::kMost; ++i) {
    KeyState::Key& key = mine.all[i];
    Slot& slot = slots[i];
    if (key.used || is_spent(key, slot)) continue;
    if (slot.users == 0) {
      if (const int error = real(&slot.key, kDestructors[i]); error != 0) return error;
      slot.number = ++keys_made;
    }
    ++slot.users;
    key.used = true;
    key.destructor = destructor;
    *result = slot.key;
    return 0;
  }
  return EAGAIN;
}

/// Deletes the key, if it is a slot. False if it is none: it was made before there were ranks, or by a shared
/// library.
bool remove_from(KeyState* mine, pthread_key_t wanted, int& error) {
  static constinit Hidden<int(pthread_key_t)> real{"pthread_key_delete"};
  for (std::size_t i = 0; i < KeyState::kMost; ++i) {
    Slot& slot = slots[i];
    if (slot.users == 0 || slot.key != wanted) continue;
    error = EINVAL;
    if (mine == nullptr || !mine->all[i].used) return true;
    mine->all[i].used = false;
    mine->all[i].spent_number = slot.number;
    error = --slot.users == 0 ? real(slot.key) : 0;
    return true;
  }
  return false;
}

/// The rank whose keys a call from `caller` is about; null for calls from shared libraries, and before there
/// are ranks.
Image* owner_at(const void* caller) { return captured() ? image_at(caller) : nullptr; }

int create_key(pthread_key_t* key, Destructor destructor, const void* caller) {
  static constinit Hidden<int(pthread_key_t*, Destructor)> real{"pthread_key_create"};
  Image* const image = owner_at(caller);
  if (image == nullptr) return real(key, destructor);
  std::unique_ptr<KeyState>& mine = image->state().keys;
  std::unique_ptr<KeyState> fresh;
  for (;;) {
    {
      const HeldForProcess hold(lock);
      if (mine == nullptr) mine = std::move(fresh);
      if (mine != nullptr) return create_for(*mine, key, destructor);
    }
    fresh.reset(new (std::nothrow) KeyState);
    if (fresh == nullptr) return ENOMEM;
  }
}

int delete_key(pthread_key_t key, const void* caller) {
  static constinit Hidden<int(pthread_key_t)> real{"pthread_key_delete"};
  if (Image* const image = owner_at(caller)) {
    const HeldForProcess hold(lock);
    int error = 0;
    if (remove_from(image->state().keys.get(), key, error)) return error;
  }
  return real(key);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  return create_key(key, destructor, __builtin_return_address(0));
}

CLUMP_HOST_API int pthread_key_delete(pthread_key_t key) noexcept {
  return delete_key(key, __builtin_return_address(0));
}

CLUMP_HOST_API int tss_create(tss_t* key, tss_dtor_t destructor) {
  switch (create_key(key, destructor, __builtin_return_address(0))) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

CLUMP_HOST_API void tss_delete(tss_t key) { (void)delete_key(key, __builtin_return_address(0)); }

}  // extern "C"
