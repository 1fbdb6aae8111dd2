// LD_PRELOAD of what a plain process executes. Before it is the rank, that may be the program which will be:
// mpiexec's libraries stay in LD_PRELOAD, whatever a wrapper (env, a shell) puts there. Afterwards it is
// none, and gets LD_PRELOAD as the caller of mpiexec had it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/environment.h"
#include "host/own_preloads.h"
#include "host/start_variables.h"
#include "host/state.h"
#include "process/children/kept_preloads.h"

namespace clump::host {

namespace {

constexpr const char* kPreload = "LD_PRELOAD";

OwnPreloads own_preloads(char* const* environment) {
  return {own_folder(), libraries_of(value_of(environment, "CLUMP_PRELOADED"))};
}

}  // namespace

void keep_preloads(char** environment) {
  const OwnPreloads own = own_preloads(environment);
  const OwnPreloads::Around around = own.around(libraries_of(value_of(environment, kPreload)));
  image::keep_preloads({.variable = "CLUMP_JOB_FD=",
                        .front = around.front,
                        .library = own.host,
                        .back = fmt::format("{}:{}{}", own.host, own.mpi, around.back)});
}

void take_back_preload() {
  char** const environment = base::environment();
  const std::string kept = own_preloads(environment).without(libraries_of(value_of(environment, kPreload)));
  kept.empty() ? ::unsetenv(kPreload) : ::setenv(kPreload, kept.c_str(), 1);
}

}  // namespace clump::host
