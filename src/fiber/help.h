// Work sharing: a thread of control that waits, or an idle worker, does parts of work that another one has.
//
//   owner: do_together(parts, body) --> SharedLoop on the board --> help() of waiting threads: run parts
//          parts 0 1 2 ... | ... n-1
//          owner -->       ^ middle        <-- helpers
//
// do_together() puts its loop on the board and begins with it at once. Parts are handed out from both ends:
// the owner works from one end, helpers from the other, and a core keeps to the end at which it has worked
// last. So in repeated exchanges the same core accesses the same half of a buffer, which stays in its cache;
// memory that another core has just written is ten times slower than the core's own.
//
// A helper computes as the owner does (fiber/float_control.h), and leaves it the exceptions that it has met.
//
// The synchronisation is inline, so that sanitizers see it: they do not look into libclump_host.so.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/counter.h"
#include "base/types.h"
#include "fiber/float_control.h"

namespace clump::fiber {

/// Which threads may help: those at these two workers, or all.
struct Sides {
  int one = -1, other = -1;
};

/// The most parts that are shared: work in more parts is done by its owner alone.
inline constexpr std::uint32_t kMostParts = (1u << 20) - 1;

namespace detail {

/// The parts of one half, as tickets: `near` of them were handed out from the outer end, `far` from the
/// middle.
class alignas(64) LoopRange {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  /// Called by the owner, when the work is described and the last part of the previous work is done.
  void publish(std::uint32_t parts, std::uint32_t near) noexcept {
    done_.store(0, std::memory_order_relaxed);  // ordered by the release of the tickets, as the next one
    met_.store(0, std::memory_order_relaxed);
    // release: pairs with the acquire in claim_front() and claim_back().
    tickets_.store(std::uint64_t{parts} << 2 * kBits | near, std::memory_order_release);
  }
  /// Claims the next part from the outer end: its number in the half, 0 being the outermost part; kNone when
  /// all are handed out.
  std::uint32_t claim_front() noexcept {
    const std::uint64_t before = claim(1);
    return before == kNothing ? kNone : near(before);
  }
  std::uint32_t claim_back() noexcept {
    const std::uint64_t before = claim(std::uint64_t{1} << kBits);
    return before == kNothing ? kNone : parts(before) - 1 - far(before);
  }
  /// How many parts were handed out from the outer end; kNone when all parts are handed out.
  std::uint32_t progress() const noexcept {
    const std::uint64_t now = tickets_.load(std::memory_order_relaxed);
    return near(now) + far(now) == parts(now) ? kNone : near(now);
  }
  /// Adds parts that are done. A thread that has claimed parts calls it once, when it leaves.
  void add_done(std::uint32_t parts) noexcept {
    done_.fetch_add(parts, std::memory_order_release);  // release: pairs with the acquire in done()
  }
  std::uint32_t done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Adds floating-point exceptions that were met in a part. Called by a helper, before add_done().
  void add_met(std::uint32_t exceptions) noexcept {
    // relaxed: ordered by add_done(). Most parts meet what others have met before.
    if ((exceptions & ~met_.load(std::memory_order_relaxed)) != 0)
      met_.fetch_or(exceptions, std::memory_order_relaxed);
  }
  /// Called by the owner, when all parts are done.
  std::uint32_t met() const noexcept { return met_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kBits = 21;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  static std::uint32_t near(std::uint64_t tickets) { return static_cast<std::uint32_t>(tickets & kMask); }
  static std::uint32_t far(std::uint64_t tickets) {
    return static_cast<std::uint32_t>(tickets >> kBits & kMask);
  }
  static std::uint32_t parts(std::uint64_t tickets) {
    return static_cast<std::uint32_t>(tickets >> 2 * kBits);
  }

  std::uint64_t claim(std::uint64_t ticket) noexcept {
    std::uint64_t now = tickets_.load(std::memory_order_relaxed);
    do {
      if (near(now) + far(now) == parts(now)) return kNothing;
      // acquire: pairs with the release in publish(); a thread with a ticket may read the description.
    } while (!tickets_.compare_exchange_weak(now, now + ticket, std::memory_order_acquire,
                                             std::memory_order_relaxed));
    return now;
  }

  std::atomic<std::uint64_t> tickets_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<std::uint32_t> met_{0};  ///< written by helpers, read by the owner
};

/// A place on the board. Its memory is never freed, and only a ticket gives the right to access what is in
/// it: a helper that comes too late finds no ticket, or a ticket of the next work, which is as good.
struct SharedLoop {
  // The cache line that the owner writes.
  alignas(64) std::atomic<bool> taken{false};
  bool helped = false;                ///< a helper took part the last time
  base::Counter parts_offered;        ///< in all work that was here
  base::Counter parts_done_by_owner;  ///< of these parts

