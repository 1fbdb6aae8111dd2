#include "command/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "command/collectives.h"
#include "command/counts.h"
#include "command/word_file.h"
#include "common/places.h"
#include "common/scheduler.h"
#include "common/spelling.h"

namespace clump::mpiexec {

namespace {

constexpr int kMaxRanks = 1 << 24;
constexpr int kMostFiles = 64;  // of options, before they are taken for files that name each other
constexpr std::int64_t kMaxSeed = std::numeric_limits<std::int64_t>::max() / 2;  // more come after it
constexpr int kHangAfterOfExplored = 10;                                         // seconds

/// Walks over the words of the command line.
class Parser {
 public:
  Parser(const std::vector<std::string>& words, Command& command) : words_(words), command_(command) {}

  base::Status run() {
    command_.parts.emplace_back();
    while (at_ < words_.size()) {
      const std::string word = words_[at_];
      const std::size_t begin = at_;
      is_left_out_ = false;
      if (word.size() > 1 && word[0] == '-' && !options_ended_) {
        CLUMP_TRY(option());
        if (command_.help || command_.version) return {};
      } else if (word == ":") {
        CLUMP_TRY(end_part());
        command_.parts.emplace_back();
        options_ended_ = false;
        ++at_;
      } else {
        program();
      }
      if (!is_left_out_)
        command_.other_words.insert(command_.other_words.end(),
                                    words_.begin() + static_cast<std::ptrdiff_t>(begin),
                                    words_.begin() + static_cast<std::ptrdiff_t>(at_));
    }
    return end_part();
  }

 private:
  Part& part() { return command_.parts.back(); }

  /// The program and its arguments: all words up to ':' or the end, options or not.
  void program() {
    while (at_ < words_.size() && words_[at_] != ":") part().words.push_back(words_[at_++]);
  }

  /// `mpiexec --map -n 8` runs nothing.
  /// So does a proxy, by itself.
  bool needs_no_program() const {
    return (command_.map || command_.proxy) && command_.parts.size() == 1 && at_ >= words_.size();
  }

  base::Status end_part() {
    if (part().soft) CLUMP_TRY(choose_soft("-soft", *part().soft, part().ranks));
    if (!part().words.empty() || needs_no_program()) return {};
    if (command_.parts.size() == 1 && at_ >= words_.size()) {
      return base::fail(
          MPI_ERR_ARG,
          "no program given; usage: mpiexec -n N program [arguments] (mpiexec --help shows the options)");
    }
    return base::fail(MPI_ERR_ARG, "part {} of the command line (between ':') names no program",
                      command_.parts.size());
  }

  base::Status option() {
    const std::string word = words_[at_++];
    if (word == "--") {
      options_ended_ = true;
      return {};
    }
    std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
    std::vector<std::string> values;
    const Option* row = find(name);
    if (const std::size_t equals = name.find('='); row == nullptr && equals != std::string_view::npos) {
      values.emplace_back(name.substr(equals + 1));
      name = name.substr(0, equals);
      row = find(name);
      if (row != nullptr && row->values != 1 && !row->may_have_value)
        return base::fail(MPI_ERR_ARG, "option {} takes no value after '='", word);
    }
    if (row == nullptr) return unknown(word, name);
    while (static_cast<int>(values.size()) < row->values) {
      if (at_ >= words_.size()) {
        return base::fail(MPI_ERR_ARG, "option {} needs {}", word,
                          row->values == 1 ? "a value" : "two values");
      }
      if (row->values == 1 && is_option(words_[at_]))
        return base::fail(MPI_ERR_ARG,
                          "option {0} needs a value, {1}, and {2} is an option itself; if it is meant as the "
                          "value, write {0}={2}",
                          word, row->metavar.empty() ? "one word" : row->metavar, words_[at_]);
      values.push_back(words_[at_++]);
    }
    return apply(*row, word, values);
  }

  /// It is one that mpiexec knows, and not a negative number or a name.
  static bool is_option(std::string_view word) {
    if (word.size() < 2 || word[0] != '-') return false;
    word.remove_prefix(word[1] == '-' ? 2 : 1);
    return find(word.substr(0, word.find('='))) != nullptr;
  }

  static const Option* find(std::string_view name) {
    for (const Option& row : option_table()) {
      if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return &row;
    }
    return nullptr;
  }

