#include "datatype/program.h"

#include <algorithm>

namespace clump::datatype {
namespace {

// Lists of this many parts or fewer are unrolled into a list around them, where their ends may join its other
// parts.
constexpr Count kUnrolled = 16;

// Scattered blocks of one size, at most this, stay a gather leaf although a few touch each other: one loop
// without branches beats fewer blocks of different sizes.
constexpr Count kScatteredBlock = 32;

Node strided(Count block, Count count, Count stride, Count offset) {
  return Node{.kind = Node::Kind::kStrided,
              .offset = offset,
              .bytes = block * count,
              .block = block,
              .count = count,
              .stride = stride};
}

bool is_block(const Node& node) { return node.kind == Node::Kind::kBlock; }

bool are_equal_blocks(const std::vector<Node>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const Node& node) { return is_block(node) && node.bytes == nodes.front().bytes; });
}

// Appends `node`, or makes the last part longer where the two continue each other.
void append(std::vector<Node>& parts, const Node& node) {
  if (node.bytes == 0) return;
  if (!parts.empty()) {
    Node& last = parts.back();
    if (is_block(node) && is_block(last) && last.offset + last.bytes == node.offset) {
      last.bytes += node.bytes;
      return;
    }
    if (node.kind == Node::Kind::kStrided && last.kind == Node::Kind::kStrided && node.block == last.block &&
        node.stride == last.stride && last.offset + last.count * last.stride == node.offset) {
      last = strided(last.block, last.count + node.count, last.stride, last.offset);
      return;
    }
  }
  parts.push_back(node);
}

void append_unrolled(std::vector<Node>& parts, const Node& node) {
  if (node.kind == Node::Kind::kList && node.count <= kUnrolled) {
    for (Count i = 0; i < node.count; ++i) append_unrolled(parts, node.children[i].at(node.offset));
  } else if (node.kind == Node::Kind::kBlocks && node.count <= kUnrolled) {
    for (Count i = 0; i < node.count; ++i)
      append(parts, Node::solid(node.begins[i + 1] - node.begins[i], node.offset + node.offsets[i]));
  } else if (node.kind == Node::Kind::kGather && node.count <= kUnrolled) {
    for (Count i = 0; i < node.count; ++i)
      append(parts, Node::solid(node.block, node.offset + node.offsets[i]));
  } else {
    append(parts, node);
  }
}

}  // namespace

Node repeat(const Node& child, Count count, Count stride) {
  if (count <= 0 || child.bytes == 0) return Node::solid(0);
  if (count == 1) return child;
  switch (child.kind) {
    case Node::Kind::kBlock:
      if (stride == child.bytes) return Node::solid(count * child.bytes, child.offset);
      return strided(child.bytes, count, stride, child.offset);
    case Node::Kind::kStrided:
      if (stride == child.count * child.stride)
        return strided(child.block, count * child.count, child.stride, child.offset);
      break;
    case Node::Kind::kLoop:
      if (stride == child.count * child.stride) {
        Node longer = child;
        longer.count *= count;
        longer.bytes *= count;
        return longer;
      }
      break;
    default:
      break;
  }
  return Node{.kind = Node::Kind::kLoop,
              .depth = child.depth + 1,
              .bytes = count * child.bytes,
              .count = count,
              .stride = stride,
              .children = &child};
}

Node Program::loop(const Node& child, Count count, Count stride) {
  Node result = repeat(child, count, stride);
  if (result.children == &child) result.children = &singles_.emplace_back(child);
  return result;
}

Node Program::list(std::vector<Node> children) {
  std::erase_if(children, [](const Node& child) { return child.bytes == 0; });
  std::vector<Node> parts;
  parts.reserve(children.size());
  for (const Node& child : children) append_unrolled(parts, child);
  if (parts.empty()) return Node::solid(0);
  if (parts.size() == 1) return parts.front();
  if (std::all_of(parts.begin(), parts.end(), is_block)) {
    const bool scattered = are_equal_blocks(children) && children.front().bytes <= kScatteredBlock &&
                           parts.size() > children.size() / 4 && !are_equal_blocks(parts);
    return list_of_blocks(scattered ? children : parts);
  }

  const std::size_t count = parts.size();
  Count* begins = keep_counts(count + 1);
  auto& kept = nodes_.emplace_back(std::make_unique<Node[]>(count));
  std::uint32_t depth = 0;
  begins[0] = 0;
  for (std::size_t i = 0; i < count; ++i) {
    kept[i] = parts[i];
    begins[i + 1] = begins[i] + parts[i].bytes;
    depth = std::max(depth, parts[i].depth);
  }
  return Node{.kind = Node::Kind::kList,
              .depth = depth + 1,
              .bytes = begins[count],
              .count = static_cast<Count>(count),
              .begins = begins,
              .children = kept.get()};
}

Node Program::list_of_blocks(const std::vector<Node>& blocks) {
  const std::size_t count = blocks.size();
  const Count size = blocks[0].bytes;
  const Count gap = blocks[1].offset - blocks[0].offset;
  const bool same_size = are_equal_blocks(blocks);
  bool same_gap = true;
  for (std::size_t i = 1; i < count; ++i)
    same_gap = same_gap && blocks[i].offset - blocks[i - 1].offset == gap;
  if (same_size && same_gap) return strided(size, static_cast<Count>(count), gap, blocks[0].offset);

  Count* offsets = keep_counts(count);
  for (std::size_t i = 0; i < count; ++i) offsets[i] = blocks[i].offset;
  if (same_size) {
    return Node{.kind = Node::Kind::kGather,
                .bytes = size * static_cast<Count>(count),
                .block = size,
                .count = static_cast<Count>(count),
                .offsets = offsets};
  }
  Count* begins = keep_counts(count + 1);
  begins[0] = 0;
  for (std::size_t i = 0; i < count; ++i) begins[i + 1] = begins[i] + blocks[i].bytes;
  return Node{.kind = Node::Kind::kBlocks,
              .depth = 1,
              .bytes = begins[count],
              .count = static_cast<Count>(count),
              .offsets = offsets,
              .begins = begins};
}

Count* Program::keep_counts(std::size_t count) {
  return counts_.emplace_back(std::make_unique<Count[]>(count)).get();
}

}  // namespace clump::datatype
