// clump tune: measures which algorithm is cheapest for each collective on this machine, and writes the rules
// that mpiexec finds from then on.
#include "tune.h"
#include "common/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <set>

#include "coll/select/rules.h"
#include "commands.h"
#include "common/cores.h"
#include "common/rules_file.h"

namespace clump::tools {

namespace {

constexpr int kMostRanks = 4096;

int complain(std::string_view text, int code) {
  print_error("clump: {}\n", text);
  return code;
}

/// On a terminal one line that changes, otherwise nothing.
class Progress {
 public:
  explicit Progress(double seconds) : seconds_(seconds) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }

  void at(const Setting& setting, const Cell& cell) {
    if (!is_terminal_) return;
    shown_ = true;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    fmt::print(stderr, "\r\033[Kclump tune: {:3.0f} %  {}: {} of {}",
               std::min(100 * passed.count() / seconds_, 99.0), text_of(setting),
               coll::name_of(cell.collective), coll::size_text(cell.bytes));
    std::fflush(stderr);
  }

 private:
  const double seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool shown_ = false;
  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
};

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

int usable_cores() {
  UsableCores cores;
  return find_cores({}, cores).ok() ? static_cast<int>(cores.most) : 1;
}

/// What is asked for, and what is measured anyway.
std::vector<Setting> settings_of(const TuneOptions& options, int cores) {
  std::set<int> ranks{2, cores, 4 * cores};
  ranks.insert(options.ranks.begin(), options.ranks.end());
  ranks.erase(ranks.begin(), ranks.lower_bound(2));
  std::vector<Setting> settings;
  for (const std::string& mode : options.modes)
    for (const int one : ranks)
      settings.push_back({one, mode == "fibers" ? coll::Where::kProcess : coll::Where::kNode});
  return settings;
}

void show_plan(const std::vector<Setting>& settings, double each, const std::string& path) {
  for (const Setting& setting : settings) {
    std::size_t algorithms = 0;
    const std::vector<Cell> cells = plan_cells(setting, each);
    for (const Cell& cell : cells) algorithms += cell.algorithms.size();
    print_out("{}: {} operations and sizes up to {}, by {:.1f} algorithms each, in {:.1f} s\n",
              text_of(setting), cells.size(), coll::size_text(cells.back().bytes),
              static_cast<double>(algorithms) / static_cast<double>(cells.size()), each);
  }
  print_out("The rules would be written to {}.\n", path);
}

base::Status measure_all(const std::vector<Setting>& settings, double each, std::vector<Measured>& all) {
  Progress progress(each * static_cast<double>(settings.size()));
  for (const Setting& setting : settings) {
    const std::vector<Cell> cells = plan_cells(setting, each);
    CLUMP_TRY(measure(
        setting, cells, each, [&](const Cell& cell) { progress.at(setting, cell); }, all.emplace_back()));
  }
  return {};
}

/// What changes against the shipped rules, and by how much.
void show_changes(const std::vector<Change>& changes) {
  if (changes.empty()) {
    print_out("No algorithm is cheaper than the shipped choice by more than the noise.\n");
    return;
  }
  print_out("{:<16}{:<24}{:<32}{:<22}{:<22}{}\n", "collective", "where", "sizes", "shipped", "cheaper here",
            "gain where it is greatest");
  for (const Change& change : changes) {
    const coll::Rule& rule = change.rule;
    std::string sizes = rule.from_bytes == 0 ? "" : "from " + coll::size_text(rule.from_bytes);
    if (rule.below_bytes != 0)
      sizes += (sizes.empty() ? "below " : ", below ") + coll::size_text(rule.below_bytes);
    print_out("{:<16}{:<24}{:<32}{:<22}{:<22}{:.2f} x: {} -> {} for {}\n", coll::name_of(rule.collective),
              text_of({change.ranks, rule.where}), sizes, coll::name_of(change.shipped),
              coll::name_of(rule.algorithm), change.before / change.after, seconds_text(change.before),
              seconds_text(change.after), coll::size_text(change.bytes));
  }
}

std::string file_text(const std::vector<Setting>& settings, const std::vector<Change>& changes, int cores) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  char date[64];
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M", std::localtime(&now));
  std::string jobs;
  for (const Setting& setting : settings) jobs += (jobs.empty() ? "" : ", ") + text_of(setting);
  std::string text = fmt::format(
      "# Which algorithms collective operations use: measured by clump tune.\n"
      "# machine: {}\n"
      "# cores: {}\n"
      "# date: {}\n"
      "# version: Clump {}\n"
      "# measured: {}\n"
      "#\n"
      "# A line is a collective, an algorithm, and where it fits; the first line that fits decides. Where "
      "none does\n"
      "# the shipped rules go on: clump info --coll prints all. mpiexec --coll-rules none does without this "
      "file.\n",
      host, cores, date, CLUMP_VERSION, jobs);
  for (const coll::Rule& rule : rules_of(changes)) text += coll::line_text(rule) + "\n";
  return text;
}

base::Status write_and_rename(const std::string& text, const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return base::fail(MPI_ERR_OTHER, "cannot write beside {}: {}", path, std::strerror(errno));
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fchmod(file, 0644) == 0 && ::fsync(file) == 0;
  ::close(file);
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int why = errno;
  ::unlink(temporary.c_str());
  return base::fail(MPI_ERR_OTHER, "cannot write {}: {}", path, std::strerror(why));
}

/// The whole file or none of it, and nothing else, whoever interrupts.
base::Status write_file(const std::string& text, const std::string& path) {
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  if (error) return base::fail(MPI_ERR_OTHER, "cannot make the folder of {}: {}", path, error.message());
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const base::Status written = write_and_rename(text, path);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return written;
}

}  // namespace

int tune(const TuneOptions& options) {
  const std::string path = options.output.empty() ? usual_rules_file() : options.output;
  if (path.empty())
    return complain("neither XDG_CONFIG_HOME nor HOME says where rules go: use --output FILE", 2);
  if (std::ranges::any_of(options.ranks, [](int n) { return n < 2 || n > kMostRanks; }))
    return complain(fmt::format("--ranks: numbers from 2 to {}", kMostRanks), 2);
  const int cores = usable_cores();
  const std::vector<Setting> settings = settings_of(options, cores);
  const double each = options.seconds / static_cast<double>(settings.size());
  if (options.dry_run) {
    show_plan(settings, each, path);
    return 0;
  }
  std::vector<Measured> all;
  if (const base::Status measured = measure_all(settings, each, all); !measured.ok())
    return complain(base::message_of(measured.code()), 1);
  const std::vector<Change> changes = derive_changes(all);
  show_changes(changes);
  const base::Status written = write_file(file_text(settings, changes, cores), path);
  if (!written.ok()) return complain(base::message_of(written.code()), 1);
  const bool found_there = path == usual_rules_file();
  print_out("{} rules are in {}: {}\n", rules_of(changes).size(), path,
            found_there ? "mpiexec uses them from now on" : "mpiexec --coll-rules uses them");
  return 0;
}

}  // namespace clump::tools
