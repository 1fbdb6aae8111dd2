#include "mpi/dynamic/spawn_command.h"

#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/variables.h"

namespace clump::mpi {

namespace {

using base::Status;

/// Where a message for the user begins.
std::string words_for(const Asked& asked, const char* argument, std::string_view value) {
  if (asked.number < 0) return fmt::format("({} = {})", argument, value);
  const char* const plural = std::string_view(argument).ends_with('s') ? "" : "s";
  return fmt::format("(array_of_{}{}[{}] = {})", argument, plural, asked.number, value);
}

/// What a program's info object says.
class Wishes {
 public:
  explicit Wishes(const core::Info* info) : info_(info) {}
  /// The value of a key; empty if there is none.
  std::string operator[](std::string_view key) const {
    return info_ != nullptr ? info_->get(key).value_or("") : "";
  }

 private:
  const core::Info* info_;
};

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// `path` as seen from the folder `from`.
std::string absolute(const std::string& path, const std::string& from) {
  return path.empty() ? from : (std::filesystem::path(from) / path).lexically_normal().string();
}

bool is_executable(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && ::access(path.c_str(), X_OK) == 0;
}

/// A name without '/' is looked for in the folders of the info key `path`, then in those of PATH. One with
/// '/' is as the caller sees it, whose working directory `here` is, or as the new ranks do.
std::string find_program(const std::string& command, const std::string& folders, const std::string& here,
                         const Command& made) {
  if (command.find('/') != std::string::npos) {
    for (const std::string& from : {here, made.working_directory})
      if (std::string path = absolute(command, from); is_executable(path)) return path;
    return {};
  }
  std::vector<std::string> all = split(folders, ':');
  for (std::string& folder : split(base::text_in(made.environment, "PATH"), ':'))
    all.push_back(std::move(folder));
  for (const std::string& folder : all)
    if (std::string path = absolute(folder + "/" + command, made.working_directory); is_executable(path))
      return path;
  return {};
}

/// Some of the numbers that `soft` allows: "a", "a:b" or "a:b:c".
struct Range {
  std::int64_t from = 0, to = 0, step = 1;

