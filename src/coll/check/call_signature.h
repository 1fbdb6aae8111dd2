// CallSignatures: two ranks of a communicator compare them before a collective operation of the program's
// (check/check.h). A signature has one reader: it describes the data that goes from its writer to its
// reader, and back.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/op.h"
#include "datatype/content.h"

namespace clump::coll {

/// Where ranks can differ, in the order in which they are compared.
enum class Difference : std::uint8_t {
  kNone,
  kCall,
  kRoot,
  kOperation,
  kInPlace,
  kArguments,  ///< others that have to be alike
  kCounts,     ///< of the blocks of a reduce-scatter
  kAmount,     ///< of data
  kType,       ///< of data, the amount being the same
  kEdges,      ///< of a graph
};

/// Is sent as it is; trivial.
struct CallSignature {
  /// Other calls have no root.
  static constexpr int kNoRoot = -100;
  /// Values for an operation that is not predefined, and for none.
  static constexpr std::int64_t kNoOperation = 0, kCommutative = -1, kNotCommutative = -2;
  enum class InPlace : std::uint8_t { kNo, kYes, kAsEachLikes };

  std::array<char, 40> name{};  ///< the function's, without the _c of one with large counts; ends with 0
  int root = kNoRoot;
  InPlace in_place = InPlace::kAsEachLikes;
  bool combines = false;  ///< `gives` is what all ranks have to pass, and nothing is received
  std::int64_t operation = kNoOperation;
  /// Where a function of the program's lies, which is an operation: its file and the place there. 0: unknown.
  std::uint64_t file_of_operation = 0, place_of_operation = 0;
  std::uint64_t counts = 0;     ///< the same if all blocks have the same sizes
  std::uint64_t arguments = 0;  ///< the same if others are that all ranks have to pass
  datatype::Content gives, takes;

  void set_name(std::string_view call);
  std::string_view call() const { return name.data(); }
};

std::int64_t number_of(const core::Op& op);

/// A signature and the rank, in its group, that has written it.
struct Written {
  const CallSignature& signature;
  int rank;
};
/// The difference between two ranks; of an intercommunicator, one of each group. Both find the same.
Difference difference(const Written& a, const Written& b, bool inter);
/// The error class of a difference that a rank finds when it compares its own signature with another one's.
int class_of(Difference difference);

}  // namespace clump::coll
