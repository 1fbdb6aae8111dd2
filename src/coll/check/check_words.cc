// The messages for ranks whose calls differ.
#include <algorithm>

#include "coll/check/check.h"
#include "core/rank.h"
#include "datatype/fingerprint.h"
#include "datatype/reduce.h"

namespace clump::coll {

namespace {

std::string name_of_root(int root) {
  return root == MPI_ROOT ? "MPI_ROOT" : root == MPI_PROC_NULL ? "MPI_PROC_NULL" : std::to_string(root);
}

std::string name_of_operation(std::int64_t number) {
  if (number == CallSignature::kCommutative) return "commutative operation of the program's";
  if (number == CallSignature::kNotCommutative) return "operation of the program's that is not commutative";
  return datatype::name_of(static_cast<datatype::PredefinedOp>(number));
}

struct Texts {
  const char *what, *advice;
};

/// What two ranks do, and what they should do.
Texts texts_for(Difference difference) {
  switch (difference) {
    case Difference::kRoot:
      return {"name different roots", "all ranks have to name the same root"};
    case Difference::kOperation:
      return {"combine with different operations", "all ranks have to pass the same operation"};
    case Difference::kInPlace:
      return {"do not both work in place", "either all ranks pass MPI_IN_PLACE here, or none does"};
    case Difference::kArguments:
      return {"pass different arguments", "all ranks have to pass the same here"};
    case Difference::kEdges:
      return {"do not name the same edges between them",
              "an edge is named twice: by its source as one that goes there, and by its destination as one "
              "that comes "
              "from there"};
    case Difference::kCounts:
      return {"divide the result differently", "all ranks have to pass the same recvcounts"};
    case Difference::kAmount:
      return {"do not mean the same amount of data",
              "what one rank gives and another one takes has to be the same: compare counts and datatypes"};
    case Difference::kType:
      return {"do not mean the same types of data",
              "the basic types have to be the same, in the same order (MPI_BYTE is one of them)"};
    default:
      return {"call different functions",
              "all ranks of a communicator have to call its collective operations in the same order"};
  }
}

}  // namespace

Check::Portion Check::Portion::of(const Layout& layout) {
  return layout.bytes() == 0 ? Portion() : Portion{layout.count, datatype::Ref(layout.type), 0};
}

std::string Check::Portion::words() const {
  if (count == 0) return "nothing";
  const std::string text = fmt::format("{} x {}", count, type->description());
  return more == 0 ? text : fmt::format("{} and {} more block{}", text, more, more == 1 ? "" : "s");
}

/// "rank 1: MPI_Gather(4 x MPI_INT to rank 0, root 0) at a.c:12"
std::string Check::own_words(int peer) const {
  // Where there is another rank that is the root, data go only there.
  if (const int root = mine_.front().root; root >= 0 && (comm_.is_inter() || root != comm_.rank)) peer = root;
  const auto i = static_cast<std::size_t>(peer);
  const CallSignature& signature = mine_[i];
  std::string text = comm_.group->name_of(comm_.rank) + ": " + name_ + '(';
  const char* before = "";
  const auto add = [&](const std::string& argument) {
    text += before + argument;
    before = ", ";
  };
  const char* const group = comm_.is_inter() ? "remote rank" : "rank";
  if (are_edges_) {
    const auto edges = [&](const std::vector<Portion>& all) {
      return all.empty() || all[i].count == 0 ? 0 : 1 + all[i].more;
    };
    add(fmt::format("{} to {} {}", edges(gives_), group, peer));
    add(fmt::format("{} from {} {}", edges(takes_), group, peer));
  } else if (signature.combines) {
    add(gives_[i].words());
  } else {
    if (!gives_.empty()) add(fmt::format("{} to {} {}", gives_[i].words(), group, peer));
    if (!takes_.empty()) add(fmt::format("{} from {} {}", takes_[i].words(), group, peer));
  }
  if (is_in_place_) add("MPI_IN_PLACE");
  if (signature.operation != CallSignature::kNoOperation)
    add(name_of_operation(signature.operation) +
        (place_of_operation_.empty() ? "" : " at " + place_of_operation_));
  if (!arguments_.empty()) add(arguments_);
  if (signature.root != CallSignature::kNoRoot) add("root " + name_of_root(signature.root));
  text += ')';
  return text + comm_.owner.world.at({name_, address_});
}

/// `finding` is that of `rank`, and stands for all.
std::string Check::message(int rank, const Finding& finding) const {
  const auto [what, advice] = texts_for(finding.difference);
  const char* const words = finding.words.data();
  const std::string one = comm_.peers().name_of(rank), other = comm_.group->name_of(finding.peer);
  if (comm_.is_inter()) {
    // Only ranks of the remote group have told what they call.
    const bool is_me = finding.peer == comm_.rank;
    return fmt::format("remote {} and {} {}\n  remote {}{}{}\n  {}", one, other, what, words,
                       is_me ? "\n  " : "", is_me ? finding_.words.data() : "", advice);
  }
  if (finding.peer == rank)
    return fmt::format("{} gives itself other data than it takes\n  {}\n  {}", one, words, advice);
  return fmt::format("{} and {} {}\n  {}\n  {}\n  {}", one, other, what, words,
                     findings_[static_cast<std::size_t>(finding.peer)].words.data(), advice);
}

}  // namespace clump::coll
