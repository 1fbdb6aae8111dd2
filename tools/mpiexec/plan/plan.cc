#include "plan/plan.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>

#include "base/random.h"
#include "coll/select/rules.h"
#include "common/housing.h"
#include "common/places.h"
#include "common/python.h"
#include "common/rules_file.h"
#include "common/scheduler.h"
#include "inspect/inspect.h"
#include "inspect/mpi4py.h"
#include "inspect/search.h"
#include "job/ranks_input.h"
#include "output/ranks_output.h"
#include "plan/rank_list.h"
#include "pmi/rank_variables.h"

extern char** environ;

namespace clump::mpiexec {

namespace {

using tools::Housing;

bool inherited(const Environment& rules, const std::string& name) {
  if (name.starts_with("CLUMP_") &&
      (name == "CLUMP_PROCESS" || name == "CLUMP_PRELOADED" || name == "CLUMP_SUCCESSOR_OF" ||
       name == "CLUMP_NO_MPI" || name == pmi::kParentPortVariable || name.ends_with("_FD")))
    return false;                                  // an outer job's
  if (pmi::tells_of_rank(name)) return false;      // the same
  if (name == coll::kRulesVariable) return false;  // give_rules() knows better
  if (rules.inherit == Environment::Inherit::kListed) {
    return std::find(rules.listed.begin(), rules.listed.end(), name) != rules.listed.end();
  }
  return rules.inherit == Environment::Inherit::kAll;
}

/// Of the clock that lines of output have, which may be in summer time now.
std::int64_t seconds_east() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  return ::localtime_r(&now, &local) != nullptr ? local.tm_gmtoff : 0;
}

/// MPI_UNIVERSE_SIZE.
base::Status count_universe(const Command& command, const pmi::Job& job, std::int32_t& universe) {
  universe = command.universe;
  if (command.system_universe && command.hosts.empty()) {
    tools::UsableCores usable;
    CLUMP_TRY(tools::find_cores({command.cores, command.hardware_threads}, usable));
    universe = static_cast<std::int32_t>(usable.most);
  } else if (command.system_universe) {
    universe =
        static_cast<std::int32_t>(std::min<std::int64_t>(slots_of(command.hosts, kAllHosts), kMaxRanks));
  }
  universe = std::max(universe, job.ranks());
  return {};
}

/// What says how other hosts are reached, but for variables that a spawned job has, too.
std::vector<std::string> launch_words(const Command& command) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--launcher", tools::with_variables(command.launcher).name.value);
  add("--launcher-exec", command.launcher.program.value);
  add("--prefix", command.launcher.prefix);
  add("--iface", command.interface.value);
  add("--net", command.network);
  return words;
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
  // Lines are seen when they are written, as those of C programs are (host/output.cc).
  for (const std::string entry : {"PYTHONUNBUFFERED=1", "GFORTRAN_UNBUFFERED_PRECONNECTED=y"}) {
    const std::string start = entry.substr(0, entry.find('=') + 1);
    if (std::ranges::none_of(all, [&](const std::string& known) { return known.starts_with(start); }))
      all.push_back(entry);
  }
  return all;
}

/// -path: whether one of these folders has the program.
bool find_in(const std::vector<std::string>& folders, const std::string& typed, const std::string& from,
             std::string& program) {
  if (typed.find('/') != std::string::npos) return false;
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    program = tools::absolute(folder, from) + "/" + typed;
    return tools::is_file(program) && ::access(program.c_str(), X_OK) == 0;
  });
}

/// "1 rank as a fiber", "3 ranks as fibers".
std::string ranks_as(int ranks, std::string_view what) {
  const std::string_view kind = what.substr(0, what.find(' '));
  return ranks == 1 ? fmt::format("1 rank as a {}", kind) : fmt::format("{} ranks as {}s", ranks, kind);
}

