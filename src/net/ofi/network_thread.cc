#include "net/ofi/network_thread.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/thread_name.h"
#include "base/why_refused.h"
#include "fiber/worker.h"

namespace clump::net::ofi {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long the thread goes on looking after something has come. By then a thread that it has woken looks
// itself, and messages that belong together have come in one go.
constexpr std::chrono::microseconds kAttention{50};
// How long it sleeps between two checks whether other threads look.
constexpr milliseconds kFirstNap{1}, kLongestNap{4};
// How long it sleeps if no other thread looks. Providers should wake it, but some do not for all events, such
// as a peer that connects.
constexpr milliseconds kDoubt{20};
// The same if a provider has nothing to sleep at.
constexpr milliseconds kBlindNap{1};

}  // namespace

base::Status NetworkThread::start() {
  const auto failed = [](const char* call) {
    return base::fail(MPI_ERR_OTHER, "no network: {}", base::why_refused(call, errno));
  };
  alarms_ = ::epoll_create1(EPOLL_CLOEXEC);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (alarms_ < 0 || stop_ < 0 || timer_.descriptor() < 0)
    return failed("epoll_create1, eventfd or timerfd_create");
  epoll_event stopping{.events = EPOLLIN, .data = {.ptr = nullptr}};
  epoll_event ringing{.events = EPOLLIN | EPOLLET, .data = {.ptr = &timer_}};
  if (::epoll_ctl(alarms_, EPOLL_CTL_ADD, stop_, &stopping) != 0 ||
      ::epoll_ctl(alarms_, EPOLL_CTL_ADD, timer_.descriptor(), &ringing) != 0)
    return failed("epoll_ctl");
  for (const auto& context : contexts_) {
    blind_ = blind_ || context->descriptor() < 0;
    epoll_event coming{.events = 0, .data = {.ptr = context.get()}};
    if (context->descriptor() >= 0 &&
        ::epoll_ctl(alarms_, EPOLL_CTL_ADD, context->descriptor(), &coming) != 0)
      return failed("epoll_ctl");
  }
  running_.store(true, std::memory_order_release);
  if (fiber::start_kernel_thread(&begin, this)) return {};
  running_.store(false, std::memory_order_relaxed);
  return base::fail(MPI_ERR_OTHER, "no thread for the network: {}",
                    base::why_refused("pthread_create", errno));
}

NetworkThread::~NetworkThread() {
  if (running_.exchange(false, std::memory_order_acq_rel)) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
    ended_.acquire();
  }
  if (alarms_ >= 0) ::close(alarms_);
  if (stop_ >= 0) ::close(stop_);
}

bool NetworkThread::watch() {
  for (const auto& context : contexts_) {
    if (context->descriptor() < 0) continue;
    epoll_event coming{.events = EPOLLIN | EPOLLONESHOT, .data = {.ptr = context.get()}};
    if (!context->may_sleep()) return false;
    ::epoll_ctl(alarms_, EPOLL_CTL_MOD, context->descriptor(), &coming);
  }
  return true;
}

void* NetworkThread::begin(void* self) {
  auto& thread = *static_cast<NetworkThread*>(self);
  base::name_own_thread("network");
  thread.run();
  thread.ended_.release();
  return nullptr;
}

void NetworkThread::run() {
  milliseconds nap = kFirstNap;
  std::uint64_t seen = looks();
  auto watched = Clock::now();
  while (running_.load(std::memory_order_acquire)) {
    const Woken woken = sleep(nap);
    if (const auto now = Clock::now(); now - watched >= PeerWatch::kInterval) {
      for (const auto& context : contexts_) context->watch_peers();
      watched = now;
    }
    if (woken == Woken::kByTimer) {
      send_what_is_held_back();
      continue;
    }
    if (woken == Woken::kByArrival) {
      nap = look_for_a_while() ? kFirstNap : watch_by_itself();
    } else if (looks() != seen) {
      nap = std::clamp(2 * nap, kFirstNap, kLongestNap);
    } else {
      look();
      nap = watch_by_itself();
    }
    seen = looks();
  }
}

/// Sleeps until something happens, for at most `most`. kByArrival also if stop_ is set.
NetworkThread::Woken NetworkThread::sleep(milliseconds most) {
  epoll_event event;
  turns_.fetch_add(1, std::memory_order_seq_cst);
  const int count = ::epoll_wait(alarms_, &event, 1, static_cast<int>(most.count()));
  turns_.fetch_add(1, std::memory_order_seq_cst);
  if (count <= 0) return Woken::kTimeIsOver;
  return event.data.ptr == &timer_ ? Woken::kByTimer : Woken::kByArrival;
}

void NetworkThread::send_what_is_held_back() {
  timer_.rang();
  for (const auto& context : contexts_) {
    if (!context->holds_back()) continue;
    context->progress(EndpointContext::Look::kByThread);
    if (context->holds_back())
      timer_.set();  // another thread had the lock
    else
      sent_late_.add();
  }
}

bool NetworkThread::look() {
  bool moved = false;
  for (const auto& context : contexts_) moved = context->progress(EndpointContext::Look::kByThread) || moved;
  return moved;
}

/// Looks until nothing has come for kAttention. True: other threads look now.
bool NetworkThread::look_for_a_while() {
  const std::uint64_t before = looks();
  for (auto last = Clock::now(); Clock::now() - last < kAttention;) {
    if (look()) last = Clock::now();
    if (looks() != before) return true;
    ::sched_yield();
  }
  return false;
}

/// Watches the network while no other thread looks. Returns how long to sleep.
milliseconds NetworkThread::watch_by_itself() {
  if (watch()) {
    const bool asks = std::ranges::any_of(contexts_, [](const auto& one) { return one->lacks_address(); });
    return blind_ ? kBlindNap : asks ? kLongestNap : kDoubt;
  }
  // There is more to take in, or a thread has the lock and may need this core.
  ::sched_yield();
  return milliseconds{0};
}

/// How often other threads have looked.
std::uint64_t NetworkThread::looks() const {
  std::uint64_t sum = 0;
  for (const auto& context : contexts_) sum += context->looks();
  return sum;
}

}  // namespace clump::net::ofi
