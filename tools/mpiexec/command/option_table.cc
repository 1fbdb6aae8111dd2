#include "command/option_handlers.h"

namespace clump::mpiexec {

namespace handlers {

namespace {

using enum Environment::Inherit;

constexpr std::string_view kPlacement = "ranks go to cores in blocks; see --map, and --cores to choose";
constexpr std::string_view kOfSlurm =
    "salloc and sbatch take it; mpiexec runs on the hosts of their job, or --host names them";
constexpr std::string_view kNoDaemons = "jobs start without daemons or remote shells";

// One row per option, aligned by hand.
// clang-format off
const Option kOptions[] = {
    {{"n", "np", "c", "ntasks"}, ranks, 1, "N", "number of ranks (default: the slots of --host and the like, otherwise 1)"},
    {{"wdir", "wd"}, text<&Part::working_directory>, 1, "DIR", "run the program in DIR"},
    {{"gwdir"}, text<&Command::working_directory>, 1, "DIR", "run all programs in DIR"},
    {{"path"}, path, 1, "DIR:...", "look for the program in these folders before those of PATH"},
    {{"soft"}, text<&Part::soft>, 1, "A:B:STEP,...",
     "these numbers of ranks would do, too: the largest that is not more than -n says is taken"},
    {{"arch"}, architecture, 1, "NAME", "the program is for machines of this kind (x86_64): fail on others"},
    {{"file"}, options_of_file, 1, "FILE", "more options of this part: the words of FILE"},
    {{"configfile", "app"}, parts_of_file, 1, "FILE",
     "the command line is in FILE: a part in each line, without ':'; a line that begins with '#' is a comment, '\\' at the end goes on"},
    {{"x"}, export_variable, 1, "NAME[=VALUE]", "set a variable, or pass it on (all are passed on anyway)"},
    {{"env"}, set_variable<of_part>, 2, "NAME VALUE", "set an environment variable for this program (or NAME=VALUE)"},
    {{"envlist"}, inherit_listed<of_part>, 1, "NAME,...", "pass on only these variables to this program"},
    {{"envnone"}, inherit<of_part, kNone>, 0, "", "pass on no environment variables to this program"},
    {{"envall"}, inherit<of_part, kAll>, 0, "", "pass on all environment variables to this program (default)"},
    {{"genv"}, set_variable<of_job>, 2, "NAME VALUE", "set an environment variable for all programs (or NAME=VALUE)"},
    {{"genvlist"}, inherit_listed<of_job>, 1, "NAME,...", "pass on only these environment variables"},
    {{"genvnone"}, inherit<of_job, kNone>, 0, "", "pass on no environment variables"},
    {{"genvall"}, inherit<of_job, kAll>, 0, "", "pass on all environment variables (default)"},
    {{"ranks"}, run_as, 1, "fibers|threads|processes|auto",
     "as what the ranks run (default auto: fibers of one process; processes where the program cannot share one)"},
    {{"per-process"}, number<&tools::Ranks::per_process>, 1, "K", "so many ranks in each process, not all in one"},
    {{"scheduler"}, scheduler, 1, "fibers|threads", "what runs ranks that share a process (default fibers)"},
    {{"cores", "cpu-set", "cpu-list"}, text<&Command::cores>, 1, "LIST", "use these cores, in this order: 0,4-7"},
    {{"host", "hosts", "H"}, hosts, 1, "NAME[:N],...",
     "run on these hosts, with N ranks on each"},
    {{"hostfile", "machinefile", "default-hostfile", "f", "machine"}, hostfile, 1, "FILE",
     "the same, a host in each line: NAME, NAME:N or NAME slots=N (CLUMP_HOST_FILE)"},
    {{"ppn", "perhost", "npernode", "N", "ntasks-per-node"}, number<&Command::per_host>, 1, "N", "so many ranks on each host"},
    {{"pernode"}, one_per_host, 0, "", "the same as --npernode 1"},
    {{"nooversubscribe"}, set<&Command::enough_cores>, 0, "", "fail if a host gets more ranks than its slots (NAME:N), or, where no slots are said, than it has cores"},
    {{"map-by"}, map_by, 1, "slot|node",
     "ranks go to the hosts in blocks (default), or to one after the other in turn"},
    {{"bynode", "rr"}, round_robin, 0, "", "the same as --map-by node"},
    {{"launcher", "bootstrap"}, launcher, 1, "ssh|rsh|fork|slurm|sge|lsf|pbs|manual",
     "what starts processes on other hosts (default ssh); fork: nothing does (CLUMP_LAUNCHER)"},
    {{"launcher-exec", "bootstrap-exec"}, setting<&tools::LauncherChoice::program>, 1, "PROGRAM",
     "its program, if it is not in PATH under its usual name (CLUMP_LAUNCHER_EXEC)"},
    {{"prefix"}, prefix, 1, "DIR", "Clump is in DIR on other hosts (default: where it is here, or in PATH there)"},
    {{"rmk"}, setting<&Command::batch_system>, 1, "slurm|pbs|sge|lsf|none",
     "the batch system whose hosts and launcher are used (default: that in whose job mpiexec runs); none: this host (CLUMP_RMK)"},
    {{"iface"}, setting<&Command::interface>, 1, "NAME",
     "ranks of other hosts are reached at this network interface, such as eth0 (default: by the routes; CLUMP_IFACE)"},
    {{"net"}, text<&Command::network>, 1, "PROVIDER", "libfabric's provider for what crosses the network (default: its choice)"},
    {{"coll"}, collectives, 1, "NAME=HOW,...",
     "what collectives use: allreduce=two-stage,broadcast=flat (clump info --coll; default: by size and place)"},
    {{"coll-rules"}, text<&Command::collective_rules>, 1, "FILE",
     "by which rules otherwise: those of FILE, as clump tune writes it, or none but the shipped (CLUMP_COLL_RULES)"},
    {{"reproducible"}, reproducible, 0, "",
     "reductions give the same bits wherever the ranks are, and however they are run"},
    {{"check"}, check, 0, "[=error]",
     "compare what ranks send and receive, and their collective calls; tell what is left at MPI_Finalize (=error: fail then)",
     true},
    {{"initial-errhandler"}, initial_errhandler, 1, "NAME",
     "what an error of MPI does at first: mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return"},
    {{"profile"}, profile, 0, "[=FILE]",
     "write FILE.json and FILE.html: time in MPI and out of it, calls, messages, who waited for whom (clump-profile-PROGRAM)", true},
    {{"trace"}, text<&Command::trace>, 1, "FILE", "write all calls one by one, for Perfetto or Chrome's tracing page"},
    {{"malloc"}, allocator, 1, "libc|mimalloc|NAME|FILE",
     "the allocator of ranks that share a process (default mimalloc, or what the program brings; CLUMP_MALLOC)"},
    {{"check_mpi", "check-mpi"}, check, 0},
    {{"display-devel-map", "display-diffable-map"}, set<&Command::map>, 0},
    {{"proxy"}, set<&Command::proxy>},
    {{"argc"}, number<&Part::words_to_come>, 1},
    {{"use-hwthread-cpus"}, set<&Command::hardware_threads>, 0, "", "use all hardware threads of a core, not one"},
    {{"workers"}, number<&Command::workers>, 1, "N", "so many workers (default: one for each core)"},
    {{"usize"}, universe, 1, "N|SYSTEM",
     "MPI_UNIVERSE_SIZE: so many ranks are expected, with those that the program will spawn; there are workers for all (SYSTEM: as many as slots or cores)"},
    {{"name-server"}, set<&Command::shares_names>, 0, "",
     "names that the program publishes are known to all jobs of this user on this machine, not to this job only"},
    {{"helpers"}, number<&Command::helpers, 0>, 1, "N",
     "where ranks have more than one core: so many of them help with large data (default 3, 0: none)"},
    {{"map", "report-bindings", "display-map", "print-rank-map"}, set<&Command::map>, 0, "",
     "print which ranks run where, first; without a program: print that only"},
    {{"tag-output", "prepend-rank", "l", "label"}, tag_output, 0, "", "put \"[rank] \" in front of each line"},
    {{"timestamp-output"}, timestamp_output, 0, "", "put the time in front of each line"},
    {{"prepend-pattern"}, line_prefix, 1, "TEXT", "put TEXT in front of each line: %r is the rank, %h its host, %t the time"},
    {{"collapse"}, set<&Command::collapse>, 0, "", "show a line that several ranks write once, with their numbers: \"[0-15] text\""},
    {{"output-dir"}, output_folder, 1, "DIR",
     "each rank writes to DIR/rank.N.out and DIR/rank.N.err, of its host; %h in DIR: the host's name"},
    {{"outfile-pattern"}, output_file<0>, 1, "FILE", "stdout of each rank goes to FILE; %r is the rank, %h its host, %% a percent sign"},
    {{"errfile-pattern"}, output_file<1>, 1, "FILE", "the same for stderr"},
    {{"tee"}, set<&Command::tee>, 0, "", "what goes to such files goes to mpiexec's own output, too"},
    {{"output-filename"}, output_folder_and_tee, 1, "DIR[:nocopy]", "--output-dir DIR --tee; with :nocopy without --tee"},
    {{"output"}, output, 1, "WORD,...", "as Open MPI has it: tag, timestamp, dir=DIR[:nocopy], file=FILE[:nocopy]"},
    {{"stdin", "s"}, input, 1, "RANK|all|none", "which rank reads standard input (default 0); all: each reads all of it"},
    {{"gdb", "debug"}, set<&Command::gdb>, 0, "", "one gdb on all ranks, before their main; \"help clump\" there names commands for ranks"},
    {{"gdb-command"}, gdb_commands, 1, "FILE", "the same, without a terminal: gdb executes the commands of FILE"},
    {{"timeout"}, number<&Command::timeout_seconds>, 1, "SECONDS", "end the job after so many seconds, with exit code 124"},
    {{"hang-after"}, number<&Command::hang_after_seconds>, 1, "SECONDS",
     "end the job, and say what all wait for, when nothing has moved in MPI for so long and all ranks are in it or asleep for good"},
    {{"seed"}, seed, 1, "N",
     "draw from N whatever MPI leaves open: who runs next, what arrives and is found first; the same N repeats the run"},
    {{"explore"}, explore, 1, "N",
     "run with N seeds in turn, from --seed or 1 on, until one fails: show that run, and how to repeat it"},
    {{"print-all-exitcodes"}, set<&Command::all_exit_codes>, 0, "", "say at the end with which exit codes the ranks have ended"},
    {{"explain", "verbose", "v"}, set<&Command::explain>, 0, "", "say in one line how the ranks run, and why"},
    {{"quiet", "q"}, set<&Command::quiet>, 0, "", "do not name ignored options"},
    {{"color", "colour"}, color, 1, "auto|always|never",
     "whether the first line about a failure stands out (default auto: on a terminal, unless NO_COLOR is set)"},
    {{"help", "h"}, set<&Command::help>, 0, "", "print this text"},
    {{"version", "V", "info"}, set<&Command::version>, 0, "", "print the version"},

    {{"allow-run-as-root", "oversubscribe", "byslot", "disable-recovery", "abort-on-non-zero-status", "get-stack-traces",
      "report-state-on-timeout", "localonly", "ordered-output", "hetero-nodes", "fwd-environment", "do-not-resolve", "unbuffered", "line-buffer"},
     already},
    {{"kill-on-bad-exit", "exclusive"}, already, 0, "", "", true},
    // There are those kinds of memory that every library has (src/mpi/initialization.h).
    {{"memory-alloc-kinds", "stream-buffering", "forward-signals"}, already, 1},
    {{"personality"}, already, 1, "ompi|prte|mpich"},
    {{"enable-recovery", "continuous", "disable-auto-cleanup", "dac"}, refused, 0, "", "a failing rank always ends the job"},
    {{"max-restarts"}, refused, 1, "", "a failing rank always ends the job"},
    {{"nolocal", "skip-launch-node"}, refused, 0, "", "name the hosts by --host"},
    {{"rankfile", "rf"}, refused, 1, "", kNoRankFile},
    {{"ckpoint-interval", "ckpoint-prefix", "ckpointlib", "ckpoint-num"}, refused, 1, "", "there are no checkpoints"},
    {{"merge-stderr-to-stdout"}, refused, 0, "", "write 2>&1 behind the command"},
    {{"with-ft"}, refused, 1, "", "a failing rank always ends the job"},
    {{"stop-in-init", "stop-on-exec"}, refused, 0, "", "use --gdb"},
    {{"xml"}, refused, 0, "", "use --tag-output, or --output-dir"},
    {{"do-not-launch"}, refused, 0, "", "use --map, without a program"},
    {{"preload-binary"}, refused, 0, "", "copy the program to the hosts first"},
    {{"preload-files"}, refused, 1, "", "copy the files to the hosts first"},
    {{"xterm"}, refused, 1, "", "use --gdb, --output-dir, or mpiexec -n N xterm -e program"},
    {{"tv", "dbg"}, refused, 0, "", "use --gdb"},
    {{"gtool", "gtoolfile"}, refused, 1, "", "use --gdb, or write the tool in front of the program"},
    {{"aps", "mps"}, refused, 0, "", "use --profile"},
    {{"nodes", "nodelist", "partition", "account", "qos", "constraint", "gres", "mem", "time", "jobid"}, refused, 1, "", kOfSlurm},
    {{"multi-prog"}, refused, 1, "", "use -configfile, with a line for each program, or ':' between them"},
    {{"export"}, refused, 1, "", "use -x NAME=VALUE (all variables are passed on anyway)"},
    {{"genvexcl"}, refused, 1, "", "use -genvlist, which names those to pass on"},
    {{"dvm", "dvm-uri"}, refused, 1, "", kNoDaemons},

    {{"bind-to"}, ignored, 1, "none|hwthread|core|slot|l1cache|l2cache|l3cache|cache|numa|package|socket|board|machine|pu|numanode|l1dcache|l2dcache|gpu|rr|user|cpu-list|", kPlacement},
    {{"rank-by"}, ignored, 1, "slot|node|fill|span|hwthread|core|l1cache|l2cache|l3cache|numa|package|socket|board|", kPlacement},
    {{"membind"}, ignored, 1, "none|firsttouch|nexttouch|bind|interleave|replicate", kPlacement},
    {{"binding", "cpus-per-proc", "cpus-per-rank", "ranks-per-proc", "gpus-per-proc", "gpu-subdevs-per-proc"}, ignored, 1, "", kPlacement},
    {{"bycore", "bysocket", "bind-to-core", "bind-to-socket", "bind-to-none",
      "display-allocation", "display-topo", "nompi"},
     ignored, 0, "", kPlacement},
    {{"cpu-bind", "cpu_bind", "mem-bind", "mem_bind", "gpu-bind", "cpus-per-task", "threads-per-core", "distribution", "hint", "depth", "cc"},
     ignored, 1, "", kPlacement},
    {{"mpi"}, ignored, 1, "", "srun's way to start libraries"},
    {{"npersocket", "grr"}, count_elsewhere, 1, "", kPlacement},
    {{"display"}, ignored, 1, "allocation|map|map-devel|bindings|topo|cpus", "--map shows where ranks run"},
    {{"topolib"}, ignored, 1, "hwloc", "has no meaning here"},
    {{"mca", "gmca", "pmixmca", "prtemca", "omca"}, mca, 2, "", "a setting of Open MPI's"},
    {{"am", "tune", "pmix", "runtime-options", "rtos"}, ignored, 1, "", "a setting of Open MPI's"},
    {{"demux"}, ignored, 1, "poll|select|port", kNoDaemons},
    {{"order-nodes"}, ignored, 1, "up|down", kNoDaemons},
    {{"hydra-bin-path", "localhost", "nameserver", "branch-count", "launch-agent", "keepalive", "tmpdir", "spawn-timeout"},
     ignored, 1, "", kNoDaemons},
    {{"enable-x", "disable-x", "disable-hostname-propagation", "noprefix", "no-local", "pmi-port", "noconf", "novm",
      "leave-session-attached", "debug-daemons", "debug-devel", "report-child-jobs-separately"},
     ignored, 0, "", kNoDaemons},
    {{"report-pid", "report-uri", "output-proctable", "bootstrap-exec-args"}, ignored, 1, "", kNoDaemons},
    {{"silent-abort", "display-comm", "trace-pt2pt", "show-progress", "parsable", "parseable", "ilp64", "index-argv-by-rank"}, ignored, 0, "", "has no meaning here"},
};
// clang-format on

}  // namespace

}  // namespace handlers

std::span<const Option> option_table() { return handlers::kOptions; }

bool is_accepted(const Option& row) {
  return row.handle == handlers::ignored || row.handle == handlers::count_elsewhere ||
         row.handle == handlers::already || row.handle == handlers::mca;
}

bool is_hidden(const Option& row) {
  return row.handle == handlers::refused || (row.text.empty() && !is_accepted(row));
}

}  // namespace clump::mpiexec