std::string explain(const Plan& plan, const Command& command) {
  const pmi::Job& job = plan.job;
  const std::string& typed = command.parts.front().words.front();
  int plain = 0, imaged = 0, hosts = 0;
  for (const pmi::HostProcess& one : job.processes) {
    (one.plain ? plain : imaged) += one.ranks;
    hosts += one.plain ? 0 : 1;
  }
  std::string text;
  if (imaged > 0) {
    const std::string where = hosts == 1 ? "one process" : fmt::format("{} processes", hosts);
    const bool fibers = job.scheduler == pmi::Scheduler::kFibers;
    const bool alone = imaged == 1;
    text = fmt::format("{} of {}, {} a private image of {}; ", ranks_as(imaged, fibers ? "fiber" : "thread"),
                       where, alone ? "with" : "each with", typed);
    const std::size_t workers = job.cores.size();
    if (job.nodes.size() > 1)
      text += fmt::format("on {}", host_list(job));
    else if (fibers)
      text += fmt::format("{} worker{} {}", workers, workers == 1 ? " runs" : "s run", alone ? "it" : "them");
    else
      text += fmt::format("waiting ranks {}{}",
                          job.spin ? "spin briefly (a core for each)" : "sleep (more ranks than cores)",
                          plan.why_threads.empty() ? "" : "; not fibers: " + plan.why_threads);
  }
  if (plain > 0)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                        plain == 1 ? std::string("1 rank as a process") : ranks_as(plain, "processe"),
                        plan.why_plain);
  if (imaged == 0 && job.nodes.size() > 1) text += fmt::format("; on {}", host_list(job));
  return text;
}

/// By which rules collectives choose: all ranks, wherever they are, by those that are found here.
base::Status give_rules(const Command& command, Plan& plan) {
  tools::RulesFile file;
  CLUMP_TRY(tools::find_rules(command.collective_rules, file));
  if (file.path.empty()) return {};
  const std::string variable = fmt::format("{}={}", coll::kRulesVariable, coll::compact_text(file.rules));
  for (pmi::App& app : plan.job.apps) app.environment.push_back(variable);
  plan.rules_note = fmt::format("collectives choose by the rules of {}", file.path);
  tools::UsableCores here;
  CLUMP_TRY(tools::find_cores({}, here));
  if (file.cores != 0 && static_cast<std::size_t>(file.cores) != here.most)
    plan.rules_note +=
        fmt::format(", which are for {} cores: here are {} (clump tune makes others)", file.cores, here.most);
  return {};
}

/// The option decides, then what fits the program.
base::Status choose_scheduler(const Command& command, Plan& plan) {
  CLUMP_TRY(tools::default_scheduler(!plan.preload.empty(), plan.job.scheduler, plan.why_threads));
  const std::optional<pmi::Scheduler> asked = command.as_asked.scheduler;
  if (!asked) return {};
  plan.job.scheduler = *asked;
  plan.why_threads.clear();
  const bool any_images = std::ranges::any_of(plan.job.processes, [](const auto& one) { return !one.plain; });
  if (*asked != pmi::Scheduler::kFibers || !any_images || !command.hosts.empty()) return {};
  const std::string against = tools::why_no_fibers();
  return against.empty()
             ? base::Status()
             : base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                          "the ranks cannot be fibers: {}; or leave the option out, and they are threads",
                          against);
}

/// Looks at the program of an app and at all that is preloaded for it, which it notes.
image::Verdict inspect_app(const pmi::App& app, Plan& plan) {
  const std::string library_path = value_of(app.environment, "LD_LIBRARY_PATH");
  image::Preloads preloads = image::divide_preloads(value_of(app.environment, "LD_PRELOAD"), library_path);
  const image::Verdict verdict = image::inspect(app.program, library_path, preloads.own);
  std::vector<std::string> before{tools::own_library("libclump_host.so"),
                                  tools::own_library("libmpi_abi.so.1")};
  // A facade for Fortran has names that libraries of the program may have, too: tools, and functions of other
  // meanings.
  std::ranges::copy_if(verdict.libraries, std::back_inserter(before), [](const std::string& library) {
    return image::is_facade(library) && image::is_for_fortran(library);
  });
  for (const std::string& library : image::interposers_among(verdict.libraries, before)) {
    const auto is_it = [&](const std::string& name) {
      return image::find_library(name, {}, {}, library_path) == library;
    };
    if (std::ranges::none_of(preloads.own, is_it)) preloads.own.push_back(library);
  }
  for (const std::string& library : verdict.libraries) {
    const bool is_ours = image::is_facade(library) || library == verdict.brought;
    if (is_ours && std::ranges::find(preloads.own, library) == preloads.own.end())
      preloads.own.push_back(library);
  }
  plan.preloads.push_back(std::move(preloads));
  return verdict;
}

