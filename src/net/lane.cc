#include "net/lane.h"

#include <bit>
#include <cstdlib>
#include <new>

namespace clump::net {

void Lane::Free::operator()(Lane* lane) const { std::free(lane); }

std::unique_ptr<Lane, Lane::Free> Lane::make(Size size) {
  const std::size_t bytes = footprint(size);
  void* const memory = std::aligned_alloc(kLine, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return std::unique_ptr<Lane, Free>(&make_at(memory, size));
}

Lane::Lane(Size size)
    : mask_(size.cells - 1),
      byte_mask_(size.bytes - 1),
      cell_bits_(static_cast<std::uint32_t>(std::countr_zero(size.cells))) {}

std::byte* Lane::reserve(Count bytes) {
  const std::uint64_t room = (static_cast<std::uint64_t>(bytes) + kLine - 1) & ~(kLine - 1);
  const std::uint64_t begin = place(byte_tail_, room);
  if (begin + room - known_byte_head_ > byte_mask_ + 1) {
    // acquire: pairs with the release in pop(): the consumer has read what is overwritten now.
    known_byte_head_ = byte_head_.load(std::memory_order_acquire);
    if (begin + room - known_byte_head_ > byte_mask_ + 1) return nullptr;
  }
  byte_tail_ = begin + room;
  return &byte_ring()[begin & byte_mask_];
}

/// Finds the payload of a message that is not in its cell.
void Lane::find_payload(Cell& cell, Message& message) {
  message.is_note = cell.bytes == kNote;
  if (message.is_note) return;
  const std::uint64_t room = (cell.bytes + kLine - 1) & ~(kLine - 1);
  const std::uint64_t begin = place(next_byte_head_, room);
  message.data = &byte_ring()[begin & byte_mask_];
  // Cache lines that another core has just written arrive one after the other, unless all are requested at
  // once.
  for (std::uint64_t line = 0; line < room; line += kLine) __builtin_prefetch(message.data + line);
  next_byte_head_ = begin + room;
}

}  // namespace clump::net
