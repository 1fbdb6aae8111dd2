#include "common/host_trial.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <thread>

#include "common/output.h"
#include "common/reach.h"
#include "common/ways.h"

namespace clump::tools {

namespace {

constexpr std::chrono::seconds kPatience{5};  ///< for a connection
constexpr int kNotStarted = 255;              ///< as ssh says that it does not reach a host

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
    print_out("{}{} {} {}\n", kTrialMark, what, verdict, text);
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
    if (name == "others") trial.tries_others = true;
    if (name == "interface") trial.interface = value;
    if (name == "through") trial.through = split(value);
    if (name == "launcher") trial.launcher.name = {"--launcher", value};
    if (name == "program") trial.launcher.program = {"--launcher-exec", value};
    if (name == "prefix") trial.launcher.prefix = value;
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

void try_others(const std::string& interface, Findings& findings) {
  int port = 0;
  std::vector<std::string> own = own_addresses(interface);
  if (own.empty())
    return findings.bad("listens", interface.empty()
                                       ? std::string("no address leads to it")
                                       : fmt::format("no address is at its interface {}; there are {}",
                                                     interface, fmt::join(own_addresses(), ", ")));
  const std::vector<int> listeners = listen_on(own, port);
  if (listeners.empty())
    return findings.bad("listens", fmt::format("it cannot listen: {}", std::strerror(errno)));
  findings.good("listens", fmt::format("{} {}", port, fmt::join(own, ",")));
  std::vector<std::jthread> tries;  // all at a time: a way that is closed takes long
  for (std::string line; std::getline(std::cin, line);)
    tries.emplace_back([line, &findings] { try_other(line, findings); });
  tries.clear();
  for (const int listener : listeners) ::close(listener);
}

/// In place of this process runs the launcher for the next host, with the same standard input and output.
int try_next(Trial trial) {
  Launcher launcher;
  if (const base::Status found = launcher.find(trial.launcher); !found.ok()) {
    print_error("{}\n", base::message_of(found.code()));
    return kNotStarted;
  }
  const std::string next = trial.through.front();
  trial.through.erase(trial.through.begin());
  std::vector<std::string> command = launcher.command(next, words_of(trial));
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  print_error("{}: {}\n", command.front(), std::strerror(errno));
  return kNotStarted;
}

}  // namespace

std::vector<std::string> words_of(const Trial& trial) {
  std::vector<std::string> words{kTryHost, CLUMP_VERSION};
  if (trial.port != 0 && !trial.addresses.empty()) {
    words.push_back(fmt::format("port={}", trial.port));
    words.push_back(fmt::format("addresses={}", fmt::join(trial.addresses, ",")));
    words.push_back("network=" + trial.network);
  }
  if (!trial.folder.empty()) words.push_back("folder=" + trial.folder);
  if (trial.tries_others) words.emplace_back("others");
  if (!trial.interface.empty()) words.push_back("interface=" + trial.interface);
  if (trial.through.empty()) return words;
  words.push_back(fmt::format("through={}", fmt::join(trial.through, ",")));
  words.push_back("launcher=" + trial.launcher.name.value);
  words.push_back("program=" + trial.launcher.program.value);
  words.push_back("prefix=" + trial.launcher.prefix);
  return words;
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
  const Trial trial = parse_trial(words);
  if (!trial.through.empty()) return try_next(trial);
  Findings findings;
  if (words.empty() || words.front() != CLUMP_VERSION)
    findings.bad("version",
                 fmt::format("Clump is {} there, and {} here: install the same version on every host",
                             CLUMP_VERSION, words.empty() ? "unknown" : words.front()));
  else
    findings.good("version", CLUMP_VERSION);
  if (!trial.addresses.empty()) try_way_back(trial, findings);
  if (!trial.folder.empty()) try_folder(trial.folder, findings);
  if (trial.tries_others) try_others(trial.interface, findings);
  return findings.code();
}

}  // namespace clump::tools
