// Which rank has made which descriptor above 2.
//
// Ranks of a process share its numbers, but each has its own descriptors, as if it was a process: to a rank
// the number that another one has made is not open (EBADF), so that programs which close all numbers from 3
// on close their own. What the process was started with belongs to all ranks: a rank that closes such a
// number does not have it any more, and the others do, until the last of them has closed it. What code that
// all ranks share has made, ours above all, is not the program's to close. A number that was made in a way
// which is not seen here, as by ioctl(), is open to all ranks.
//
// All functions are for any thread, async-signal-safe, and take the kernel's numbers. In a process without
// images, and in a child that fork() has made, all numbers are open.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "fiber/identity.h"

namespace clump::image {

class Image;

namespace owners {

/// Larger numbers have no owner.
constexpr unsigned kNumbers = 1U << 20;

/// 1 + the number of the rank in MPI_COMM_WORLD, or one of these.
using Owner = std::uint32_t;
constexpr Owner kUnknown = 0;
constexpr Owner kShared = ~Owner{0};
constexpr Owner kInherited = ~Owner{1};

extern constinit std::atomic<Owner> table[kNumbers];

inline Owner of(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  // relaxed: the thread that uses the number has got it from the one that made it
  return number < kNumbers ? table[number].load(std::memory_order_relaxed) : kUnknown;
}

inline Owner calling_rank() {
  const fiber::Identity* const mine = fiber::identity();
  return mine != nullptr ? static_cast<Owner>(mine->rank) + 1 : kUnknown;
}

/// The same for a descriptor whose owner is known, and is not the caller.
bool is_closed_for_caller(int descriptor, Owner owner);

/// Whether the calling rank has no such descriptor, although the kernel may.
inline bool is_closed_for_caller(int descriptor) {
  const Owner owner = of(descriptor);
  if (owner == kUnknown || owner == calling_rank()) [[likely]]
    return false;
  return is_closed_for_caller(descriptor, owner);
}

/// By capture(): what is open now is inherited.
void begin();
/// `caller`, a return address, has made the descriptor for the calling rank, or for all.
void note(int descriptor, const void* caller);
/// Code that ranks share has made it for the calling rank, and has put a stream above it.
void note_for_rank(int descriptor, std::FILE* stream);
/// The calling rank has put a stream above a descriptor that it has.
void note_stream_above(int descriptor, std::FILE* stream);
/// The descriptor below a stream is the calling rank's, and ends with it. Null is nothing.
void note_stream(std::FILE* stream, const void* caller);
/// The number is about to be closed.
void forget(int descriptor);

enum class Closing : std::uint8_t {
  kReally,
  kNoted,    ///< the rank does not have it any more: that is all
  kRefused,  ///< the rank has no such descriptor
};
/// What close() of a number by `caller` means. Notes it.
Closing close(int descriptor, const void* caller);
/// The same for close_range() of the open numbers [first, last], without locks on records.
void close_range(unsigned first, unsigned last, const void* caller);
/// Sets FD_CLOEXEC of those that the rank has.
void close_range_on_exec(unsigned first, unsigned last);
/// Ends the job if putting another file at `descriptor` would take it from others than the calling rank.
/// `call` is made by `caller`.
void check_replacing(int from, int descriptor, const void* caller);

/// How many numbers are the calling rank's.
int count_mine();

/// The rank ends: what it has is closed, with the streams; `flushes`: what these hold is written first.
void close_all(Image& image, bool flushes);
/// In a child's table of descriptors: closes what the calling rank does not have.
void close_others_in_child();
/// In a child's own memory, before that: what streams of other ranks hold is theirs to write.
void discard_streams_of_others();
/// Calls `act` with each number that a program which the calling rank starts would have, and the rank has
/// not.
void for_each_to_close(void (*act)(int descriptor, void* argument), void* argument);

}  // namespace owners
}  // namespace clump::image
