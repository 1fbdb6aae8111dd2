// Reads what prterun writes to stderr, line by line: takes out the proxies' final statuses, lines that
// several proxies write alike, and what PRRTE says of a failure that a proxy has reported.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/troubles.h"

namespace clump::mpiexec {

/// How the ranks of a host have ended, or that they begin, as the host's proxy tells. kEnded: by a signal
/// that mpiexec has passed on.
enum class HostStatus : char { kUnknown = '?', kBegun = 'b', kDone = 'd', kFailed = 'f', kEnded = 'e' };

/// Takes bytes and returns what is to be shown of them. It neither reads nor writes itself, for tests.
class PrterunOutputFilter {
 public:
  /// A line that begins with `token`, which only the job's proxies know, is a final status.
  PrterunOutputFilter(std::string token, const std::vector<std::string>& hosts)
      : token_(std::move(token)), hosts_(hosts), ends_(hosts.size(), HostStatus::kUnknown) {}
  /// What is to be shown now.
  std::string add(std::string_view bytes);
  /// The stream has ended: the rest.
  std::string finish();
  /// Of each host; kUnknown until they have ended.
  const std::vector<HostStatus>& ends() const { return ends_; }
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
  bool take_final_status(std::string_view line);
  void look_for_lost(const std::string& line);

  const std::string token_;
  const std::vector<std::string> hosts_;
  std::vector<HostStatus> ends_;
  int code_ = 0;
  bool has_begun_ = false;
  Troubles troubles_;
  std::string lost_;  ///< the host that PRRTE says it has lost
  std::string partial_;
  std::string rule_;            ///< a line of dashes, until it is known what follows
  bool in_dropped_ = false;     ///< between two lines of dashes
  std::set<std::string> said_;  ///< by proxies
};

/// The environment variable that tells proxies the token.
inline constexpr const char* kFinalStatusVariable = "CLUMP_FINAL_STATUS";

/// The line in which a proxy tells `end`; `code` is its exit code.
std::string final_status(const std::string& token, int host, HostStatus end, int code = 0);

}  // namespace clump::mpiexec
