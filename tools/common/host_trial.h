// Whether a host can take part in a job, for clump doctor --host, which starts the trial by the
// launcher of jobs, and reads lines "clump-trial WHAT ok|bad TEXT".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/launchers.h"

namespace clump::tools {

/// What a line begins with.
inline constexpr std::string_view kTrialMark = "clump-trial ";
/// The first word of mpiexec's command line on that host.
inline constexpr const char* kTryHost = "--try-host";
/// The exit code where something is wrong; others are the shell's.
inline constexpr int kTrialFailed = 99;

/// What is tried besides the version; what is empty is not.
struct Trial {
  int port = 0;                        ///< a process listens there,
  std::vector<std::string> addresses;  ///< at one of these at least,
  std::string network = {};            ///< on the host that has this own_network() (common/ways.h)
  std::string folder = {};
  std::string interface = {};  ///< it listens there; empty: at all addresses
  std::vector<std::string> through =
      {};  ///< hosts, one after the other: each starts the next by this launcher
  LauncherChoice launcher = {};
  /// Listens, tells where ("listens"), and tries the ways to other hosts that lines of stdin name: "NAME PORT
  /// ADDRESS"
  bool tries_others = false;
};

/// Of mpiexec's command line on that host.
std::vector<std::string> words_of(const Trial& trial);

struct TrialLine {
  std::string what;  ///< "version", "back", "folder", "listens", "reaches"
  bool is_good = false;
  std::string text;
};
/// False if it is none.
bool parse(std::string_view line, TrialLine& found);

/// On the host: what follows kTryHost. The exit code.
int try_host(const std::vector<std::string>& words);

}  // namespace clump::tools
