// The command line of mpiexec: what MPICH's and Open MPI's users are used to type (MPI-5.0 section 11.5 has
// the portable part).
//
//   mpiexec [options] program [arguments] [: [options] program [arguments]]...
//
// Every option may be written with one dash or two, and its value after a space or '='. Options of a part end
// at its program.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "command/hosts.h"
#include "common/launchers.h"
#include "common/ranks.h"
#include "common/wish.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// The environment variable that names an allocator, for --malloc too. It is part of the environment of the
/// job's programs, so that mpiexec reads it on other hosts as well.
inline constexpr const char* kMallocVariable = "CLUMP_MALLOC";

/// The most ranks of a job.
inline constexpr int kMaxRanks = 1 << 24;

/// Which of mpiexec's own environment variables a program sees, and what is set besides.
struct Environment {
  enum class Inherit { kAll, kNone, kListed };
  Inherit inherit = Inherit::kAll;
  bool chosen = false;  ///< `inherit` was asked for; otherwise the global choice counts
  std::vector<std::string> listed;
  std::vector<std::pair<std::string, std::string>> set;
};

/// One part of an MPMD command line.
struct Part {
  int ranks = 1;
  std::string ranks_option;         ///< that says `ranks`, as typed; empty: none does
  std::optional<std::string> soft;  ///< as typed
  std::vector<std::string> path;    ///< where the program is looked for before PATH
  std::vector<std::string> words;   ///< the program as typed, then its arguments
  HostRange hosts;                  ///< that it names; empty: none
  int words_to_come = 0;            ///< so many follow, ':' perhaps among them; 0: all up to ':'
  std::string working_directory;    ///< as typed; empty: mpiexec's
  Environment environment;

  bool says_ranks() const { return !ranks_option.empty(); }
};

struct Command {
  std::vector<Part> parts;
  Environment environment;  ///< for all parts
  std::string working_directory;
  bool help = false;
  bool version = false;
  bool explain = false;
  std::string line_prefix;  ///< of the ranks' output: see base/line_prefix.h
  bool collapse = false;
  bool gdb = false;
  std::optional<std::string> gdb_commands;  ///< a file; absolute
  std::array<std::string, 2> output_files;  ///< absolute patterns: see pmi/job.h
  bool tee = false;                         ///< to mpiexec's own output, too
  std::int32_t input = 0;                   ///< which rank reads mpiexec's stdin: see pmi/job.h
  bool quiet = false;
  int timeout_seconds = 0;               ///< 0: none
  int hang_after_seconds = 0;            ///< 0: never
  std::optional<std::int64_t> seed;      ///< what is left open is drawn from it
  int explore = 0;                       ///< so many seeds, from that one or 1 on; 0: one run
  std::vector<std::string> other_words;  ///< as typed, but for what asks for the two
  tools::Ranks as_asked;                 ///< as what the ranks run
  std::vector<Host> hosts;               ///< none: this one
  std::string hosts_from;                ///< the variable that names them, with its value; empty: an option
  int per_host = 0;                      ///< so many ranks on each; 0: not said
  MapBy map_by = MapBy::kSlot;
  std::optional<MapBy> rank_by;    ///< how they are numbered then; none: in that order
  tools::LauncherChoice launcher;  ///< without what variables say
  tools::Wish batch_system;        ///< whose list of hosts is taken (batch_hosts.h)
  std::string allocation;     ///< the variable by which a batch system has given `hosts`; empty: none has
  tools::Wish interface;      ///< by which ranks of other hosts are reached
  std::string needs_ranks;    ///< an option that elsewhere says how many ranks there are, and here does not
  bool enough_cores = false;  ///< no more ranks than slots, or cores
  std::optional<std::string> collective_rules;  ///< --coll-rules, as typed
  std::string network;                          ///< libfabric's provider; empty: its choice
  bool proxy = false;                           ///< started by ourselves, to run one host's part of a job
  std::optional<std::string> cores;             ///< as typed; none: all that are usable
  bool hardware_threads = false;                ///< a worker for each hardware thread
  bool map = false;                             ///< print the placement
  bool profile = false;
  std::optional<std::string> profile_file, trace;  ///< as typed
  int workers = 0;                                 ///< 0: one for each core
  bool shares_names = false;                       ///< --name-server
  int universe = 0;                                ///< MPI_UNIVERSE_SIZE; 0: the number of ranks
  bool system_universe = false;                    ///< -usize SYSTEM: it is the number of slots, or workers
  bool all_exit_codes = false;                     ///< --print-all-exitcodes
  std::optional<int> helpers;                      ///< for each rank, at most
  /// "option NAME", "VARIABLE=value": what has no effect here, each once, with what to know about it.
  std::vector<std::pair<std::string, std::string>> ignored;
};

/// The line_prefix of --tag-output.
inline constexpr const char* kRankTag = "[%r] ";

class Parser;
struct Given;

struct Option {
  std::vector<std::string_view> names;                         ///< without dashes
  base::Status (*handle)(Parser& parser, const Given& given);  ///< option_handlers.h
  int values = 0;                                              ///< how many words follow
  /// How --help shows them. Of one that is ignored: what it may be, "a|b", before ':' or '='; else: anything.
  std::string_view metavar = {};
  std::string_view text = {};   ///< --help's line, or what to know when it is ignored or refused
  bool may_have_value = false;  ///< after '=', if the user likes
};

std::span<const Option> option_table();
/// Of another launcher: it is accepted and changes nothing.
bool is_accepted(const Option& row);
/// --help does not show it: another name of one that it shows, refused, or mpiexec's own.
bool is_hidden(const Option& row);

/// `words` is argv without argv[0]. Fails with MPI_ERR_ARG and a message that names the word.
base::Status parse(const std::vector<std::string>& words, Command& command);

/// The ranks of all parts, each on its hosts: on those that it names if another part names some, too, or else
/// on all that are named.
std::vector<RanksOnHosts> ranks_on_hosts(const Command& command);

/// Of the option, or of variables.
tools::Wish interface_of(const Command& command);

/// The text of --help, in lines of at most so many letters.
std::string help_text(std::size_t columns);

}  // namespace clump::mpiexec
