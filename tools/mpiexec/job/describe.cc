#include "job/describe.h"

#include <algorithm>

#include "common/places.h"
#include "job/thread_sanitizer.h"
#include "pmi/rank_variables.h"

namespace clump::mpiexec {

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

namespace {

/// LD_PRELOAD of an app's processes: sanitizers, what stands before the C library and MPI, these of ours,
/// the allocator that we have chosen (if any), the rest. What nobody but us has asked for is named once
/// more, so that the process does not pass it on.
base::Status set_preloads(const Plan& plan, std::size_t app, const std::string& allocator,
                          PreloadNames& names, std::vector<std::string>& environment) {
  std::vector<std::string> all = plan.preload;
  const image::Preloads& preloads = plan.preloads[app];
  all.insert(all.end(), preloads.own.begin(), preloads.own.end());
  CLUMP_TRY(names.replace(all));
  std::vector<std::string> ours;
  for (const char* name : {"libclump_host.so", "libmpi_abi.so.1"}) {
    ours.push_back(tools::own_library(name));
    if (ours.back().empty())
      return base::fail(MPI_ERR_OTHER, "{} is missing: it belongs into ../lib beside mpiexec", name);
  }
  if (!allocator.empty()) ours.push_back(allocator);
  CLUMP_TRY(names.replace(ours));
  const std::vector<std::string> asked = image::split_preloads(value_of(environment, "LD_PRELOAD"));
  std::vector<std::string> added = all;
  if (!allocator.empty()) added.push_back(ours.back());
  std::erase_if(added, [&](const std::string& one) { return std::ranges::find(asked, one) != asked.end(); });
  if (!added.empty()) set(environment, "CLUMP_PRELOADED", image::join_preloads(added));
  all.insert(all.end(), ours.begin(), ours.end());
  all.insert(all.end(), preloads.shared.begin(), preloads.shared.end());
  set(environment, "LD_PRELOAD", image::join_preloads(all));
  return {};
}

/// It finds no room for its tables where the kernel places libraries in too many ways (vm.mmap_rnd_bits).
void prepare_thread_sanitizer(Process& process) {
  process.same_addresses = true;
  int suppressions = -1;
  set(process.environment, "TSAN_OPTIONS",
      thread_sanitizer_options(value_of(process.environment, "TSAN_OPTIONS"), suppressions));
  if (suppressions >= 0) process.kept.push_back(suppressions);
}

}  // namespace

base::Status describe(const Command& command, const Plan& plan, const Handed& handed, PreloadNames& names,
                      int number, Process& process) {
  const pmi::HostProcess& host = plan.job.processes[static_cast<std::size_t>(number)];
  const int first = plan.job.first_rank(host);
  const auto app_number = static_cast<std::size_t>(plan.job.app_of(first));
  const pmi::App& app = plan.job.apps[app_number];
  process = {app.program, app.arguments, pmi::environment_of_rank(plan.job, first, app.environment),
             app.working_directory};
  process.cores = plan.only_cores;
  if (host.plain && plan.job.processes.size() > 1) process.cores = plan.job.cores_of(first);
  process.same_addresses = plan.job.seed.has_value();
  process.kept = {handed.job, handed.control, handed.life, handed.node};
  if (is_thread_sanitizer(plan.preload)) prepare_thread_sanitizer(process);
  CLUMP_TRY(set_preloads(plan, app_number, host.plain ? plan.allocator.plain_library : plan.allocator.library,
                         names, process.environment));
  if (!host.plain) set(process.environment, "LD_BIND_NOW", plan.late_calls ? "" : "1");
  set(process.environment, "CLUMP_JOB_FD", std::to_string(handed.job));
  set(process.environment, "CLUMP_CONTROL_FD", std::to_string(handed.control));
  set(process.environment, "CLUMP_LIFE_FD", std::to_string(handed.life));
  set(process.environment, "CLUMP_PROCESS", std::to_string(number));
  set(process.environment, "CLUMP_NODE_FD", std::to_string(handed.node));
  if (handed.records >= 0) {
    process.kept.push_back(handed.records);
    set(process.environment, "CLUMP_RECORD_FD", std::to_string(handed.records));
  }
  if (command.gdb) {
    set(process.environment, "CLUMP_GDB", "1");
    process.own_group = true;
  }
  return {};
}

}  // namespace clump::mpiexec
