// Data that the ranks of a team share; for team*.cc only.
#pragma once

#include <atomic>

#include "coll/shared/shared_state.h"
#include "coll/shared/team.h"
#include "datatype/reduce.h"
#include "fiber/completion.h"

namespace clump::coll {

/// Bytes that fit into a leader's mailbox: more than the selection table lets them carry, because
/// value-index pairs travel with their gaps.
constexpr Count kMailboxBytes = 768;

/// Where a leader combines the operands of its group.
struct alignas(64) Team::LeaderBuffer {
  std::byte bytes[kMailboxBytes];
};

/// On which the root of a broadcast leaves its data.
struct alignas(64) Team::RingSlot {
  static constexpr Count kMostBytes = 480;
  std::atomic<std::uint64_t> number{0};  ///< of the broadcast; they are counted from 1
  PackedSignature call;
  Count bytes = 0;
  std::byte data[kMostBytes];
};

/// The part of a message between leaders that they compare.
struct Team::Header {
  PackedSignature call;
  Count bytes = 0;
  bool alike = true;
  bool has_data = false;
};

/// The data that leaders carry: the group's operands combined, or its blocks.
struct Team::Value {
  std::byte* data = nullptr;  ///< null: nothing, or not here
  Count bytes = 0;            ///< as it lies in memory
  Count count = 0;
  const datatype::Datatype* type = nullptr;
  const Reduction* reduction = nullptr;
  datatype::Kernel kernel = nullptr;

  /// right = left op right.
  void apply(const void* left, void* right) const {
    if (kernel != nullptr) return kernel(left, right, right, count);
    reduction->op->apply(left, right, count, *type, reduction->handle);
  }
};

/// From the leader of one group to that of another; written by the one until it is sent, then the other's.
struct alignas(64) Team::LeaderMailbox {
  fiber::Completion sent;
  Header header;
  alignas(32) std::byte data[kMailboxBytes];  // begins in the line of the header, for small data

  void send(const Header& mine, const Value& value);
  void receive(Header& mine, Value& value, bool from_lower);
};

}  // namespace clump::coll
