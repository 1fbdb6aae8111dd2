#include "command_line.h"

namespace clump::tools {

CommandLine::CommandLine() {
  app.set_version_flag("--version", "clump " CLUMP_VERSION);
  app.require_subcommand(1);
  app.footer(
      "The exit code is 0; 1 where the answer is no or something failed; 2 if the command line is wrong; 127 "
      "if "
      "a program is not found.");
  add_info();
  explain = app.add_subcommand(
      "explain", "say how mpiexec would run PROGRAM, with arguments behind it or without, and why");
  explain->add_option("PROGRAM", program, "a path, or a name in PATH")->required();
  explain->prefix_command();
  which =
      app.add_subcommand("which",
                         "say which MPI library PROGRAM would load, and from where; with arguments behind "
                         "it, run it, and say which has come in: clump which python3 -c 'from mpi4py import "
                         "MPI'");
  which->add_option("PROGRAM", program, "a path, or a name in PATH")->required();
  which->prefix_command();
  add_tuning();
  fortran =
      app.add_subcommand("fortran", "make the module files mpi and mpi_f08 for another Fortran compiler");
  fortran->add_option("--compiler", compiler, "the compiler: flang, gfortran-13, a path")->required();
  lab = app.add_subcommand(
      "lab",
      "measure the machine as five papers on clusters of multiprocessors did, under any MPI library, and "
      "say which style suits a program: list, run NAME, report DIR, advise DIR (each has --help)");
  lab->prefix_command();
  lab->set_help_flag();
  add_doctor();
}

void CommandLine::add_doctor() {
  doctor = app.add_subcommand("doctor", "look for what would make a job fail or slow on this system");
  const auto add = [this](const char* names, const char* option, const char* text) {
    doctor
        ->add_option_function<std::string>(
            names,
            [this, option](const std::string& value) {
              of_mpiexec.insert(of_mpiexec.end(), {option, value});
            },
            text)
        ->trigger_on_parse();  // each time that it is given
  };
  add("-H,--host,--hosts", "--host",
      "try whether jobs can run on these hosts together instead: ssh, Clump, this directory, the ways "
      "between "
      "all of them: NAME,NAME,...");
  add("-f,--hostfile,--machinefile", "--hostfile", "the same, of a file with a host in each line");
  add("--rmk", "--rmk", "the same, of a batch system: slurm, pbs, sge or lsf");
  add("--launcher,--bootstrap", "--launcher", "with --host: by this launcher, as mpiexec");
  add("--launcher-exec,--bootstrap-exec", "--launcher-exec", "with --host: by this program, as mpiexec");
  add("--prefix", "--prefix", "with --host: Clump is in this directory there");
  add("--iface", "--iface", "with --host: at this network interface");
}

void CommandLine::add_info() {
  info = app.add_subcommand("info", "what this installation has");
  info->add_flag("--missing", missing, "list the functions of the standard that have no body yet");
  info->add_flag("--coll", selection, "show which algorithm a collective operation uses")
      ->excludes("--missing");
  given_shape = info->add_option("--shape", shape, "with --coll: for ranks on hosts like these, 4x4 or 1+2+4")
                    ->needs("--coll");
  info->add_flag("--coverage", coverage,
                 "count the functions of the standard by chapter, and name what remains");
  info->add_flag("--pvars", meters, "list the performance variables that tools can read (MPI_T)");
  info->add_flag("--cvars", controls, "list the control variables (MPI_T), and what sets them at start");
  info->add_flag("--events", events, "list the events that tools can be told of (MPI_T)");
  info->add_flag(
      "--channels", channels,
      "start a job, and show the channel from each of its ranks to each other one; words after it are "
      "mpiexec's: clump info --channels -n 8 --per-process 4");
  info->prefix_command();
  info->set_version_flag("--version", "clump " CLUMP_VERSION);
}

void CommandLine::add_tuning() {
  tuning = app.add_subcommand(
      "tune", "measure which algorithms suit collective operations on this machine, for mpiexec to use");
  tuning
      ->add_option(
          "--ranks", how.ranks,
          "measure these numbers of ranks, too: 16,64 (always: 2, the cores, and four times as many)")
      ->delimiter(',');
  tuning->add_option("--modes", how.modes, "fibers, processes, or both, which is the default")
      ->delimiter(',')
      ->check(CLI::IsMember({"fibers", "processes"}));
  tuning->add_option("--seconds", how.seconds, "how long to measure altogether (default: 120)")
      ->check(CLI::Range(0.1, 86400.0));
  tuning->add_option("--output", how.output,
                     "the file for the rules (default: where mpiexec looks, ~/.config/clump/collectives)");
  tuning->add_flag("--dry-run", how.dry_run, "measure nothing, say what would be measured");
}

}  // namespace clump::tools