/// What is set for the last app rules out that its ranks share a process, or share it with those of the first
/// app: why. Empty if nothing does.
std::string ruled_out(const std::vector<Housing>& housings, const Plan& plan) {
  const pmi::App& app = plan.job.apps.back();
  if (!value_of(app.environment, "LD_AUDIT").empty())
    return "LD_AUDIT is set, and ld.so tells its library nothing of the ranks' private images";
  const auto first = std::ranges::find(housings, Housing::kImages);
  if (first == housings.end()) return {};
  const std::vector<std::string>& shared =
      plan.preloads[static_cast<std::size_t>(first - housings.begin())].own;
  if (plan.preloads.back().own == shared) return {};
  const auto list = [](const std::vector<std::string>& libraries) {
    return libraries.empty() ? std::string("none") : image::join_preloads(libraries);
  };
  return fmt::format(
      "'{}' has other libraries before MPI and the C library than the first program: {}, not {}",
      app.arguments.front(), list(plan.preloads.back().own), list(shared));
}

/// What a program needs of the process that it runs in.
void note_needs(const image::Verdict& verdict, Plan& plan) {
  const auto is_private = [](const std::string& library) {
    return !image::is_shared_library(library.c_str() + library.rfind('/') + 1);
  };
  plan.private_objects = std::max(
      plan.private_objects,
      1 + static_cast<int>(std::count_if(verdict.libraries.begin(), verdict.libraries.end(), is_private)));
  plan.late_calls = plan.late_calls || verdict.late_calls;
  for (const std::string& runtime : verdict.sanitizers) {
    if (std::find(plan.preload.begin(), plan.preload.end(), runtime) == plan.preload.end())
      plan.preload.push_back(runtime);
  }
}

/// A program that names functions of its family which Clump lacks can start, as long as ld.so binds lazily.
base::Status note_lacks(const image::Verdict& verdict, const pmi::App& app, Plan& plan) {
  if (!verdict.lacks.any()) return {};
  const std::string& typed = app.arguments.front();
  if (!value_of(app.environment, "LD_BIND_NOW").empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "'{}' cannot run with LD_BIND_NOW, by which ld.so looks for all functions before the "
                      "program begins: it names {}, which Clump does not have; unset that variable",
                      typed, verdict.lacks.list());
  plan.warnings.push_back(fmt::format("'{}' {}", typed, image::words_about_lacks(verdict)));
  return {};
}

void set_value(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(fmt::format("{}={}", name, value));
}

/// Has a Python program run by clump-python, if its ranks shall share a process. If they cannot, for want of
/// the interpreter's library, that is a warning, and `asked` is what fits instead.
void share_python(pmi::App& app, Plan& plan, tools::Ranks& asked) {
  if (asked.as != tools::Ranks::As::kImages) return;
  tools::SharedPython python = tools::shared_python(app.program, app.arguments);
  if (python.interpreter.empty()) return;
  if (python.library.empty()) {
    plan.warnings.push_back(
        fmt::format("the ranks of '{}' are processes: {}", app.arguments.front(), python.why_not));
    asked.as = tools::Ranks::As::kAuto;
    return;
  }
  app.program = tools::python_program();
  app.arguments = std::move(python.arguments);
  app.environment.push_back(fmt::format("{}={}", tools::kPythonLibraryVariable, python.library));
  const auto value = [&](const char* name) { return value_of(app.environment, name); };
  std::string module = value(image::kMpi4pyVariable);
  if (module.empty())
    module = image::module_for_mpi4py(python.interpreter, value("PYTHONPATH").c_str(), value("HOME").c_str());
  if (!module.empty()) set_value(app.environment, image::kMpi4pyVariable, module);
  const std::string path = image::library_path_of_children(module, value("LD_LIBRARY_PATH").c_str());
  if (!path.empty()) set_value(app.environment, "LD_LIBRARY_PATH", path);
}

