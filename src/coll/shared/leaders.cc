// The data that leaders send each other if there is little: their groups' operands combined, or their blocks.
#include <algorithm>
#include <cstring>

#include "coll/shared/team_state.h"

namespace clump::coll {

namespace {

constexpr Count kWord = sizeof(std::uint64_t);
// A larger table of blocks takes longer to carry than to fetch the blocks (measured with 2 and 4 ranks).
constexpr Count kTableBytes = 512;

/// A kernel: words of tables, of which in each place one at most is not empty.
void overlay(const void* left, const void* right, void* out, Count words) {
  for (Count at = 0; at < words * kWord; at += kWord) {
    std::uint64_t a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + at, kWord);
    std::memcpy(&b, static_cast<const std::byte*>(right) + at, kWord);
    b |= a;
    std::memcpy(static_cast<std::byte*>(out) + at, &b, kWord);
  }
}

bool reduces(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce;
}

}  // namespace

// Makes the value that a group puts into the mailbox. Operands are combined from the last rank to the first,
// because the result replaces the right operand.
void Team::bring(LocalGroup& group, const ArgumentSlot& me, Value& value) {
  if (me.bytes == 0) return;
  if (!reduces(me.call.collective())) return bring_blocks(group, me, value);
  value.count = me.buffers->from.count;
  value.type = me.buffers->from.type;
  value.kernel = value.reduction->op->kernel(*value.type);
  value.bytes = value.count * value.type->extent();
  value.data = leader_buffers_[group.number].bytes;
  auto member = group.members.rbegin();
  load(value.data, (*member)->buffers->from);
  while (++member != group.members.rend()) value.apply((*member)->buffers->from.base, value.data);
}

/// By each rank.
int Team::blocks_given(const ArgumentSlot& me) const {
  return me.call.collective() == Collective::kAlltoall ? size_ : 1;
}

// A row for each rank of the team, with what it gives; those of other groups are empty, so that leaders can
// lay one such table over the other.
void Team::bring_blocks(LocalGroup& group, const ArgumentSlot& me, Value& value) const {
  const Count row = me.bytes * blocks_given(me);
  value.count = (row * size_ + kWord - 1) / kWord;
  value.bytes = value.count * kWord;
  value.kernel = overlay;
  value.data = leader_buffers_[group.number].bytes;
  std::memset(value.data, 0, static_cast<std::size_t>(value.bytes));
  for (const ArgumentSlot* member : group.members)
    pack_short(value.data + member->rank * row, member->buffers->from, row);
}

void Team::hand_out_blocks(const LocalGroup& group, const ArgumentSlot& me, const Value& value) const {
  const int given = blocks_given(me);
  if (given == 1) {
    for (const ArgumentSlot* member : group.members)
      unpack_short(member->buffers->to, 0, value.data, me.bytes * size_);
    return;
  }
  for (const ArgumentSlot* member : group.members)
    for (int source = 0; source < size_; ++source)
      unpack_short(member->buffers->to, source * me.bytes,
                   value.data + (source * given + member->rank) * me.bytes, me.bytes);
}

bool Team::can_carry(Collective collective, int ranks, Count bytes) {
  if (collective == Collective::kBroadcast) return bytes <= RingSlot::kMostBytes;
  if (collective == Collective::kAllgather) return bytes * ranks <= kTableBytes;
  if (collective == Collective::kAlltoall) return bytes * ranks * ranks <= kTableBytes;
  return bytes <= kMailboxBytes;
}

void Team::hand_out(const LocalGroup& group, const ArgumentSlot& me, const Value& value) {
  if (me.bytes == 0) return;
  const Collective collective = me.call.collective();
  const int root = me.call.root();
  if (!reduces(collective)) return hand_out_blocks(group, me, value);
  const Layout result{value.data, value.count, value.type};
  if (collective == Collective::kReduce) {
    if (slots_[root].group == &group) datatype::copy(buffers_[root].to, result, 0, me.bytes);
    return;
  }
  for (const ArgumentSlot* member : group.members) datatype::copy(member->buffers->to, result, 0, me.bytes);
}

}  // namespace clump::coll
