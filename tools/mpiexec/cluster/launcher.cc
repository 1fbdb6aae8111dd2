#include "cluster/launcher.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "base/program_path.h"
#include "cluster/proxy.h"
#include "common/remote_shell.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kEnd{1000};  ///< when its stream has ended

Process process_of(std::vector<std::string> words) {
  Process process;
  process.program = words.front();
  process.arguments = std::move(words);
  for (const char* const* entry = environ; *entry != nullptr; ++entry)
    process.environment.emplace_back(*entry);
  process.grace = kEnd;
  return process;
}

}  // namespace

base::Status Launcher::find(const std::string& shell) {
  CLUMP_TRY(tools::find_remote_shell(shell, shell_));
  name_ = std::filesystem::path(shell_.front()).filename();
  return {};
}

Process Launcher::of_host(const std::string& host, std::uint32_t number) const {
  std::vector<std::string> words = shell_;
  words.push_back(host);
  words.push_back(tools::mpiexec_there({kProxy, std::to_string(number)}));
  Process process = process_of(std::move(words));
  process.ignores_signals = true;  // but it may ask for a password on the terminal
  return process;
}

Process Launcher::of_this_host(std::uint32_t number) {
  Process process = process_of({base::program_path(), kProxy, std::to_string(number)});
  process.own_group = true;  // what a terminal sends is for mpiexec, which passes it on
  return process;
}

}  // namespace clump::mpiexec