/// What fits the program, if the user does not ask for something else.
base::Status choose_housing(const tools::Ranks& asked, Housing fits, const std::string& why, Plan& plan,
                            Housing& housing) {
  using As = tools::Ranks::As;
  const bool can_share = fits == Housing::kImages;
  housing = can_share && asked.as != As::kProcesses ? Housing::kImages : Housing::kPlain;
  if (housing == Housing::kImages) return {};
  plan.why_plain = can_share ? "as --ranks processes asks" : why;
  if (asked.as == As::kImages)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "the ranks of '{}' cannot share a process: {}",
                      plan.job.apps.back().arguments.front(), why);
  return {};
}

/// Divides the ranks among hosts, and those of each host among host processes. A host without ranks is none
/// of the job's.
base::Status assign_slots(const Command& command, const std::vector<Housing>& housings, pmi::Job& job) {
  const std::vector<Host> hosts = command.hosts.empty() ? std::vector<Host>(1) : command.hosts;
  std::vector<int> host_of;
  CLUMP_TRY(divide(hosts, command.hosts.empty() ? 0 : command.per_host, ranks_on_hosts(command),
                   command.map_by, host_of));
  std::span<int> rest = host_of;
  for (const RanksOnHosts& some : ranks_on_hosts(command)) {
    const auto count = static_cast<std::size_t>(some.ranks);
    if (command.rank_by) renumber(rest.first(count), *command.rank_by);
    rest = rest.subspan(count);
  }
  std::vector<std::int32_t> ranks(host_of.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto host_at = [&](std::int32_t rank) { return host_of[static_cast<std::size_t>(rank)]; };
  std::ranges::stable_sort(ranks, {}, host_at);

  std::vector<pmi::HostProcess>& all = job.processes;
  const int most = command.as_asked.per_process > 0 ? command.as_asked.per_process : job.ranks();
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    const bool begins_host = at == 0 || host_at(ranks[at]) != host_at(ranks[at - 1]);
    const bool plain = housings[static_cast<std::size_t>(job.app_of(ranks[at]))] == Housing::kPlain;
    const auto slot = static_cast<std::int32_t>(at);
    if (begins_host)
      job.nodes.push_back({hosts[static_cast<std::size_t>(host_at(ranks[at]))].name,
                           static_cast<std::int32_t>(all.size()), 0});
    if (begins_host || plain || all.back().plain || all.back().ranks >= most) {
      all.push_back({slot, 0, plain});
      ++job.nodes.back().processes;
    }
    ++all.back().ranks;
  }
  job.rank_mapping = pmi::RankMapping(std::move(ranks));
  return {};
}

/// Nobody else takes part in what a seed decides: --seed and --explore.
base::Status prepare_exploration(const Command& command, Plan& plan) {
  pmi::Job& job = plan.job;
  const auto refuse = [&](std::string_view why) {
    return base::fail(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "--seed {}: only ranks that are fibers of one process, on this host, can be ordered by a "
        "seed, and {}",
        *command.seed, why);
  };
  if (!command.hosts.empty()) return refuse("there are other hosts: leave out --host and --hostfile");
  if (std::ranges::any_of(job.processes, &pmi::HostProcess::plain)) {
    const bool may_share = command.as_asked.as == tools::Ranks::As::kAuto &&
                           std::ranges::any_of(job.apps, [](const pmi::App& app) {
                             return !tools::shared_python(app.program, app.arguments).library.empty();
                           });
    return refuse(fmt::format("some are processes: {}{}", plan.why_plain,
                              may_share ? "; with --ranks fibers those of Python are fibers" : ""));
  }
  if (job.processes.size() > 1) return refuse("--per-process makes several");
  if (job.scheduler != pmi::Scheduler::kFibers)
    return refuse(plan.why_threads.empty() ? "--scheduler threads (or CLUMP_SCHEDULER) makes threads of them"
                                           : "these are threads: " + plan.why_threads);
  if (command.workers > 1)
    return refuse(
        fmt::format("--workers {} asks for several that run at a time: leave it out", command.workers));
  job.seed = static_cast<std::uint64_t>(*command.seed);
  job.helpers = 0;
  return {};
}

