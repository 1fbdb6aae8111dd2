// mpiexec's line to one host of the job: its channels, over the stream of its own launcher, or over that of
// the proxy that has started its proxy (branches.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/channels.h"
#include "cluster/launcher_line.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class HostLine {
 public:
  HostLine(std::uint32_t number, LauncherLine& line)
      : number_(number), line_(line), channels_(number, line.stream()) {}
  HostLine(const HostLine&) = delete;
  HostLine& operator=(const HostLine&) = delete;

  /// A frame of this host has come. `message`: a control message; false: it is none. False: it breaks the
  /// rules.
  bool take(const Frame& frame, const std::function<bool(std::string_view)>& message);
  void send(std::string_view message);
  Channels& channels() { return channels_; }
  LauncherLine& line() { return line_; }
  /// Its proxy was started by the launcher itself.
  bool is_first() const { return line_.number() == number_; }

  /// The proxy has come; once.
  bool take_greeting();
  bool is_there() const { return is_there_; }
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }
  /// All that the ranks have written has come, but what reads it may be slow.
  bool has_sent_all() const {
    return channels_.has_ended_there(Channel::kOutput) && channels_.has_ended_there(Channel::kErrors);
  }
  /// The same, and it is taken.
  bool is_complete() const {
    return channels_.has_ended(Channel::kOutput) && channels_.has_ended(Channel::kErrors);
  }
  /// The proxy that has started this one says that nothing more will come: why, if that was too early.
  const std::optional<std::string>& lost() const { return lost_; }
  /// Nothing more is wanted from it. Its proxy ends, unless it serves hosts below it.
  void close();

 private:
  const std::uint32_t number_;
  LauncherLine& line_;
  Channels channels_;
  bool has_greeted_ = false, is_there_ = false;
  std::string version_, path_;
  std::optional<std::string> lost_;
};

}  // namespace clump::mpiexec
