// Starting processes (MPI-5.0 section 11.8.2): docs/decisions/047-dynamic-processes.md.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/bodies.h"
#include "mpi/dynamic/spawn_command.h"
#include "mpi/introduction.h"
#include "mpi/new_comm.h"
#include "mpi/ports.h"
#include "mpi/process.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Group;
using core::Rank;

void give_codes(const std::vector<int>& codes, int* array_of_errcodes) {
  if (array_of_errcodes == MPI_ERRCODES_IGNORE) return;
  std::ranges::copy(codes, array_of_errcodes);
  note_codes_of_spawn(array_of_errcodes, static_cast<int>(codes.size()));
}

/// A job that the root has started by mpiexec, from its start until that mpiexec has ended.
class StartedJob {
 public:
  StartedJob(Rank& self, std::string port) : self_(self), port_(std::move(port)) {}

  const std::string& port() const { return port_; }
  /// No rank of the job connects any more, or all have. What the job has ended with if that is why; empty if
  /// it goes on.
  std::string stop_waiting() {
    const std::lock_guard lock(mutex_);
    if (is_waiting_) close_port(self_, port_);
    is_waiting_ = false;
    return how_ended_;
  }
  /// Ranks of this job are connected to those of that one.
  void note_meeting() {
    const std::lock_guard lock(mutex_);
    has_met_ = true;
  }
  /// MPI_Comm_accept of the root ends by this.
  static void ended(void* job, int status) {
    auto* const self = static_cast<StartedJob*>(job);
    {
      const std::lock_guard lock(self->mutex_);
      // Otherwise MPI_Comm_spawn says so.
      if (self->has_met_ && status != 0)
        note_failed_job(self->self_.number,
                        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
      self->how_ended_ = WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                                             : fmt::format("with exit code {}", WEXITSTATUS(status));
      if (self->is_waiting_) close_port(self->self_, self->port_);
      self->is_waiting_ = false;
    }
    self->leave();
  }
  /// By the root, and by ended().
  void leave() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  Rank& self_;
  const std::string port_;
  std::mutex mutex_;  // guards what follows
  bool is_waiting_ = true, has_met_ = false;
  std::string how_ended_;
  std::atomic<int> users_{2};
};

/// What the root tells the others.
struct Told {
  std::int32_t error = MPI_SUCCESS;
  std::int32_t first = 0, size = 0;  ///< the numbers of the ranks that run
  std::int32_t own_context = 0, local_context = 0;
  bool is_other_job = false;  ///< they are a job that connects
  StartedJob* job = nullptr;  ///< at the root
  std::vector<int> codes;     ///< array_of_errcodes: one for each rank that was asked for
};

/// Those that `soft` has left out are not started.
void mark_left_out(std::span<const Asked> all, std::span<const Command> commands, Told& told) {
  auto code = told.codes.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::fill(code + commands[i].ranks, code + all[i].maxprocs, MPI_ERR_SPAWN);
    code += all[i].maxprocs;
  }
}

/// Starts the ranks as a job of their own, which connects to the root. `why`: the reason why they cannot join
/// this one.
Status start_as_job(Rank& self, const std::vector<Command>& commands, const std::string& why, Told& told) {
  if (const std::string why_not = why_no_other_jobs(); !why_not.empty() || self.world.link == nullptr)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "no rank can be started: not in this job, as {}; and not as another one: {}", why,
                      why_not);
  const auto elsewhere = std::ranges::find_if(commands, &Command::is_elsewhere);
  if (elsewhere != commands.end()) {
    const std::string other = first_host_elsewhere(*elsewhere);
    const Status listens = listen_towards(self.world, other);
    if (!listens.ok()) return base::fail(MPI_ERR_SPAWN, "(info): {}", base::message_of(listens.code()));
  }
  std::string port;
  CLUMP_TRY(open_port_for_jobs(self, port));
  auto* const job = new StartedJob(self, port);
  const Status started = start_job(commands, port, StartedJob::ended, job);
  if (!started.ok()) {
    job->stop_waiting();
    delete job;
    return started;
  }
  told.job = job;
  told.is_other_job = true;
  return {};
}

/// Waits for the job that the root has started, with all of its group.
Status meet_job(Rank& self, Comm& comm, int root, const Told& told, MPI_Comm* intercomm) {
  const auto find = [&](LeaderLink& link) -> Status {
    Status met = accept_at_root(self, told.job->port().c_str(), link);
    if (met.ok()) return met;
    return base::fail(MPI_ERR_SPAWN,
                      "the ranks were started, by mpiexec, which ended {} before they had called MPI_Init",
                      told.job->stop_waiting());
  };
  const Status met = introduce(coll::Members(comm, coll::Caller::kCommSpawn), root, find, comm, intercomm);
  if (told.job == nullptr) return met;
  if (met.ok()) told.job->note_meeting();
  static_cast<void>(told.job->stop_waiting());
  told.job->leave();
  return met;
}