  static base::Status unknown(std::string_view word, std::string_view name) {
    std::vector<std::string_view> all;
    for (const Option& row : option_table()) all.insert(all.end(), row.names.begin(), row.names.end());
    const std::string_view nearest = tools::nearest(name, all);
    if (nearest.empty())
      return base::fail(MPI_ERR_ARG, "unknown option {} (mpiexec --help shows the options)", word);
    return base::fail(MPI_ERR_ARG, "unknown option {}; did you mean --{}?", word, nearest);
  }

  template <typename Number>
  static base::Status number(std::string_view option, const std::string& text, Number& value, int least = 1,
                             std::int64_t most = kMaxRanks) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
      return base::fail(MPI_ERR_ARG, "{} {}: '{}' is not a whole number", option, text, text);
    }
    if (error == std::errc::result_out_of_range || value > most) {
      return base::fail(MPI_ERR_ARG, "{} {}: the number is too large (at most {})", option, text, most);
    }
    if (value < least) return base::fail(MPI_ERR_ARG, "{} {}: must be at least {}", option, text, least);
    return {};
  }

  static std::vector<std::string> split(const std::string& list, char separator = ',') {
    std::vector<std::string> names;
    for (std::size_t from = 0; from <= list.size();) {
      const std::size_t to = std::min(list.find(separator, from), list.size());
      if (to > from) names.push_back(list.substr(from, to - from));
      from = to + 1;
    }
    return names;
  }

  static void inherit(Environment& environment, Environment::Inherit how,
                      std::vector<std::string> listed = {}) {
    environment.inherit = how;
    environment.chosen = true;
    environment.listed.insert(environment.listed.end(), listed.begin(), listed.end());
  }

