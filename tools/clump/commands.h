// The subcommands of clump. Each prints to stdout and returns the exit code.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace clump::tools {

/// Version and how many functions of the standard have a body; or, with `missing`, those that have none.
int show_info(bool missing);
/// How many functions of the standard have a body, by chapter, and which have none.
int show_coverage();
/// What the tool information interface offers: performance variables, or control variables and how the
/// environment sets them, or events.
int show_meters();
int show_controls();
int show_events();
/// Starts a job with these options of mpiexec and prints the channel from each of its ranks to each other
/// one.
int show_channels(const std::vector<std::string>& options);
/// Which algorithm a collective operation uses, by size and number of ranks.
int show_selection();
/// The same for ranks on hosts like these: "4x4", "1+2+4". 2 if it is not such a shape.
int show_selection(const std::string& shape);
struct TuneOptions {
  std::vector<int> ranks;                                 ///< to be measured besides the usual ones
  std::vector<std::string> modes{"fibers", "processes"};  ///< as what they run
  double seconds = 120;
  std::string output;  ///< empty: where mpiexec looks
  bool dry_run = false;
};
/// Measures the algorithms of collectives on this machine, and writes rules. 2 if the options are wrong, 1 if
/// it cannot be done.
int tune(const TuneOptions& options);
/// Compiles the modules mpi and mpi_f08 with another Fortran compiler, into the installation. 1 if it cannot
/// be done.
int make_fortran_modules(const std::string& compiler);
/// Runs the laboratory with these words. Does not return if python3 can be started; 1 if the laboratory is
/// not installed, 127 if there is no python3.
int run_lab(const std::vector<std::string>& words);
/// How mpiexec would run `program`. 0 if its ranks would share a process.
int show_explanation(const std::string& program);
/// Which MPI library the program would load. With arguments behind it it is run, and what comes in while it
/// runs is told. 0 if that is one of the standard ABI.
int show_which(const std::vector<std::string>& words);
/// Limits and properties of this system. 0 if nothing stands in the way.
int show_health();
/// Whether jobs can run on the hosts that options of mpiexec name, or its variables. 0 if they can, 2 if
/// these name none.
int show_health_of_hosts(std::vector<std::string> words);

}  // namespace clump::tools
