// Rules as text: what `clump tune` writes, `clump info --coll` prints, and mpiexec reads and gives to ranks.
//
//   # a comment, also behind a rule
//   # cores: 16
//   allreduce   ring   in one process, from 3 ranks, below 64 KiB, the operation commutes
//
// A line is a collective, an algorithm, and what has to be so, in any order, with commas between. The first
// line of a collective that fits decides; where none does, the shipped rules go on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "coll/select/select.h"

namespace clump::coll {

/// The environment variable that brings a job's rules to its ranks, the lines of a file with ';' between
/// them.
inline constexpr const char* kRulesVariable = "CLUMP_COLL_TABLE";

/// "64 KiB", "481 bytes": exactly.
std::string size_text(Count bytes);
/// "4 ranks", "1 rank".
std::string ranks_text(int ranks);
/// What a rule asks for, in words; empty if it fits always.
std::string condition_text(const Rule& rule);
/// A line for it, without the end of a line.
std::string line_text(const Rule& rule);
/// All of them, for kRulesVariable.
std::string compact_text(std::span<const Rule> rules);

struct RuleText {
  std::vector<Rule> rules;
  int cores = 0;  ///< of the machine that they are for, as a comment says; 0: none does
};
/// A ';' stands between the rules of one line. Fails with MPI_ERR_ARG and a message that names `source`, the
/// line, and what there is.
base::Status parse_rules(std::string_view source, std::string_view text, RuleText& parsed);

}  // namespace clump::coll