  /// -x NAME or -x NAME=VALUE.
  base::Status export_variable(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name.empty()) return base::fail(MPI_ERR_ARG, "-x {}: the name of the variable is missing", word);
    if (equals != std::string::npos) {
      part().environment.set.emplace_back(name, word.substr(equals + 1));
    } else if (const char* value = ::getenv(name.c_str()); value != nullptr) {
      part().environment.set.emplace_back(name, value);
    } else {
      ignore("-x " + name, "the variable is not set");
    }
    return {};
  }

  base::Status set_variable(Environment& environment, std::string_view word,
                            const std::vector<std::string>& values) {
    if (values[0].empty() || values[0].find('=') != std::string::npos) {
      return base::fail(MPI_ERR_ARG, "{} '{}': not a name for a variable (write {} NAME VALUE)", word,
                        values[0], word);
    }
    environment.set.emplace_back(values[0], values[1]);
    return {};
  }

  static base::Status initial_errhandler(const std::string& word, const std::string& name,
                                         Environment& environment) {
    if (std::ranges::find(pmi::kInitialErrhandlers, name) == std::end(pmi::kInitialErrhandlers))
      return base::fail(MPI_ERR_ARG, "{} {}: that is no error handler; there are {}", word, name,
                        fmt::join(pmi::kInitialErrhandlers, ", "));
    environment.set.emplace_back(pmi::kInitialErrhandlerVariable, name);
    return {};
  }

  base::Status output_folder(const std::string& folder) {
    const std::string path = tools::absolute(folder, tools::current_directory());
    command_.output_files = {path + "/rank.%r.out", path + "/rank.%r.err"};
    return {};
  }

  /// -configfile: its lines are the parts of the command line. -file: its words are options of this part.
  base::Status read_file(const std::string& word, const std::string& file, bool holds_parts) {
    is_left_out_ = true;  // what it holds comes instead
    if (++files_ > kMostFiles)
      return base::fail(MPI_ERR_ARG, "{} {}: more than {} files of options: do they name each other?", word,
                        file, kMostFiles);
    if (holds_parts && at_ < words_.size() && words_[at_] != ":")
      return base::fail(MPI_ERR_ARG, "{} {}: '{}' comes behind it, and the programs are those of the file",
                        word, file, words_[at_]);
    std::vector<std::vector<std::string>> lines;
    CLUMP_TRY(read_words(word, file, lines));
    std::vector<std::string> all;
    for (const std::vector<std::string>& line : lines) {
      if (holds_parts && !all.empty()) all.emplace_back(":");
      all.insert(all.end(), line.begin(), line.end());
    }
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at_), all.begin(), all.end());
    return {};
  }

  /// Open MPI's --output-filename, which writes to the terminal, too, unless it is told ":nocopy".
  base::Status output_folder_and_tee(const std::string& value) {
    const std::size_t colon = value.find(':');
    command_.tee = colon == std::string::npos || value.substr(colon) != ":nocopy";
    return output_folder(value.substr(0, colon));
  }

  base::Status gdb_commands(const std::string& word, const std::string& file) {
    if (!tools::is_file(file)) return base::fail(MPI_ERR_ARG, "{} {}: there is no such file", word, file);
    command_.gdb = true;
    command_.gdb_commands = tools::absolute(file, tools::current_directory());
    return {};
  }

  base::Status input(const std::string& word, const std::string& value) {
    if (value != "all" && value != "none") return number(word, value, command_.input, 0);
    command_.input = value == "all" ? pmi::kInputForAll : pmi::kNoInput;
    return {};
  }

  base::Status output_file(const std::string& word, const std::string& pattern, std::size_t stream) {
    if (pattern.find("%r") == std::string::npos)
      return base::fail(MPI_ERR_ARG,
                        "{} {}: all ranks would write to one file; write %r where their numbers belong", word,
                        pattern);
    command_.output_files[stream] = tools::absolute(pattern, tools::current_directory());
    return {};
  }

  base::Status hostfile(const std::string& word, const std::string& path) {
    std::vector<std::string> without_meaning;
    CLUMP_TRY(read_hostfile(word, path, command_.hosts, without_meaning));
    for (const std::string& key : without_meaning)
      ignore(fmt::format("{}= of {} {}", key, word, path),
             key.starts_with("user") || key == "port"
                 ? "the user and the port of a host are ssh's to know (~/.ssh/config)"
                 : "a line of a host file is NAME slots=N here");
    return {};
  }

  /// What Open MPI's launcher has here, "ppr:2:node" and modifiers behind a colon too.
  base::Status map_by(const std::string& word, const std::string& value) {
    const std::string unit = value.substr(0, value.find(':'));
    if (unit == "node" || unit == "slot") {
      command_.map_by = unit == "node" ? MapBy::kNode : MapBy::kSlot;
    } else if (const std::size_t end = value.find(":node"); unit == "ppr" && end != std::string::npos) {
      return number(word, value.substr(4, end - 4), command_.per_host);
    } else if (!unit.empty()) {
      if (unit == "ppr") command_.needs_ranks = word + " " + value;
      ignore(word + " " + value,
             "on a host ranks go to cores in blocks; slot and node say in what order hosts get them");
    }
    return {};
  }

  void ignore(std::string option, std::string_view why) {
    const auto same = [&](const auto& known) { return known.first == option; };
    if (std::none_of(command_.ignored.begin(), command_.ignored.end(), same)) {
      command_.ignored.emplace_back(std::move(option), why);
    }
  }

  /// An option as the user typed it.
  static std::string spelled(const std::string& word, const std::vector<std::string>& values) {
    std::string text = word;
    if (word.find('=') == std::string::npos) {
      for (const std::string& value : values) text += " " + value;
    }
    return text;
  }

  base::Status apply(const Option& row, const std::string& word, const std::vector<std::string>& values) {
    using enum Action;
    using enum Environment::Inherit;
    Environment& local = part().environment;
    Environment& global = command_.environment;
    switch (row.action) {
      case kRanks:
        part().says_ranks = true;
        return number(word, values[0], part().ranks);
      case kTimeout:
        return number(word, values[0], command_.timeout_seconds);
      case kHangAfter:
        return number(word, values[0], command_.hang_after_seconds);
      case kSeed:
        is_left_out_ = true;
        return number(word, values[0], command_.seed.emplace(), 0, kMaxSeed);
      case kExplore:
        is_left_out_ = true;
        return number(word, values[0], command_.explore);
      case kScheduler:
        return tools::parse_scheduler(word, values[0], command_.as_asked.scheduler.emplace());
      case kAs:
        return tools::parse_ranks(word, values[0], command_.as_asked);
      case kPerProcess:
        return number(word, values[0], command_.as_asked.per_process);
      case kHosts:
        return parse_hosts(word, values[0], command_.hosts);
      case kHostfile:
        return hostfile(word, values[0]);
      case kPerHost:
        return number(word, values[0], command_.per_host);
      case kMapBy:
        return map_by(word, values[0]);
      case kOnePerHost:
        command_.per_host = 1;
        break;
      case kCountElsewhere:
        command_.needs_ranks = spelled(word, values);
        ignore(command_.needs_ranks, row.text);
        break;
      case kEnoughCores:
        command_.enough_cores = true;
        break;
      case kRoundRobin:
        command_.map_by = MapBy::kNode;
        break;
      case kNetwork:
        command_.network = values[0];
        break;
      case kCollectives:
        return choose_collectives(word, values[0], global.set);
      case kCollectiveRules:
        command_.collective_rules = values[0];
        break;
      case kReproducible:
        global.set.push_back(reproducible_reductions());
        break;
      case kCheck:
        return choose_checks("--check", values.empty() ? "on" : values[0], global.set);
      case kInitialErrhandler:
        return initial_errhandler(word, values[0], local);
      case kProfile:
        command_.profile = true;
        if (!values.empty()) command_.profile_file = values[0];
        break;
      case kTrace:
        command_.trace = values[0];
        break;
      case kProxy:
        command_.proxy = true;
        break;
      case kWorkers:
        return number(word, values[0], command_.workers);
      case kNameServer:
        command_.shares_names = true;
        break;
      case kUniverse:
        return number(word, values[0], command_.universe);
      case kHelpers:
        return number(word, values[0], command_.helpers.emplace(), 0);
      case kMalloc:
        global.set.emplace_back(kMallocVariable, values[0]);
        break;
      case kCores:
        command_.cores = values[0];
        break;
      case kHardwareThreads:
        command_.hardware_threads = true;
        break;
      case kMap:
        command_.map = true;
        break;
      case kDirectory:
        part().working_directory = values[0];
        break;
      case kGlobalDirectory:
        command_.working_directory = values[0];
        break;
      case kPath:
        part().path = split(values[0], ':');
        break;
      case kSoft:
        part().soft = values[0];
        break;
      case kArchitecture:
        return check_architecture(word, values[0]);
      case kFile:
      case kConfigFile:
        return read_file(word, values[0], row.action == kConfigFile);
      case kExport:
        return export_variable(values[0]);
      case kEnv:
        return set_variable(local, word, values);
      case kGlobalEnv:
        return set_variable(global, word, values);
      case kEnvList:
        inherit(local, kListed, split(values[0]));
        break;
      case kGlobalEnvList:
        inherit(global, kListed, split(values[0]));
        break;
      case kEnvNone:
        inherit(local, kNone);
        break;
      case kGlobalEnvNone:
        inherit(global, kNone);
        break;
      case kEnvAll:
        inherit(local, kAll);
        break;
      case kGlobalEnvAll:
        inherit(global, kAll);
        break;
      case kTagOutput:
        command_.tag_output = true;
        break;
      case kCollapse:
        command_.collapse = true;
        break;
      case kOutputFolder:
        return output_folder(values[0]);
      case kOutputFolderAndTee:
        return output_folder_and_tee(values[0]);
      case kOutFile:
      case kErrFile:
        return output_file(word, values[0], row.action == kOutFile ? 0 : 1);
      case kGdbCommands:
        return gdb_commands(word, values[0]);
      case kGdb:
        command_.gdb = true;
        break;
      case kInput:
        return input(word, values[0]);
      case kTee:
        command_.tee = true;
        break;
      case kExplain:
        command_.explain = true;
        break;
      case kQuiet:
        command_.quiet = true;
        break;
      case kHelp:
        command_.help = true;
        break;
      case kVersion:
        command_.version = true;
        break;
      case kAlready:
        break;
      case kIgnored:
        ignore(spelled(word, values), row.text);
        break;
      case kRefused:
        return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "option {} is not supported: {}", word, row.text);
    }
    return {};
  }

  std::vector<std::string> words_;  // those of files come in where they are named
  Command& command_;
  std::size_t at_ = 0;
  bool options_ended_ = false;
  bool is_left_out_ = false;  // what was read last, of the words for one run of several
  int files_ = 0;
};

