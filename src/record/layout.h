// What the ranks of a node write down about their calls, as it lies in memory. Who runs them has made that
// memory (region.h) and reads it when they are gone, however they went: a rank that was killed has left what
// it had written until then.
//
// All zero is the state at the start. Places are told by their offset in the region, 0 being none: every
// process has it elsewhere. What a thread of control writes belongs to it alone.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/counter.h"

namespace clump::record {

/// Of functions; their numbers are the rows of the generated calls.inc.
inline constexpr std::size_t kCalls = 640;
/// Sizes of messages by powers of two: number i has those of 2^(i-1) to 2^i - 1 bytes, 0 the empty ones.
inline constexpr std::size_t kSizes = 65;
inline constexpr std::size_t kPeersInChunk = 64;
inline constexpr std::size_t kEventsInChunk = 1000;
/// Whom a thread has waited for, in which function: so many pairs, and what does not fit is not told apart.
inline constexpr std::size_t kWaits = 512;
/// Collectives that are under way at the same time.
inline constexpr std::size_t kCollectives = 4096;

/// Places of peers that are none.
inline constexpr int kNobody = -1;
/// Of a call that has sent several messages: MPI_Startall.
inline constexpr int kSeveral = -2;

using base::Counter;

struct CallRecord {
  Counter calls, ticks, bytes;
  Counter waited, no_core;  ///< of the ticks: it waited for others; it could go on and had no core
};
struct SizeRecord {
  Counter messages, bytes;
};
struct PeerRecord {
  Counter messages, bytes;  ///< sent to it
};
struct WaitRecord {
  std::atomic<std::uint64_t> who;  ///< 0: free; (peer + 1) << 16 | call
  Counter waits, ticks;
};

struct PeerChunk {
  std::array<PeerRecord, kPeersInChunk> peers;
};

/// A call that has ended, for --trace.
struct Event {
  std::uint64_t begin, end;  ///< ticks
  std::uint64_t waited;
  std::int64_t sent, received;  ///< bytes
  std::int32_t to, from;        ///< ranks in the job; kNobody; kSeveral
  std::int32_t send_tag, receive_tag;
  std::uint32_t context;  ///< of the communicator
  std::uint32_t call;
};
struct EventChunk {
  std::atomic<std::uint64_t> next;
  Counter used;
  std::array<Event, kEventsInChunk> events;
};

/// Of one thread of control of a rank, and of those that come after its end.
struct ThreadRecord {
  std::atomic<std::uint64_t> next;  ///< the rank's thread before
  /// For how long threads have had it: the one that has it now since then (0: none has it), and the ticks of
  /// those that have ended. By the thread that has it.
  std::atomic<std::uint64_t> had_since;
  Counter had;
  /// The call that it is in now: its number, and since when; 0: none.
  std::atomic<std::uint32_t> call;
  std::atomic<std::uint64_t> call_begun;
  std::array<CallRecord, kCalls> calls;
  std::array<SizeRecord, kSizes> messages, collectives;
  std::array<WaitRecord, kWaits> waits;
  Counter waits_left_out;                              ///< ticks
  Counter no_core;                                     ///< ticks between calls in which it had no core
  std::atomic<std::uint64_t> first_chunk, last_chunk;  ///< of events
  Counter events, events_dropped;
  Counter lost;  ///< messages whose peer found no more room in the region
  // Behind it: the offsets of its chunks of peers.
};

struct RankRecord {
  std::atomic<std::uint64_t> threads;  ///< the youngest one
  /// It is watched since; 0: not now. MPI_Pcontrol changes this, and the end of MPI.
  std::atomic<std::uint64_t> since;
  Counter watched;  ///< ticks, until `since` was set
  std::atomic<std::uint64_t> first_watched, last_watched;
  std::atomic<std::uint32_t> event_chunks;
};

struct Header {
  static constexpr std::uint64_t kMagic = 0x3330'6472'6f63'6572;  // "record03", in the order of bytes

  std::uint64_t magic;
  std::uint64_t size;                         ///< of the region
  std::atomic<std::uint64_t> used;            ///< by all that has been allocated
  std::uint32_t ranks;                        ///< of the job
  std::uint32_t event_chunks;                 ///< that each rank may have; 0: no events are kept
  std::uint32_t by_counter;                   ///< see clock.h
  std::atomic<std::uint32_t> full;            ///< somebody found no more room
  std::atomic<std::uint32_t> core_is_untold;  ///< the kernel does not count how long threads wait for a core
  /// Who came last to the collectives whose number is this one's, and when: the one in the low 24 bits, the
  /// other in what is left, in units of 2^kCollectiveShift ticks. Later ones take the place of earlier ones.
  std::array<std::atomic<std::uint64_t>, kCollectives> collectives;
  // Behind it: a RankRecord for each rank of the job.
};

inline constexpr int kCollectiveShift = 4;

inline std::size_t size_class(std::uint64_t bytes) { return static_cast<std::size_t>(std::bit_width(bytes)); }

}  // namespace clump::record
