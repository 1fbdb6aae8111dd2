#include "plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "common/housing.h"
#include "common/places.h"
#include "common/scheduler.h"
#include "image/inspect.h"
#include "image/search.h"

extern char** environ;

namespace clump::mpiexec {

namespace {

bool inherited(const Environment& rules, const std::string& name) {
  if (name.starts_with("CLUMP_") && (name == "CLUMP_NO_MPI" || name.ends_with("_FD")))
    return false;  // an outer job's
  if (rules.inherit == Environment::Inherit::kListed) {
    return std::find(rules.listed.begin(), rules.listed.end(), name) != rules.listed.end();
  }
  return rules.inherit == Environment::Inherit::kAll;
}

std::vector<std::string> environment_of(const Part& part, const Command& command) {
  const Environment& rules = part.environment.chosen ? part.environment : command.environment;
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (inherited(rules, text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto* sets : {&command.environment.set, &part.environment.set}) {
    for (const auto& [name, value] : *sets) {
      const std::string start = name + "=";
      std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(start); });
      all.push_back(start + value);
    }
  }
  return all;
}

std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return {};
}

std::string explain(const Plan& plan, const Command& command) {
  const int ranks = plan.job.ranks();
  const std::string& typed = command.parts.front().words.front();
  if (plan.housing == tools::Housing::kThreads) {
    const std::string images = fmt::format("of one process, each with a private image of {}", typed);
    if (plan.job.scheduler == pmi::Scheduler::kFibers) {
      const std::size_t workers = plan.job.cores.size();
      return fmt::format("{} {}; {} {}", ranks,
                         (ranks == 1 ? "rank as a fiber " : "ranks as fibers ") + images, workers,
                         workers == 1 ? "worker runs them" : "workers run them");
    }
    return fmt::format("{} {}; waiting ranks {}", ranks,
                       (ranks == 1 ? "rank as a thread " : "ranks as threads ") + images,
                       plan.job.spin ? "spin briefly (a core for each)" : "sleep (more ranks than cores)");
  }
  return fmt::format("{} separate {}: '{}' is not linked to an MPI library", ranks,
                     ranks == 1 ? "process" : "processes", typed);
}

/// The option decides, then what fits the program.
base::Status choose_scheduler(const Command& command, Plan& plan) {
  CLUMP_TRY(tools::default_scheduler(!plan.preload.empty(), plan.job.scheduler));
  plan.job.scheduler = command.scheduler.value_or(plan.job.scheduler);
  return {};
}

/// Chooses the workers' cores; keeps all of the job to those that the user names.
base::Status place(const Command& command, Plan& plan) {
  tools::UsableCores usable;
  CLUMP_TRY(tools::find_cores({command.cores, command.hardware_threads}, usable));
  std::set<std::int32_t> different;
  for (const tools::Processor& core : usable.all) different.insert(core.number);
  if (command.cores) plan.only_cores.assign(different.begin(), different.end());
  const auto ranks = static_cast<std::size_t>(plan.job.ranks());
  plan.job.spin = usable.all.empty() || std::min(different.size(), usable.most) >= ranks;
  if (plan.housing != tools::Housing::kThreads || plan.job.scheduler != pmi::Scheduler::kFibers) return {};

  if (usable.all.empty()) usable = {{{.number = -1}}, {}, 1};  // the kernel does not tell
  const std::size_t asked = command.workers > 0 ? static_cast<std::size_t>(command.workers) : usable.most;
  const std::size_t workers = std::min(asked, ranks);
  plan.workers = usable.all;
  // Who pays for part of a machine shares it with others, who would take the same cores.
  plan.quota = usable.quota;
  if (!plan.quota && usable.all.front().number >= 0) {
    std::vector<tools::Processor> free = tools::claim(usable.all, workers);
    if (!command.cores) plan.workers = std::move(free);
  }
  const std::size_t once = plan.workers.size();
  plan.workers.resize(workers);
  for (std::size_t i = once; i < workers; ++i) plan.workers[i] = plan.workers[i - once];
  for (const tools::Processor& core : plan.workers) {
    plan.job.cores.push_back(plan.quota ? -1 : core.number);
    if (plan.job.cores.back() >= 0)
      plan.job.places.push_back({core.package, core.node, core.cache, core.core, core.cache_level});
  }
  for (const std::int32_t core : different) {
    if (plan.quota || std::ranges::find(plan.job.cores, core) != plan.job.cores.end()) continue;
    if (core >= 0) plan.job.other_cores.push_back(core);
  }
  return {};
}

}  // namespace

base::Status make_plan(const Command& command, Plan& plan, int& exit_code) {
  const std::string start = tools::current_directory();
  for (const Part& part : command.parts) {
    pmi::App app;
    app.ranks = part.ranks;
    app.arguments = part.words;
    app.environment = environment_of(part, command);
    const std::string& directory =
        part.working_directory.empty() ? command.working_directory : part.working_directory;
    if (!directory.empty()) {
      app.working_directory = tools::absolute(directory, start);
      if (struct stat info; ::stat(app.working_directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        exit_code = kExitCannotRun;
        return base::fail(MPI_ERR_BAD_FILE, "working directory '{}' does not exist", directory);
      }
    }
    if (part.words.empty()) {  // --map alone
      plan.job.apps.push_back(std::move(app));
      break;
    }
    const std::string& typed = part.words.front();
    exit_code = kExitNotFound;
    CLUMP_TRY(tools::find_program(typed, directory.empty() ? start : app.working_directory, app.program));

    exit_code = kExitCannotRun;
    const image::Verdict verdict = image::inspect(app.program, value_of(app.environment, "LD_LIBRARY_PATH"));
    tools::Housing housing;
    CLUMP_TRY(tools::judge(typed, app.program, verdict, housing));
    if (!plan.job.apps.empty() && housing != plan.housing) {
      return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                        "'{}' and '{}' cannot be one job: one of them is an MPI program, the other is not",
                        command.parts.front().words.front(), typed);
    }
    plan.housing = housing;
    const auto is_private = [](const std::string& library) {
      return !image::is_shared_library(library.c_str() + library.rfind('/') + 1);
    };
    plan.private_objects = std::max(
        plan.private_objects,
        1 + static_cast<int>(std::count_if(verdict.libraries.begin(), verdict.libraries.end(), is_private)));
    for (const std::string& runtime : verdict.sanitizers) {
      if (std::find(plan.preload.begin(), plan.preload.end(), runtime) == plan.preload.end())
        plan.preload.push_back(runtime);
    }
    plan.job.apps.push_back(std::move(app));
  }
  plan.job.tag_output = command.tag_output;
  exit_code = kExitUsage;
  CLUMP_TRY(choose_scheduler(command, plan));
  CLUMP_TRY(place(command, plan));
  if (!command.parts.front().words.empty()) plan.explanation = explain(plan, command);
  return {};
}

}  // namespace clump::mpiexec
