#include "io/view.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace clump::io {

namespace {

using datatype::Cursor;
using datatype::Datatype;
using datatype::Layout;

/// What one filetype looks like, block by block.
struct Shape {
  Count blocks = 0;
  bool negative = false;   ///< a displacement is
  bool backwards = false;  ///< a displacement is lower than the one before
  bool overlaps = false;
};

Shape shape_of(const Datatype& type) {
  Shape shape;
  Count last = std::numeric_limits<Count>::min(), end = last;
  Cursor cursor(Layout{nullptr, 1, &type}, 0);
  for (Count left = type.size(); left > 0;) {
    const datatype::Run run = cursor.run();
    for (Count i = 0; i < run.count; ++i) {
      const auto at = static_cast<Count>(run.address(i));
      shape.negative = shape.negative || at < 0;
      shape.backwards = shape.backwards || at < last;
      shape.overlaps = shape.overlaps || at < end;
      last = at;
      end = at + run.block;
      ++shape.blocks;
    }
    left -= run.count * run.block;
    if (left > 0) cursor.skip_blocks(run.count);
  }
  return shape;
}

/// The class of these errors is what ROMIO gives; the standard names none.
base::Status check_shape(const char* name, const Shape& shape) {
  if (shape.negative)
    return base::fail(MPI_ERR_IO, "({}): it has a negative displacement, which is no place in the view",
                      name);
  if (shape.backwards)
    return base::fail(MPI_ERR_IO, "({}): its displacements go backwards; sort its blocks by displacement",
                      name);
  return {};
}

}  // namespace

base::Status View::make(const Arguments& arguments, base::Ref<const View>& view) {
  const base::Ref<View> made(new View(arguments));
  const Representation& representation = made->representation();
  datatype::Ref etype;
  CLUMP_TRY(representation.in_file(*arguments.etype, etype));
  CLUMP_TRY(representation.in_file(*arguments.filetype, made->type_));
  CLUMP_TRY(made->look_at_type(*etype));
  view = made;
  return {};
}

base::Status View::look_at_type(const Datatype& etype) {
  if (arguments_.displacement < 0)
    return base::fail(MPI_ERR_DISP, "(disp = {}): it is negative", arguments_.displacement);
  etype_bytes_ = etype.size();
  const Datatype& type = *type_;
  if (etype_bytes_ == 0) return base::fail(MPI_ERR_TYPE, "(etype): it has no bytes");
  if (type.size() % etype_bytes_ != 0)
    return base::fail(MPI_ERR_TYPE, "(filetype): its {} bytes are not a multiple of the etype's {}",
                      type.size(), etype_bytes_);
  if (type.size() > 0 && type.extent() <= 0)
    return base::fail(MPI_ERR_TYPE, "(filetype): its extent is {}; it has to be positive", type.extent());
  if (type.size() == 0) return {};
  const Shape shape = shape_of(type), of_etype = shape_of(etype);
  CLUMP_TRY(check_shape("etype", of_etype));
  CLUMP_TRY(check_shape("filetype", shape));
  overlaps_ = shape.overlaps || of_etype.overlaps;
  ordered_ = !overlaps_ && type.true_extent() <= type.extent();
  contiguous_ = type.is_dense() && type.size() == type.extent();
  mean_block_ = contiguous_ ? Count{1} << 40 : type.size() / std::max(shape.blocks, Count{1});
  return {};
}

bool View::reaches(Count position) const {
  if (is_empty()) return position == 0;
  const __int128 elements = position / type_->size() + 1;
  return arguments_.displacement + elements * type_->extent() + type_->bounds().true_ub <=
         std::numeric_limits<Count>::max();
}

Count View::offset_of(Count position) const {
  if (contiguous_) return arguments_.displacement + position;
  const Count element = position / type_->size();
  const Layout one{reinterpret_cast<void*>(arguments_.displacement + element * type_->extent()), 1,
                   type_.get()};
  return static_cast<Count>(Cursor(one, position % type_->size()).run().address(0));
}

Count View::position_of(Count offset) const {
  const Count inside = offset - arguments_.displacement;
  if (inside <= 0 || is_empty()) return 0;
  if (contiguous_) return inside;
  const Count size = type_->size(), from_first = inside - type_->true_lb();
  if (from_first <= 0) return 0;
  const Count element = from_first / type_->extent();
  // The first view byte of this filetype that is at `offset` or behind it.
  Count low = element * size, high = low + size;
  while (low < high) {
    const Count middle = low + (high - low) / 2;
    if (offset_of(middle) >= offset)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

Layout View::layout(std::intptr_t base, Count position, Count bytes, Count& skipped) const {
  const Count size = type_->size(), element = position / size;
  skipped = position % size;
  const Count elements = (skipped + bytes + size - 1) / size;
  return {reinterpret_cast<void*>(base + arguments_.displacement + element * type_->extent()), elements,
          type_.get()};
}

}  // namespace clump::io
