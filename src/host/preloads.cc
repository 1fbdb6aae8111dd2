// LD_PRELOAD of what a plain process executes. Before it is the rank, that may be the program which will be:
// mpiexec's libraries stay in LD_PRELOAD, whatever a wrapper (env, a shell) puts there. Afterwards it is
// none, and gets LD_PRELOAD as the caller of mpiexec had it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "host/state.h"
#include "image/kept_preloads.h"

namespace clump::host {

namespace {

constexpr const char* kPreload = "LD_PRELOAD";

/// The libraries that a variable lists.
std::vector<std::string_view> libraries_in(char** environment, const char* variable) {
  const char* const list = value_of(environment, variable);
  std::vector<std::string_view> all;
  for (std::string_view rest = list != nullptr ? list : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    if (end > 0) all.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

/// Those that mpiexec has put into LD_PRELOAD.
class OwnPreloads {
 public:
  explicit OwnPreloads(char** environment)
      : host(std::string(own_folder()) + "/libclump_host.so"),
        mpi(std::string(own_folder()) + "/libmpi_abi.so.1"),
        added(libraries_in(environment, "CLUMP_PRELOADED")) {}
  bool has(std::string_view library) const {
    return library == host || library == mpi || std::ranges::find(added, library) != added.end();
  }

  const std::string host, mpi;
  const std::vector<std::string_view> added;
};

}  // namespace

void keep_preloads(char** environment) {
  const OwnPreloads own(environment);
  image::KeptPreloads kept{"CLUMP_JOB_FD=", {}, own.host, fmt::format("{}:{}", own.host, own.mpi)};
  // Facades, sanitizers and the interposers that the program has come before the two, an allocator behind
  // them.
  bool is_behind = false;
  for (const std::string_view library : libraries_in(environment, kPreload)) {
    is_behind = is_behind || library == own.host;
    if (library == own.host || library == own.mpi || !own.has(library)) continue;
    is_behind ? kept.back.append(":").append(library) : kept.front.append(library).append(":");
  }
  image::keep_preloads(std::move(kept));
}

void take_back_preload() {
  char** const environment = base::environment();
  const OwnPreloads own(environment);
  std::string kept;
  for (const std::string_view library : libraries_in(environment, kPreload))
    if (!own.has(library)) kept.append(kept.empty() ? "" : ":").append(library);
  kept.empty() ? ::unsetenv(kPreload) : ::setenv(kPreload, kept.c_str(), 1);
}

}  // namespace clump::host
