#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "commands.h"
#include "common/cores.h"
#include "common/output.h"
#include "common/places.h"
#include "common/scheduler.h"
#include "common/system.h"
#include "functions.h"

namespace clump::tools {

namespace {

const char* yes(bool answer) { return answer ? "yes" : "no"; }

/// How a job would run here.
void show_machine() {
  UsableCores cores;
  if (!find_cores({}, cores).ok()) return;
  std::vector<std::int32_t> numbers;
  for (const Processor& core : cores.all) numbers.push_back(core.number);
  std::sort(numbers.begin(), numbers.end());
  print_out("scheduler: {} (mpiexec --scheduler {} chooses the other one)\n", name_of(kDefaultScheduler),
            kDefaultScheduler == pmi::Scheduler::kFibers ? "threads" : "fibers");
  std::string quota;
  if (cores.quota)
    quota = fmt::format("; {} pays for {:.3g}: at most {} workers", cores.quota->group, cores.quota->cores,
                        cores.most);
  print_out("usable cores: {} ({}){}\n", numbers.size(), as_list(numbers), quota);
  print_out("FSGSBASE: {}, membarrier: {}\n", yes(has_cheap_switches()), yes(has_membarrier()));
}

}  // namespace

int show_info(bool missing) {
  std::map<std::string_view, std::pair<int, int>> chapters;  // with a body, in all
  int with_body = 0;
  for (const Function& function : kFunctions) {
    auto& [have, all] = chapters[function.chapter];
    ++all;
    if (function.has_body) {
      ++have;
      ++with_body;
    } else if (missing) {
      print_out("{}\n", function.name);
    }
  }
  if (missing) return 0;
  print_out("Clump {}\n", CLUMP_VERSION);
  print_out("prefix: {}\n", own_prefix());
  print_out("library: {}\n", own_library("libmpi_abi.so.1"));
  show_machine();
  print_out("functions of the MPI standard (C, with large counts): {} of {} have a body\n", with_body,
            std::size(kFunctions));
  for (const auto& [chapter, counts] : chapters) {
    print_out("  {:<24}{:>4} of {:>4}\n", chapter, counts.first, counts.second);
  }
  if (with_body < static_cast<int>(std::size(kFunctions)))
    print_out("'clump info --missing' lists the others; calling one gives MPI_ERR_UNSUPPORTED_OPERATION.\n");
  return 0;
}

}  // namespace clump::tools
