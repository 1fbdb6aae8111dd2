#include "coll/check/call_signature.h"

#include <algorithm>
#include <type_traits>

#include "core/handle_table.h"

namespace clump::coll {

static_assert(std::is_trivially_copyable_v<CallSignature>);

namespace {

/// `one` is a rank of the group that names a root in the other one, where `other` is.
bool same_root(const Written& one, const Written& other) {
  return other.signature.root == (other.rank == one.signature.root ? MPI_ROOT : MPI_PROC_NULL);
}

bool differ_in_root(const Written& a, const Written& b, bool inter) {
  if (!inter || a.signature.root == CallSignature::kNoRoot) return a.signature.root != b.signature.root;
  if (a.signature.root >= 0) return !same_root(a, b);
  return b.signature.root < 0 || !same_root(b, a);
}

/// In one file, other places are other functions. Of two files that is not known. A rank that takes no part in
/// MPI_Reduce, as it names MPI_PROC_NULL as the root, has none.
bool differ_in_operation(const CallSignature& a, const CallSignature& b) {
  constexpr std::int64_t kNone = CallSignature::kNoOperation;
  if (a.operation == kNone || b.operation == kNone) return false;
  if (a.operation != b.operation) return true;
  return a.file_of_operation != 0 && a.file_of_operation == b.file_of_operation &&
         a.place_of_operation != b.place_of_operation;
}

Difference difference_between(const datatype::Content& given, const datatype::Content& taken) {
  if (matches(given, taken)) return Difference::kNone;
  // So many elements of another size are another type, rather than more or less of the same.
  const bool amount = given.bytes != taken.bytes && given.signature.elements != taken.signature.elements;
  return amount ? Difference::kAmount : Difference::kType;
}

}  // namespace

void CallSignature::set_name(std::string_view call) {
  if (call.ends_with("_c")) call.remove_suffix(2);
  name = {};
  std::copy_n(call.data(), std::min(call.size(), name.size() - 1), name.data());
}

std::int64_t number_of(const core::Op& op) {
  if (op.is_predefined()) return core::value_of(op.handle());
  return op.commutative() ? CallSignature::kCommutative : CallSignature::kNotCommutative;
}

Difference difference(const Written& a, const Written& b, bool inter) {
  const CallSignature &mine = a.signature, &theirs = b.signature;
  if (mine.call() != theirs.call()) return Difference::kCall;
  if (differ_in_root(a, b, inter)) return Difference::kRoot;
  if (differ_in_operation(mine, theirs)) return Difference::kOperation;
  if (mine.in_place != theirs.in_place) return Difference::kInPlace;
  if (mine.arguments != theirs.arguments) return Difference::kArguments;
  // The groups of an intercommunicator divide the same data among different ranks.
  if (mine.counts != theirs.counts && !inter) return Difference::kCounts;
  if (mine.combines) return difference_between(mine.gives, theirs.gives);
  const Difference there = difference_between(mine.gives, theirs.takes), back = difference_between(theirs.gives, mine.takes);
  return there == Difference::kNone ? back : back == Difference::kNone ? there : std::min(there, back);
}

int class_of(Difference difference) {
  switch (difference) {
    case Difference::kRoot:
      return MPI_ERR_ROOT;
    case Difference::kOperation:
      return MPI_ERR_OP;
    case Difference::kInPlace:
      return MPI_ERR_BUFFER;
    case Difference::kCounts:
      return MPI_ERR_COUNT;
    case Difference::kAmount:
      return MPI_ERR_TRUNCATE;
    case Difference::kType:
      return MPI_ERR_TYPE;
    case Difference::kArguments:
    case Difference::kEdges:
      return MPI_ERR_ARG;
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace clump::coll