  /// The largest that is no more than `most`; 0 or less if there is none.
  std::int64_t largest(std::int64_t most) const {
    if (step > 0) {
      const std::int64_t last = std::min(to, most);
      return last < from ? 0 : from + (last - from) / step * step;
    }
    // Down from `from`, by as many steps as it takes.
    const std::int64_t steps = from <= most ? 0 : (from - most - step - 1) / -step;
    const std::int64_t found = from + steps * step;
    return found < to ? 0 : found;
  }
};

/// False if it is none.
bool read_range(std::string_view text, Range& range) {
  std::int64_t* const numbers[] = {&range.from, &range.to, &range.step};
  for (std::size_t i = 0;; ++i) {
    if (i == std::size(numbers)) return false;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    *numbers[i] = number;
    if (i == 0) range.to = number;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return range.step != 0;
    if (text.front() != ':') return false;
    text.remove_prefix(1);
  }
}

/// The largest number that `soft` (MPI-5.0 section 11.8.4) allows and that is no more than `most`; 0: none.
/// Negative: it is no list of numbers.
int largest_of(std::string_view soft, int most) {
  std::int64_t largest = 0;
  for (const std::string& text : split(soft, ',')) {
    Range range;
    if (!read_range(text, range)) return -1;
    largest = std::max(largest, range.largest(most));
  }
  return static_cast<int>(largest);
}

/// How many ranks are started: maxprocs, or what `soft` allows instead. `room`: how many there can be.
Status choose_count(const Asked& asked, const Wishes& wishes, int& room, Command& made) {
  made.ranks = asked.maxprocs;
  if (const std::string soft = wishes["soft"]; !soft.empty()) {
    made.ranks = largest_of(soft, std::min(asked.maxprocs, room));
    if (made.ranks < 0)
      return base::fail(MPI_ERR_INFO_VALUE, "(info): soft = \"{}\" is no list of numbers and triplets a:b:c",
                        soft);
    if (made.ranks == 0)
      return base::fail(MPI_ERR_SPAWN,
                        "{}: soft = \"{}\" allows no number of ranks that can be started; room is for {}",
                        words_for(asked, "maxprocs", std::to_string(asked.maxprocs)), soft, room);
  } else if (made.ranks > room) {
    return base::fail(MPI_ERR_SPAWN, "{}: only {} more ranks can be started in this job",
                      words_for(asked, "maxprocs", std::to_string(asked.maxprocs)), room);
  }
  room -= made.ranks;
  return {};
}

bool is_this_host(std::string_view name) {
  utsname machine{};
  uname(&machine);  // cannot fail
  const std::string_view own = machine.nodename;
  return name == own || name == own.substr(0, own.find('.')) || name == "localhost" || name == "127.0.0.1";
}

/// The name in "NAME:N", the name of a line of a host file, ...
std::string name_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  text = text.substr(0, text.find_first_of(" \t#"));
  return std::string(text.substr(0, std::ranges::count(text, ':') == 1 ? text.find(':') : text.size()));
}

std::vector<std::string> names_in(const Command& command) {
  std::vector<std::string> names;
  for (const std::string& one : split(command.hosts, ',')) names.push_back(name_in(one));
  std::ifstream file(command.host_file);
  for (std::string line; std::getline(file, line);)
    if (std::string name = name_in(line); !name.empty()) names.push_back(std::move(name));
  return names;
}

/// The keys that say where. `here` is the caller's folder.
Status choose_place(const Wishes& wishes, const std::string& here, Command& made) {
  utsname machine{};
  uname(&machine);
  if (const std::string arch = wishes["arch"]; !arch.empty() && arch != machine.machine)
    return base::fail(MPI_ERR_SPAWN, "(info): arch = \"{}\": this machine is {}", arch, machine.machine);
  if (const std::string name = wishes["file"]; !name.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "(info): file = \"{}\": Clump {} reads no such files: leave the key out", name,
                      CLUMP_VERSION);
  made.hosts = wishes["host"];
  if (const std::string name = wishes["hostfile"]; !name.empty()) {
    made.host_file = absolute(name, here);
    if (::access(made.host_file.c_str(), R_OK) != 0)
      return base::fail(MPI_ERR_SPAWN, "(info): hostfile = \"{}\": {}: {}", name, made.host_file,
                        std::strerror(errno));
  }
  made.is_elsewhere = !first_host_elsewhere(made).empty();
  return {};
}

/// The error handler that the ranks begin with (MPI-5.0 section 11.5), as mpiexec passes it on.
Status choose_errhandler(const std::string& name, Command& made) {
  constexpr std::string_view kNames[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
  if (std::ranges::find(kNames, name) == std::end(kNames))
    return base::fail(MPI_ERR_INFO_VALUE, "(info): mpi_initial_errhandler = \"{}\": there are {}", name,
                      fmt::join(kNames, ", "));
  constexpr std::string_view kVariable = "CLUMP_INITIAL_ERRHANDLER=";
  std::erase_if(made.environment, [&](const std::string& known) { return known.starts_with(kVariable); });
  made.environment.push_back(std::string(kVariable) + name);
  return {};
}

}  // namespace

std::string first_host_elsewhere(const Command& command) {
  const std::vector<std::string> names = names_in(command);
  const auto found = std::ranges::find_if_not(names, is_this_host);
  return found != names.end() ? *found : std::string();
}

base::Status prepare_command(const core::Rank& self, const Asked& asked, int& room, Command& made) {
  if (asked.command == nullptr)
    return base::fail(MPI_ERR_ARG, "{}: it is the name of a program", words_for(asked, "command", "NULL"));
  if (asked.maxprocs < 1)
    return base::fail(MPI_ERR_ARG, "{}: at least one rank has to be started",
                      words_for(asked, "maxprocs", std::to_string(asked.maxprocs)));
  const core::Info* const info = asked.info != MPI_INFO_NULL ? self.info(asked.info) : nullptr;
  if (asked.info != MPI_INFO_NULL && info == nullptr)
    return base::fail(MPI_ERR_INFO, "(info): it is no info object");
  const Wishes wishes(info);
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  CLUMP_TRY(choose_place(wishes, here, made));
  CLUMP_TRY(choose_count(asked, wishes, room, made));

  made.working_directory = absolute(wishes["wdir"], here);
  if (!std::filesystem::is_directory(made.working_directory, error))
    return base::fail(MPI_ERR_SPAWN, "(info): wdir = \"{}\" is no folder", wishes["wdir"]);
  for (const std::string& entry : split(wishes["env"], '\n')) {
    const std::size_t end = entry.find('=');
    if (end == std::string::npos || end == 0)
      return base::fail(MPI_ERR_INFO_VALUE, "(info): env has the line \"{}\", which is no NAME=value", entry);
    std::erase_if(made.environment,
                  [&](const std::string& known) { return known.starts_with(entry.substr(0, end + 1)); });
    made.environment.push_back(entry);
  }
  if (const std::string handler = wishes["mpi_initial_errhandler"]; !handler.empty())
    CLUMP_TRY(choose_errhandler(handler, made));
  made.path = find_program(asked.command, wishes["path"], here, made);
  if (made.path.empty()) {
    std::string where = " in the folders of PATH and of the info key path";
    if (std::string_view(asked.command).find('/') != std::string_view::npos) {
      where = " that may be executed, seen from " + here;
      if (here != made.working_directory) where += " or " + made.working_directory;
    }
    return base::fail(MPI_ERR_SPAWN, "{}: there is no such program{}",
                      words_for(asked, "command", fmt::format("\"{}\"", asked.command)), where);
  }
  made.arguments = {asked.command};
  for (char** argument = asked.argv; argument != nullptr && *argument != nullptr; ++argument)
    made.arguments.emplace_back(*argument);
  return {};
}

}  // namespace clump::mpi
