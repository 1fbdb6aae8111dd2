#include "fiber/rank_callbacks.h"

#include <mutex>

#include "fiber/completion.h"

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
  next_ = callbacks_->sleepers_;
  if (next_ != nullptr) next_->previous_ = this;
  callbacks_->sleepers_ = this;
}

CallbackWait::~CallbackWait() {
  if (callbacks_ == nullptr) return;
  const std::lock_guard lock(callbacks_->mutex_);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : callbacks_->sleepers_) = next_;
}

}  // namespace clump::fiber
