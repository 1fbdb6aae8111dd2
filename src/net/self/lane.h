// A lane: a one-way queue of messages from one worker to another.
//
// A ring of cells, each one cache line. A cell holds what a message is matched by and up to 40 bytes of it,
// so a small message is one line that travels from core to core: the flag that says "written" lies in the
// cell too, and the indices are looked at only when a side has run out of what it knows. Longer messages go
// through a second ring, of bytes, and messages that nobody should copy twice leave the address of their
// Outgoing.
//
// One producer and one consumer at a time; who that is may change if something else orders the changes (the
// producer's worker, the consumer's lock). empty() may be asked by anybody.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "datatype/move.h"
#include "net/channel.h"

namespace clump::net {

class Lane {
 public:
  /// Room for so many messages, and for so many bytes of those that do not fit into their cells; powers of
  /// two. No message may have more than a quarter of `bytes`.
  Lane(std::uint32_t cells, std::uint32_t bytes);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  struct Message {
    Envelope envelope;
    Count bytes;
    int destination;      ///< rank of the job
    Outgoing* reference;  ///< or null: the payload lies at `data`
    std::byte* data;      ///< in the lane, until pop()
  };

  // The producer. False if there is no room.
  bool push(int destination, Envelope envelope, Count bytes, const datatype::Layout& payload) {
    Cell* const cell = free_cell();
    if (cell == nullptr) return false;
    std::byte* data = cell->payload;
    if (bytes > kInline && (data = reserve(bytes)) == nullptr) return false;
    fill(data, payload, bytes);
    cell->bytes = static_cast<std::uint32_t>(bytes);
    publish(*cell, destination, envelope);
    return true;
  }
  bool push(int destination, Outgoing& message) {
    Cell* const cell = free_cell();
    if (cell == nullptr) return false;
    new (cell->payload) Outgoing*(&message);
    cell->bytes = kReference;
    publish(*cell, destination, message.envelope);
    return true;
  }

  // The consumer.

  /// Whether front() would find something. For others than the consumer: never false if there is a message
  /// that the caller knows of, although what it sees of the consumer may be old.
  bool ready() const {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    // acquire: pairs with the release in publish().
    const std::uint32_t stamp = cells_[head & mask_].stamp.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(stamp - stamp_of(head)) >= 0;
  }
  /// The oldest message; only if ready().
  Message front() {
    Cell& cell = cells_[head_.load(std::memory_order_relaxed) & mask_];
    Message message{
        {cell.context, cell.source, cell.tag}, cell.bytes, cell.destination, nullptr, cell.payload};
    next_byte_head_ = byte_head_.load(std::memory_order_relaxed);
    if (cell.bytes > kInline) [[unlikely]]
      find_payload(cell, message);
    return message;
  }
  /// Gives its room back. After it was delivered: empty() says so.
  void pop() {
    // release: the producer writes into the room again; and pairs with the acquire in empty().
    byte_head_.store(next_byte_head_, std::memory_order_release);
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Whether all that was pushed was delivered: exact for messages whose push the caller knows of.
  bool empty() const {
    return head_.load(std::memory_order_acquire) >= tail_.load(std::memory_order_relaxed);
  }

  /// The most messages that there is room for.
  std::uint64_t capacity() const { return mask_ + 1; }

 private:
  static constexpr Count kInline = 40;
  static constexpr std::uint32_t kReference = ~0u;
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kFetchAhead = 6;

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

  /// What a cell's stamp becomes when it is written for the index-th message: its lap, beginning with 1.
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
    return &cells_[tail & mask_];
  }

  void find_payload(Cell& cell, Message& message);
  /// Room in the byte ring, in whole lines and never across its end.
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
    // Stores are seen in their order, so each waits for its cache line: the lines that are written soon are
    // sent for early, several at a time.
    fetch_for_writing(&cells_[(tail + kFetchAhead) & mask_]);
  }

  static void fetch_for_writing(void* line) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
  }

  static void fill(std::byte* data, const datatype::Layout& payload, Count bytes) {
    if (bytes == 0) return;
    if (payload.type->is_dense()) [[likely]]
      return datatype::move_short(reinterpret_cast<std::intptr_t>(data),
                                  reinterpret_cast<std::intptr_t>(payload.base), bytes);
    datatype::pack({data, static_cast<std::size_t>(bytes)}, payload, 0);
  }

  struct Free {
    void operator()(void* memory) const;
  };

  // Read by both, never written.
  std::unique_ptr<Cell[], Free> cells_;
  std::unique_ptr<std::byte[], Free> bytes_;
  std::uint64_t mask_, byte_mask_;
  std::uint32_t cell_bits_;

  // The producer's.
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // messages pushed
  std::uint64_t known_head_ = 0;
  std::uint64_t byte_tail_ = 0;
  std::uint64_t known_byte_head_ = 0;

  // The consumer's.
  alignas(64) std::atomic<std::uint64_t> head_{0};  // messages delivered
  std::atomic<std::uint64_t> byte_head_{0};
  std::uint64_t next_byte_head_ = 0;
};

}  // namespace clump::net