  // The description: constant from the first ticket until the last part is done.
  alignas(64) std::atomic<bool (*)(SharedLoop&, int half)> enter{nullptr};
  void (*run)(const std::byte* body, std::uint32_t part) = nullptr;
  std::uint32_t parts = 0;
  FloatControl control;  ///< the owner's
  alignas(8) std::byte body[40] = {};

  LoopRange halves[2];

  /// Half 0 counts from the first part up, half 1 from the last part down.
  void run_part(int half, std::uint32_t number) { run(body, half == 0 ? number : parts - 1 - number); }
  /// The same for a thread that is not the owner, which has claimed the part.
  void help_with_part(int half, std::uint32_t number) {
    const ComputeAs owner(control);
    run_part(half, number);
    halves[half].add_met(owner.met());
  }
};
static_assert(offsetof(SharedLoop, halves) == 128);  // the description is one cache line

constexpr int kLoops = 16;

/// The offers that there are: 0, or in two bits 1 + the half at which helpers are wanted, and in 15 bits each
/// 1 + the workers whose threads may help; 0: all may. One cache line, read by all waiting threads and
/// written by owners with plain stores.
struct alignas(64) LoopBoard {
  std::atomic<std::uint32_t> wanted[kLoops];
};
CLUMP_HOST_API extern constinit LoopBoard loop_board;

/// Takes a place on the board, and sets `half` to the half that the calling core keeps to; null if all places
/// are taken.
CLUMP_HOST_API SharedLoop* take_loop(int& half) noexcept;
CLUMP_HOST_API void show(SharedLoop& offer, int half_for_helpers, Sides sides) noexcept;
CLUMP_HOST_API void hide(SharedLoop& offer) noexcept;
CLUMP_HOST_API bool help_now() noexcept;
/// For tools (meters.h): the parts of all offers, and how many of them helpers have done.
void count_parts(std::uint64_t& offered, std::uint64_t& helped) noexcept;
/// Waits for a moment. The more moments there were before, the more other threads are let run.
CLUMP_HOST_API void wait_a_moment(unsigned moments_before) noexcept;

using Clock = std::chrono::steady_clock;

/// Does what is left of `half`, from the middle outwards. Returns how many parts it did.
inline std::uint32_t take_rest(SharedLoop& offer, int half) {
  std::uint32_t mine = 0;
  for (std::uint32_t number; (number = offer.halves[half].claim_back()) != LoopRange::kNone; ++mine)
    offer.run_part(half, number);
  return mine;
}

/// The same for a half at which other threads work, which may be slow or may lose their core. It waits for
/// `patience` before it takes a part, because the parts' data are likely to be in their cache and not in this
/// core's. `run_part`: run_part() of the owner, help_with_part() of a helper.
inline std::uint32_t finish(SharedLoop& offer, int half, Clock::duration patience,
                            void (SharedLoop::*run_part)(int half, std::uint32_t number)) {
  std::uint32_t mine = 0;
  auto since = Clock::now();
  Clock::duration left = patience;
  for (std::uint32_t seen = 0;;) {
    const std::uint32_t progress = offer.halves[half].progress();
    if (progress == LoopRange::kNone) break;
    const auto now = Clock::now();
    if (progress != seen) {
      seen = progress;
      since = now;
      left = patience;
    } else if (now - since >= left) {
      const std::uint32_t number = offer.halves[half].claim_back();
      if (number == LoopRange::kNone) break;
      (offer.*run_part)(half, number);
      ++mine;
      since = Clock::now();
      left /= 2;
    }
  }
  return mine;
}

/// How long to wait for the threads at the other half to take their next part: twice what a part took here.
inline Clock::duration patience(Clock::duration spent, std::uint32_t parts) {
  return 2 * spent / (parts + 1) + std::chrono::nanoseconds(200);
}

/// After so many parts a helper looks again whether its own wait is over.
constexpr std::uint32_t kPartsPerVisit = 16;

/// Does parts of an offer, for a helper. False if there was nothing left to do.
inline bool enter(SharedLoop& offer, int half) {
  LoopRange& own = offer.halves[half];
  if (own.progress() == LoopRange::kNone) return false;
  const auto begin = Clock::now();
  std::uint32_t number = own.claim_front();
  if (number == LoopRange::kNone) return false;
  std::uint32_t mine = 0;
  {
    // The part that was claimed gives access to the description, and so does each until add_done().
    const ComputeAs owner(offer.control);
    do offer.run_part(half, number);
    while (++mine < kPartsPerVisit && (number = own.claim_front()) != LoopRange::kNone);
    own.add_met(owner.met());
  }
  own.add_done(mine);
  if (mine == kPartsPerVisit) return true;
  // This half is done, but perhaps not the work: the threads at the other half may have lost their core.
  if (const std::uint32_t others =
          finish(offer, 1 - half, patience(Clock::now() - begin, mine), &SharedLoop::help_with_part);
      others > 0)
    offer.halves[1 - half].add_done(others);
  return true;
}

/// Does the owner's part of the work, when `offer.body` and `offer.run` are set.
inline void run_loop(SharedLoop& offer, int half, std::uint32_t parts, FloatControl control, Sides sides) {
  const std::uint32_t here = half == 0 ? (parts + 1) / 2 : parts / 2;
  LoopRange& own = offer.halves[half];
  LoopRange& other = offer.halves[1 - half];
  offer.parts = parts;
  offer.control = control;
  offer.enter.store(&enter, std::memory_order_relaxed);  // by release in show()
  own.publish(here, 1);                                  // the first part is the owner's already
  other.publish(parts - here, 0);
  show(offer, 1 - half, sides);

  const auto begin = offer.helped ? Clock::now() : Clock::time_point{};
  std::uint32_t mine = 0;
  for (std::uint32_t number = 0; number != LoopRange::kNone; number = own.claim_front(), ++mine)
    offer.run_part(half, number);
  // If no helper came the last time, the owner waits for none.
  mine += offer.helped ? finish(offer, 1 - half, patience(Clock::now() - begin, mine), &SharedLoop::run_part)
                       : take_rest(offer, 1 - half);
  hide(offer);
  for (unsigned moments = 0; own.done() + other.done() + mine != parts; ++moments) wait_a_moment(moments);
  offer.helped = mine != parts;
  offer.parts_offered.add(parts);
  offer.parts_done_by_owner.add(mine);
  const std::uint32_t exceptions = own.met() | other.met();
  offer.taken.store(false, std::memory_order_release);  // release: pairs with the acquire in take_loop()
  if (exceptions != 0) meet(exceptions);
}

}  // namespace detail

/// Whether parts compute with floating-point numbers. If not, helpers need not do it as the owner does.
enum class Computes : bool { kNo, kYes };

/// Calls body(0), ..., body(parts - 1), in any order and in several threads at once, and returns when all are
/// done. Parts are short (tens of microseconds at most), independent, and never wait or fail; threads of
/// control of other ranks may run them, and round as the caller does. Any thread; waits only for parts that a
/// helper has begun.
template <typename Body>
void do_together(std::uint32_t parts, const Body& body, Computes computes = Computes::kYes,
                 Sides sides = {}) {
  static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= sizeof(detail::SharedLoop::body));
  int half = 0;
  detail::SharedLoop* offer = parts > 1 && parts <= kMostParts ? detail::take_loop(half) : nullptr;
  if (offer == nullptr) {
    for (std::uint32_t part = 0; part < parts; ++part) body(part);
    return;
  }
  // Once more, where sanitizers see it: acquire, pairs with the release at the end of run_loop().
  (void)offer->taken.load(std::memory_order_acquire);
  std::memcpy(offer->body, &body, sizeof(Body));
  offer->run = [](const std::byte* copy, std::uint32_t part) {
    (*reinterpret_cast<const Body*>(copy))(part);
  };
  detail::run_loop(*offer, half, parts,
                   computes == Computes::kYes ? FloatControl::here() : FloatControl::none(), sides);
}

/// Wakes up to `most` workers and helpers that sleep, so that they help. For work that takes much longer than
/// a wake-up (some microseconds). Does nothing if the calling thread is in a parallel region.
CLUMP_HOST_API void wake_helpers(int most) noexcept;
/// Starts up to `count` helpers: kernel threads on these cores that sleep until there is much to help with.
/// If the system gives fewer threads, there are fewer. Before ranks run; so is the next function.
CLUMP_HOST_API void start_helpers(int count, const std::vector<std::int32_t>& cores);
CLUMP_HOST_API bool has_helpers() noexcept;
/// Sets the function that tells whether the calling thread is in a parallel region (OpenMP's
/// omp_in_parallel), in which the program's own threads need the cores; null if the program has none.
void ask_for_parallel_regions(int (*in_parallel)()) noexcept;

/// Does parts of an offer on the board. False if there is none, after one read of a cache line that rarely
/// changes. Called by threads that wait and have a core to spare. Takes at most as long as the work; never
/// waits for long.
inline bool help() noexcept {
  std::uint32_t any = 0;
  for (const auto& wanted : detail::loop_board.wanted) any |= wanted.load(std::memory_order_relaxed);
  return any != 0 && detail::help_now();
}

}  // namespace clump::fiber
