#include "plan.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "image/inspect.h"

extern char** environ;

namespace clump::mpiexec {

namespace {

bool is_file(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string absolute(const std::string& path, const std::string& base) {
  if (!path.empty() && path[0] == '/') return path;
  return base + "/" + (path.starts_with("./") ? path.substr(2) : path);
}

std::string here() {
  char* name = ::getcwd(nullptr, 0);
  std::string path = name != nullptr ? name : ".";
  std::free(name);
  return path;
}

base::Status find_program(const std::string& typed, const std::string& directory, std::string& path) {
  if (typed.find('/') != std::string::npos) {
    path = absolute(typed, directory);
    if (::access(path.c_str(), F_OK) != 0) return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{}' was not found", typed);
    return {};
  }
  const char* value = std::getenv("PATH");
  const std::string list = value != nullptr ? value : "/usr/bin:/bin";
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(':', from), list.size());
    path = absolute(to > from ? list.substr(from, to - from) : ".", directory) + "/" + typed;
    if (is_file(path) && ::access(path.c_str(), X_OK) == 0) return {};
    from = to + 1;
  }
  if (is_file(directory + "/" + typed)) {
    return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{0}' was not found in PATH; did you mean ./{0}?", typed);
  }
  return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{}' was not found in PATH", typed);
}

bool inherited(const Environment& rules, const std::string& name) {
  if (name.starts_with("CLUMP_") && (name == "CLUMP_NO_MPI" || name.ends_with("_FD"))) return false;  // an outer job's
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
      std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(name + "="); });
      all.push_back(name + "=" + value);
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

bool contains_mpi(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return bytes.find("MPI_Init") != std::string::npos;
}

base::Status cannot_run(const std::string& typed, const image::Verdict& verdict) {
  using enum image::FileKind;
  switch (verdict.kind) {
    case kMissing: return base::fail(MPI_ERR_ACCESS, "'{}' cannot be read", typed);
    case kNotRegular: return base::fail(MPI_ERR_ACCESS, "'{}' is not a program but a directory or a device", typed);
    case kNotExecutable: return base::fail(MPI_ERR_ACCESS, "'{0}' is not executable (chmod +x {0})", typed);
    case kForeign: return base::fail(MPI_ERR_ACCESS, "'{}' is a program for another kind of machine", typed);
    default: return base::fail(MPI_ERR_ACCESS, "'{}' is neither an ELF program nor a script that begins with '#!'", typed);
  }
}

/// Decides the housing of one part, or says why it cannot run.
base::Status judge(const std::string& typed, const std::string& path, const image::Verdict& verdict, Housing& housing) {
  if (!verdict.runnable()) return cannot_run(typed, verdict);
  if (!verdict.missing.empty()) {
    return base::fail(MPI_ERR_ACCESS, "'{}' needs the library {}, which was not found (LD_LIBRARY_PATH, run path, /etc/ld.so.conf)",
                      typed, verdict.missing.front());
  }
  if (verdict.mpi == image::MpiKind::kOther) {
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "'{}' is linked to {} (named by {}), which is not the standard MPI ABI: build it with Clump's mpicc, or with "
                      "any mpicc that links libmpi_abi.so.1",
                      typed, verdict.mpi_library, verdict.mpi_needed_by);
  }
  const bool hidden_mpi = verdict.kind == image::FileKind::kElf && !verdict.dynamic && contains_mpi(path);
  if (verdict.mpi == image::MpiKind::kStandardAbi || hidden_mpi) {
    if (!verdict.imageable()) {
      return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "the ranks of '{}' cannot share a process: {}", typed, verdict.why_not);
    }
    housing = Housing::kThreads;
  } else {
    housing = Housing::kProcesses;
  }
  return {};
}

std::string explain(const Plan& plan, const Command& command) {
  const int ranks = plan.job.ranks();
  const std::string& typed = command.parts.front().words.front();
  if (plan.housing == Housing::kThreads) {
    return fmt::format("{} {} of one process, each with a private image of {}; waiting ranks {}", ranks,
                       ranks == 1 ? "rank as a thread" : "ranks as threads", typed,
                       plan.job.spin ? "spin briefly (a core for each)" : "sleep (more ranks than cores)");
  }
  return fmt::format("{} separate {}: '{}' is not linked to an MPI library", ranks, ranks == 1 ? "process" : "processes", typed);
}

bool core_for_each(int ranks) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  // Fails on machines with more cores than a cpu_set_t has bits: then there is no shortage.
  return ::sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) >= ranks;
}

}  // namespace

base::Status make_plan(const Command& command, Plan& plan, int& exit_code) {
  const std::string start = here();
  for (const Part& part : command.parts) {
    pmi::App app;
    app.ranks = part.ranks;
    app.arguments = part.words;
    app.environment = environment_of(part, command);
    const std::string& directory = part.working_directory.empty() ? command.working_directory : part.working_directory;
    if (!directory.empty()) {
      app.working_directory = absolute(directory, start);
      if (struct stat info; ::stat(app.working_directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        exit_code = kExitCannotRun;
        return base::fail(MPI_ERR_BAD_FILE, "working directory '{}' does not exist", directory);
      }
    }
    const std::string& typed = part.words.front();
    exit_code = kExitNotFound;
    CLUMP_TRY(find_program(typed, directory.empty() ? start : app.working_directory, app.program));

    exit_code = kExitCannotRun;
    const image::Verdict verdict = image::inspect(app.program, value_of(app.environment, "LD_LIBRARY_PATH"));
    Housing housing;
    CLUMP_TRY(judge(typed, app.program, verdict, housing));
    if (!plan.job.apps.empty() && housing != plan.housing) {
      return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "'{}' and '{}' cannot be one job: one of them is an MPI program, the other is not",
                        command.parts.front().words.front(), typed);
    }
    plan.housing = housing;
    plan.private_objects = std::max(plan.private_objects, 1 + static_cast<int>(verdict.libraries.size()));
    for (const std::string& runtime : verdict.sanitizers) {
      if (std::find(plan.preload.begin(), plan.preload.end(), runtime) == plan.preload.end()) plan.preload.push_back(runtime);
    }
    plan.job.apps.push_back(std::move(app));
  }
  plan.job.tag_output = command.tag_output;
  plan.job.spin = core_for_each(plan.job.ranks());
  plan.explanation = explain(plan, command);
  return {};
}

}  // namespace clump::mpiexec