/// At the root.
Status start(Rank& self, const Comm& comm, std::span<const Asked> all, Told& told) {
  for (const Asked& asked : all)
    told.codes.insert(told.codes.end(), static_cast<std::size_t>(std::max(asked.maxprocs, 0)), MPI_SUCCESS);
  std::string why_process = why_none_can_join();
  int room = room_for_jobs(), size = 0;
  const std::vector<std::string> environment = environment_of_caller();
  std::vector<Command> commands;
  for (const Asked& asked : all) {
    Command& made = commands.emplace_back();
    made.environment = environment;
    CLUMP_TRY(prepare_command(self, asked, room, made));
    size += made.ranks;
    if (why_process.empty() && made.is_elsewhere) why_process = "they are to be on other hosts";
    if (why_process.empty()) why_process = why_no_image(made);
  }
  if (const int left = room_to_join(); why_process.empty() && size > left)
    why_process = fmt::format("no more than {} can be started in it", left);
  mark_left_out(all, commands, told);
  if (!why_process.empty()) return start_as_job(self, commands, why_process, told);
  core::World& world = self.world;
  const Contexts contexts{world.allocate_context(), world.allocate_context()};
  const core::Launch* launch = nullptr;
  CLUMP_TRY(start_ranks(world, commands,
                        {*comm.group, contexts, self.eager_limit.load(std::memory_order_relaxed)}, launch));
  told.first = launch->first;
  told.size = launch->size;
  told.own_context = contexts.as_ints()[0];
  told.local_context = contexts.as_ints()[1];
  return {};
}

/// `read(all)`: what the root asks for; called there only.
template <typename Read>
Status spawn(Rank& self, Comm& comm, int root, Read read, MPI_Comm* intercomm, int* errcodes) {
  *intercomm = MPI_COMM_NULL;
  Told told;
  Status started;
  if (comm.rank == root) {
    std::vector<Asked> all;
    started = read(all);
    if (started.ok()) started = start(self, comm, all, told);
    told.error = started.error_class();
    if (!started.ok()) std::ranges::fill(told.codes, told.error);
  }
  const coll::Members members(comm, coll::Caller::kCommSpawn);
  std::array<int, 7> words{told.error,
                           told.first,
                           told.size,
                           told.own_context,
                           told.local_context,
                           static_cast<int>(told.codes.size()),
                           static_cast<int>(told.is_other_job)};
  CLUMP_TRY(coll::bcast_ints(members, words, root));
  told.codes.resize(static_cast<std::size_t>(words[5]));
  if (!told.codes.empty()) CLUMP_TRY(coll::bcast_ints(members, told.codes, root));
  const auto [error, first, size, own_context, local_context, count, is_other_job] = words;
  Status met;
  if (error == MPI_SUCCESS && is_other_job != 0) {
    met = meet_job(self, comm, root, told, intercomm);
    if (!met.ok()) std::ranges::fill(told.codes, met.error_class());
  }
  give_codes(told.codes, errcodes);
  CLUMP_TRY(started);
  if (is_other_job != 0) return met;
  if (error != MPI_SUCCESS)
    return base::fail(error, "the root, rank {}, could not start the ranks, and has the reason", root);
  const std::array<int, 2> contexts{own_context, local_context};
  *intercomm = self.add(make_comm(comm, Contexts::from_ints(contexts), base::Ref<const Group>(comm.group),
                                  Group::regular(size, first, 1, comm.group->origin())));
  return {};
}

}  // namespace

Status comm_spawn(Rank& self, const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                  Comm& comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto read = [&](std::vector<Asked>& all) -> Status {
    all.push_back({command, argv, maxprocs, info});
    return {};
  };
  return spawn(self, comm, root, read, intercomm, array_of_errcodes);
}

Status comm_spawn_multiple(Rank& self, int count, char* array_of_commands[], char** array_of_argv[],
                           const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                           Comm& comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto read = [&](std::vector<Asked>& all) -> Status {
    if (count < 1)
      return base::fail(MPI_ERR_ARG, "(count = {}): at least one program has to be named", count);
    if (array_of_commands == nullptr || array_of_maxprocs == nullptr || array_of_info == nullptr)
      return base::fail(MPI_ERR_ARG,
                        "(array_of_commands, array_of_maxprocs, array_of_info): one of them is NULL");
    for (int i = 0; i < count; ++i)
      all.push_back({array_of_commands[i], array_of_argv != nullptr ? array_of_argv[i] : nullptr,
                     array_of_maxprocs[i], array_of_info[i], i});
    return {};
  };
  return spawn(self, comm, root, read, intercomm, array_of_errcodes);
}

}  // namespace clump::mpi
