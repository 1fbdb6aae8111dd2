#include "datatype/derive.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace clump::datatype {
namespace {

// Wide enough that a product of two Counts and a few sums of such do not overflow: the results are checked
// once.
using Wide = __int128;

bool fits(Wide value) {
  return value >= std::numeric_limits<Count>::min() && value <= std::numeric_limits<Count>::max();
}

// Collects the pieces of a new type in the order of its type map.
class Builder {
 public:
  Builder(int combiner, bool large) { parts_.recipe = Recipe{.combiner = combiner, .large = large}; }

  // The numbers of the call, in its order. The last `addresses` of them are MPI_Aint where counts are int.
  void argument(Count value) { parts_.recipe.arguments.push_back(value); }
  void arguments(std::span<const Count> values) {
    parts_.recipe.arguments.insert(parts_.recipe.arguments.end(), values.begin(), values.end());
  }
  void addresses(Count count) { parts_.recipe.addresses = count; }
  void component(const Datatype& type) { parts_.recipe.components.emplace_back(&type); }

  Program& program() { return parts_.program; }

  // `count` groups, `stride` bytes apart, of `length` elements of `old` in a row; the first group at
  // `displacement`.
  void add(const Blocks& blocks, Count displacement, const Datatype& old) {
    if (blocks.count == 0 || blocks.length == 0) return;
    const Wide last_element = static_cast<Wide>(blocks.length - 1) * old.extent();
    const Wide last_group = static_cast<Wide>(blocks.count - 1) * blocks.stride;
    const Wide low = displacement + std::min<Wide>(0, last_element) + std::min<Wide>(0, last_group);
    const Wide high = displacement + std::max<Wide>(0, last_element) + std::max<Wide>(0, last_group);
    const Wide elements = static_cast<Wide>(blocks.count) * blocks.length;
    size_ += elements * old.size();
    if (!fits(elements) || !fits(size_)) {
      overflow_ = true;
      return;
    }
    widen(low, high, old);
    note_elements(static_cast<Count>(elements), old);
    if (overflow_ || old.size() == 0) return;
    const Node group = program().loop(old.root(), blocks.length, old.extent());
    pieces_.push_back(program().loop(group, blocks.count, blocks.stride).at(displacement));
  }

  // A piece made by the caller, whose data lies in [low, high) relative to the bounds of `old`.
  void add_piece(const Node& piece, std::pair<Wide, Wide> ends, Count elements, const Datatype& old) {
    widen(ends.first, ends.second, old);
    note_elements(elements, old);
    if (!overflow_) pieces_.push_back(piece);
  }

  void overflow_if(bool overflow) { overflow_ = overflow_ || overflow; }
  void set_bounds(Wide lb, Wide extent) {
    lb_ = lb;
    ub_ = lb + extent;
    marked_ = any_ = true;
  }

  base::Status finish(Made& made) {
    if (!marked_ && any_) pad();
    overflow_ =
        overflow_ || !fits(lb_) || !fits(ub_) || !fits(ub_ - lb_) || !fits(true_lb_) || !fits(true_ub_);
    if (overflow_) {
      return base::fail(
          MPI_ERR_COUNT,
          "the new datatype is larger than MPI_Count can express: check counts, strides and displacements");
    }
    parts_.bounds = Bounds{.lb = static_cast<Count>(lb_),
                           .ub = static_cast<Count>(ub_),
                           .true_lb = static_cast<Count>(true_lb_),
                           .true_ub = static_cast<Count>(true_ub_),
                           .marked = marked_};
    parts_.program.set_root(pieces_.size() == 1 ? pieces_.front() : parts_.program.list(std::move(pieces_)));
    made.type = Ref(new Datatype(std::move(parts_)));
    return {};
  }

 private:
  // Takes the bounds of copies of `old` into account, of which the lowest is at `low` and the highest at
  // `high`. Marked bounds count for more: if there is one, only marked ones matter.
  void widen(Wide low, Wide high, const Datatype& old) {
    const Bounds& bounds = old.bounds();
    if (!any_ || (bounds.marked && !marked_)) {
      lb_ = low + bounds.lb;
      ub_ = high + bounds.ub;
      marked_ = bounds.marked;
      any_ = true;
    } else if (bounds.marked == marked_) {
      lb_ = std::min(lb_, low + bounds.lb);
      ub_ = std::max(ub_, high + bounds.ub);
    }
    if (old.size() > 0) {
      true_lb_ = any_data_ ? std::min(true_lb_, low + bounds.true_lb) : low + bounds.true_lb;
      true_ub_ = any_data_ ? std::max(true_ub_, high + bounds.true_ub) : high + bounds.true_ub;
      any_data_ = true;
      overflow_ = overflow_ || !fits(true_lb_) || !fits(true_ub_);
    }
    overflow_ = overflow_ || !fits(lb_) || !fits(ub_);
  }

  void note_elements(Count count, const Datatype& old) {
    parts_.alignment = std::max(parts_.alignment, old.alignment());
    if (old.signature().elements > 0) {
      const bool first = parts_.signature.elements == 0;
      if (first) parts_.element = old.element();
      if (!first && parts_.element != old.element()) parts_.element = nullptr;
    }
    parts_.signature = parts_.signature.then(old.signature().times(count));
  }

