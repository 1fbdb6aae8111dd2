// Layout programs: where the packed bytes of a type lie, as a small tree of loops and lists with the leaves
//
//   block    `bytes` bytes at `offset`
//   strided  `count` blocks of `block` bytes, `stride` apart
//   gather   `count` blocks of `block` bytes, at offset + offsets[i]
//   blocks   `count` blocks, the i-th at offset + offsets[i], of begins[i + 1] - begins[i] bytes
//
// and the inner nodes
//
//   loop     `count` times children[0], `stride` apart
//   list     children[0] to children[count - 1], one after the other
//
// Trees are normalised while they are built: what touches is one block, equal spacing is a strided leaf,
// nested loops that continue each other are one. So a column of a matrix, or a face of a box, is a single
// leaf, however it was described.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/types.h"

namespace clump::datatype {

struct Node {
  enum class Kind : std::uint8_t { kBlock, kStrided, kGather, kBlocks, kLoop, kList };

  Kind kind = Kind::kBlock;
  std::uint32_t depth = 0;  ///< cursor frames needed below and including this node
  Count offset = 0;         ///< from the place where the parent puts this node
  Count bytes = 0;          ///< packed size of everything below
  Count block = 0;          ///< kStrided, kGather
  Count count = 1;
  Count stride = 0;                ///< kStrided, kLoop
  const Count* offsets = nullptr;  ///< kGather, kBlocks
  const Count* begins = nullptr;   ///< kBlocks, kList: packed offset of each part, and the end
  const Node* children = nullptr;  ///< kLoop, kList

  static Node solid(Count bytes, Count offset = 0) { return Node{.offset = offset, .bytes = bytes}; }
  Node at(Count displacement) const {
    Node moved = *this;
    moved.offset += displacement;
    return moved;
  }
};

/// `count` times `child`, `stride` bytes apart. The result may point to `child`, which must outlive it.
Node repeat(const Node& child, Count count, Count stride);

/// A tree with the arrays that it owns. It may also point into the trees of the types it was made from, which
/// the Datatype keeps.
class Program {
 public:
  Program() = default;
  explicit Program(const Node& root) : root_(root) {}

  const Node& root() const { return root_; }
  void set_root(const Node& root) { root_ = root; }

  /// As datatype::repeat(), with the child kept here when the result points to it.
  Node loop(const Node& child, Count count, Count stride);
  /// The children one after the other; empty ones are dropped, neighbours joined.
  Node list(std::vector<Node> children);

 private:
  Node list_of_blocks(const std::vector<Node>& blocks);
  Count* keep_counts(std::size_t count);

  Node root_;
  std::deque<Node> singles_;  // a deque never moves its elements
  std::vector<std::unique_ptr<Node[]>> nodes_;
  std::vector<std::unique_ptr<Count[]>> counts_;
};

}  // namespace clump::datatype
