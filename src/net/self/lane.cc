#include "net/self/lane.h"

#include <bit>
#include <cstdlib>
#include <new>

namespace clump::net {

namespace {

void* allocate(std::size_t bytes) {
  void* const memory = std::aligned_alloc(64, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void Lane::Free::operator()(void* memory) const { std::free(memory); }

Lane::Lane(std::uint32_t cells, std::uint32_t bytes)
    : cells_(static_cast<Cell*>(allocate(cells * sizeof(Cell)))),
      bytes_(static_cast<std::byte*>(allocate(bytes))),
      mask_(cells - 1),
      byte_mask_(bytes - 1),
      cell_bits_(static_cast<std::uint32_t>(std::countr_zero(cells))) {
  for (std::uint32_t i = 0; i < cells; ++i) new (&cells_[i]) Cell;
}

std::byte* Lane::reserve(Count bytes) {
  const std::uint64_t room = (static_cast<std::uint64_t>(bytes) + kLine - 1) & ~(kLine - 1);
  const std::uint64_t begin = place(byte_tail_, room);
  if (begin + room - known_byte_head_ > byte_mask_ + 1) {
    // acquire: pairs with the release in pop(): the consumer has read what is overwritten now.
    known_byte_head_ = byte_head_.load(std::memory_order_acquire);
    if (begin + room - known_byte_head_ > byte_mask_ + 1) return nullptr;
  }
  byte_tail_ = begin + room;
  return &bytes_[begin & byte_mask_];
}

/// Of a message whose payload is not in its cell.
void Lane::find_payload(Cell& cell, Message& message) {
  if (cell.bytes == kReference) {
    message.reference = *std::launder(reinterpret_cast<Outgoing**>(cell.payload));
    return;
  }
  const std::uint64_t room = (cell.bytes + kLine - 1) & ~(kLine - 1);
  const std::uint64_t begin = place(next_byte_head_, room);
  message.data = &bytes_[begin & byte_mask_];
  next_byte_head_ = begin + room;
}

}  // namespace clump::net
