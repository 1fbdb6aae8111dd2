// clump doctor --host: whether jobs can run on these hosts. Each is asked, by the way that jobs take, to try
// itself (common/host_trial.h), and then the ways to all others.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

#include "commands.h"
#include "common/host_trial.h"
#include "common/launchers.h"
#include "common/output.h"
#include "common/places.h"
#include "common/reach.h"
#include "common/ways.h"
#include "mpiexec/command/host_names.h"
#include "mpiexec/command/options.h"

namespace clump::tools {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kFirstPatience{15};  ///< for the launcher, and what a host finds by itself
constexpr std::chrono::seconds kPatience{12};       ///< for the ways between hosts
constexpr std::chrono::seconds kLastPatience{3};    ///< for the end
constexpr std::size_t kMostShown = 300;             ///< bytes of what a launcher says

/// The columns of the table, and what a finding is about.
enum Column { kShell, kClump, kFolder, kBack, kThere, kOthers, kColumns };
constexpr const char* kTitles[] = {"reached", "Clump", "directory", "to here", "from here", "to others"};

std::size_t width_of(const char* title) { return std::max(std::strlen(title), std::strlen("FAILS")); }

class Patient {
 public:
  /// `through`: the hosts by which this one is started; empty: it is from here.
  Patient(mpiexec::Host host, std::vector<std::string> through)
      : host_(std::move(host)), through_(std::move(through)) {}

  void start(const Launcher& launcher, Trial trial);
  /// Poll for this; -1: nothing more will come.
  int descriptor() const { return output_; }
  void read();
  /// Nothing more will come.
  bool has_ended() const { return output_ < 0; }
  /// It has told where it listens, or will not; which ways it has, likewise.
  bool has_listened() const { return has_ended() || port_ != 0; }
  bool has_tried() const { return has_ended() || input_ < 0 || tried_ == asked_; }
  /// What a line for the others says of it.
  std::string address(const mpiexec::Host& first_other) const;
  /// So many lines. It listens until release(), lest it ends before others have tried the way to it.
  void try_others(const std::string& lines, int number);
  void release() {
    if (input_ >= 0) ::close(std::exchange(input_, -1));
  }
  void try_from_here();
  /// Whatever has not been told yet is missing.
  void finish(const std::string& shell, std::size_t hosts, bool is_late);

  const mpiexec::Host& host() const { return host_; }
  bool listens() const { return port_ != 0; }
  int port() const { return port_; }
  std::string row() const;
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void take(const TrialLine& line);
  void note(Column column, bool is_good, const std::string& problem);

