#include "cluster/spawned_jobs.h"

#include <fcntl.h>
#include <signal.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/program_path.h"
#include "base/status.h"
#include "hang/control_messages.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

namespace {

/// All that this process has open, but for its standard streams: streams to hosts end when no process has
/// them.
std::vector<int> own_descriptors() {
  std::vector<int> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > 2) all.push_back(number);
  }
  std::erase_if(all, [](int one) { return ::fcntl(one, F_GETFD) < 0; });  // that of the folder
  return all;
}

}  // namespace

void SpawnedJobs::answer(const Job& job, const pmi::SpawnAnswer& answer) {
  send_(job.host, encode(ControlMessage{ControlMessage::Kind::kSpawned, job.number, pmi::encode(answer)}));
}

void SpawnedJobs::start(std::size_t host, std::uint32_t number, const std::string& request) {
  if (has_stopped_) return;
  Job& job = jobs_.emplace_back(host, number);
  pmi::SpawnRequest wanted;
  base::Status started = base::fail(MPI_ERR_SPAWN, "mpiexec cannot read what it is to start");
  if (pmi::decode(request, wanted)) {
    Process process;
    process.program = base::program_path();
    process.arguments = std::move(wanted.words);
    process.arguments.insert(process.arguments.begin(), process.program);
    process.environment = std::move(wanted.environment);
    process.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    process.of_mpiexec = own_descriptors();
    started = job.supervisor.start({process});
  }
  answer(job, {0, started.ok() ? std::string() : base::message_of(started.code())});
  if (!started.ok()) jobs_.pop_back();
}

void SpawnedJobs::add_to(tools::PollSet& all) const {
  for (const Job& job : jobs_)
    if (job.state != Job::kLost)
      all.add(job.state == Job::kEnds ? job.supervisor.end_descriptor() : job.supervisor.descriptor());
}

void SpawnedJobs::read_events() {
  for (Job& job : jobs_)
    if (job.state == Job::kRuns) read_events(job);
  std::erase_if(jobs_, [](Job& job) { return job.state == Job::kEnds && job.supervisor.has_stopped(); });
}

void SpawnedJobs::read_events(Job& job) {
  Event event;
  bool is_gone = false;
  while (job.supervisor.next(event, is_gone)) {
    if (event.kind == Event::Kind::kCannotStart)
      say(fmt::format("cannot start mpiexec for ranks that are spawned: {}", std::strerror(event.value)));
    if (event.kind != Event::Kind::kEnded) continue;
    answer(job, {event.value, {}});
    job.state = Job::kEnds;
    return job.supervisor.begin_stop();
  }
  if (!is_gone) return;
  // The supervisor was killed. The system ends the mpiexec below it; what that leaves is killed by stop(),
  // with all other processes of this one.
  answer(job, {SIGKILL, {}});
  job.state = Job::kLost;
}

void SpawnedJobs::stop() {
  has_stopped_ = true;
  jobs_.clear();
}

}  // namespace clump::mpiexec
