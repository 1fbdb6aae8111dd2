// Random nested types against a naive reference: the list of the packed bytes' displacements, built from the
// definitions of MPI-5.0 chapter 5 and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "datatype/derive.h"
#include "naive_map.h"
#include "seed.h"

namespace clump::datatype {
namespace {

// Displacements of the packed bytes. All test types are made of MPI_INT and MPI_CHAR, MPI_DOUBLE,
// MPI_SHORT_INT.
using Reference = naive::Map<Count>;

struct Sample {
  Ref type;
  Reference reference;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Count number(Count low, Count high) { return std::uniform_int_distribution<Count>(low, high)(random_); }

  Sample sample(int depth) {
    if (depth == 0) return basic();
    switch (number(0, 10)) {
      case 0:
        return contiguous(sample(depth - 1));
      case 1:
        return vector(sample(depth - 1), false);
      case 2:
        return vector(sample(depth - 1), true);
      case 3:
        return indexed(sample(depth - 1), false);
      case 4:
        return indexed(sample(depth - 1), true);
      case 5:
        return indexed_block(sample(depth - 1), number(0, 1) == 1);
      case 6:
        return subarray(sample(depth - 1));
      case 7:
        return resized(sample(depth - 1));
      case 8:
        return dup(sample(depth - 1));
      case 9:
        return darray(sample(depth - 1));
      default:
        return record(depth);
    }
  }

 private:
  Sample basic() {
    const MPI_Datatype handles[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_SHORT_INT};
    const Datatype* type = predefined(handles[number(0, 3)]);
    Reference reference{.ub = type->extent(), .alignment = type->alignment(), .empty = false};
    if (type == predefined(MPI_SHORT_INT)) {
      reference.items = {0, 1, 4, 5, 6, 7};
    } else {
      for (Count i = 0; i < type->size(); ++i) reference.items.push_back(i);
    }
    return {Ref(type), reference};
  }

  static Sample finish(base::Status status, Made& made, Reference reference) {
    EXPECT_TRUE(status.ok());
    reference.pad();
    return {std::move(made.type), std::move(reference)};
  }

  Sample contiguous(const Sample& old) {
    const Count count = number(0, 4);
    Reference reference;
    reference.add_row(old.reference, count, 0);
    Made made;
    return finish(make_contiguous(count, *old.type, made), made, reference);
  }

  Sample vector(const Sample& old, bool in_bytes) {
    const Blocks blocks{number(0, 4), number(0, 3), number(-4, in_bytes ? 40 : 4)};
    Reference reference;
    for (Count i = 0; i < blocks.count; ++i) {
      reference.add_row(old.reference, blocks.length,
                        i * blocks.stride * (in_bytes ? 1 : old.reference.extent()));
    }
    Made made;
    return finish(in_bytes ? make_hvector(blocks, *old.type, made) : make_vector(blocks, *old.type, made),
                  made, reference);
  }

  Sample indexed(const Sample& old, bool in_bytes) {
    std::vector<Count> lengths, places;
    Reference reference;
    for (Count i = number(0, 5); i > 0; --i) {
      lengths.push_back(number(0, 3));
      places.push_back(number(-5, in_bytes ? 60 : 10));
      reference.add_row(old.reference, lengths.back(),
                        places.back() * (in_bytes ? 1 : old.reference.extent()));
    }
    Made made;
    return finish(in_bytes ? make_hindexed(lengths, places, *old.type, made)
                           : make_indexed(lengths, places, *old.type, made),
                  made, reference);
  }

  Sample indexed_block(const Sample& old, bool in_bytes) {
    const Count length = number(0, 3);
    std::vector<Count> places;
    Reference reference;
    for (Count i = number(0, 5); i > 0; --i) {
      places.push_back(number(-5, in_bytes ? 60 : 10));
      reference.add_row(old.reference, length, places.back() * (in_bytes ? 1 : old.reference.extent()));
    }
    Made made;
    return finish(in_bytes ? make_hindexed_block(length, places, *old.type, made)
                           : make_indexed_block(length, places, *old.type, made),
                  made, reference);
  }

  Sample record(int depth) {
    std::vector<Sample> fields;
    std::vector<Count> lengths, places;
    std::vector<const Datatype*> types;
    Reference reference;
    for (Count i = number(0, 4); i > 0; --i) {
      fields.push_back(sample(static_cast<int>(number(0, depth - 1))));
      lengths.push_back(number(0, 2));
      places.push_back(number(-20, 60));
      reference.add_row(fields.back().reference, lengths.back(), places.back());
    }
    for (const Sample& field : fields) types.push_back(field.type.get());
    Made made;
    return finish(make_struct(lengths, places, types, made), made, reference);
  }

