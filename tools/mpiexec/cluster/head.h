// What mpiexec itself does while PRRTE's prterun runs the job's agents on their hosts.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cluster/troubles.h"

namespace clump::mpiexec {

class GdbHosts;
class HostsInput;
class Overview;

/// How the ranks of a host have ended, as its agent's last word says; or that they begin.
enum class HostEnd : char { kUnknown = '?', kBegun = 'b', kDone = 'd', kFailed = 'f', kEnded = 'e' };

/// What prterun writes to stderr, by lines: without the agents' last words, what one agent says as another
/// has said it, and what prterun says of a failure that an agent has reported, and in more words. Kept apart
/// from who reads and writes, for tests.
class HeadFilter {
 public:
  /// Last words begin with `word`, which nobody else writes.
  HeadFilter(std::string word, const std::vector<std::string>& hosts)
      : word_(std::move(word)), hosts_(hosts), ends_(hosts.size(), HostEnd::kUnknown) {}
  /// What is to be shown now.
  std::string add(std::string_view bytes);
  /// The stream has ended: the rest.
  std::string finish();
  /// Of each host; kUnknown until they have ended.
  const std::vector<HostEnd>& ends() const { return ends_; }
  /// Of the first host that has told one other than 0.
  int code() const { return code_; }
  /// Ranks begin on some host.
  bool has_begun() const { return has_begun_; }
  /// What was wrong on hosts before.
  const Troubles& troubles() const { return troubles_; }
  /// Which hosts have not told how their ranks ended, and what that means; empty if all have.
  std::string missing() const;

 private:
  std::string take_line(std::string line);
  bool is_last_word(std::string_view line);
  void look_for_lost(const std::string& line);

  const std::string word_;
  const std::vector<std::string> hosts_;
  std::vector<HostEnd> ends_;
  int code_ = 0;
  bool has_begun_ = false;
  Troubles troubles_;
  std::string lost_;  ///< the host that PRRTE says it has lost
  std::string partial_;
  std::string rule_;            ///< a line of dashes, until it is known what follows
  bool in_dropped_ = false;     ///< between two lines of dashes
  std::set<std::string> said_;  ///< by agents
};

/// Where agents find with what their last word begins.
inline constexpr const char* kLastWordVariable = "CLUMP_LAST_WORD";

/// `code` is the agent's, as mpiexec's on one host.
std::string last_word(const std::string& word, int host, HostEnd end, int code = 0);

/// What run_prterun() needs.
struct Launch {
  std::vector<std::string> arguments;  ///< prterun and its own
  std::vector<std::string> environment;
  std::string folder;  ///< of its files, to be removed; empty: none
  std::string word;    ///< agents' last words begin with it
  const std::vector<std::string>& hosts;
  Overview& overview;
  HostsInput& input;
  int timeout_seconds = 0;  ///< 0: none
  int collapsed = 0;        ///< the output of so many ranks is; 0: of none
  GdbHosts* gdb = nullptr;  ///< only with --gdb
};

/// Runs prterun to its end: passes on signals and what it writes, looks after the others, and says which of
/// the hosts were lost. `code` becomes mpiexec's exit code. Fails if it cannot be started.
base::Status run_prterun(const Launch& launch, int& code);

}  // namespace clump::mpiexec
