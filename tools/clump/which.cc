// clump which: the MPI library that a program is linked to, or that comes into it while it runs.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "base/program_path.h"
#include "commands.h"
#include "common/output.h"
#include "common/places.h"
#include "inspect/elf_file.h"
#include "inspect/inspect.h"
#include "inspect/mpi4py.h"

namespace clump::tools {

namespace {

using image::MpiKind;
using image::WrongMpi;

std::string own_mpicc() {
  return (std::filesystem::path(base::program_path()).parent_path() / "mpicc").string();
}

/// What Clump has for a library of that name: its own, or a facade. Empty: nothing.
std::string served_by(const std::string& library) {
  if (image::mpi_kind_of(library) == MpiKind::kStandardAbi) return own_library("libmpi_abi.so.1");
  const std::string facade = image::facade_for(library);
  if (facade.empty()) return {};
  return fmt::format("{}, which has {}'s ABI over libmpi_abi.so.1", facade,
                     image::name_of(image::mpi_kind_of(library)));
}

void show_start(const WrongMpi& library) {
  const bool is_standard = image::mpi_kind_of(library.library) == MpiKind::kStandardAbi;
  print_out("{}: {}, named by {}\n", library.user, library.library,
            library.by.empty() ? "nobody" : library.by);
  print_out("  started by itself:          {}{}\n", library.path.empty() ? "not found" : library.path,
            is_standard ? "" : fmt::format(" ({})", image::family_of(library)));
}

/// Whether it fits. `is_refused`: the program needs more than Clump's library of that name has.
bool show(const WrongMpi& library, bool is_refused = false) {
  const bool is_standard = image::mpi_kind_of(library.library) == MpiKind::kStandardAbi;
  const std::string served = is_refused ? std::string() : served_by(library.library);
  show_start(library);
  if (is_standard || !served.empty()) {
    print_out("  under Clump's mpiexec:      {}\n", served);
  } else {
    WrongMpi wrong = library;
    if (!wrong.by.empty()) wrong.user = std::exchange(wrong.by, {});
    print_out("  under Clump's mpiexec:      refused: {}\n", image::words_about(wrong, own_mpicc()));
  }
  return is_standard || !served.empty();
}

/// A folder for what ld.so tells, gone with this object.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "clump-which-XXXXXX").string();
    if (::mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~Folder() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs the program to its end. Its exit code. `folder`: ld.so writes what it does into files there, one a
/// process; empty: it does not. `errors`: the file that has its stderr; empty: our own.
int run(const std::string& path, const std::vector<std::string>& words, const std::string& folder,
        const std::string& errors) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!folder.empty()) {
      ::setenv("LD_DEBUG", "libs,files", 1);
      ::setenv("LD_DEBUG_OUTPUT", (folder + "/ld").c_str(), 1);
    }
    if (!errors.empty()) ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(path.c_str(), arguments.data());
    std::_Exit(127);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// What stands behind `before` in a line, up to " [" (ld.so's namespace) or the end; empty if it is not
/// there.
std::string behind(const std::string& line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == line.npos) return {};
  const std::string rest = line.substr(at + before.size());
  return rest.substr(0, std::min(rest.find(" ["), rest.size()));
}

std::string name_in_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// MPI libraries by name, with what has named them and where they were found.
using Seen = std::map<std::string, WrongMpi>;

/// Returns whether one of `modules`, which are paths, has come in, too.
bool read_observations(const std::string& folder, const std::vector<std::string>& modules, Seen& seen) {
  bool has_module = false;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (!name_in_folder(entry.path()).starts_with("ld.")) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string found = behind(line, "calling init: ");
      has_module = has_module || std::ranges::count(modules, found) > 0;
      const std::string wanted = !found.empty() ? found.substr(found.rfind('/') + 1) : behind(line, "file=");
      const std::string name = wanted.substr(wanted.rfind('/') + 1);
      if (name.empty() || image::mpi_kind_of(name) == MpiKind::kNone) continue;
      WrongMpi& library = seen.try_emplace(name, WrongMpi{{}, {}, name, {}}).first->second;
      if (!found.empty()) library.path = found;
      for (const char* const way : {"needed by ", "dynamically loaded by "})
        if (library.by.empty()) library.by = behind(line, way);
    }
  }
  return has_module;
}

/// The modules of mpi4py that this Python would choose from.
std::vector<std::string> modules_of_mpi4py(const std::string& python) {
  // -c puts the working folder in front of the folders of modules. An mpi4py may be there, which is only
  // looked for; so may be a glob.py, which must not be run.
  const std::string script =
      "import sys; folders = sys.path[:]; sys.path[:] = filter(None, folders); "
      "import glob, importlib.util, os; sys.path[:] = folders; s = importlib.util.find_spec('mpi4py'); "
      "print('\\n'.join(sorted(glob.glob(os.path.join(os.path.dirname(s.origin), 'MPI.*so')))) if s else '')";
  const std::string command = shell_word(python) + " -c " + shell_word(script) + " 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::vector<std::string> all;
  char line[4096];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe.get()) != nullptr)
    if (std::string text(line, std::strcspn(line, "\n")); !text.empty()) all.push_back(std::move(text));
  return all;
}

