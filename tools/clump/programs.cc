#include <algorithm>

#include "commands.h"
#include "common/cores.h"
#include "common/housing.h"
#include "common/output.h"
#include "common/places.h"
#include "common/scheduler.h"
#include "inspect/inspect.h"

namespace clump::tools {

namespace {

bool find(const std::string& typed, std::string& path) {
  const base::Status found = find_program(typed, current_directory(), path);
  if (!found.ok()) print_error("clump: {}\n", base::message_of(found.code()));
  return found.ok();
}

/// What stands between the program and our library, if anything.
std::string facade_of(const image::Verdict& verdict) {
  if (verdict.facade.empty()) return {};
  const std::string lacks =
      verdict.lacks.any() ? fmt::format(", but for {}, which the program names", verdict.lacks.list()) : "";
  return fmt::format("; it is made for {}'s ABI, which {} has{}", image::name_of(verdict.mpi), verdict.facade,
                     lacks);
}

}  // namespace

int show_explanation(const std::string& program) {
  std::string path;
  if (!find(program, path)) return 127;
  const image::Verdict verdict = image::inspect(path);
  Housing housing;
  std::string why;
  if (const base::Status judged = judge(program, path, verdict, housing, why); !judged.ok()) {
    print_out("cannot run: {}\n", base::message_of(judged.code()));
    return 1;
  }
  if (housing == Housing::kImages) {
    pmi::Scheduler scheduler;
    std::string against;
    const base::Status chosen = default_scheduler(!verdict.sanitizers.empty(), scheduler, against);
    if (!chosen.ok()) {
      print_error("clump: {}\n", base::message_of(chosen.code()));
      return 2;
    }
    std::string how = against.empty() ? "threads" : fmt::format("threads (not fibers: {})", against);
    if (UsableCores cores; scheduler == pmi::Scheduler::kFibers && find_cores({}, cores).ok())
      how = fmt::format("fibers on up to {} workers, a core each,", std::max<std::size_t>(cores.most, 1));
    print_out(
        "{}: all ranks are {} of one process, each with a private image of the program and its libraries{}\n",
        path, how, facade_of(verdict));
    return 0;
  }
  print_out("{}: each rank is a process: {}{}\n", path, why, facade_of(verdict));
  return 0;
}

}  // namespace clump::tools
