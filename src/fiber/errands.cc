#include "fiber/errands.h"

#include <algorithm>
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
    if (!sleepers_.empty()) sleeper = sleepers_.front();
  }
  if (sleeper != nullptr) sleeper->unpark();
}

WaitsForErrands::WaitsForErrands(Errands* errands, Waiter& waiter) : errands_(errands), waiter_(waiter) {
  if (errands_ == nullptr) return;
  const std::lock_guard lock(errands_->mutex_);
  errands_->sleepers_.push_back(&waiter_);
}

WaitsForErrands::~WaitsForErrands() {
  if (errands_ == nullptr) return;
  const std::lock_guard lock(errands_->mutex_);
  std::erase(errands_->sleepers_, &waiter_);
}

}  // namespace clump::fiber
