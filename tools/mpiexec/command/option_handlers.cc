#include "command/option_handlers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "command/collectives.h"
#include "command/counts.h"
#include "common/places.h"
#include "common/scheduler.h"

namespace clump::mpiexec::handlers {

namespace {

constexpr std::int64_t kMaxSeed = std::numeric_limits<std::int64_t>::max() / 2;  // more come after it

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(separator, from), list.size());
    if (to > from) names.push_back(list.substr(from, to - from));
    from = to + 1;
  }
  return names;
}

base::Status use_output_folder(Command& command, const std::string& folder) {
  const std::string path = tools::absolute(folder, tools::current_directory());
  command.output_files = {path + "/rank.%r.out", path + "/rank.%r.err"};
  return {};
}

}  // namespace

base::Status ranks(Parser& parser, const Given& given) {
  parser.part().says_ranks = true;
  return read_number(given, given.values[0], parser.part().ranks);
}

base::Status path(Parser& parser, const Given& given) {
  parser.part().path = split(given.values[0], ':');
  return {};
}

base::Status architecture(Parser&, const Given& given) {
  return check_architecture(given.word, given.values[0]);
}

base::Status options_of_file(Parser& parser, const Given& given) { return parser.read_file(given, false); }

base::Status parts_of_file(Parser& parser, const Given& given) { return parser.read_file(given, true); }

base::Status run_as(Parser& parser, const Given& given) {
  return tools::parse_ranks(given.word, given.values[0], parser.command().as_asked);
}

base::Status scheduler(Parser& parser, const Given& given) {
  return tools::parse_scheduler(given.word, given.values[0], parser.command().as_asked.scheduler.emplace());
}

base::Status hosts(Parser& parser, const Given& given) {
  return parse_hosts(given.word, given.values[0], parser.command().hosts);
}

base::Status hostfile(Parser& parser, const Given& given) {
  const std::string& file = given.values[0];
  std::vector<std::string> without_meaning;
  CLUMP_TRY(read_hostfile(given.word, file, parser.command().hosts, without_meaning));
  for (const std::string& key : without_meaning)
    parser.ignore(fmt::format("{}= of {} {}", key, given.word, file),
                  key.starts_with("user") || key == "port"
                      ? "the user and the port of a host are ssh's to know (~/.ssh/config)"
                      : "a line of a host file is NAME slots=N here");
  return {};
}

base::Status launcher(Parser& parser, const Given& given) {
  CLUMP_TRY(setting<&tools::LauncherChoice::name>(parser, given));
  return tools::check_launcher(parser.command().launcher.name);
}

base::Status prefix(Parser& parser, const Given& given) {
  parser.command().launcher.prefix = tools::absolute(given.values[0], tools::current_directory());
  return {};
}

/// Open MPI's settings, of which one names what is used in ssh's place.
base::Status mca(Parser& parser, const Given& given) {
  if (given.values[0] != "plm_rsh_agent" && given.values[0] != "plm_ssh_agent") return ignored(parser, given);
  parser.command().launcher.program = {given.word + " " + given.values[0], given.values[1]};
  return {};
}

base::Status one_per_host(Parser& parser, const Given&) {
  parser.command().per_host = 1;
  return {};
}

// What Open MPI's launcher has here, "ppr:2:node" and modifiers behind a colon too.
base::Status map_by(Parser& parser, const Given& given) {
  const std::string& value = given.values[0];
  Command& command = parser.command();
  const std::string unit = value.substr(0, value.find(':'));
  if (unit == "node" || unit == "slot") {
    command.map_by = unit == "node" ? MapBy::kNode : MapBy::kSlot;
  } else if (const std::size_t end = value.find(":node"); unit == "ppr" && end != std::string::npos) {
    return read_number(given, value.substr(4, end - 4), command.per_host);
  } else if (!unit.empty()) {
    const std::string option = given.word + " " + value;
    if (unit == "ppr") command.needs_ranks = option;
    parser.ignore(option,
                  "on a host ranks go to cores in blocks; slot and node say in what order hosts get them");
  }
  return {};
}

base::Status round_robin(Parser& parser, const Given&) {
  parser.command().map_by = MapBy::kNode;
  return {};
}

void inherit_as(Environment& environment, Environment::Inherit how) {
  environment.inherit = how;
  environment.chosen = true;
}

void inherit_names(Environment& environment, const std::string& list) {
  inherit_as(environment, Environment::Inherit::kListed);
  const std::vector<std::string> names = split(list, ',');
  environment.listed.insert(environment.listed.end(), names.begin(), names.end());
}

