#include "job/successors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pmi/job_file.h"

namespace clump::mpiexec {

namespace {

void answer(int socket, const pmi::PlaceNote& note, std::span<const int> descriptors) {
  (void)pmi::send(socket, pmi::encode(note), descriptors);  // it may have ended meanwhile
  ::close(socket);
}

}  // namespace

void Successors::begin(const pmi::Job& job, const pmi::NodeMemory& memory) {
  before_ = &job;
  memory_before_ = &memory;
  sockets_.assign(static_cast<std::size_t>(job.ranks()), kNotAsked);
}

std::string Successors::why_not(const pmi::JoinNote& note) const {
  if (note.rank < 0 || note.rank >= before_->ranks()) return fmt::format("the job has no rank {}", note.rank);
  if (has_asked(note.rank))
    return fmt::format("exec() has replaced rank {}, and another process is the rank already: one can be",
                       note.rank);
  for (const pmi::HostProcess& process : before_->processes) {
    const auto number = static_cast<int>(&process - before_->processes.data());
    if (memory_before_->host(number).called_mpi)
      return fmt::format(
          "exec() has replaced rank {} before MPI_Init, and other ranks of the job, which it has not "
          "replaced, "
          "have called MPI: ranks of which only some do so need a process each: use --ranks processes",
          note.rank);
  }
  return {};
}

bool Successors::take(const pmi::JoinNote& note, int socket) {
  // Others find out (host/exec.cc), also where the process that was the rank has not come to say so.
  if (note.rank >= 0 && note.rank < before_->ranks()) {
    std::int32_t none = 0;
    memory_before_->host(before_->process_of(note.rank))
        .replaced.compare_exchange_strong(none, note.rank + 1);
  }
  if (std::string why = why_not(note); !why.empty()) {
    answer(socket, {.why = std::move(why)}, {});
    return false;
  }
  sockets_[static_cast<std::size_t>(note.rank)] = socket;
  return ++asked_ == before_->ranks();
}

const pmi::HostProcess* Successors::missed() const {
  if (!are_waiting()) return nullptr;
  if (missed_ != nullptr) return missed_;
  for (const pmi::HostProcess& process : before_->processes)
    if (memory_before_->host(static_cast<int>(&process - before_->processes.data())).left_early != 0)
      return &process;
  return nullptr;
}

/// As it was, but for its processes.
void Successors::describe_job() {
  job_ = *before_;
  job_.processes.clear();
  for (int slot = 0; slot < job_.ranks(); ++slot) job_.processes.push_back({slot, 1, true});
  job_.nodes.front().processes = job_.ranks();
}

base::Status Successors::settle(int life, int records) {
  describe_job();
  int memory = -1;
  CLUMP_TRY(pmi::NodeMemory::make(job_, memory));
  CLUMP_TRY(pmi::NodeMemory::map(job_, memory, memory_));
  int job = -1;
  CLUMP_TRY(pmi::write_job(job_, job));
  std::vector<int> descriptors{job, memory, life};
  if (records >= 0) descriptors.push_back(records);
  for (int rank = 0; rank < job_.ranks(); ++rank)
    answer(std::exchange(sockets_[static_cast<std::size_t>(rank)], kAnswered),
           {.process = job_.process_of(rank)}, descriptors);
  ::close(job);
  ::close(memory);
  has_settled_ = true;
  return {};
}

void Successors::refuse_all(const std::string& why) {
  for (int& socket : sockets_)
    if (socket >= 0) answer(std::exchange(socket, kAnswered), {.why = why}, {});
  has_settled_ = false;
  asked_ = 0;
}

}  // namespace clump::mpiexec
