#include "rma/described_type.h"

namespace clump::rma {

namespace {

using datatype::Node;

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

const Count* DescribedType::read_counts(Count n) {
  const auto first = description_.begin() + static_cast<std::ptrdiff_t>(at_);
  at_ += static_cast<std::size_t>(n);
  return counts_.emplace_back(first, first + n).data();
}

Node DescribedType::read_node() {
  Node node;
  node.kind = static_cast<Node::Kind>(next());
  node.depth = static_cast<std::uint32_t>(next());
  node.offset = next();
  node.bytes = next();
  node.block = next();
  node.count = next();
  node.stride = next();
  if (next() != 0) node.offsets = read_counts(node.count);
  if (has_begins(node)) node.begins = read_counts(node.count + 1);
  if (has_children(node)) {
    auto& children = nodes_.emplace_back();
    children.reserve(static_cast<std::size_t>(children_of(node)));
    for (Count i = 0; i < children_of(node); ++i) children.push_back(read_node());
    node.children = children.data();
  }
  return node;
}

DescribedType::DescribedType(std::span<const Count> description) : description_(description) {
  datatype::Datatype::Parts parts;
  parts.bounds.lb = next();
  parts.bounds.ub = next();
  parts.bounds.true_lb = next();
  parts.bounds.true_ub = next();
  parts.alignment = next();
  const Count element = next();
  if (element != 0) parts.element = datatype::predefined(reinterpret_cast<MPI_Datatype>(element));
  parts.program = datatype::Program(read_node());
  description_ = {};
  type_ = base::make_ref<const datatype::Datatype>(std::move(parts));
}

}  // namespace clump::rma
