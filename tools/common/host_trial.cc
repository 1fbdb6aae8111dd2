#include "common/host_trial.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "common/path_list.h"
#include "common/places.h"
#include "common/reach.h"
#include "common/ways.h"

namespace clump::tools {

namespace {

constexpr std::chrono::seconds kPatience{5};  ///< for a connection

/// Findings, told as they come.
class Findings {
 public:
  void good(std::string_view what, const std::string& text) { tell(what, "ok", text); }
  void bad(std::string_view what, const std::string& text) {
    code_ = kTrialFailed;
    tell(what, "bad", text);
  }
  int code() const { return code_; }

 private:
  static void tell(std::string_view what, std::string_view verdict, const std::string& text) {
    fmt::print("{}{} {} {}\n", kTrialMark, what, verdict, text);
    std::fflush(stdout);
  }

  std::atomic<int> code_ = 0;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) all.push_back(one);
  return all;
}

int number(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Of the words "NAME=value".
Trial parse_trial(const std::vector<std::string>& words) {
  Trial trial;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
    if (name == "port") trial.port = number(value);
    if (name == "addresses") trial.addresses = split(value);
    if (name == "network") trial.network = value;
    if (name == "folder") trial.folder = value;
    if (name == "prted") trial.prted = value;
    if (name == "others") trial.tries_others = true;
  }
  return trial;
}

void try_way_back(const Trial& trial, Findings& findings) {
  std::string why;
  const int socket = connect_back(trial.addresses, trial.network, trial.port, kPatience, why);
  if (socket >= 0) {
    ::close(socket);
    return findings.good("back", "");
  }
  findings.bad(
      "back",
      fmt::format(
          "there is no way from there back to this host ({}): open the ports of the job's hosts to each "
          "other in the firewall",
          why));
}

void try_folder(const std::string& folder, Findings& findings) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    return findings.bad("folder", fmt::format("directory {}: {}", folder, std::strerror(errno)));
  if (!S_ISDIR(info.st_mode)) return findings.bad("folder", fmt::format("{} is no directory", folder));
  if (::access(folder.c_str(), X_OK) != 0)
    return findings.bad("folder", fmt::format("directory {}: {}", folder, std::strerror(errno)));
  findings.good("folder", folder);
}

/// Runs it: it may be there and not find its libraries.
void try_prted(const std::string& prted, Findings& findings) {
  const std::filesystem::path prefix = std::filesystem::path(prted).parent_path().parent_path();
  std::string settings;
  if (!prefix.empty())
    settings = fmt::format("PRTE_PREFIX={0} PMIX_PREFIX={0} {1} ", shell_word(prefix),
                           prepend_in_shell("LD_LIBRARY_PATH", prefix / "lib"));
  const std::string command = fmt::format("{}{} --version 2>&1 </dev/null", settings, shell_word(prted));
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return findings.bad("prted", std::strerror(errno));
  std::string said;
  char bytes[4096];
  for (std::size_t got; (got = std::fread(bytes, 1, sizeof bytes, pipe)) > 0;) said.append(bytes, got);
  const int status = ::pclose(pipe);
  const std::string first = said.substr(0, said.find('\n'));
  if (status == 0) return findings.good("prted", first);
  findings.bad("prted",
               fmt::format("{} cannot be run ({})", prted, first.empty() ? "it says nothing" : first));
}

/// "NAME PORT ADDRESS"
void try_other(const std::string& line, Findings& findings) {
  std::istringstream in(line);
  std::string name, address, why;
  int port = 0;
  if (!(in >> name >> port >> address)) return;
  const int socket = connect_to_any({address}, port, kPatience, why);
  if (socket < 0) return findings.bad("reaches", fmt::format("{}: {}", name, why));
  ::close(socket);
  findings.good("reaches", name);
}

void try_others(Findings& findings) {
  int port = 0;
  std::vector<std::string> own = own_addresses();
  const std::vector<int> listeners = listen_on(own, port);
  if (listeners.empty())
    return findings.bad("listens", own.empty() ? "no address leads to this host" : std::strerror(errno));
  findings.good("listens", fmt::format("{} {}", port, fmt::join(own, ",")));
  std::vector<std::jthread> tries;  // all at a time: a way that is closed takes long
  for (std::string line; std::getline(std::cin, line);)
    tries.emplace_back([line, &findings] { try_other(line, findings); });
  tries.clear();
  for (const int listener : listeners) ::close(listener);
}

}  // namespace

std::string command_of(const Trial& trial) {
  std::string text = fmt::format("{} {} {}", shell_word(own_program("mpiexec")), kTryHost, CLUMP_VERSION);
  if (trial.port != 0 && !trial.addresses.empty())
    text +=
        fmt::format(" port={} {} network={}", trial.port,
                    shell_word(fmt::format("addresses={}", fmt::join(trial.addresses, ","))), trial.network);
  if (!trial.folder.empty()) text += " " + shell_word("folder=" + trial.folder);
  if (!trial.prted.empty()) text += " " + shell_word("prted=" + trial.prted);
  if (trial.tries_others) text += " others";
  return text;
}

bool parse(std::string_view line, TrialLine& found) {
  if (!line.starts_with(kTrialMark)) return false;
  std::istringstream in{std::string(line.substr(kTrialMark.size()))};
  std::string verdict;
  if (!(in >> found.what >> verdict)) return false;
  found.is_good = verdict == "ok";
  found.text.clear();
  std::getline(in >> std::ws, found.text);
  return true;
}

int try_host(const std::vector<std::string>& words) {
  Findings findings;
  if (words.empty() || words.front() != CLUMP_VERSION)
    findings.bad("version",
                 fmt::format("Clump is {} there, and {} here: install the same version on every host",
                             CLUMP_VERSION, words.empty() ? "unknown" : words.front()));
  else
    findings.good("version", CLUMP_VERSION);
  const Trial trial = parse_trial(words);
  if (!trial.addresses.empty()) try_way_back(trial, findings);
  if (!trial.folder.empty()) try_folder(trial.folder, findings);
  if (!trial.prted.empty()) try_prted(trial.prted, findings);
  if (trial.tries_others) try_others(findings);
  return findings.code();
}

}  // namespace clump::tools
