// A derived datatype as bytes, for the target's process of a one-sided operation, which does not know the
// origin's types.
#pragma once

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
  explicit DescribedType(std::span<const Count> description);
  const datatype::Datatype& type() const { return *type_; }

 private:
  datatype::Node read_node();
  Count next() { return description_[at_++]; }
  const Count* read_counts(Count n);

  std::span<const Count> description_;
  std::size_t at_ = 0;
  std::deque<std::vector<datatype::Node>> nodes_;  // a deque never moves its elements
  std::deque<std::vector<Count>> counts_;
  datatype::Ref type_;
};

}  // namespace clump::rma
