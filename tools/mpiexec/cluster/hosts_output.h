// What the hosts of a job have written, at mpiexec: whole lines of each host, so that they do not mix. What
// several proxies say alike is shown once.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cluster/channels.h"
#include "output/collapse.h"
#include "output/lines.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class HostsOutput {
 public:
  /// `collapsed`: the output of so many ranks is; 0: of none.
  HostsOutput(std::size_t hosts, int collapsed);
  HostsOutput(const HostsOutput&) = delete;
  HostsOutput& operator=(const HostsOutput&) = delete;

  /// `target` is 1 or 2.
  void add(std::size_t host, int target, std::string_view bytes);
  /// A host has written all.
  void end(std::size_t host, int target);
  /// The same for what has come in the channels of a host. False: what reads the output takes no more now.
  bool take(std::size_t host, Channels& channels);
  void end(std::size_t host, Channels& channels);
  /// What reads the output has taken nothing for kSilence, and there is some.
  bool is_unread() const;
  /// Words of launchers, as they are, and mpiexec's own.
  void show(const std::string& text);
  void say(const std::string& text, Word kind = Word::kTrouble);
  /// What is due now.
  void show_due();
  std::optional<std::chrono::steady_clock::time_point> next() const;
  void show_all();

 private:
  struct Lines {
    LineForwarder out, err;
    std::string beginning = {};  ///< of a line of stderr that may be a proxy's word
  };
  LineForwarder& of(std::size_t host, int target) {
    return target == 1 ? hosts_[host].out : hosts_[host].err;
  }
  void add_errors(Lines& lines, std::string_view bytes);
  void put(const std::string& text);

  std::optional<CollapsedScreen> screen_;
  std::deque<Lines> hosts_;
  std::set<std::string> said_;  ///< by proxies
  std::size_t kept_ = 0;        ///< bytes, at the last look
  std::chrono::steady_clock::time_point silent_since_ = std::chrono::steady_clock::now();
};

}  // namespace clump::mpiexec