  Sample resized(const Sample& old) {
    const Count lb = number(-10, 10), extent = number(-5, 40);
    Reference reference;
    reference.add(old.reference, 0);
    reference.set_bounds(lb, extent);
    Made made;
    return finish(make_resized(*old.type, lb, extent, made), made, reference);
  }

  Sample dup(const Sample& old) {
    Reference reference;
    reference.add(old.reference, 0);
    Made made;
    return finish(make_dup(*old.type, made), made, reference);
  }

  Sample subarray(const Sample& old) {
    const auto dimensions = static_cast<std::size_t>(number(1, 3));
    const int order = number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    std::vector<Count> sizes(dimensions), subsizes(dimensions), starts(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes[d] = number(1, 4);
      subsizes[d] = number(1, sizes[d]);
      starts[d] = number(0, sizes[d] - subsizes[d]);
    }
    Reference reference;
    reference.add_array(old.reference, sizes, order, [&](const std::vector<Count>& index) {
      for (std::size_t d = 0; d < dimensions; ++d)
        if (index[d] < starts[d] || index[d] >= starts[d] + subsizes[d]) return false;
      return true;
    });
    Made made;
    return finish(make_subarray({sizes, subsizes, starts, order}, *old.type, made), made, reference);
  }

  // Owner of index g in a dimension: block g / length is dealt out to the processes in turn.
  Sample darray(const Sample& old) {
    const auto dimensions = static_cast<std::size_t>(number(1, 3));
    const int order = number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    std::vector<Count> sizes(dimensions), lengths(dimensions);
    std::vector<int> kinds(dimensions), arguments(dimensions), processes(dimensions), place(dimensions);
    int grid = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes[d] = number(1, 7);
      const int kind = static_cast<int>(number(0, 3));
      processes[d] = kind == 0 ? 1 : static_cast<int>(number(1, 3));
      grid *= processes[d];
      kinds[d] = kind == 0 ? MPI_DISTRIBUTE_NONE : kind == 1 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
      arguments[d] = kind == 3 ? static_cast<int>(number(1, 3)) : MPI_DISTRIBUTE_DFLT_DARG;
      lengths[d] = kind == 0   ? sizes[d]
                   : kind == 1 ? (sizes[d] + processes[d] - 1) / processes[d]
                   : kind == 2 ? 1
                               : arguments[d];
    }
    const int rank = static_cast<int>(number(0, grid - 1));
    for (std::size_t d = 0, behind = grid, rest = rank; d < dimensions; ++d) {
      behind /= processes[d];
      place[d] = static_cast<int>(rest / behind);
      rest %= behind;
    }
    Reference reference;
    reference.add_array(old.reference, sizes, order, [&](const std::vector<Count>& index) {
      for (std::size_t d = 0; d < dimensions; ++d)
        if (index[d] / lengths[d] % processes[d] != place[d]) return false;
      return true;
    });
    Made made;
    return finish(make_darray({grid, rank, sizes, kinds, arguments, processes, order}, *old.type, made), made,
                  reference);
  }

  std::mt19937_64 random_;
};

// Memory around a layout of a sample: `count` elements, and room for negative displacements.
class Area {
 public:
  Area(const Sample& sample, Count count) : sample_(sample), count_(count) {
    for (Count i = 0; i < count; ++i) {
      for (const Count byte : sample.reference.items) places_.push_back(byte + i * sample.reference.extent());
    }
    if (places_.empty()) return;
    const auto [low, high] = std::minmax_element(places_.begin(), places_.end());
    origin_ = -*low;
    memory_.resize(static_cast<std::size_t>(*high - *low + 1));
  }

  void fill(unsigned seed) {
    std::mt19937_64 random(seed);
    for (std::byte& byte : memory_) byte = static_cast<std::byte>(random());
  }
  Layout layout() { return {memory_.data() + origin_, count_, sample_.type.get()}; }
  std::byte& packed(std::size_t i) { return memory_[static_cast<std::size_t>(places_[i] + origin_)]; }
  std::size_t size() const { return places_.size(); }
  std::vector<std::byte>& memory() { return memory_; }
  /// No byte occurs twice, so the layout may be written to.
  bool writable() const {
    std::vector<Count> sorted = places_;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }

 private:
  const Sample& sample_;
  Count count_;
  Count origin_ = 0;
  std::vector<Count> places_;
  std::vector<std::byte> memory_;
};

constexpr int kSamples = 4000;

Sample bounded_sample(Generator& generator) {
  for (;;) {
    Sample sample = generator.sample(static_cast<int>(generator.number(1, 5)));
    if (sample.reference.items.size() < 3000) return sample;
  }
}

// Of small types many now and then, because arrays of records are copied in batches.
Count elements(Generator& generator, const Sample& sample) {
  return generator.number(0, sample.reference.items.size() < 60 && generator.number(0, 3) == 0 ? 400 : 6);
}

// Cut points of [0, size), in order, both ends included.
std::vector<Count> cuts(Generator& generator, Count size) {
  std::vector<Count> points = {0, size};
  for (Count i = generator.number(0, 4); i > 0; --i) points.push_back(generator.number(0, size));
  std::sort(points.begin(), points.end());
  return points;
}

TEST(RandomTypes, SizesAndBounds) {
  Generator generator(static_cast<unsigned>(test_seed(1)));
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = bounded_sample(generator);
    const Reference& reference = sample.reference;
    ASSERT_EQ(sample.type->size(), static_cast<Count>(reference.items.size())) << i;
    ASSERT_EQ(sample.type->lb(), reference.lb) << i;
    ASSERT_EQ(sample.type->extent(), reference.extent()) << i;
    if (reference.items.empty()) continue;
    const auto [low, high] = std::minmax_element(reference.items.begin(), reference.items.end());
    ASSERT_EQ(sample.type->true_lb(), *low) << i;
    ASSERT_EQ(sample.type->true_extent(), *high + 1 - *low) << i;
  }
}

TEST(RandomTypes, PackInPieces) {
  Generator generator(static_cast<unsigned>(test_seed(2)));
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = bounded_sample(generator);
    Area area(sample, elements(generator, sample));
    area.fill(static_cast<unsigned>(i));
    std::vector<std::byte> packed(area.size());
    const std::vector<Count> points = cuts(generator, static_cast<Count>(packed.size()));
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
      pack(std::span(packed).subspan(points[k], points[k + 1] - points[k]), area.layout(), points[k]);
    }
    for (std::size_t k = 0; k < packed.size(); ++k)
      ASSERT_EQ(packed[k], area.packed(k)) << "sample " << i << ", byte " << k;
  }
}

TEST(RandomTypes, UnpackInPiecesTouchesNothingElse) {
  Generator generator(static_cast<unsigned>(test_seed(3)));
  int written = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = bounded_sample(generator);
    Area area(sample, elements(generator, sample)), expected(sample, area.layout().count);
    if (!area.writable()) continue;
    ++written;
    std::vector<std::byte> packed(area.size());
    for (std::size_t k = 0; k < packed.size(); ++k)
      expected.packed(k) = packed[k] = static_cast<std::byte>(k * 7 + 1);
    const std::vector<Count> points = cuts(generator, static_cast<Count>(packed.size()));
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
      unpack(area.layout(), points[k], std::span(packed).subspan(points[k], points[k + 1] - points[k]));
    }
    ASSERT_EQ(area.memory(), expected.memory()) << "sample " << i;
  }
  EXPECT_GT(written, kSamples / 4);
}

// Copies as much as both hold, in pieces, in random order of the pieces.
void copy_between(Generator& generator, Area& from, Area& to, Area& expected) {
  const std::size_t size = std::min(from.size(), to.size());
  for (std::size_t k = 0; k < size; ++k) expected.packed(k) = from.packed(k);
  const std::vector<Count> points = cuts(generator, static_cast<Count>(size));
  std::vector<std::size_t> pieces;
  for (std::size_t k = 0; k + 1 < points.size(); ++k)
    pieces.push_back(generator.number(0, 1) == 0 ? k : points.size() - 2 - k);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) pieces.push_back(k);
  for (const std::size_t k : pieces) copy(to.layout(), from.layout(), points[k], points[k + 1] - points[k]);
}

TEST(RandomTypes, CopyBetweenDifferentTypes) {
  Generator generator(static_cast<unsigned>(test_seed(4)));
  for (int i = 0; i < kSamples; ++i) {
    const Sample source = bounded_sample(generator), target = bounded_sample(generator);
    Area from(source, generator.number(0, 5)), to(target, generator.number(0, 5)),
        expected(target, to.layout().count);
    if (!to.writable()) continue;
    from.fill(static_cast<unsigned>(i));
    copy_between(generator, from, to, expected);
    ASSERT_EQ(to.memory(), expected.memory()) << "sample " << i;
  }
}

TEST(RandomTypes, CopyBetweenEqualTypes) {
  Generator generator(static_cast<unsigned>(test_seed(5)));
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = bounded_sample(generator);
    Area from(sample, elements(generator, sample)), to(sample, elements(generator, sample)),
        expected(sample, to.layout().count);
    if (!to.writable()) continue;
    from.fill(static_cast<unsigned>(i));
    copy_between(generator, from, to, expected);
    ASSERT_EQ(to.memory(), expected.memory()) << "sample " << i;
  }
}

}  // namespace
}  // namespace clump::datatype