  // The extent is rounded up to the strictest alignment of the basic types (MPI-5.0 section 5.1, "epsilon").
  void pad() {
    const Wide rest = (ub_ - lb_) % parts_.alignment;
    if (rest > 0) ub_ += parts_.alignment - rest;
  }

  Datatype::Parts parts_;
  std::vector<Node> pieces_;
  Wide size_ = 0, lb_ = 0, ub_ = 0, true_lb_ = 0, true_ub_ = 0;
  bool any_ = false, any_data_ = false, marked_ = false, overflow_ = false;
};

base::Status vector_with(int combiner, const Blocks& blocks, Wide stride, const Datatype& old, Made& made) {
  Builder builder(combiner, made.large);
  builder.argument(blocks.count);
  builder.argument(blocks.length);
  builder.argument(blocks.stride);
  builder.addresses(combiner == MPI_COMBINER_HVECTOR ? 1 : 0);
  builder.component(old);
  builder.overflow_if(!fits(stride));
  builder.add(Blocks{blocks.count, blocks.length, static_cast<Count>(stride)}, 0, old);
  return builder.finish(made);
}

// One block of `lengths[i]` (of `lengths[0]` if there is only one) at each displacement times `unit`.
void add_indexed(Builder& builder, std::span<const Count> lengths, std::span<const Count> displacements,
                 Count unit, const Datatype& old) {
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    const Wide displacement = static_cast<Wide>(displacements[i]) * unit;
    builder.overflow_if(!fits(displacement));
    builder.add(Blocks{1, lengths[lengths.size() == 1 ? 0 : i], 0}, static_cast<Count>(displacement), old);
  }
}

base::Status indexed_with(int combiner, std::span<const Count> lengths, std::span<const Count> displacements,
                          const Datatype& old, Made& made) {
  const bool in_bytes = combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_HINDEXED_BLOCK;
  Builder builder(combiner, made.large);
  builder.argument(static_cast<Count>(displacements.size()));
  builder.arguments(lengths);
  builder.arguments(displacements);
  builder.addresses(in_bytes ? static_cast<Count>(displacements.size()) : 0);
  builder.component(old);
  add_indexed(builder, lengths, displacements, in_bytes ? 1 : old.extent(), old);
  return builder.finish(made);
}

// Indices of one dimension of an array: `blocks` blocks of `length`, `period` apart, from `first` on; and
// `tail` more where the next block would begin.
struct Selection {
  Count first = 0, length = 0, blocks = 0, period = 0, tail = 0;

  Count indices() const { return blocks * length + tail; }
  Count last() const {
    return first + (tail > 0 ? blocks * period + tail : (blocks - 1) * period + length) - 1;
  }
};

struct ArrayPart {
  std::span<const Count> sizes;
  std::span<const Selection> selections;
  int order;
};

// The elements of an array that are selected in all dimensions; the new type has the bounds of the whole
// array.
base::Status select_in_array(Builder& builder, const ArrayPart& part, const Datatype& old, Made& made) {
  builder.component(old);
  const std::size_t dimensions = part.sizes.size();
  // From the dimension whose elements are neighbours to the one in which they are furthest apart.
  Node node = old.root();
  Wide stride = old.extent(), first = 0, last = 0, elements = 1;
  const auto in_range = [&] {
    return fits(stride) && fits(first) && fits(last) && fits(elements) && fits(elements * old.size());
  };
  for (std::size_t i = 0; i < dimensions && elements > 0; ++i) {
    const std::size_t d = part.order == MPI_ORDER_C ? dimensions - 1 - i : i;
    const Selection& selection = part.selections[d];
    first += selection.first * stride;
    last += selection.last() * stride;
    elements *= selection.indices();
    if (!in_range() || !fits(stride * part.sizes[d])) break;
    const auto step = static_cast<Count>(stride);
    Program& program = builder.program();
    const Node block = program.loop(node, selection.length, step);
    const Node tail = program.loop(node, selection.tail, step);
    node = program.list({program.loop(block, selection.blocks, selection.period * step),
                         tail.at(selection.blocks * selection.period * step)});
    stride *= part.sizes[d];
  }
  stride = old.extent();
  for (const Count size : part.sizes) {
    stride *= size;
    if (!fits(stride)) break;
  }
  builder.overflow_if(!in_range());
  if (elements > 0 && in_range()) {
    builder.add_piece(node.at(static_cast<Count>(first)), std::minmax(first, last),
                      static_cast<Count>(elements), old);
  }
  builder.set_bounds(0, stride);
  return builder.finish(made);
}

