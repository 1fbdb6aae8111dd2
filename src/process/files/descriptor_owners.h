// The owner of each descriptor above 2: the rank that has made it.
//
// Ranks of a process share its numbers, but each has its own descriptors, as if it were a process. A number
// that another rank has made is not open to the calling rank (EBADF), so that programs that close all numbers
// from 3 on close only their own. Descriptors that the process was started with belong to all ranks: a rank
// that closes one does not have it any more, but the others do, until the last of them has closed it.
// Descriptors made by code that all ranks share, Clump's in particular, cannot be closed by the program. A
// number that was made in a way which is not seen here, such as by ioctl(), is open to all ranks.
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

/// The numbers that have owners; larger numbers have none.
constexpr unsigned kNumbers = 1U << 20;

/// An owner: 1 + the number of the rank in MPI_COMM_WORLD, or one of these.
using Owner = std::uint32_t;
constexpr Owner kUnknown = 0;
constexpr Owner kShared = ~Owner{0};
constexpr Owner kInherited = ~Owner{1};
constexpr Owner kRetired = ~Owner{2};  ///< no rank has it: close_all()

extern constinit std::atomic<Owner> table[kNumbers];

inline Owner of(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  // relaxed: the thread that uses the number has got it from the thread that made it
  return number < kNumbers ? table[number].load(std::memory_order_relaxed) : kUnknown;
}

inline Owner calling_rank() {
  const fiber::Identity* const mine = fiber::identity();
  return mine != nullptr ? static_cast<Owner>(mine->rank) + 1 : kUnknown;
}

/// is_closed_for_caller() for a descriptor whose owner is known, and is not the caller.
bool is_closed_for_caller(int descriptor, Owner owner);

/// Whether the calling rank does not have this descriptor, although the kernel may have it.
inline bool is_closed_for_caller(int descriptor) {
  const Owner owner = of(descriptor);
  if (owner == kUnknown || owner == calling_rank()) [[likely]]
    return false;
  return is_closed_for_caller(descriptor, owner);
}

/// Marks all descriptors that are open now as inherited. Called by capture().
void begin();
/// Notes that `caller`, a return address, has made the descriptor for the calling rank, or for all.
void note(int descriptor, const void* caller);
/// Notes that code that ranks share has made it for the calling rank, and has put a stream above it.
void note_for_rank(int descriptor, std::FILE* stream);
/// Notes that the end of the calling rank has to look for streams to flush.
void note_that_caller_has_streams();
/// Notes that the calling rank has put a stream above a descriptor that it has.
void note_stream_above(int descriptor, std::FILE* stream);
/// Notes that the descriptor below a stream belongs to the calling rank, and ends with the stream. Null: does
/// nothing.
void note_stream(std::FILE* stream, const void* caller);
/// Notes that the calling rank has opened a stream that has no descriptor of the rank's own below it: over
/// memory, over the program's functions, over a descriptor that all ranks have.
void note_stream_of_caller(std::FILE* stream);
/// Forgets such a stream, which is about to be closed.
void forget_stream(const std::FILE* stream);
/// Whose a stream of the C library's list is; in a child that fork() has made none is another rank's.
enum class StreamOwner : std::uint8_t { kCaller, kOther, kUnknown };
StreamOwner owner_of_stream(const std::FILE* stream);
/// Forgets a number that is about to be closed.
void forget(int descriptor);

enum class Closing : std::uint8_t {
  kReally,
  kNoted,    ///< the rank does not have it any more; nothing else is to be done
  kRefused,  ///< the rank has no such descriptor
};
/// Notes close() of a number by `caller`, and returns what is to be done.
Closing close(int descriptor, const void* caller);
/// The same for close_range() of the open numbers [first, last], without regard to record locks.
void close_range(unsigned first, unsigned last, const void* caller);
/// Sets FD_CLOEXEC for those of the numbers that the rank has.
void close_range_on_exec(unsigned first, unsigned last);
/// Ends the job if putting another file at `descriptor` would take the number from others than the calling
/// rank. `caller` is the return address of the call.
void check_replacing(int from, int descriptor, const void* caller);

/// How many numbers belong to the calling rank.
int count_mine();

/// Called when the rank ends: closes its descriptors and streams; `flushes`: what the streams hold is written
/// first. Other threads of the rank are left behind (left_behind.h), and may use a number at this moment:
/// then no rank is given the number again, and a pipe that the rank reads stays open, as SIGPIPE for a thread
/// that is writing would end the process.
void close_all(Image& image, bool flushes);
/// Called in a child's own table of descriptors: closes what the calling rank does not have.
void close_others_in_child();
/// Called in a child's own memory, before close_others_in_child(): discards what streams of other ranks hold,
/// because those ranks write it. The calling thread is the child's only one.
void discard_streams_of_others();
/// Calls `act` with each number that a program which the calling rank starts would have, although the rank
/// does not have it.
void for_each_to_close(void (*act)(int descriptor, void* argument), void* argument);

}  // namespace owners
}  // namespace clump::image
