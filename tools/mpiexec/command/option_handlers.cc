#include "command/option_handlers.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/line_prefix.h"
#include "command/collectives.h"
#include "command/counts.h"
#include "common/places.h"
#include "common/scheduler.h"
#include "common/terminal.h"

namespace clump::mpiexec::handlers {

namespace {

constexpr std::int64_t kMaxSeed = std::numeric_limits<std::int64_t>::max() / 2;  // more come after it

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(separator, from), list.size());
    if (to > from) names.emplace_back(list.substr(from, to - from));
    from = to + 1;
  }
  return names;
}

/// A path in a pattern, in which a percent sign is one, unless a letter of `signs` follows.
std::string literally(const std::string& path, std::string_view signs = {}) {
  std::string pattern;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const bool is_sign =
        path[at] == '%' && at + 1 < path.size() && signs.find(path[at + 1]) != std::string_view::npos;
    pattern.append(path[at] == '%' && !is_sign ? 2 : 1, path[at]);
    if (is_sign) pattern += path[++at];
  }
  return pattern;
}

/// What names a folder for output, of which %h is the host.
std::string folder_pattern(const std::string& folder) {
  return tools::absolute(literally(folder, "h%"), literally(tools::current_directory()));
}

base::Status use_output_folder(Command& command, const std::string& folder) {
  const std::string path = folder_pattern(folder);
  command.output_files = {path + "/rank.%r.out", path + "/rank.%r.err"};
  return {};
}

/// Of other launchers' --map-by, beside slot and node.
constexpr const char* kUnits =
    "slot|node|hwthread|core|l1cache|l2cache|l3cache|cache|numa|package|socket|board|machine|dist|pci|ppr|rr|"
    "numanode|l1dcache|l2dcache|user";
constexpr std::string_view kTime = "%t ";

/// The time comes first, whatever is asked for first.
void put_in_front(Command& command, std::string_view text) {
  const bool has_time = command.line_prefix.starts_with(kTime);
  command.line_prefix = fmt::format("{}{}", has_time ? kTime : "", text);
}

/// Values are written in any case elsewhere.
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

base::Status no_such_value(const Given& given, std::string_view value, std::string_view all) {
  std::vector<std::string> names = split(all, '|');
  return base::fail(MPI_ERR_ARG, "{}: there is no '{}'; there are {}", given.text(), value,
                    fmt::join(names, ", "));
}

/// Whether a word is short for a value, as Open MPI takes it: each of the value's parts may end early, and
/// the last ones may be missing ("m-d" for "map-devel").
bool is_short_for(const std::string& word, const std::string& value) {
  const std::vector<std::string> said = split(word, '-'), parts = split(value, '-');
  return said.size() <= parts.size() &&
         std::ranges::equal(said, std::span(parts).first(said.size()),
                            [](const std::string& a, const std::string& b) { return b.starts_with(a); });
}

/// The value of "a|b" that a word in small letters means: it is that value, or short for it alone. Empty:
/// none.
std::string value_meant(const std::string& word, std::string_view all) {
  std::vector<std::string> values = split(all, '|');
  if (std::ranges::find(values, word) != values.end()) return word;
  std::erase_if(values, [&](const std::string& value) { return !is_short_for(word, value); });
  return values.size() == 1 && !word.empty() ? values.front() : std::string();
}

base::Status no_rank_file(const Given& given) {
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "{} is not supported: {}", given.text(), kNoRankFile);
}

/// Values of other launchers that are ignored, but have to be such.
base::Status check_value(const Given& given) {
  const std::string_view all = given.row.metavar;
  if (all.empty()) return {};
  const std::string said = lower(given.values[0].substr(0, given.values[0].find_first_of(":=")));
  if (said.empty() && !all.ends_with('|')) return no_such_value(given, said, all);
  for (const std::string& value : split(said, ','))
    if (!value.empty() && value_meant(value, all).empty()) return no_such_value(given, value, all);
  return {};
}

/// What qualifies a place for output, as Open MPI has it. What goes to files goes to the terminal, too,
/// unless that is "nocopy". Others say how files are named.
base::Status qualify_output(Command& command, const Given& given, const std::string& qualifier) {
  constexpr const char* kAll = "copy|nocopy|jobid|nojobid|raw";
  const std::string word = value_meant(lower(qualifier), kAll);
  if (word.empty()) return no_such_value(given, qualifier, kAll);
  if (word == "nocopy") command.tee = false;
  return {};
}

base::Status qualify_output(Command& command, const Given& given, const std::string& value,
                            std::size_t colon) {
  if (colon == std::string::npos) return {};
  for (const std::string& one : split(value.substr(colon + 1), ','))
    CLUMP_TRY(qualify_output(command, given, one));
  return {};
}

