#include "rma/facts.h"

#include <cstddef>
#include <mutex>

#include "core/rank.h"
#include "rma/window.h"

// Of classes that are not of standard layout, too, GCC knows where the members lie.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace clump::rma {

namespace {

constinit base::ShortMutex mutex;
constinit Window* first = nullptr;

}  // namespace

void AllWindows::add(Window& window) {
  const std::lock_guard lock(mutex);
  window.next_ = first;
  if (first != nullptr) first->previous_ = &window;
  first = &window;
}

void AllWindows::remove(Window& window) {
  const std::lock_guard lock(mutex);
  (window.previous_ != nullptr ? window.previous_->next_ : first) = window.next_;
  if (window.next_ != nullptr) window.next_->previous_ = window.previous_;
}

std::vector<base::Fact> AllWindows::facts() {
  static_assert(sizeof(Window::access_) == 1 && sizeof(Window::Held) == 1 && sizeof(Window::posted_) == 1);
  using Partners = Window::Partners;
  return {{"windows", reinterpret_cast<std::uint64_t>(&first)},
          {"window_next", offsetof(Window, next_)},
          {"window_rank", offsetof(Window, number_)},
          {"window_name", offsetof(Window, name)},
          {"window_access", offsetof(Window, access_)},
          {"window_fence_used", offsetof(Window, fence_used_)},
          {"window_held", offsetof(Window, held_)},
          {"window_posted", offsetof(Window, posted_)},
          {"window_started_here", offsetof(Window, started_) + offsetof(Partners, here)},
          {"window_started_elsewhere", offsetof(Window, started_) + offsetof(Partners, elsewhere)},
          {"window_exposed_here", offsetof(Window, exposed_) + offsetof(Partners, here)},
          {"window_exposed_elsewhere", offsetof(Window, exposed_) + offsetof(Partners, elsewhere)},
          {"window_awaited_lock", offsetof(Window, awaited_lock_)},
          {"window_awaited_post", offsetof(Window, awaited_post_)},
          {"window_awaited_complete", offsetof(Window, awaited_complete_)},
          {"window_map", offsetof(Window, map_)},
          {"map_targets", offsetof(WindowMap, targets)},
          {"target_size", sizeof(Target)},
          {"target_control", offsetof(Target, control)},
          {"control_lock", offsetof(Control, lock) + Lock::place_of_word()},
          {"control_lock_holder", offsetof(Control, lock) + Lock::place_of_holder()}};
}

}  // namespace clump::rma