// What process `place` of dimension d has.
Selection share_of(int place, const Distribution& distribution, std::size_t d) {
  const Count size = distribution.sizes[d], processes = distribution.processes[d];
  if (distribution.kinds[d] == MPI_DISTRIBUTE_NONE) return {.length = size, .blocks = 1};
  Count length = distribution.arguments[d];
  if (length == MPI_DISTRIBUTE_DFLT_DARG) {
    length = distribution.kinds[d] == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  }
  const Count first = place * length, period = processes * length;
  if (first >= size) return {};
  const Count periods = (size - first) / period, rest = (size - first) % period;
  Selection share{.first = first, .length = length, .blocks = periods, .period = period};
  if (rest >= length) {
    ++share.blocks;
  } else {
    share.tail = rest;
  }
  return share;
}

}  // namespace

base::Status make_contiguous(Count count, const Datatype& old, Made& made) {
  Builder builder(MPI_COMBINER_CONTIGUOUS, made.large);
  builder.argument(count);
  builder.component(old);
  builder.add(Blocks{1, count, 0}, 0, old);
  return builder.finish(made);
}

base::Status make_dup(const Datatype& old, Made& made) {
  Builder builder(MPI_COMBINER_DUP, made.large);
  builder.component(old);
  builder.add(Blocks{1, 1, 0}, 0, old);
  CLUMP_TRY(builder.finish(made));
  if (old.committed()) made.type->commit();
  return {};
}

base::Status make_resized(const Datatype& old, Count lb, Count extent, Made& made) {
  Builder builder(MPI_COMBINER_RESIZED, made.large);
  builder.argument(lb);
  builder.argument(extent);
  builder.addresses(2);
  builder.component(old);
  builder.add(Blocks{1, 1, 0}, 0, old);
  builder.set_bounds(lb, extent);
  return builder.finish(made);
}

base::Status make_vector(const Blocks& blocks, const Datatype& old, Made& made) {
  return vector_with(MPI_COMBINER_VECTOR, blocks, static_cast<Wide>(blocks.stride) * old.extent(), old, made);
}

base::Status make_hvector(const Blocks& blocks, const Datatype& old, Made& made) {
  return vector_with(MPI_COMBINER_HVECTOR, blocks, blocks.stride, old, made);
}

base::Status make_indexed(std::span<const Count> lengths, std::span<const Count> displacements,
                          const Datatype& old, Made& made) {
  return indexed_with(MPI_COMBINER_INDEXED, lengths, displacements, old, made);
}

base::Status make_hindexed(std::span<const Count> lengths, std::span<const Count> displacements,
                           const Datatype& old, Made& made) {
  return indexed_with(MPI_COMBINER_HINDEXED, lengths, displacements, old, made);
}

base::Status make_indexed_block(Count length, std::span<const Count> displacements, const Datatype& old,
                                Made& made) {
  return indexed_with(MPI_COMBINER_INDEXED_BLOCK, {&length, 1}, displacements, old, made);
}

base::Status make_hindexed_block(Count length, std::span<const Count> displacements, const Datatype& old,
                                 Made& made) {
  return indexed_with(MPI_COMBINER_HINDEXED_BLOCK, {&length, 1}, displacements, old, made);
}

base::Status make_struct(std::span<const Count> lengths, std::span<const Count> displacements,
                         std::span<const Datatype* const> types, Made& made) {
  Builder builder(MPI_COMBINER_STRUCT, made.large);
  builder.argument(static_cast<Count>(types.size()));
  builder.arguments(lengths);
  builder.arguments(displacements);
  builder.addresses(static_cast<Count>(types.size()));
  for (std::size_t i = 0; i < types.size(); ++i) {
    builder.component(*types[i]);
    builder.add(Blocks{1, lengths[i], 0}, displacements[i], *types[i]);
  }
  return builder.finish(made);
}

base::Status make_subarray(const Box& box, const Datatype& old, Made& made) {
  const std::size_t dimensions = box.sizes.size();
  Builder builder(MPI_COMBINER_SUBARRAY, made.large);
  builder.argument(static_cast<Count>(dimensions));
  builder.arguments(box.sizes);
  builder.arguments(box.subsizes);
  builder.arguments(box.starts);
  builder.argument(box.order);
  std::vector<Selection> selections(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d)
    selections[d] = {.first = box.starts[d], .length = box.subsizes[d], .blocks = 1};
  return select_in_array(builder, {box.sizes, selections, box.order}, old, made);
}

base::Status make_darray(const Distribution& distribution, const Datatype& old, Made& made) {
  const std::size_t dimensions = distribution.sizes.size();
  Builder builder(MPI_COMBINER_DARRAY, made.large);
  builder.argument(distribution.size);
  builder.argument(distribution.rank);
  builder.argument(static_cast<Count>(dimensions));
  builder.arguments(distribution.sizes);
  for (const auto& numbers : {distribution.kinds, distribution.arguments, distribution.processes}) {
    for (const int number : numbers) builder.argument(number);
  }
  builder.argument(distribution.order);

  // The place of the rank in the grid, whose last dimension varies fastest whatever the order of the array
  // is.
  std::vector<Selection> selections(dimensions);
  int rest = distribution.rank;
  for (std::size_t d = dimensions; d-- > 0; rest /= distribution.processes[d]) {
    selections[d] = share_of(rest % distribution.processes[d], distribution, d);
  }
  return select_in_array(builder, {distribution.sizes, selections, distribution.order}, old, made);
}

}  // namespace clump::datatype
