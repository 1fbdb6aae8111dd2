#include "fiber/errands.h"

#include <mutex>

#include "fiber/completion.h"

namespace clump::fiber {

WaitObserver* Errands::observer = nullptr;

void Errands::call() noexcept {
  Waiter* sleeper = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (sleepers_ != nullptr) sleeper = &sleepers_->waiter_;
  }
  if (sleeper != nullptr) sleeper->unpark();
}

WaitsForErrands::WaitsForErrands(Errands* errands, Waiter& waiter) : errands_(errands), waiter_(waiter) {
  if (errands_ == nullptr) return;
  const std::lock_guard lock(errands_->mutex_);
  next_ = errands_->sleepers_;
  if (next_ != nullptr) next_->previous_ = this;
  errands_->sleepers_ = this;
}

WaitsForErrands::~WaitsForErrands() {
  if (errands_ == nullptr) return;
  const std::lock_guard lock(errands_->mutex_);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : errands_->sleepers_) = next_;
}

}  // namespace clump::fiber