/// The rank that reads standard input by --stdin has to be there.
base::Status check_input(const Command& command) {
  int ranks = 0;  // count_ranks() knows that they are not too many
  for (const Part& part : command.parts) ranks += part.ranks;
  if (command.input > 0 && ranks > 0 && command.input >= ranks)
    return base::fail(MPI_ERR_ARG, "--stdin {}: the job has {} ranks, 0 to {}", command.input, ranks,
                      ranks - 1);
  return {};
}

}  // namespace

namespace {

/// Where -n does not say how many ranks there are, so many on each host does, and nothing else.
base::Status count_ranks(Command& command) {
  std::int64_t all = 0;
  const auto add = [&all](std::int64_t ranks) {
    all += ranks;
    return all <= kMaxRanks ? base::Status() : base::fail(MPI_ERR_ARG, "{} ranks in all are too many: a job has at most {}", all, kMaxRanks);
  };
  for (Part& part : command.parts) {
    if (part.says_ranks) CLUMP_TRY(add(part.ranks));
    if (part.says_ranks || part.words.empty()) continue;
    if (!command.needs_ranks.empty())
      return base::fail(MPI_ERR_ARG, "{}: says here nothing about the number of ranks: give it by -n",
                        command.needs_ranks);
    std::int64_t ranks = part.ranks;
    if (command.per_host > 0 && command.parts.size() == 1)
      ranks = std::int64_t{command.per_host} * std::max(std::ssize(command.hosts), std::ptrdiff_t{1});
    CLUMP_TRY(add(ranks));
    part.ranks = static_cast<int>(ranks);
  }
  return {};
}

}  // namespace