/// Says what mpi4py is under mpiexec (inspect/mpi4py.h), and whether a module of it fits.
bool show_mpi4py(const std::vector<std::string>& modules) {
  print_out("this Python has mpi4py with {} module{}; one is chosen by 'from mpi4py import MPI':\n",
            modules.size(), modules.size() == 1 ? "" : "s");
  bool fits = false;
  bool has_standard = false;
  bool has_mpich = false;
  for (const std::string& module : modules) {
    has_mpich = has_mpich || name_in_folder(module).starts_with("MPI.mpich.");
    for (const std::string& name : image::ElfFile(module).strings(DT_NEEDED)) {
      if (image::mpi_kind_of(name) == MpiKind::kNone) continue;
      const bool is_standard = image::mpi_kind_of(name) == MpiKind::kStandardAbi;
      has_standard = has_standard || is_standard;
      fits = fits || is_standard || !served_by(name).empty();
      print_out("  {}: {} ({})\n", module, name,
                is_standard ? "the MPI standard ABI" : image::family_of({module, {}, name, {}}));
    }
  }
  if (!fits) {
    print_out("under Clump's mpiexec:      none of these; install mpi4py for the MPI standard ABI:\n");
    print_command(stdout, image::command_for_mpi4py(own_mpicc()));
  } else if (has_standard || modules.size() == 1) {
    print_out("under Clump's mpiexec:      {}\n", has_standard ? "the standard ABI's" : "this one");
  } else {
    print_out("under Clump's mpiexec:      {} (set MPI4PY_MPIABI to choose another one)\n",
              has_mpich ? "MPICH's: mpiexec sets MPI4PY_MPIABI=mpich" : "one that fits");
  }
  return fits;
}

/// Whether an mpi4py that has chosen one of its modules has asked for this library: by ctypes, to see which
/// MPI library there is, or by the module. Under mpiexec it chooses another way.
bool is_of_mpi4py(const WrongMpi& library, const std::vector<std::string>& modules) {
  return name_in_folder(library.by).starts_with("_ctypes.") || std::ranges::count(modules, library.by) > 0;
}

/// Runs as mpiexec runs it what an mpi4py without an MPI library has ended: whether it ends well.
bool show_run_of_mpiexec(std::vector<std::string> words) {
  const std::string mpiexec = own_program("mpiexec");
  words.insert(words.begin(), {mpiexec, "-n", "1"});
  const int code = run(mpiexec, words, {}, {});
  print_out("so started:                 ended with exit code {}\n", code);
  return code == 0;
}

int show_what_comes(const std::string& path, const std::vector<std::string>& words) {
  const Folder folder;
  if (folder.path().empty()) {
    print_error("clump: cannot make a folder for what ld.so tells: {} (TMPDIR names another place)\n",
                std::strerror(errno));
    return 1;
  }
  const std::string python = image::python_of(path);
  const std::vector<std::string> modules =
      python.empty() ? std::vector<std::string>() : modules_of_mpi4py(python);
  // By itself such a Python may end for want of an MPI library, which it has under mpiexec.
  const std::string errors = modules.empty() ? "" : folder.path() + "/errors";
  const int code = run(path, words, folder.path(), errors);
  Seen seen;
  const bool has_chosen = read_observations(folder.path(), modules, seen) && modules.size() > 1;
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  if (code != 0) print_out("{}: ended with exit code {}\n", command, code);
  // What has come in is told; what was looked for in vain only if nothing has.
  const bool any = std::ranges::any_of(seen, [](const auto& one) { return !one.second.path.empty(); });
  // The import of mpi4py alone loads no MPI library: that of mpi4py.MPI does.
  bool asks_mpi4py = seen.empty() && !modules.empty();
  bool fits = !seen.empty() || asks_mpi4py;
  for (auto& [name, library] : seen) {
    if (any && library.path.empty()) continue;
    library.user = command;
    // Without any MPI library there, mpi4py has asked for each in vain.
    if ((has_chosen || (!any && !modules.empty())) && is_of_mpi4py(library, modules)) {
      asks_mpi4py = true;
      if (any) show_start(library);
    } else {
      fits = show(library) && fits;
    }
  }
  if (seen.empty()) print_out("{}: no MPI library has come in\n", command);
  if (asks_mpi4py) fits = show_mpi4py(modules) && fits;
  if (code != 0 && asks_mpi4py && fits)
    fits = show_run_of_mpiexec(words);
  else if (std::ifstream said(errors); said)
    print_error("{}", std::string(std::istreambuf_iterator<char>(said), {}));
  return fits ? 0 : 1;
}

}  // namespace

int show_which(const std::vector<std::string>& words) {
  std::string path;
  const base::Status found = find_program(words.front(), current_directory(), path);
  if (!found.ok()) {
    print_error("clump: {}\n", base::message_of(found.code()));
    return 127;
  }
  if (words.size() > 1) return show_what_comes(path, words);
  const image::Verdict verdict = image::inspect(path);
  if (!verdict.mpi_inside.empty()) {
    print_out("{}: {}\n", path, verdict.why_not);
    return 1;
  }
  if (verdict.mpi == MpiKind::kNone) {
    print_out("{}: no MPI library; with arguments behind it, it is run, and what comes in then is told\n",
              path);
    return 1;
  }
  const bool fits = show({path, verdict.mpi_needed_by, verdict.mpi_library, verdict.mpi_path},
                         verdict.mpi == MpiKind::kOther);
  if (!verdict.second_mpi.empty()) print_out("  but {}\n", image::words_about_two(verdict));
  return fits && verdict.second_mpi.empty() ? 0 : 1;
}

}  // namespace clump::tools
