#include "io/exchange_queue.h"

#include <pthread.h>
#include <signal.h>

#include <memory>
#include <utility>

#include "base/thread_name.h"
#include "core/rank.h"
#include "io/exchange.h"

namespace clump::io {

namespace {

/// A thread of the caller's rank. It counts as one for deadlocks (fiber/awake_threads.h), as it waits for
/// other ranks; and as one that calls MPI, for what a rank's only thread may do without locks.
bool start_thread_of_rank(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, &attributes, body, argument) == 0;
  ::pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

ExchangeQueue::ExchangeQueue(base::Ref<OpenedFile> file, base::Ref<core::Comm> leaders)
    : file_(std::move(file)), leaders_(std::move(leaders)) {
  const fiber::Identity& rank = *leaders_->owner.identity;
  identity_.rank = rank.rank;
  identity_.launch = rank.launch;
  identity_.launch_rank = rank.launch_rank;
  identity_.mpi.store(&leaders_->owner, std::memory_order_relaxed);  // before there is a thread
  identity_.home = rank.home;
  identity_.image = rank.image;
}

void ExchangeQueue::add(const Entry& entry) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_thread_) {
      auto owner = std::make_unique<std::shared_ptr<ExchangeQueue>>(shared_from_this());
      has_thread_ = start_thread_of_rank(&begin, owner.get());
      if (has_thread_) static_cast<void>(owner.release());  // the thread's now
    }
    if (has_thread_) return entries_.push_back(entry);
  }
  carry_out(entry);
}

void ExchangeQueue::finish() {
  fiber::Completion finished;
  {
    const std::lock_guard lock(mutex_);
    if (!has_thread_) return;
    finished_ = &finished;
  }
  finished.wait();
}

void* ExchangeQueue::begin(void* owner) {
  const std::unique_ptr<std::shared_ptr<ExchangeQueue>> queue(
      static_cast<std::shared_ptr<ExchangeQueue>*>(owner));
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  base::name_own_thread("files");
  (*queue)->run();
  return nullptr;
}

void ExchangeQueue::run() {
  fiber::Identity* const of_rank = fiber::identity();
  fiber::adopt_identity(&identity_);
  for (;;) {
    std::unique_lock lock(mutex_);
    if (entries_.empty()) {
      fiber::adopt_identity(of_rank);  // the rank may be gone before the thread is
      has_thread_ = false;
      fiber::Completion* const finished = std::exchange(finished_, nullptr);
      lock.unlock();
      if (finished != nullptr) finished->signal();
      return;
    }
    const Entry entry = entries_.front();
    entries_.pop_front();
    lock.unlock();
    carry_out(entry);
  }
}

void ExchangeQueue::carry_out(const Entry& entry) {
  const std::unique_ptr<Round> round =
      meet_as_leader(*file_, entry.round, file_->members().front(), *entry.part);
  round->end(exchange(*file_, *leaders_, *round, entry.how, entry.aggregators), nullptr);
}

}  // namespace clump::io