base::Status add_variable(Environment& environment, const Given& given) {
  const std::string& name = given.values[0];
  if (name.empty() || name.find('=') != std::string::npos)
    return base::fail(MPI_ERR_ARG, "{0} '{1}': not a name for a variable (write {0} NAME VALUE)", given.word,
                      name);
  environment.set.emplace_back(name, given.values[1]);
  return {};
}

// -x NAME or -x NAME=VALUE.
base::Status export_variable(Parser& parser, const Given& given) {
  const std::string& word = given.values[0];
  Environment& environment = of_part(parser);
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (name.empty()) return base::fail(MPI_ERR_ARG, "-x {}: the name of the variable is missing", word);
  if (equals != std::string::npos) {
    environment.set.emplace_back(name, word.substr(equals + 1));
  } else if (const char* value = ::getenv(name.c_str()); value != nullptr) {
    environment.set.emplace_back(name, value);
  } else {
    parser.ignore("-x " + name, "the variable is not set");
  }
  return {};
}

base::Status initial_errhandler(Parser& parser, const Given& given) {
  const std::string& name = given.values[0];
  if (std::ranges::find(pmi::kInitialErrhandlers, name) == std::end(pmi::kInitialErrhandlers))
    return base::fail(MPI_ERR_ARG, "{} {}: that is no error handler; there are {}", given.word, name,
                      fmt::join(pmi::kInitialErrhandlers, ", "));
  of_part(parser).set.emplace_back(pmi::kInitialErrhandlerVariable, name);
  return {};
}

base::Status allocator(Parser& parser, const Given& given) {
  of_job(parser).set.emplace_back(kMallocVariable, given.values[0]);
  return {};
}

base::Status collectives(Parser& parser, const Given& given) {
  return choose_collectives(given.word, given.values[0], of_job(parser).set);
}

base::Status reproducible(Parser& parser, const Given&) {
  of_job(parser).set.push_back(reproducible_reductions());
  return {};
}

base::Status check(Parser& parser, const Given& given) {
  return choose_checks("--check", given.values.empty() ? "on" : given.values[0], of_job(parser).set);
}

base::Status profile(Parser& parser, const Given& given) {
  parser.command().profile = true;
  if (!given.values.empty()) parser.command().profile_file = given.values[0];
  return {};
}

base::Status seed(Parser& parser, const Given& given) {
  parser.leave_out();
  return read_number(given, given.values[0], parser.command().seed.emplace(), 0, kMaxSeed);
}

base::Status explore(Parser& parser, const Given& given) {
  parser.leave_out();
  return read_number(given, given.values[0], parser.command().explore);
}

base::Status output_folder(Parser& parser, const Given& given) {
  return use_output_folder(parser.command(), given.values[0]);
}

// Open MPI's --output-filename, which writes to the terminal, too, unless it is told ":nocopy".
base::Status output_folder_and_tee(Parser& parser, const Given& given) {
  const std::string& value = given.values[0];
  const std::size_t colon = value.find(':');
  parser.command().tee = colon == std::string::npos || value.substr(colon) != ":nocopy";
  return use_output_folder(parser.command(), value.substr(0, colon));
}

base::Status add_output_file(Command& command, const Given& given, std::size_t stream) {
  const std::string& pattern = given.values[0];
  if (pattern.find("%r") == std::string::npos)
    return base::fail(MPI_ERR_ARG,
                      "{} {}: all ranks would write to one file; write %r where their numbers belong",
                      given.word, pattern);
  command.output_files[stream] = tools::absolute(pattern, tools::current_directory());
  return {};
}

base::Status input(Parser& parser, const Given& given) {
  const std::string& value = given.values[0];
  std::int32_t& from = parser.command().input;
  if (value != "all" && value != "none") return read_number(given, value, from, 0);
  from = value == "all" ? pmi::kInputForAll : pmi::kNoInput;
  return {};
}

base::Status gdb_commands(Parser& parser, const Given& given) {
  const std::string& file = given.values[0];
  if (!tools::is_file(file)) return base::fail(MPI_ERR_ARG, "{} {}: there is no such file", given.word, file);
  parser.command().gdb = true;
  parser.command().gdb_commands = tools::absolute(file, tools::current_directory());
  return {};
}

base::Status count_elsewhere(Parser& parser, const Given& given) {
  parser.command().needs_ranks = given.text();
  return ignored(parser, given);
}

base::Status already(Parser&, const Given&) { return {}; }

base::Status ignored(Parser& parser, const Given& given) {
  parser.ignore(given.text(), given.row.text);
  return {};
}

base::Status refused(Parser&, const Given& given) {
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "option {} is not supported: {}", given.word,
                    given.row.text);
}

}  // namespace clump::mpiexec::handlers
