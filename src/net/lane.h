// A lane: a one-way queue of messages from one worker to another, of this process or of another one. (Not a
// lane of UCX, which is one of several transports of an endpoint.)
//
//   sender's worker --push--> [cell][cell][cell]...  --pop--> receiver's worker
//                             cell = envelope + up to 40 bytes, one cache line;  longer: a ring of bytes
//                             beside it
//
// A cell is one cache line. It has the envelope, up to 40 bytes of the message, and the flag "written". So a
// small message is one cache line that moves from core to core. Each side reads the other side's index only
// when it has used all cells that it knows of. If a message is not to be copied twice, its cell has its
// address.
//
// One producer and one consumer at a time. Another thread may take over a side if something else orders the
// change: the producer's worker, the consumer's lock. Any thread may ask empty().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "base/prefetch.h"
#include "datatype/move.h"
#include "net/channel.h"

namespace clump::net {

class alignas(64) Lane {
 public:
  /// The room of a lane: so many messages, and so many bytes of payloads that do not fit into their cells;
  /// powers of two. No message may have more than a quarter of `bytes`.
  struct Size {
    std::uint32_t cells, bytes;
  };
  /// The bytes of a lane with its rings behind it.
  static constexpr std::size_t footprint(Size size) { return sizeof(Lane) + size.cells * kLine + size.bytes; }
  /// Makes a lane at the beginning of `memory`, which has footprint(size) bytes, is aligned to 64 bytes and
  /// all zero. Other processes may have the memory at a different address.
  static Lane& make_at(void* memory, Size size) { return *new (memory) Lane(size); }
  /// A lane in memory of its own.
  struct Free {
    void operator()(Lane* lane) const;
  };
  static std::unique_ptr<Lane, Free> make(Size size);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  struct Message {
    Envelope envelope;
    Count bytes;
    int destination;  ///< as given to push()
    bool is_note;     ///< `data` is a note, and `bytes` is not set
    std::byte* data;  ///< the payload; it stays in the lane until pop()

    datatype::Layout payload() const {
      static const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
      return {data, bytes, byte};
    }
    template <typename Note>
    Note note() const {
      Note note;
      std::memcpy(&note, data, sizeof note);
      return note;
    }
  };
  static constexpr std::size_t kLongestNote = 40;

  // For the producer. False if there is no room.

  /// Writes the packed bytes [offset, offset + bytes) of `payload`.
  bool push(int destination, Envelope envelope, Count bytes, const datatype::Layout& payload,
            Count offset = 0) {
    Cell* const cell = free_cell();
    if (cell == nullptr) return false;
    std::byte* data = cell->payload;
    if (bytes > kInline && (data = reserve(bytes)) == nullptr) return false;
    fill(data, payload, bytes, offset);
    cell->bytes = static_cast<std::uint32_t>(bytes);
    publish(*cell, destination, envelope);
    return true;
  }
  template <typename Note>
  bool push_note(int destination, Envelope envelope, const Note& note) {
    static_assert(std::is_trivially_copyable_v<Note> && sizeof(Note) <= kLongestNote);
    Cell* const cell = free_cell();
    if (cell == nullptr) return false;
    std::memcpy(cell->payload, &note, sizeof note);
    cell->bytes = kNote;
    publish(*cell, destination, envelope);
    return true;
  }
  /// Whether there is room for a message that needs nothing in the ring of bytes.
  bool has_room() { return free_cell() != nullptr; }
  /// Called by the producer when it has found no room and is going to sleep: the consumer will learn of it by
  /// room_is_wanted().
  void want_room() {
    // release: pairs with the exchange in room_is_wanted(). A thread that the consumer wakes sees what the
    // producer keeps back.
    room_wanted_.store(true, std::memory_order_release);
    // Pairs with the fence in room_is_wanted(): the consumer sees the wish, or the producer's next search
    // sees the room.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  // For the consumer.

  /// Whether front() would find a message. For other threads: never false if there is a message that the
  /// caller knows of, although the consumer's index that it reads may be old.
  bool ready() const {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    // acquire: pairs with the release in publish().
    const std::uint32_t stamp = cells()[head & mask_].stamp.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(stamp - stamp_of(head)) >= 0;
  }
  /// The oldest message; only if ready().
  Message front() {
    Cell& cell = cells()[head_.load(std::memory_order_relaxed) & mask_];
    Message message{{cell.context, cell.source, cell.tag}, cell.bytes, cell.destination, false, cell.payload};
    next_byte_head_ = byte_head_.load(std::memory_order_relaxed);
    if (cell.bytes > kInline) [[unlikely]]
      find_payload(cell, message);
    return message;
  }
  /// Gives the message's room back to the producer. After the message was delivered: empty() says so to other
  /// threads.
  void pop() {
    // release: the producer writes into the room again; and pairs with the acquire in empty().
    byte_head_.store(next_byte_head_, std::memory_order_release);
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// What the consumer knows of the messages behind the front.
  struct Ahead {
    std::uint64_t written = 0;  ///< how many messages were written in total when it last looked
    std::uint64_t fetched = 0;  ///< the cells up to here were requested
    std::uint64_t next_look = 0;
  };
  /// Prefetches cells that will be read soon, but only cells that are written already: others are in the
  /// producer's cache, which would have to fetch them back. Reading how many are written takes a cache line
  /// from the producer, too, so it is done seldom, and not for one message or two.
  void fetch_ahead(Ahead& ahead) const {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head >= ahead.written) {
      if (head < ahead.next_look) return;
      ahead.written = tail_.load(std::memory_order_relaxed);
      ahead.fetched = head + 1;
      ahead.next_look = head + kReadAhead;
    }
    const std::uint64_t end = std::min(ahead.written, head + kReadAhead);
    for (; ahead.fetched < end; ++ahead.fetched) __builtin_prefetch(&cells()[ahead.fetched & mask_]);
  }

  /// Whether the producer waits for room that was given back; true only once. To be called from time to time,
  /// at least once for every two messages.
  bool room_is_wanted() {
    // Pairs with want_room(), and with the producer's search for room after it.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return room_wanted_.load(std::memory_order_relaxed) && room_wanted_.exchange(false);
  }
  /// Whether everything that was pushed was delivered: exact for messages whose push the caller knows of.
  bool empty() const {
    return head_.load(std::memory_order_acquire) >= tail_.load(std::memory_order_relaxed);
  }

  /// How many messages there is room for.
  std::uint64_t capacity() const { return mask_ + 1; }

 private:
  explicit Lane(Size size);

  static constexpr Count kInline = kLongestNote;
  static constexpr std::uint32_t kNote = ~0u;
  static constexpr std::uint64_t kLine = 64;
  // A cache line takes 60 to 500 ns from core to core; to write or to read a message takes 20 to 40 ns.
  static constexpr std::uint64_t kFetchAhead = 12;
  static constexpr std::uint64_t kReadAhead = 12;

  struct alignas(64) Cell {
    std::atomic<std::uint32_t> stamp{0};
    std::uint32_t context;
    int source;
    int tag;
    int destination;
    std::uint32_t bytes;
    std::byte payload[kInline];
  };
  static_assert(sizeof(Cell) == kLine);

  /// The stamp of a cell when it is written for the index-th message: its lap, counted from 1.
  std::uint32_t stamp_of(std::uint64_t index) const {
    return static_cast<std::uint32_t>((index >> cell_bits_) + 1);
  }

  Cell* free_cell() {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - known_head_ > mask_) [[unlikely]] {
      // acquire: pairs with the release in pop(): the consumer has read what is overwritten now.
      known_head_ = head_.load(std::memory_order_acquire);
      if (tail - known_head_ > mask_) return nullptr;
    }
    return &cells()[tail & mask_];
  }

