#include "fiber/help.h"

#include <sched.h>

#include "fiber/own_worker.h"
#include "fiber/worker.h"

namespace clump::fiber::detail {

constinit LoopBoard loop_board{};

namespace {

constexpr unsigned kCores = 1024;
// Some tens of microseconds. A helper that needs longer has lost its core, perhaps to this thread.
constexpr unsigned kManyMoments = 2000;

constinit SharedLoop offers[kLoops];

// The half at which each core has worked last. A hint, so two cores may share an entry.
constinit std::atomic<std::uint8_t> half_of_core[kCores];

// The kernel's number of this core. sched_getcpu() would read it from the C library's thread-local memory,
// which belongs to the rank: it has the core where the rank's own kernel thread sleeps.
unsigned core() {
#if defined(__x86_64__)
  unsigned number;
  __builtin_ia32_rdtscp(&number);
  return number % kCores;  // Linux keeps the node above bit 11
#else
  const int number = sched_getcpu();
  return number < 0 ? 0 : static_cast<unsigned>(number) % kCores;
#endif
}

void keep_to(unsigned core, int half) {
  // Written only when it changes, so that the cache line stays shared.
  if (half_of_core[core].load(std::memory_order_relaxed) != half)
    half_of_core[core].store(static_cast<std::uint8_t>(half), std::memory_order_relaxed);
}

// How many bits of LoopBoard::wanted the half has, and each of the workers.
constexpr int kHalfBits = 2, kWorkerBits = 15;

/// The worker at which the calling thread is; -1: none.
int worker_here() {
  const Fiber* const self = fiber::this_fiber();
  if (self == nullptr) return worker_beside();
  const Worker* const worker = self->worker_thread->worker.load(std::memory_order_relaxed);
  return worker != nullptr ? worker->index : -1;
}

/// Whether a thread at worker `here` - 1 may help with what is on the board.
bool is_for(std::uint32_t wanted, std::uint32_t here) {
  const std::uint32_t one = wanted >> kHalfBits & ((1U << kWorkerBits) - 1),
                      other = wanted >> (kHalfBits + kWorkerBits);
  return wanted != 0 && (one == 0 || one == here || other == here);
}

int index_of(const SharedLoop& offer) { return static_cast<int>(&offer - offers); }

// Requests the cache lines that will be written together, and not one after the other.
void prefetch(SharedLoop& offer, int half) {
  __builtin_prefetch(&offer.enter, 0);
  __builtin_prefetch(&offer.halves[half], 1);
}

}  // namespace

SharedLoop* take_loop(int& half) noexcept {
  const unsigned here = core();
  half = half_of_core[here].load(std::memory_order_relaxed);
  for (int i = 0; i < kLoops; ++i) {
    SharedLoop& offer = offers[(here + static_cast<unsigned>(i)) % kLoops];
    bool expected = false;
    if (offer.taken.load(std::memory_order_relaxed)) continue;
    // acquire: pairs with the release at the end of run_loop().
    if (!offer.taken.compare_exchange_strong(expected, true, std::memory_order_acquire)) continue;
    __builtin_prefetch(&loop_board.wanted[index_of(offer)], 1);
    __builtin_prefetch(&offer.enter, 1);
    __builtin_prefetch(&offer.halves[0], 1);
    __builtin_prefetch(&offer.halves[1], 1);
    return &offer;
  }
  return nullptr;
}

void show(SharedLoop& offer, int half_for_helpers, Sides sides) noexcept {
  const auto wanted = static_cast<std::uint32_t>((1 + half_for_helpers) | (1 + sides.one) << kHalfBits |
                                                 (1 + sides.other) << (kHalfBits + kWorkerBits));
  // release: pairs with the acquire in help_now(), for `enter`.
  loop_board.wanted[index_of(offer)].store(wanted, std::memory_order_release);
}

void hide(SharedLoop& offer) noexcept {
  loop_board.wanted[index_of(offer)].store(0, std::memory_order_relaxed);
}

bool help_now() noexcept {
  const std::uint32_t here = 1 + static_cast<std::uint32_t>(worker_here());
  bool helped = false;
  for (int i = 0; i < kLoops; ++i) {
    // acquire: pairs with the release in show().
    const std::uint32_t wanted = loop_board.wanted[i].load(std::memory_order_acquire);
    if (!is_for(wanted, here)) continue;
    begin_long_work();
    const int half = static_cast<int>(wanted % (1U << kHalfBits)) - 1;
    prefetch(offers[i], half);
    if (!offers[i].enter.load(std::memory_order_relaxed)(offers[i], half)) continue;
    keep_to(core(), half);
    helped = true;
  }
  return helped;
}

void count_parts(std::uint64_t& offered, std::uint64_t& helped) noexcept {
  offered = helped = 0;
  for (const SharedLoop& offer : offers) {
    const std::uint64_t by_owner = offer.parts_done_by_owner.value();  // before the sum that it is part of
    offered += offer.parts_offered.value();
    helped += offer.parts_offered.value() - by_owner;
  }
}

void wait_a_moment(unsigned moments_before) noexcept {
  if (moments_before < kManyMoments) return pause_cpu();
  give_core_away();
}

}  // namespace clump::fiber::detail