/// What Open MPI's --map-by has behind a colon, or Hydra's (a number): it changes nothing, or is an option of
/// its own.
base::Status qualify_mapping(Command& command, const Given& given, const std::string& value,
                             std::size_t colon) {
  if (colon == std::string::npos) return {};
  constexpr const char* kAll =
      "oversubscribe|nooversubscribe|span|pe|inherit|noinherit|hwtcpus|corecpus|hwthread|node|display|"
      "ordered|file";
  std::string rest = lower(value.substr(colon + 1));
  std::ranges::replace(rest, ',', ':');
  for (const std::string& one : split(rest, ':')) {
    if (std::ranges::all_of(one, [](char letter) { return letter >= '0' && letter <= '9'; })) continue;
    const std::string said = one.substr(0, one.find('='));
    if (said == "nolocal")
      return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "{} is not supported: name the hosts by --host",
                        given.text());
    const std::string word = value_meant(said, kAll);
    if (word.empty()) return no_such_value(given, one, kAll);
    if (word == "nooversubscribe") command.enough_cores = true;
  }
  return {};
}

}  // namespace

base::Status ranks(Parser& parser, const Given& given) {
  Part& part = parser.part();
  const auto is_c = [](std::string_view option) {
    return option.substr(option.find_first_not_of('-')).starts_with("c");
  };
  if (part.says_ranks() && is_c(part.ranks_option) != is_c(given.word))
    return base::fail(
        MPI_ERR_ARG,
        "{} and {}: each is the number of ranks here; if -c is srun's, the processors of each rank, leave it "
        "out, or write --cpus-per-task",
        part.ranks_option, given.text());
  part.ranks_option = given.text();
  return read_number(given, given.values[0], part.ranks);
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
  CLUMP_TRY(parse_hosts(given.word, given.values[0], parser.command().hosts));
  parser.note_hosts();
  return {};
}

