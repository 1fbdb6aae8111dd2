#include "fiber/rank_callbacks.h"

#include <mutex>

#include "fiber/completion.h"
#include "fiber/fiber.h"

namespace clump::fiber {

WaitObserver* RankCallbacks::observer = nullptr;

void RankCallbacks::call() noexcept {
  Waiter* sleeper = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (sleepers_ != nullptr) sleeper = &sleepers_->waiter_;
  }
  if (sleeper != nullptr) sleeper->unpark();
}

CallbackWait::CallbackWait(RankCallbacks* callbacks, Waiter& waiter)
    : callbacks_(callbacks), waiter_(waiter) {
  if (callbacks_ == nullptr) return;
  const std::lock_guard lock(callbacks_->mutex_);
  // The rank's fiber stays in the list, also while it does not wait: it comes behind kernel threads, which
  // wait.
  CallbackWait** place = &callbacks_->sleepers_;
  if (this_fiber() != nullptr)
    for (; *place != nullptr; place = &(*place)->next_) previous_ = *place;
  next_ = *place;
  if (next_ != nullptr) next_->previous_ = this;
  *place = this;
}

CallbackWait::~CallbackWait() {
  if (callbacks_ == nullptr) return;
  const std::lock_guard lock(callbacks_->mutex_);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : callbacks_->sleepers_) = next_;
}

}  // namespace clump::fiber