/// Chooses the workers' cores; keeps all of the job to those that the user names.
base::Status place(const Command& command, Plan& plan) {
  tools::UsableCores usable;
  CLUMP_TRY(tools::find_cores({command.cores, command.hardware_threads}, usable));
  std::set<std::int32_t> different;
  for (const tools::Processor& core : usable.all) different.insert(core.number);
  if (command.cores) plan.only_cores.assign(different.begin(), different.end());
  const auto ranks = static_cast<std::size_t>(plan.job.ranks(plan.job.this_node()));
  if (command.enough_cores && !usable.all.empty() && ranks > std::min(different.size(), usable.most))
    return base::fail(MPI_ERR_ARG, "--nooversubscribe: {} ranks are more than there are cores here, {}",
                      ranks, std::min(different.size(), usable.most));
  plan.job.spin = usable.all.empty() || std::min(different.size(), usable.most) >= ranks;
  const bool any_images = std::ranges::any_of(plan.job.processes, [](const auto& one) { return !one.plain; });
  if (any_images && plan.job.scheduler == pmi::Scheduler::kThreads) return {};

  if (usable.all.empty()) usable = {{{.number = -1}}, {}, 1};  // the kernel does not tell
  // One worker takes turns among all ranks of an explored run, wherever there is time for it: others may run
  // beside it.
  if (plan.job.seed) {
    plan.job.cores.push_back(-1);
    return {};
  }
  const std::size_t asked = command.workers > 0 ? static_cast<std::size_t>(command.workers) : usable.most;
  // Ranks that join have a home, too.
  const std::size_t expected = plan.job.has_room_to_join() ? static_cast<std::size_t>(plan.job.universe) : 0;
  const std::size_t workers = std::min(asked, std::max(ranks, expected));
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
  if (command.helpers) plan.job.helpers = *command.helpers;
  return {};
}

/// `directory`: as the user has typed it, or empty; `start`: mpiexec's own.
base::Status set_directory(const std::string& directory, const std::string& start, pmi::App& app) {
  if (!directory.empty()) app.working_directory = tools::absolute(directory, start);
  const std::string& begin = directory.empty() ? start : app.working_directory;
  if (begin.front() != '/') {
    std::error_code none;
    std::string name = std::filesystem::read_symlink("/proc/self/cwd", none);
    name.resize(std::min(name.rfind(" (deleted)"), name.size()));
    return base::fail(MPI_ERR_BAD_FILE,
                      "working directory '{}' was removed: change to one that exists, or name it by --wdir",
                      name);
  }
  if (struct stat info; !directory.empty() && (::stat(begin.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
    return base::fail(MPI_ERR_BAD_FILE, "working directory '{}' does not exist", directory);
  return {};
}

}  // namespace

std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment)
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  return {};
}

