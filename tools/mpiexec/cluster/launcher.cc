#include "cluster/launcher.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/program_path.h"
#include "cluster/proxy.h"

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
  process.own_group = true;  // what a terminal sends is for mpiexec, which passes it on
  return process;
}

}  // namespace

Process launcher_process(const tools::Launcher& launcher, const std::string& host, std::uint32_t number,
                         const std::vector<std::string>& words) {
  std::vector<std::string> all{kProxy, std::to_string(number)};
  all.insert(all.end(), words.begin(), words.end());
  Process process = process_of(launcher.command(host, all));
  process.own_group = !launcher.asks_user();
  process.ignores_signals = launcher.asks_user();
  return process;
}

Process proxy_process(std::uint32_t number) {
  return process_of({base::program_path(), kProxy, std::to_string(number)});
}

}  // namespace clump::mpiexec
