#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/why_refused.h"
#include "common/output.h"
#include "common/places.h"
#include "instruments/catalogue.h"
#include "tune.h"

namespace clump::tools {

namespace {

std::string argument_of(const Cell& cell) {
  std::string text = fmt::format("{}:{}:", coll::name_of(cell.collective), cell.bytes);
  for (const coll::Algorithm algorithm : cell.algorithms)
    text += (text.ends_with(':') ? "" : ",") + instruments::as_name(coll::name_of(algorithm));
  return text;
}

std::vector<std::string> command_for(const Setting& setting, std::span<const Cell> cells, double seconds) {
  std::vector<std::string> words{own_program("mpiexec"),
                                 "-n",
                                 std::to_string(setting.ranks),
                                 "--ranks",
                                 setting.where == coll::Where::kProcess ? "fibers" : "processes",
                                 "--coll-rules",
                                 "none",
                                 "--timeout",
                                 fmt::format("{:.0f}", 3 * seconds + 60),
                                 own_program("clump-collectives"),
                                 fmt::format("{}", seconds)};
  for (const Cell& cell : cells) words.push_back(argument_of(cell));
  return words;
}

[[noreturn]] void become(std::vector<std::string> words, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // whoever ends us means the job
  ::unsetenv("CLUMP_PER_PROCESS");     // the words say how the ranks run
  ::dup2(out, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  print_error("clump: {} cannot be started: {}\n", words[0], std::strerror(errno));
  ::_exit(127);
}

/// A line of clump-collectives: what it does next, or a result.
bool take(const char* line, std::span<const Cell> cells, const std::function<void(const Cell&)>& progress,
          std::vector<Sample>& samples) {
  std::size_t cell = 0, algorithm = 0;
  Sample sample{};
  const int read =
      std::sscanf(line, "%zu %zu %lf %lf %lf", &cell, &algorithm, &sample.low, &sample.median, &sample.high);
  if (read < 1 || cell >= cells.size()) return false;
  if (read == 1) {
    progress(cells[cell]);
    return true;
  }
  if (read != 5 || algorithm >= cells[cell].algorithms.size()) return false;
  sample.collective = cells[cell].collective;
  sample.bytes = cells[cell].bytes;
  sample.algorithm = cells[cell].algorithms[algorithm];
  samples.push_back(sample);
  return true;
}

}  // namespace

base::Status measure(const Setting& setting, std::span<const Cell> cells, double seconds,
                     const std::function<void(const Cell&)>& progress, Measured& measured) {
  measured.setting = setting;
  int ends[2];
  if (::pipe(ends) != 0)
    return base::fail(MPI_ERR_OTHER, "cannot make a pipe: {}", base::why_refused("pipe", errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    become(command_for(setting, cells, seconds), ends[1]);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return base::fail(MPI_ERR_OTHER, "cannot start a process: {}", base::why_refused("fork", errno));
  }
  std::string strange;
  std::FILE* const in = ::fdopen(ends[0], "r");
  for (char line[256]; std::fgets(line, sizeof line, in) != nullptr;)
    if (!take(line, cells, progress, measured.samples)) strange = line;
  std::fclose(in);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && strange.empty()) return {};
  return base::fail(MPI_ERR_OTHER, "measuring {} failed{}{}", text_of(setting),
                    strange.empty() ? "" : ": it says ", strange);
}

}  // namespace clump::tools
