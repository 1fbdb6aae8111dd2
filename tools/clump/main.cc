// clump: what this installation is and can, and what it would do with a program.
#include <CLI/CLI.hpp>

#include <string>

#include "commands.h"

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
  CLI::App* which = app.add_subcommand("which", "say which MPI library PROGRAM would load, and from where");
  which->add_option("PROGRAM", program, "a path, or a name in PATH")->required();

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
  try {
    app.parse(argc, argv);
    if (!channels && info->remaining_size() > 0) throw CLI::ExtrasError(info->remaining());
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : 2;  // a wrong command line, as for mpiexec
  }

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
  if (which->parsed()) return show_which(program);
  if (tuning->parsed()) return tune(how);
  if (doctor->parsed()) return show_health();
  return 0;
}