base::Status hostfile(Parser& parser, const Given& given) {
  const std::string& file = given.values[0];
  std::vector<std::string> without_meaning;
  CLUMP_TRY(read_hostfile(given.word, file, parser.command().hosts, without_meaning));
  parser.note_hosts();
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

/// Open MPI's settings, of which one names what is used in ssh's place, and some say what --rankfile does.
base::Status mca(Parser& parser, const Given& given) {
  const std::string &name = given.values[0], &value = given.values[1];
  if ((name == "rmaps" && (value == "seq" || value == "rank_file")) || name.ends_with("rankfile"))
    return no_rank_file(given);
  if (name != "plm_rsh_agent" && name != "plm_ssh_agent") return ignored(parser, given);
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
  const std::string said = lower(value.substr(0, value.find_first_of(":=")));
  const std::string meant = value_meant(said, kUnits);
  const std::string& unit = meant.empty() ? said : meant;
  if (unit != "ppr" && unit != "rankfile" && unit != "pe-list" && unit != "dist" && unit != "pci")
    CLUMP_TRY(qualify_mapping(command, given, value, value.find(':')));
  const std::size_t end = value.find(":node");
  const bool counts = unit == "node" || unit == "slot" || (unit == "ppr" && end != std::string::npos);
  if (counts && lower(value).find(":pe=") != std::string::npos)
    parser.ignore(fmt::format("PE= of {}", given.text()),
                  "a rank's threads get the cores between it and the next one");
  if (unit == "node" || unit == "slot") {
    command.map_by = unit == "node" ? MapBy::kNode : MapBy::kSlot;
  } else if (counts) {
    return read_number(given, value.substr(4, end - 4), command.per_host);
  } else if (unit == "seq" || unit == "rankfile" || unit == "pe-list") {
    return no_rank_file(given);
  } else if (!unit.empty()) {
    if (meant.empty()) return no_such_value(given, unit, kUnits);
    const std::string option = given.word + " " + value;
    if (unit == "ppr") command.needs_ranks = option;
    parser.ignore(option,
                  "on a host ranks go to cores in blocks; slot and node say in what order hosts get them");
  }
  return {};
}

base::Status rank_by(Parser& parser, const Given& given) {
  constexpr const char* kAll =
      "slot|node|fill|span|hwthread|core|l1cache|l2cache|l3cache|numa|package|socket|board";
  const std::string said = lower(given.values[0].substr(0, given.values[0].find(':')));
  const std::string unit = value_meant(said, kAll);
  if (unit.empty() && !said.empty()) return no_such_value(given, said, kAll);
  if (unit == "slot" || unit == "node")
    parser.command().rank_by = unit == "node" ? MapBy::kNode : MapBy::kSlot;
  else
    parser.ignore(given.text(), "those of a host go to cores in blocks; see --map");
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

/// Intel MPI's -trace takes no word, so a program may stand behind it.
base::Status trace(Parser& parser, const Given& given) {
  const std::string& file = given.values[0];
  if (!file.ends_with(".json") && tools::is_file(file) && ::access(file.c_str(), X_OK) == 0)
    return base::fail(MPI_ERR_ARG, "{}: {} is a program, which the trace would overwrite; write {} FILE.json",
                      given.text(), file, given.word);
  parser.command().trace = file;
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

// Open MPI's --output-filename.
base::Status output_folder_and_tee(Parser& parser, const Given& given) {
  const std::string& value = given.values[0];
  const std::size_t colon = value.find(':');
  parser.command().tee = true;
  CLUMP_TRY(qualify_output(parser.command(), given, value, colon));
  return use_output_folder(parser.command(), value.substr(0, colon));
}

// Open MPI 5's --output.
base::Status output(Parser& parser, const Given& given) {
  Command& command = parser.command();
  bool is_place = false;  // whose qualifiers may come behind commas, too
  for (const std::string& one : split(given.values[0], ',')) {
    const std::size_t colon = one.find(':');
    const std::string value = one.substr(0, colon);
    const std::size_t equals = std::min(value.find('='), value.size());
    const std::string said = lower(value.substr(0, equals));
    const std::string meant =
        value_meant(said, "tag|tag-detailed|tag-fullname|timestamp|dir|file|merge-stderr-to-stdout");
    const std::string& name = meant.empty() ? said : meant;
    const std::string place = value.substr(std::min(equals + 1, value.size()));
    const bool has_place = (name == "dir" || name == "file") && !place.empty();
    if (has_place) is_place = command.tee = true;
    CLUMP_TRY(qualify_output(command, given, one, colon));
    if (name == "tag" || name == "tag-detailed" || name == "tag-fullname") {
      put_in_front(command, kRankTag);
    } else if (name == "timestamp") {
      CLUMP_TRY(timestamp_output(parser, given));
    } else if (has_place) {
      CLUMP_TRY(use_output_folder(command, place));
      if (name == "file") {
        const std::string path = folder_pattern(place);
        command.output_files = {path + ".%r.out", path + ".%r.err"};
      }
    } else if (name == "merge-stderr-to-stdout") {
      return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                        "{}: {} is not supported: write 2>&1 behind the command", given.text(), name);
    } else if (is_place && value == one && place.empty()) {
      CLUMP_TRY(qualify_output(command, given, one));
    } else {
      return no_such_value(given, one, "tag|timestamp|dir=DIR|file=FILE");
    }
  }
  return {};
}

base::Status tag_output(Parser& parser, const Given&) {
  return put_in_front(parser.command(), kRankTag), base::Status{};
}

base::Status timestamp_output(Parser& parser, const Given&) {
  std::string& prefix = parser.command().line_prefix;
  if (!prefix.starts_with(kTime)) prefix.insert(0, kTime);
  return {};
}

base::Status line_prefix(Parser& parser, const Given& given) {
  if (const std::string wrong = base::LinePrefix::complaint(given.values[0]); !wrong.empty())
    return base::fail(MPI_ERR_ARG, "{}: {}", given.text(), wrong);
  return put_in_front(parser.command(), given.values[0]), base::Status{};
}

base::Status color(Parser&, const Given& given) {
  if (!tools::choose_color(given.values[0])) return no_such_value(given, given.values[0], given.row.metavar);
  return {};
}

base::Status universe(Parser& parser, const Given& given) {
  Command& command = parser.command();
  command.system_universe = lower(given.values[0]) == "system";
  if (lower(given.values[0]) == "infinite")
    return no_such_value(given, given.values[0], "N (a number)|SYSTEM");
  return command.system_universe ? base::Status() : read_number(given, given.values[0], command.universe);
}

base::Status add_output_file(Command& command, const Given& given, std::size_t stream) {
  const std::string& pattern = given.values[0];
  bool has_rank = false;
  for (std::size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    const std::string sign = pattern.substr(at, 2);
    if (sign != "%r" && sign != "%h" && sign != "%%")
      return base::fail(MPI_ERR_ARG, "{} {}: '{}' has no meaning; there are %r (the rank), %h (its host), %%",
                        given.word, pattern, sign);
    has_rank = has_rank || sign == "%r";
  }
  if (!has_rank)
    return base::fail(MPI_ERR_ARG,
                      "{} {}: all ranks would write to one file; write %r where their numbers belong",
                      given.word, pattern);
  command.output_files[stream] = tools::absolute(pattern, literally(tools::current_directory()));
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

base::Status already(Parser&, const Given& given) { return check_value(given); }

base::Status ignored(Parser& parser, const Given& given) {
  CLUMP_TRY(check_value(given));
  parser.ignore(given.text(), given.row.text);
  return {};
}

base::Status refused(Parser&, const Given& given) {
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "option {} is not supported: {}", given.word,
                    given.row.text);
}

}  // namespace clump::mpiexec::handlers