base::Status parse(const std::vector<std::string>& words, Command& command) {
  CLUMP_TRY(tools::default_ranks(command.as_asked));
  CLUMP_TRY(Parser(words, command).run());
  CLUMP_TRY(count_ranks(command));
  if (command.enough_cores && !command.hosts.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "--nooversubscribe with --host: write how many ranks a host takes: --host NAME:N,...");
  if (command.as_asked.as == tools::Ranks::As::kProcesses && command.as_asked.per_process > 1)
    return base::fail(
        MPI_ERR_ARG,
        "--per-process {} with --ranks processes: such a process is one rank; use --ranks fibers",
        command.as_asked.per_process);
  CLUMP_TRY(check_input(command));
  const bool has_files = command.output_files != decltype(command.output_files){};
  if (command.tee && !has_files)
    return base::fail(MPI_ERR_ARG, "--tee: shows what goes to files; name a folder for them by --output-dir");
  const char* const of_one_run = command.profile ? "--profile"
                                 : command.trace ? "--trace"
                                 : command.gdb   ? "--gdb"
                                 : has_files     ? "files for the output"
                                                 : nullptr;
  if (command.explore > 0 && of_one_run != nullptr)
    return base::fail(
        MPI_ERR_ARG,
        "--explore {} with {}: which of the runs? Leave one of them out, and ask for it together "
        "with the --seed of the run that is found",
        command.explore, of_one_run);
  if (command.explore > 0 && !command.seed) command.seed = 1;
  // One of them may poll for ever.
  if (command.explore > 0 && command.timeout_seconds == 0 && command.hang_after_seconds == 0)
    command.hang_after_seconds = kHangAfterOfExplored;
  return {};
}

std::string help_text() {
  std::string text =
      "mpiexec starts an MPI program.\n\n"
      "  mpiexec [options] program [arguments] [: [options] program [arguments]]...\n\n"
      "Every option may be written with one dash or two; options end where the program begins.\n\n";
  std::string accepted;
  for (const Option& row : option_table()) {
    std::string names;
    for (const std::string_view name : row.names) {
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", name.size() > 2 ? "--" : "-", name);
    }
    if (row.action == Action::kIgnored || row.action == Action::kAlready) {
      accepted += (accepted.empty() ? "" : ", ") + names;
    } else if (row.action != Action::kRefused && row.action != Action::kProxy) {
      if (!row.metavar.empty()) names += fmt::format("{}{}", row.may_have_value ? "" : " ", row.metavar);
      text += names.size() < 28 ? fmt::format("  {:<28}{}\n", names, row.text)
                                : fmt::format("  {}\n  {:<28}{}\n", names, "", row.text);
    }
  }
  text += "\nOptions of other launchers that are accepted and change nothing:\n";
  for (std::size_t from = 0; from < accepted.size();) {
    std::size_t to = accepted.size() - from <= 104 ? accepted.size() : accepted.rfind(' ', from + 104);
    text += "  " + accepted.substr(from, to - from) + "\n";
    from = to + 1;
  }
  text += "\nThe exit code is 0, or that of the first rank that failed (128 + signal for signals).\n";
  return text;
}

}  // namespace clump::mpiexec
