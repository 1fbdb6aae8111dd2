// What mpiexec itself does while PRRTE's prterun runs the job's agents on their hosts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// What prterun writes to stderr, by lines: without what it says of a failure that an agent has reported, and
/// in more words; without the agents' last word, which says that all ranks are done. Kept apart from who
/// reads and writes, for tests.
class HeadFilter {
 public:
  explicit HeadFilter(std::string last_word) : last_word_(std::move(last_word)) {}
  /// What is to be shown now.
  std::string add(std::string_view bytes);
  /// The stream has ended: the rest.
  std::string finish();
  bool all_done() const { return all_done_; }

 private:
  std::string take_line(std::string line);

  const std::string last_word_;
  std::string partial_;
  std::string rule_;         ///< a line of dashes, until it is known what follows
  bool in_dropped_ = false;  ///< between two lines of dashes
  bool all_done_ = false;
};

/// Where agents find their last word, which the first of them writes to stderr when all ranks are done.
inline constexpr const char* kLastWordVariable = "CLUMP_LAST_WORD";

/// Runs prterun, with these words, to its end: passes on signals and what it writes. `code` becomes
/// mpiexec's exit code. Fails if it cannot be started.
base::Status run_prterun(const std::vector<std::string>& words, const std::string& last_word, int& code);

}  // namespace clump::mpiexec
