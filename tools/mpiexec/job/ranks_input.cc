#include "job/ranks_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "job/distribution.h"

namespace clump::mpiexec {

namespace {

int open_nothing() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

/// Whether everybody who opens it reads all of it: unlike a pipe or a terminal.
bool can_be_opened_again(int source) {
  struct stat info {};
  return ::fstat(source, &info) == 0 &&
         (S_ISREG(info.st_mode) || (S_ISCHR(info.st_mode) && ::isatty(source) == 0));
}

}  // namespace

bool RanksInput::is_read(const pmi::Job& job, const pmi::Node& host) {
  if (job.input == pmi::kInputForAll) return job.ranks(host) > 0;
  return job.input >= 0 && &job.nodes[static_cast<std::size_t>(job.node_of(job.input))] == &host;
}

long RanksInput::files(const pmi::Job& job) {
  return job.input == pmi::kInputForAll ? 2L * job.ranks(job.this_node()) : 0;
}

base::Status RanksInput::input_of_rank(int& end) {
  if (can_be_opened_again(source_)) {
    end = ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (end >= 0) ::lseek(end, ::lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET);
  } else {
    int pipe[2] = {-1, -1};
    if (::pipe2(pipe, O_CLOEXEC) == 0) pipes_.push_back(pipe[1]);
    end = pipe[0];
  }
  if (end < 0)
    return base::fail(MPI_ERR_SPAWN, "no standard input for each rank that reads it (--stdin): {}",
                      std::strerror(errno));
  return {};
}

base::Status RanksInput::direct(int process, int& in, std::vector<int>& of_ranks) {
  const pmi::HostProcess& host = job_.processes[static_cast<std::size_t>(process)];
  if (job_.input >= 0 && job_.process_of(job_.input) == process)
    return source_ == STDIN_FILENO ? base::Status() : input_of_rank(in);
  if (job_.input == pmi::kInputForAll && host.plain) return input_of_rank(in);
  in = open_nothing();
  if (job_.input != pmi::kInputForAll) return {};
  for (int i = 0; i < host.ranks; ++i) {
    CLUMP_TRY(input_of_rank(of_ranks.emplace_back(-1)));
    given_.push_back(of_ranks.back());
  }
  return {};
}

std::vector<int> RanksInput::own() const {
  std::vector<int> all = pipes_;
  if (source_ != STDIN_FILENO && source_ >= 0) all.push_back(source_);
  return all;
}

void RanksInput::start() {
  for (const int given : given_) ::close(given);
  if (!pipes_.empty()) distribute_input(source_, pipes_);
}

}  // namespace clump::mpiexec
