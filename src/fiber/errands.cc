#include "fiber/errands.h"

#include <mutex>

#include "fiber/completion.h"
#include "fiber/identity.h"

namespace clump::fiber {

Errands* Errands::expected_here() noexcept {
  const Identity* const mine = identity();
  if (mine == nullptr || mine->errands == nullptr) return nullptr;
  return mine->errands->expected_.load(std::memory_order_relaxed) > 0 ? mine->errands : nullptr;
}

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
