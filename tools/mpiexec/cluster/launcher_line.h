// A launcher's process, and the stream to the proxy that it has started on another host: its standard input
// and output, or a connection that the proxy has made (arrivals.h). Knows whether the proxy is there, has
// ended, or is lost, and why. mpiexec has such lines, and proxies that start proxies.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cluster/frame_stream.h"
#include "common/poll_set.h"
#include "job/supervisor.h"

namespace clump::mpiexec {

/// Owned by one thread; nothing blocks.
class LauncherLine {
 public:
  using Clock = std::chrono::steady_clock;
  /// A host that says nothing for so long is lost, with its network or by itself. Its proxy says every second
  /// that it is there. Shorter than the time after which ranks give each other up.
  static constexpr std::chrono::seconds kPatience{6};

  /// `number`: the host's in the job. `is_here`: it is this one, and the proxy is started without a launcher.
  LauncherLine(std::uint32_t number, std::string name, bool is_here)
      : number_(number), name_(std::move(name)), is_here_(is_here) {}
  LauncherLine(const LauncherLine&) = delete;
  LauncherLine& operator=(const LauncherLine&) = delete;
  ~LauncherLine();

  /// Makes the descriptors of the launcher's process: `in`, `out`, `err`, which are the caller's.
  base::Status prepare(Process& launcher);
  /// In its place, where the proxy will connect: the process has no input, and all that it writes are its
  /// words.
  base::Status prepare_for_connection(Process& launcher);
  /// In its place, where the user starts the proxy, which will connect: there is no process.
  void prepare_without_process() { has_stream_ = has_process_ = false; }
  /// The proxy has connected, and proved to be this host's.
  void join(int socket, Seal seal);
  void add_own_to(std::vector<int>& descriptors) const;

  void add_to(tools::PollSet& all) const;
  /// Moves what can be moved. `take` gets each frame that has come; false: it breaks the rules.
  void transfer(const std::function<bool(const Frame&)>& take);
  /// This process will be silent: it is stopped.
  void pause();
  std::uint32_t number() const { return number_; }
  const std::string& name() const { return name_; }

  /// The proxy has come; once.
  bool take_greeting();
  bool is_there() const { return is_there_; }
  FrameStream& stream() { return stream_; }
  /// What the launcher has written to stderr, and is to be shown now; `all` of it at its good end. What comes
  /// shortly before a bad end is told by why_lost().
  std::string take_words(bool all = false);
  /// Nothing has come from it or from the host yet; its process goes on.
  bool is_quiet() const;
  /// Its process has ended, with this status of waitpid(); -1: it could not be started, `error` says why.
  void note_launcher_end(int status, int error = 0);
  bool has_launcher_ended() const { return !has_process_ || launcher_status_.has_value(); }

  /// Nothing more will come. Why, if that was too early; `launcher` is its name.
  bool is_lost();
  std::string why_lost(const std::string& launcher) const;
  /// Ends the stream, for the proxy, too.
  void close();

 private:
  bool has_ended() const { return has_stream_ && stream_.has_ended(); }
  std::string why_gone(const std::string& name, const std::string& said) const;
  void read_words();

  const std::uint32_t number_;
  const std::string name_;
  const bool is_here_;
  FrameStream stream_;
  bool has_process_ = true, has_stream_ = true;
  bool is_there_ = false, has_just_come_ = false, is_silent_ = false, breaks_rules_ = false;
  int errors_ = -1;        ///< the launcher's stderr
  std::string words_;      ///< what has come of it
  std::size_t shown_ = 0;  ///< so much of it
  Clock::time_point words_since_{};
  std::optional<int> launcher_status_;
  int cannot_start_ = 0;
  std::optional<Clock::time_point> ended_at_;  ///< the stream, or the launcher
};

}  // namespace clump::mpiexec
