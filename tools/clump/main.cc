// clump: what this installation is and can, and what it would do with a program.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "common/output.h"
#include "common/spelling.h"

namespace {

int refuse_command(const char* word, const std::vector<std::string_view>& known) {
  const std::string_view nearest = clump::tools::nearest(word, known);
  fmt::print(stderr, "clump: there is no command '{}'{}; there are {} (clump --help tells more)\n", word,
             nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest), fmt::join(known, ", "));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace clump::tools;
  CLI::App app("Clump: an MPI library whose ranks are threads. Programs are started with mpiexec.", "clump");
  app.set_version_flag("--version", "clump " CLUMP_VERSION);
  app.require_subcommand(1);

  bool missing = false;
  CLI::App* info = app.add_subcommand("info", "what this installation has");
  info->add_flag("--missing", missing, "list the functions of the standard that have no body yet");
  bool selection = false;
  info->add_flag("--coll", selection, "show which algorithm a collective operation uses")
      ->excludes("--missing");
  std::string shape;
  const CLI::Option* const given_shape =
      info->add_option("--shape", shape, "with --coll: for ranks on hosts like these, 4x4 or 1+2+4")
          ->needs("--coll");
  bool coverage = false, meters = false, controls = false, events = false;
  info->add_flag("--coverage", coverage,
                 "count the functions of the standard by chapter, and name what remains");
  info->add_flag("--pvars", meters, "list the performance variables that tools can read (MPI_T)");
  info->add_flag("--cvars", controls, "list the control variables (MPI_T), and what sets them at start");
  info->add_flag("--events", events, "list the events that tools can be told of (MPI_T)");
  bool channels = false;
  info->add_flag(
      "--channels", channels,
      "start a job, and show the channel from each of its ranks to each other one; words after it are "
      "mpiexec's: clump info --channels -n 8 --per-process 4");
  info->prefix_command();
  info->set_version_flag("--version", "clump " CLUMP_VERSION);

  std::string program;
  CLI::App* explain = app.add_subcommand("explain", "say how mpiexec would run PROGRAM, and why");
  explain->add_option("PROGRAM", program, "a path, or a name in PATH")->required();
  CLI::App* which = app.add_subcommand("which",
                                       "say which MPI library PROGRAM would load, and from where; with "
                                       "arguments behind it, run it, and say which has "
                                       "come in: clump which python3 -c 'from mpi4py import MPI'");
  which->add_option("PROGRAM", program, "a path, or a name in PATH")->required();
  which->prefix_command();

  TuneOptions how;
  CLI::App* tuning = app.add_subcommand(
      "tune", "measure which algorithms suit collective operations on this machine, for mpiexec to use");
  tuning
      ->add_option(
          "--ranks", how.ranks,
          "measure these numbers of ranks, too: 16,64 (always: 2, the cores, and four times as many)")
      ->delimiter(',');
  tuning->add_option("--modes", how.modes, "fibers, processes, or both, which is the default")
      ->delimiter(',')
      ->check(CLI::IsMember({"fibers", "processes"}));
  tuning->add_option("--seconds", how.seconds, "how long to measure altogether")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  tuning->add_option("--output", how.output,
                     "the file for the rules (default: where mpiexec looks, ~/.config/clump/collectives)");
  tuning->add_flag("--dry-run", how.dry_run, "measure nothing, say what would be measured");

  CLI::App* doctor =
      app.add_subcommand("doctor", "look for what would make a job fail or slow on this system");
  if (argc > 1 && argv[1][0] != '-') {
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (std::ranges::find(names, std::string_view(argv[1])) == names.end())
      return refuse_command(argv[1], names);
  }
  try {
    app.parse(argc, argv);
    if (!channels && info->remaining_size() > 0) throw CLI::ExtrasError(info->remaining());
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : 2;  // a wrong command line, as for mpiexec
  }

  const auto run_command = [&] {
    if (channels) return show_channels(info->remaining());
    if (coverage) return show_coverage();
    if (meters) return show_meters();
    if (controls) return show_controls();
    if (events) return show_events();
    if (info->parsed()) {
      if (!selection) return show_info(missing);
      return given_shape->count() == 0 ? show_selection() : show_selection(shape);
    }
    if (explain->parsed()) return show_explanation(program);
    if (which->parsed()) {
      std::vector<std::string> words{program};
      for (const std::string& word : which->remaining()) words.push_back(word);
      return show_which(words);
    }
    if (tuning->parsed()) return tune(how);
    if (doctor->parsed()) return show_health();
    return 0;
  };
  return run_tool("clump", run_command);
}