  mpiexec::Host host_;
  std::vector<std::string> through_;
  bool has_interface_ = false;  ///< the user says at which it is reached
  pid_t child_ = -1;
  int input_ = -1, output_ = -1;
  std::string partial_, rest_;
  int port_ = 0, asked_ = 0, tried_ = 0;
  std::vector<std::string> addresses_;
  std::map<Column, bool> cells_;
  std::vector<std::string> problems_;
};

void Patient::start(const Launcher& launcher, Trial trial) {
  has_interface_ = !trial.interface.empty();
  std::vector<std::string> command;
  if (host_.is_here) {
    command = words_of(trial);
    command.insert(command.begin(), own_program("mpiexec"));
  } else if (through_.empty()) {
    command = launcher.command(host_.name, words_of(trial));
  } else {
    trial.through.assign(through_.begin() + 1, through_.end());
    trial.through.push_back(host_.name);
    command = launcher.command(through_.front(), words_of(trial));
  }
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
  child_ = ::fork();
  if (child_ == 0) {
    ::setpgid(0, 0);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(out[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

void Patient::read() {
  char bytes[4096];
  while (output_ >= 0) {
    const ssize_t got = ::read(output_, bytes, sizeof bytes);
    if (got == 0) ::close(std::exchange(output_, -1));
    if (got <= 0) break;
    partial_.append(bytes, static_cast<std::size_t>(got));
  }
  for (std::size_t end; (end = partial_.find('\n')) != partial_.npos; partial_.erase(0, end + 1)) {
    std::string_view text = std::string_view(partial_).substr(0, end);
    if (text.ends_with('\r')) text.remove_suffix(1);  // so ssh ends its lines
    TrialLine line;
    if (parse(text, line))
      take(line);
    else
      rest_.append(text).append("; ");
  }
}

void Patient::take(const TrialLine& line) {
  static const std::map<std::string, Column> kColumnOf{
      {"version", kClump}, {"folder", kFolder}, {"back", kBack}, {"reaches", kOthers}};
  if (!host_.is_here) cells_[kShell] = true;
  if (line.what == "listens" && !line.is_good) return note(kOthers, false, line.text);
  if (line.what == "listens") {
    std::istringstream in(line.text);
    std::string list;
    in >> port_ >> list;
    for (std::istringstream all(list); std::getline(all, list, ',');) addresses_.push_back(list);
    return;
  }
  if (line.what == "reaches") ++tried_;
  const auto column = kColumnOf.find(line.what);
  if (column != kColumnOf.end())
    note(column->second, line.is_good, column->second == kOthers ? "no way to " + line.text : line.text);
}

void Patient::note(Column column, bool is_good, const std::string& problem) {
  const auto [cell, is_new] = cells_.try_emplace(column, is_good);
  cell->second = cell->second && is_good;
  if (!is_good) problems_.push_back(problem);
}

std::string Patient::address(const mpiexec::Host& first_other) const {
  if (has_interface_ && !addresses_.empty()) return addresses_.front();
  if (host_.is_here)
    return address_towards(first_other.addresses.empty() ? first_other.name : first_other.address());
  if (!host_.addresses.empty()) return host_.address();
  return addresses_.empty() ? host_.name : addresses_.front();
}

void Patient::try_others(const std::string& lines, int number) {
  asked_ = number;
  (void)!::write(input_, lines.data(), lines.size());
}

void Patient::try_from_here() {
  if (!listens() || host_.is_here) return;
  std::string why;
  const int socket = connect_to_any({address(host_)}, port_, std::chrono::seconds(5), why);
  if (socket >= 0) ::close(socket);
  note(kThere, socket >= 0, fmt::format("no way from here to it: {}", why));
}

void Patient::finish(const std::string& shell, std::size_t hosts, bool is_late) {
  release();
  if (is_late && output_ >= 0) ::kill(-child_, SIGKILL);
  int status = 0;
  ::waitpid(child_, &status, 0);
  const std::string said = rest_.substr(0, std::min(rest_.size(), kMostShown));
  const std::string quoted =
      said.empty() ? "it says nothing" : said.substr(0, said.find_last_not_of("; ") + 1);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (cells_.contains(kClump)) {
    if (is_late && output_ >= 0) problems_.emplace_back("it has not answered all questions in time");
  } else if (is_late && output_ >= 0) {
    note(kShell, false,
         fmt::format("{} has not come back within {} s: {}; is there a firewall, or a question that it asks?",
                     shell, kFirstPatience.count(), quoted));
  } else {
    const std::string from = through_.empty() ? shell : fmt::format("{} on {}", shell, through_.back());
    StartFailure failure = why_not_started(from, host_.name, code, quoted);
    if (!failure.is_reached && !through_.empty())
      failure.why += fmt::format("; with {}={} mpiexec starts all hosts itself", kWidthVariable, hosts);
    if (failure.is_reached && !host_.is_here) cells_[kShell] = true;
    note(failure.is_reached ? kClump : kShell, false, failure.why);
  }
}

std::string Patient::row() const {
  std::string text;
  for (int column = 0; column < kColumns; ++column) {
    const auto cell = cells_.find(Column(column));
    const char* const shown = cell != cells_.end()                ? (cell->second ? "ok" : "FAILS")
                              : column == kShell && host_.is_here ? "here"
                                                                  : "-";
    text += fmt::format("  {:<{}}", shown, width_of(kTitles[column]));
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// False if some have not, in time.
template <typename Done>
bool read_until(std::vector<Patient>& all, std::chrono::seconds patience, Done done) {
  const auto end = Clock::now() + patience;
  while (!std::ranges::all_of(all, done)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    std::vector<pollfd> asked;
    for (const Patient& one : all) asked.push_back({one.descriptor(), POLLIN, 0});
    ::poll(asked.data(), asked.size(), static_cast<int>(left.count()));
    for (Patient& one : all) one.read();
  }
  return true;
}

void try_ways(std::vector<Patient>& all) {
  const auto other_than = [&](const Patient& one) -> const mpiexec::Host& {
    const auto found = std::ranges::find_if(all, [&](const Patient& each) { return &each != &one; });
    return found != all.end() ? found->host() : one.host();
  };
  for (Patient& one : all) {
    std::string lines;
    int number = 0;
    for (const Patient& each : all)
      if (&each != &one && each.listens() && ++number > 0)
        lines += fmt::format("{} {} {}\n", each.host().name, each.port(), each.address(other_than(each)));
    if (one.listens()) one.try_others(lines, number);
  }
  for (Patient& one : all) one.try_from_here();
}

/// Those that jobs start from here, and those that other hosts start: cut into parts as branches_of() does
/// (mpiexec/cluster), each begun by its first host.
std::vector<Patient> patients_of(const std::vector<mpiexec::Host>& hosts, std::size_t width) {
  std::vector<const mpiexec::Host*> others;
  std::map<std::string, std::vector<std::string>> through;
  for (const mpiexec::Host& host : hosts)
    if (!host.is_here) others.push_back(&host);
  const auto cut = [&](auto self, std::size_t from, std::size_t to,
                       const std::vector<std::string>& by) -> void {
    const std::size_t parts = std::min(to - from, width);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t first = from + (to - from) * i / parts, end = from + (to - from) * (i + 1) / parts;
      through[others[first]->name] = by;
      std::vector<std::string> further = by;
      further.push_back(others[first]->name);
      self(self, first + 1, end, further);
    }
  };
  cut(cut, 0, others.size(), {});
  std::vector<Patient> all;
  for (const mpiexec::Host& host : hosts) all.emplace_back(host, through[host.name]);
  return all;
}

int print(const std::vector<Patient>& all) {
  std::size_t width = 4;
  for (const Patient& one : all) width = std::max(width, one.host().name.size());
  std::string titles = fmt::format("{:<{}}", "host", width);
  for (const char* const title : kTitles) titles += fmt::format("  {:<{}}", title, width_of(title));
  print_out("{}\n", titles.substr(0, titles.find_last_not_of(' ') + 1));
  bool is_healthy = true;
  for (const Patient& one : all) print_out("{:<{}}{}\n", one.host().name, width, one.row());
  for (const Patient& one : all) {
    for (const std::string& problem : one.problems())
      print_out("PROBLEM  {}: {}\n", one.host().name, problem);
    is_healthy = is_healthy && one.problems().empty();
  }
  return is_healthy ? 0 : 1;
}

}  // namespace

int show_health_of_hosts(std::vector<std::string> words) {
  mpiexec::Command command;
  Launcher launcher;
  int width = 0;
  const auto fail = [](const base::Status& status, int code) {
    print_error("clump: {}\n", base::message_of(status.code()));
    return code;
  };
  words.emplace_back("--map");  // a command line that needs no program
  if (const base::Status parsed = mpiexec::parse(words, command); !parsed.ok()) return fail(parsed, 2);
  for (const auto& [option, why] : command.ignored) print_error("clump: {} is ignored: {}\n", option, why);
  std::vector<mpiexec::Host>& hosts = command.hosts;
  if (hosts.empty()) return fail(base::fail(MPI_ERR_ARG, "no host is named: --host NAME,NAME,..."), 2);
  mpiexec::merge_names(hosts);
  const LauncherChoice choice = with_variables(command.launcher);
  if (const base::Status found = launcher.find(choice); !found.ok()) return fail(found, 1);
  if (const base::Status found = find_width(width); !found.ok()) return fail(found, 1);
  if (!launcher.gives_stream())
    return fail(base::fail(MPI_ERR_ARG,
                           "launcher {}: hosts can be tested only by one that gives a stream, as ssh does",
                           launcher.name()),
                2);
  ::signal(SIGPIPE, SIG_IGN);

  const Wish interface = mpiexec::interface_of(command);
  Trial trial{.addresses =
                  interface.is_set() ? own_addresses(interface.value) : mpiexec::own_addresses_towards(hosts),
              .network = own_network(),
              .folder = current_directory(),
              .interface = interface.value,
              .launcher = choice,
              .tries_others = true};
  if (trial.addresses.empty())
    return fail(base::fail(MPI_ERR_ARG, "{}: no address that other hosts reach is there; there are {}",
                           interface.text(), fmt::join(own_addresses(), ", ")),
                1);
  const std::vector<int> listeners = listen_on(trial.addresses, trial.port);
  if (listeners.empty()) return fail(base::fail(MPI_ERR_OTHER, "cannot listen: {}", std::strerror(errno)), 1);
  std::vector<Patient> all = patients_of(hosts, static_cast<std::size_t>(width));
  for (Patient& one : all) {
    Trial its = trial;
    if (one.host().is_here) its.addresses.clear();
    one.start(launcher, its);
  }
  read_until(all, kFirstPatience, [](const Patient& one) { return one.has_listened(); });
  try_ways(all);
  read_until(all, kPatience, [](const Patient& one) { return one.has_tried(); });
  for (Patient& one : all) one.release();
  const bool is_late = !read_until(all, kLastPatience, [](const Patient& one) { return one.has_ended(); });
  for (Patient& one : all) one.finish(launcher.name(), all.size(), is_late);
  for (const int listener : listeners) ::close(listener);
  return print(all);
}

}  // namespace clump::tools
