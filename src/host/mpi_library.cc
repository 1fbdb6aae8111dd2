// Processes of a job whose program is made for another MPI library than ours: they come by way of a shell, an
// interpreter or dlopen(), where mpiexec could not see it before the start.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_path.h"
#include "host/failure.h"
#include "host/host.h"
#include "host/state.h"
#include "image/facade.h"
#include "image/loaded_mpi.h"

namespace clump::host {

namespace {

/// As a shell does for what cannot be run.
constexpr int kCannotRun = 126;

/// The program has asked which ABI the library has, and has ended without using it.
void look_at_end(int status, void*) {
  const HostedRank& rank = host().ranks[0];
  if (status == 0 || rank.phase == Phase::kRunning || ::getpid() != host().process) return;
  static const auto& text = *new std::string(
      fmt::format("without calling MPI_Init, after it had asked for the library's ABI (MPI_Abi_get_version). "
                  "mpi4py does that to choose among its modules; this one has none for the MPI standard ABI. "
                  "If it has one for MPICH or Open MPI, set MPI4PY_MPIABI=mpich or MPI4PY_MPIABI=openmpi; "
                  "otherwise install it by\n  {}",
                  image::command_for_mpi4py(image::own_mpicc())));
  end_job({rank.identity.rank, pmi::Reason::kExited, status, text, {}});
}

}  // namespace

void begin_again_over_facade(char** argv, char** environment) {
  const std::vector<std::string> facades = image::facades_missing_here();
  if (facades.empty()) return;
  constexpr std::string_view kPreload = "LD_PRELOAD=";
  constexpr std::string_view kPreloaded = "CLUMP_PRELOADED=";
  std::string preload(kPreload);
  std::string preloaded(kPreloaded);
  std::vector<char*> changed;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(kPreload))
      preload = text;
    else if (text.starts_with(kPreloaded))
      preloaded = text;
    else
      changed.push_back(*entry);
  }
  // Twice: it is there, and another library all the same.
  if (preload.size() == kPreload.size() || preloaded.find(facades.front()) != preloaded.npos) return;
  std::vector<std::string> added = image::loaded_before(facades);
  std::erase_if(added, [&](const std::string& one) { return preload.find(one) != preload.npos; });
  added.insert(added.end(), facades.begin(), facades.end());
  // Behind the tools that are there, before ours.
  const std::size_t ours = preload.find("/libclump_host.so");
  std::size_t at = ours == preload.npos ? kPreload.size() : preload.find_last_of("=: ", ours) + 1;
  for (const std::string& one : added) {
    preload.insert(at, one + ":");
    at += one.size() + 1;
    preloaded.append(preloaded.size() == kPreloaded.size() ? "" : ":").append(one);
  }
  changed.push_back(preload.data());
  changed.push_back(preloaded.data());
  changed.push_back(nullptr);
  ::execve(base::program_path().c_str(), argv, changed.data());
}

void refuse_other_mpi() {
  if (!host().started_by_mpiexec()) return;
  if (const auto wrong = image::only_other_mpi_here())
    fail_job({host().ranks[0].identity.rank,
              pmi::Reason::kCannotStart,
              kCannotRun,
              image::words_about(*wrong, image::own_mpicc()),
              {}});
}

std::string words_about_other_mpi() {
  const auto wrong = image::other_mpi_here();
  return wrong ? image::words_about(*wrong, image::own_mpicc()) : std::string();
}

void note_abi_question() {
  static const bool is_plain = host().started_by_mpiexec() && host().job.here().plain &&
                               host().ranks[0].phase != Phase::kRunning &&
                               ::on_exit(look_at_end, nullptr) == 0;
  static_cast<void>(is_plain);
}

}  // namespace clump::host