  // Found relative to the lane, because processes have it at different addresses.
  Cell* cells() { return reinterpret_cast<Cell*>(this + 1); }
  const Cell* cells() const { return reinterpret_cast<const Cell*>(this + 1); }
  std::byte* byte_ring() { return reinterpret_cast<std::byte*>(cells() + mask_ + 1); }

  void find_payload(Cell& cell, Message& message);
  /// Room in the ring of bytes: whole cache lines, never across the ring's end.
  std::byte* reserve(Count bytes);
  std::uint64_t place(std::uint64_t position, std::uint64_t bytes) const {
    const std::uint64_t offset = position & byte_mask_;
    return offset + bytes <= byte_mask_ + 1 ? position : position + (byte_mask_ + 1 - offset);
  }

  void publish(Cell& cell, int destination, Envelope envelope) {
    cell.context = envelope.context();
    cell.source = envelope.source();
    cell.tag = envelope.tag();
    cell.destination = destination;
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    // release: pairs with the acquire in ready().
    cell.stamp.store(stamp_of(tail), std::memory_order_release);
    tail_.store(tail + 1, std::memory_order_relaxed);
    // Stores become visible in their order, so each waits for its cache line. The cells that are written soon
    // are therefore prefetched, several at a time.
    base::fetch_for_writing(&cells()[(tail + kFetchAhead) & mask_]);
  }

  static void fill(std::byte* data, const datatype::Layout& payload, Count bytes, Count offset) {
    if (bytes == 0) return;
    if (payload.type->is_dense()) [[likely]]
      return datatype::move_short(reinterpret_cast<std::intptr_t>(data),
                                  reinterpret_cast<std::intptr_t>(payload.base) + offset, bytes);
    datatype::pack({data, static_cast<std::size_t>(bytes)}, payload, offset);
  }

  // Read by both sides, never written.
  const std::uint64_t mask_, byte_mask_;
  const std::uint32_t cell_bits_;

  // Written by the producer.
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // messages pushed
  std::uint64_t known_head_ = 0;
  std::uint64_t byte_tail_ = 0;
  std::uint64_t known_byte_head_ = 0;

  // Written by the consumer.
  alignas(64) std::atomic<std::uint64_t> head_{0};  // messages delivered
  std::atomic<std::uint64_t> byte_head_{0};
  std::uint64_t next_byte_head_ = 0;
  std::atomic<bool> room_wanted_{false};
};

}  // namespace clump::net
