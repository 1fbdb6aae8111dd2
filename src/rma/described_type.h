// A derived datatype as bytes, for the target's process of a one-sided operation, which does not know the
// origin's types.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "datatype/datatype.h"

namespace clump::rma {

/// What a process needs to know of a type to copy elements of it, as numbers.
std::vector<Count> describe(const datatype::Datatype& type);

/// A type made of a description.
class DescribedType {
 public:
  /// Null: it is no description that describe() has made, or would lead to memory outside of the bounds that
  /// it tells.
  static std::unique_ptr<DescribedType> make(std::span<const Count> description);
  const datatype::Datatype& type() const { return *type_; }

 private:
  using Wide = __int128;
  /// Where data lie. Empty: begin == end.
  struct Reach {
    Wide begin = 0, end = 0;
    void add(const Reach& other, Wide offset) {
      const bool is_first = begin == end;
      begin = is_first ? other.begin + offset : std::min(begin, other.begin + offset);
      end = is_first ? other.end + offset : std::max(end, other.end + offset);
    }
    void add_row(const Reach& one, Count count, Count stride) {
      add(one, 0);
      add(one, Wide{count - 1} * stride);
    }
    /// No sum or product with a count of elements is out of the range of Wide.
    bool is_small() const { return begin >= -kMost && begin <= kMost && end >= -kMost && end <= kMost; }
    static constexpr Wide kMost = Wide{1} << 62;
  };

  explicit DescribedType(std::span<const Count> description) : description_(description) {}
  bool read();
  bool read_node(datatype::Node& node, Reach& reach, int level);
  bool read_children(datatype::Node& node, Reach& reach, Wide& bytes, int level);
  Count next() { return description_[at_++]; }
  Count left() const { return static_cast<Count>(description_.size() - at_); }
  const Count* read_counts(Count n);

  std::span<const Count> description_;
  std::size_t at_ = 0;
  std::deque<std::vector<datatype::Node>> nodes_;  // a deque never moves its elements
  std::deque<std::vector<Count>> counts_;
  datatype::Ref type_;
};

}  // namespace clump::rma
