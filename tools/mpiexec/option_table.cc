#include "options.h"

namespace clump::mpiexec {

namespace {

constexpr std::string_view kPlacement = "ranks go to cores in blocks; see --map, and --cores to choose";
constexpr std::string_view kNoDaemons = "jobs start without daemons or remote shells";

// One row per option, aligned by hand.
// clang-format off
const Option kOptions[] = {
    {{"n", "np", "c"}, Action::kRanks, 1, "N", "number of ranks (default 1)"},
    {{"wdir", "wd"}, Action::kDirectory, 1, "DIR", "run the program in DIR"},
    {{"gwdir"}, Action::kGlobalDirectory, 1, "DIR", "run all programs in DIR"},
    {{"x"}, Action::kExport, 1, "NAME[=VALUE]", "set a variable, or pass it on (all are passed on anyway)"},
    {{"env"}, Action::kEnv, 2, "NAME VALUE", "set an environment variable for this program"},
    {{"envlist"}, Action::kEnvList, 1, "NAME,...", "pass on only these variables to this program"},
    {{"envnone"}, Action::kEnvNone, 0, "", "pass on no environment variables to this program"},
    {{"envall"}, Action::kEnvAll, 0, "", "pass on all environment variables to this program (default)"},
    {{"genv"}, Action::kGlobalEnv, 2, "NAME VALUE", "set an environment variable for all programs"},
    {{"genvlist"}, Action::kGlobalEnvList, 1, "NAME,...", "pass on only these environment variables"},
    {{"genvnone"}, Action::kGlobalEnvNone, 0, "", "pass on no environment variables"},
    {{"genvall"}, Action::kGlobalEnvAll, 0, "", "pass on all environment variables (default)"},
    {{"ranks"}, Action::kAs, 1, "fibers|threads|processes|auto",
     "as what the ranks run (default auto: fibers of one process; processes where the program cannot share one)"},
    {{"per-process"}, Action::kPerProcess, 1, "K", "so many ranks in each process, not all in one"},
    {{"scheduler"}, Action::kScheduler, 1, "fibers|threads", "what runs ranks that share a process (default fibers)"},
    {{"cores", "cpu-set", "cpu-list"}, Action::kCores, 1, "LIST", "use these cores, in this order: 0,4-7"},
    {{"host", "hosts", "H"}, Action::kHosts, 1, "NAME[:N],...", "run on these hosts, with N ranks on each"},
    {{"hostfile", "machinefile", "default-hostfile", "f", "machine"}, Action::kHostfile, 1, "FILE",
     "the same, a host in each line: NAME, NAME:N or NAME slots=N"},
    {{"ppn", "perhost", "npernode", "N"}, Action::kPerHost, 1, "N", "so many ranks on each host"},
    {{"map-by"}, Action::kMapBy, 1, "slot|node",
     "ranks go to the hosts in blocks (default), or to one after the other in turn"},
    {{"bynode", "rr"}, Action::kRoundRobin, 0, "", "the same as --map-by node"},
    {{"net"}, Action::kNetwork, 1, "PROVIDER", "libfabric's provider for what crosses the network (default: its choice)"},
    {{"coll"}, Action::kCollectives, 1, "NAME=HOW,...",
     "what collectives use: allreduce=two-stage,broadcast=flat (clump info --coll; default: by size and place)"},
    {{"coll-rules"}, Action::kCollectiveRules, 1, "FILE",
     "by which rules otherwise: those of FILE, as clump tune writes it, or none but the shipped (CLUMP_COLL_RULES)"},
    {{"reproducible"}, Action::kReproducible, 0, "",
     "reductions give the same bits wherever the ranks are, and however they are run"},
    {{"check"}, Action::kCheck, 0, "[=error]",
     "compare what ranks send and receive, and their collective calls; tell what is left at MPI_Finalize (=error: fail then)",
     true},
    {{"profile"}, Action::kProfile, 0, "[=FILE]",
     "write FILE.json and FILE.html: time in MPI and out of it, calls, messages, who waited for whom (clump-profile-PROGRAM)", true},
    {{"trace"}, Action::kTrace, 1, "FILE", "write all calls one by one, for Perfetto or Chrome's tracing page"},
    {{"agent"}, Action::kAgent},
    {{"use-hwthread-cpus"}, Action::kHardwareThreads, 0, "", "use all hardware threads of a core, not one"},
    {{"workers"}, Action::kWorkers, 1, "N", "so many workers (default: one for each core)"},
    {{"helpers"}, Action::kHelpers, 1, "N",
     "where ranks have more than one core: so many of them help with large data (default 3, 0: none)"},
    {{"map", "report-bindings", "display-map", "print-rank-map"}, Action::kMap, 0, "",
     "print which ranks run where, first; without a program: print that only"},
    {{"tag-output", "prepend-rank", "l"}, Action::kTagOutput, 0, "", "put \"[rank] \" in front of each line"},
    {{"collapse"}, Action::kCollapse, 0, "", "show a line that several ranks write once, with their numbers: \"[0-15] text\""},
    {{"output-dir"}, Action::kOutputFolder, 1, "DIR",
     "each rank writes to DIR/rank.N.out and DIR/rank.N.err, of its host; %h in DIR: the host's name"},
    {{"outfile-pattern"}, Action::kOutFile, 1, "FILE", "stdout of each rank goes to FILE; %r is the rank, %h its host"},
    {{"errfile-pattern"}, Action::kErrFile, 1, "FILE", "the same for stderr"},
    {{"tee"}, Action::kTee, 0, "", "what goes to such files goes to mpiexec's own output, too"},
    {{"output-filename"}, Action::kOutputFolderAndTee, 1, "DIR[:nocopy]", "--output-dir DIR --tee; with :nocopy without --tee"},
    {{"gdb", "debug"}, Action::kGdb, 0, "", "one gdb on all ranks, before their main; \"help clump\" there names commands for ranks"},
    {{"gdb-command"}, Action::kGdbCommands, 1, "FILE", "the same, without a terminal: gdb executes the commands of FILE"},
    {{"timeout"}, Action::kTimeout, 1, "SECONDS", "end the job after so many seconds, with exit code 124"},
    {{"hang-after"}, Action::kHangAfter, 1, "SECONDS",
     "end the job, and say what all wait for, when nothing has moved in MPI for so long and all ranks are in it or asleep"},
    {{"seed"}, Action::kSeed, 1, "N",
     "draw from N whatever MPI leaves open: who runs next, what arrives and is found first; the same N repeats the run"},
    {{"explore"}, Action::kExplore, 1, "N",
     "run with N seeds in turn, from --seed or 1 on, until one fails: show that run, and how to repeat it"},
    {{"explain", "verbose", "v"}, Action::kExplain, 0, "", "say in one line how the ranks run, and why"},
    {{"quiet", "q"}, Action::kQuiet, 0, "", "do not name ignored options"},
    {{"help", "h"}, Action::kHelp, 0, "", "print this text"},
    {{"version", "V", "info"}, Action::kVersion, 0, "", "print the version"},

    {{"allow-run-as-root"}, Action::kAlready},
    {{"oversubscribe"}, Action::kAlready},
    {{"byslot"}, Action::kAlready},
    {{"enable-recovery"}, Action::kRefused, 0, "", "a failing rank always ends the job"},
    {{"disable-auto-cleanup"}, Action::kRefused, 0, "", "a failing rank always ends the job"},
    {{"configfile", "app"}, Action::kRefused, 1, "",
     "write the parts on the command line, with ':' between them"},
    {{"output"}, Action::kRefused, 1, "", "use --output-dir, --tee, --tag-output or --collapse"},
    {{"stdin"}, Action::kIgnored, 1, "", "standard input goes to rank 0"},

    {{"rank-by", "bind-to", "binding", "npersocket", "cpus-per-proc", "cpus-per-rank", "rankfile", "membind", "ranks-per-proc"},
     Action::kIgnored, 1, "", kPlacement},
    {{"bycore", "bysocket", "bind-to-core", "bind-to-socket", "bind-to-none", "nolocal",
      "pernode", "nooversubscribe", "display-allocation", "nompi"},
     Action::kIgnored, 0, "", kPlacement},
    {{"display"}, Action::kIgnored, 1, "", kPlacement},
    {{"usize", "topolib"}, Action::kIgnored, 1, "", "has no meaning here"},
    {{"mca", "gmca", "pmixmca", "prtemca", "omca"}, Action::kIgnored, 2, "", "a setting of Open MPI's"},
    {{"am", "tune", "pmix"}, Action::kIgnored, 1, "", "a setting of Open MPI's"},
    {{"launcher", "launcher-exec", "bootstrap", "bootstrap-exec", "rmk", "iface", "demux", "order-nodes",
      "hydra-bin-path", "prefix", "pmi-port", "localhost", "nameserver", "ckpoint-interval", "ckpoint-prefix",
      "ckpointlib"},
     Action::kIgnored, 1, "", kNoDaemons},
    {{"enable-x", "disable-x", "disable-hostname-propagation", "noprefix", "no-local",
      "leave-session-attached", "debug-daemons"},
     Action::kIgnored, 0, "", kNoDaemons},
    {{"tv"}, Action::kRefused, 0, "", "use --gdb"},
    {{"print-all-exitcodes"}, Action::kIgnored, 0, "", "has no meaning here"},
};
// clang-format on

}  // namespace

std::span<const Option> option_table() { return kOptions; }

}  // namespace clump::mpiexec