base::Status make_plan(const Command& command, Plan& plan, int& exit_code) {
  const std::string start = tools::current_directory();
  std::vector<Housing> housings;  // of the apps
  for (const Part& part : command.parts) {
    pmi::App app;
    app.ranks = part.ranks;
    app.arguments = part.words;
    app.environment = environment_of(part, command);
    const std::string& directory =
        part.working_directory.empty() ? command.working_directory : part.working_directory;
    exit_code = kExitCannotRun;
    CLUMP_TRY(set_directory(directory, start, app));
    if (part.words.empty()) {  // --map alone
      plan.job.apps.push_back(std::move(app));
      housings.push_back(Housing::kImages);
      break;
    }
    const std::string& typed = part.words.front();
    exit_code = kExitNotFound;
    const std::string& from = directory.empty() ? start : app.working_directory;
    if (!find_in(part.path, typed, from, app.program))
      CLUMP_TRY(tools::find_program(typed, from, app.program));

    exit_code = kExitCannotRun;
    tools::Ranks asked = command.as_asked;
    share_python(app, plan, asked);
    const image::Verdict verdict = inspect_app(app, plan);
    Housing fits;
    std::string why;
    CLUMP_TRY(tools::judge(typed, app.program, verdict, fits, why));
    CLUMP_TRY(note_lacks(verdict, app, plan));
    note_needs(verdict, plan);
    plan.allocator_needs.note(verdict, app);
    plan.job.apps.push_back(std::move(app));
    if (std::string against = ruled_out(housings, plan); fits == Housing::kImages && !against.empty()) {
      fits = Housing::kPlain;
      why = std::move(against);
    }
    CLUMP_TRY(choose_housing(asked, fits, why, plan, housings.emplace_back()));
  }
  exit_code = kExitUsage;
  CLUMP_TRY(give_rules(command, plan));
  CLUMP_TRY(assign_slots(command, housings, plan.job));
  plan.job.output = {command.collapse ? pmi::kMarkedPrefix : command.line_prefix, seconds_east(),
                     command.collapse, command.output_files, !command.tee};
  plan.job.input = command.input;
  plan.job.map = command.map;
  CLUMP_TRY(count_universe(command, plan.job, plan.job.universe));
  plan.job.shares_names = command.shares_names;
  plan.job.link_id = base::random_number();
  plan.job.link_token = base::random_number();
  if (const char* const port = std::getenv(pmi::kParentPortVariable)) plan.job.parent_port = port;
  plan.job.launch_words = launch_words(command);
  CLUMP_TRY(choose_scheduler(command, plan));
  if (command.seed) CLUMP_TRY(prepare_exploration(command, plan));
  if (command.hosts.empty()) {
    CLUMP_TRY(place(command, plan));
    CLUMP_TRY(choose_allocator(plan.job, plan.allocator_needs, needs_of(plan).mappings, plan.allocator));
  }
  if (!command.parts.front().words.empty()) plan.explanation = explain(plan, command);
  return {};
}

base::Status complete_plan(const Command& command, Plan& plan) {
  plan.preloads.clear();
  for (const pmi::App& app : plan.job.apps) {
    const image::Verdict verdict = inspect_app(app, plan);
    note_needs(verdict, plan);
    plan.allocator_needs.note(verdict, app);
  }
  CLUMP_TRY(place(command, plan));
  return choose_allocator(plan.job, plan.allocator_needs, needs_of(plan).mappings, plan.allocator);
}

tools::Needs needs_of(const Plan& plan) {
  const pmi::Job& job = plan.job;
  // What each process reads, and two pipes, until it has its ends; each rank's files of output and its input.
  const pmi::Node& node = job.this_node();
  tools::Needs all{.descriptors = RanksOutput::files(job) + RanksInput::files(job)};
  if (node.processes > 1) all.descriptors += 5 * static_cast<long>(node.processes) + 32;
  for (int process = node.first; process < node.first + node.processes; ++process) {
    const pmi::HostProcess& one = job.processes[static_cast<std::size_t>(process)];
    if (one.plain) {
      ++all.tasks;
      continue;
    }
    const tools::Needs its = tools::needs_of_host(one.ranks, job.workers(one), plan.private_objects);
    all.tasks += its.tasks;
    all.mappings = std::max(all.mappings, its.mappings);
    all.descriptors = std::max(all.descriptors, its.descriptors);
    all.stacks = std::max(all.stacks, its.stacks);
  }
  return all;
}

}  // namespace clump::mpiexec
