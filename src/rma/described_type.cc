#include "rma/described_type.h"

#include <algorithm>
#include <utility>

namespace clump::rma {

namespace {

using datatype::Node;

// A node without its arrays.
constexpr Count kNumbersOfNode = 8;
// Types in types: no program has so many, and each takes stack of the thread that delivers a message.
constexpr int kMostLevels = 1000;

bool has_children(const Node& node) {
  return node.kind == Node::Kind::kLoop || node.kind == Node::Kind::kList;
}
bool has_begins(const Node& node) {
  return node.kind == Node::Kind::kBlocks || node.kind == Node::Kind::kList;
}
Count children_of(const Node& node) { return node.kind == Node::Kind::kLoop ? 1 : node.count; }

void write(std::vector<Count>& to, const Node& node) {
  to.insert(to.end(), {static_cast<Count>(node.kind), static_cast<Count>(node.depth), node.offset, node.bytes,
                       node.block, node.count, node.stride, node.offsets != nullptr ? Count{1} : Count{0}});
  if (node.offsets != nullptr) to.insert(to.end(), node.offsets, node.offsets + node.count);
  if (has_begins(node)) to.insert(to.end(), node.begins, node.begins + node.count + 1);
  if (has_children(node))
    for (Count i = 0; i < children_of(node); ++i) write(to, node.children[i]);
}

}  // namespace

std::vector<Count> describe(const datatype::Datatype& type) {
  const datatype::Bounds& bounds = type.bounds();
  std::vector<Count> description{
      bounds.lb,        bounds.ub,
      bounds.true_lb,   bounds.true_ub,
      type.alignment(), type.element() == nullptr ? Count{0} : type.element()->handle_value()};
  write(description, type.root());
  return description;
}

std::unique_ptr<DescribedType> DescribedType::make(std::span<const Count> description) {
  std::unique_ptr<DescribedType> made(new DescribedType(description));
  return made->read() ? std::move(made) : nullptr;
}

const Count* DescribedType::read_counts(Count n) {
  if (n < 0 || n > left()) return nullptr;
  const auto first = description_.begin() + static_cast<std::ptrdiff_t>(at_);
  at_ += static_cast<std::size_t>(n);
  return counts_.emplace_back(first, first + n).data();
}

/// False: this is no node, or what it says of itself is not so.
bool DescribedType::read_node(Node& node, Reach& reach, int level) {
  if (level > kMostLevels || left() < kNumbersOfNode) return false;
  const Count kind = next(), depth = next();
  node.offset = next();
  node.bytes = next();
  node.block = next();
  node.count = next();
  node.stride = next();
  const bool has_offsets = next() != 0;
  if (kind < 0 || kind > static_cast<Count>(Node::Kind::kList) || node.count < 0) return false;
  node.kind = static_cast<Node::Kind>(kind);
  const bool is_gather = node.kind == Node::Kind::kGather;
  if (has_offsets != (is_gather || node.kind == Node::Kind::kBlocks)) return false;
  if (has_offsets && (node.offsets = read_counts(node.count)) == nullptr) return false;
  if (has_begins(node)) {
    if (node.count == 0 || node.count >= left()) return false;
    node.begins = read_counts(node.count + 1);
  }
  Wide bytes = node.bytes;
  switch (node.kind) {
    case Node::Kind::kBlock:
      reach = {0, bytes};
      break;
    case Node::Kind::kStrided:
    case Node::Kind::kGather:
      if (node.block <= 0) return false;
      bytes = Wide{node.count} * node.block;
      for (Count i = 0; is_gather && i < node.count; ++i) reach.add({0, node.block}, node.offsets[i]);
      if (!is_gather && node.count > 0) reach.add_row({0, node.block}, node.count, node.stride);
      break;
    case Node::Kind::kBlocks:
      node.depth = 1;
      for (Count i = 0; i < node.count; ++i)
        reach.add({0, Wide{node.begins[i + 1]} - node.begins[i]}, node.offsets[i]);
      break;
    case Node::Kind::kLoop:
    case Node::Kind::kList:
      if (!read_children(node, reach, bytes, level)) return false;
      break;
  }
  for (Count i = 0; node.begins != nullptr && i < node.count; ++i)
    if (node.begins[i] >= node.begins[i + 1]) return false;
  if (node.begins != nullptr && (node.begins[0] != 0 || node.begins[node.count] != node.bytes)) return false;
  reach.begin += node.offset;
  reach.end += node.offset;
  return node.bytes >= 0 && bytes == node.bytes && depth == Count{node.depth} && reach.is_small();
}

bool DescribedType::read_children(Node& node, Reach& reach, Wide& bytes, int level) {
  const Count all = children_of(node);
  if (all > left() / kNumbersOfNode) return false;
  auto& children = nodes_.emplace_back();
  children.reserve(static_cast<std::size_t>(all));
  for (Count i = 0; i < all; ++i) {
    Node& child = children.emplace_back();
    Reach there;
    if (!read_node(child, there, level + 1) || child.bytes == 0) return false;
    node.depth = std::max(node.depth, child.depth + 1);
    if (node.kind == Node::Kind::kLoop) {
      bytes = Wide{node.count} * child.bytes;
      if (node.count > 0) reach.add_row(there, node.count, node.stride);
    } else {
      if (Wide{node.begins[i]} + child.bytes != node.begins[i + 1]) return false;
      reach.add(there, 0);
    }
  }
  node.children = children.data();
  return true;
}

bool DescribedType::read() {
  if (left() < 6) return false;
  datatype::Datatype::Parts parts;
  parts.bounds.lb = next();
  parts.bounds.ub = next();
  parts.bounds.true_lb = next();
  parts.bounds.true_ub = next();
  parts.alignment = next();
  if (const Count element = next(); element != 0) {
    parts.element = datatype::predefined(reinterpret_cast<MPI_Datatype>(element));
    if (parts.element == nullptr) return false;
  }
  Node root;
  Reach reach;
  if (!read_node(root, reach, 0) || left() != 0) return false;
  // What is looked at before data are moved.
  const bool is_inside =
      root.bytes == 0 || (reach.begin >= parts.bounds.true_lb && reach.end <= parts.bounds.true_ub);
  const Reach bounds{parts.bounds.lb, parts.bounds.ub}, data{parts.bounds.true_lb, parts.bounds.true_ub};
  if (!is_inside || !bounds.is_small() || !data.is_small()) return false;
  parts.program = datatype::Program(root);
  description_ = {};
  type_ = base::make_ref<const datatype::Datatype>(std::move(parts));
  return true;
}

}  // namespace clump::rma
