#include "datatype/cursor.h"

#include <algorithm>

namespace clump::datatype {

Cursor::Cursor(const Layout& layout, Count offset)
    : outer_(repeat(layout.type->root(), layout.count, layout.type->extent())) {
  if (outer_.depth > kInlineFrames) more_frames_ = std::make_unique<Frame[]>(outer_.depth);
  frames_ = more_frames_ != nullptr ? more_frames_.get() : inline_frames_.data();
  enter(&outer_, reinterpret_cast<std::intptr_t>(layout.base), offset);
}

void Cursor::skip_blocks(Count count) {
  if (count == now_.count) {
    next();
    return;
  }
  if (now_.offsets != nullptr) {
    now_.offsets += count;
  } else {
    now_.base += count * now_.stride;
  }
  now_.count -= count;
}

void Cursor::skip_bytes(Count bytes) {
  if (bytes == now_.block) {
    skip_blocks(1);
    return;
  }
  if (now_.count > 1) {
    const Run cut = solid(now_.address(0), now_.block);
    skip_blocks(1);
    later_ = now_;
    now_ = cut;
  }
  now_.base += bytes;
  now_.block -= bytes;
}

void Cursor::start_blocks(const Run& blocks, Count skip) {
  now_ = blocks;
  if (skip == 0) return;
  if (const Count whole = skip / blocks.block; whole > 0) {
    skip_blocks(whole);
    skip -= whole * blocks.block;
  }
  if (skip > 0) skip_bytes(skip);
}

// Goes down to the leaf that holds packed byte `skip` of `node`.
void Cursor::enter(const Node* node, std::intptr_t base, Count skip) {
  for (;;) {
    base += node->offset;
    switch (node->kind) {
      case Node::Kind::kBlock:
        now_ = solid(base + skip, node->bytes - skip);
        return;
      case Node::Kind::kStrided:
        start_blocks(Run{.base = base, .block = node->block, .count = node->count, .stride = node->stride},
                     skip);
        return;
      case Node::Kind::kGather:
        start_blocks(Run{.base = base, .offsets = node->offsets, .block = node->block, .count = node->count},
                     skip);
        return;
      case Node::Kind::kLoop: {
        const Node& child = node->children[0];
        const Count index = skip == 0 ? 0 : skip / child.bytes;
        frames_[depth_++] = Frame{node, base, index};
        base += index * node->stride;
        skip -= index * child.bytes;
        node = &child;
        break;
      }
      case Node::Kind::kBlocks:
      case Node::Kind::kList: {
        const Count* begins = node->begins;
        const Count index = skip == 0 ? 0 : std::upper_bound(begins, begins + node->count, skip) - begins - 1;
        frames_[depth_++] = Frame{node, base, index};
        skip -= begins[index];
        if (node->kind == Node::Kind::kBlocks) {
          now_ = solid(base + node->offsets[index] + skip, begins[index + 1] - begins[index] - skip);
          return;
        }
        node = &node->children[index];
        break;
      }
    }
  }
}

void Cursor::next() {
  if (later_.count > 0) {
    now_ = later_;
    later_.count = 0;
    return;
  }
  while (depth_ > 0) {
    Frame& frame = frames_[depth_ - 1];
    const Node& node = *frame.node;
    if (++frame.index == node.count) {
      --depth_;
      continue;
    }
    if (node.kind == Node::Kind::kBlocks) {
      now_ = solid(frame.base + node.offsets[frame.index],
                   node.begins[frame.index + 1] - node.begins[frame.index]);
    } else if (node.kind == Node::Kind::kLoop) {
      enter(&node.children[0], frame.base + frame.index * node.stride, 0);
    } else {
      enter(&node.children[frame.index], frame.base, 0);
    }
    return;
  }
  now_ = Run{};
}

}  // namespace clump::datatype
