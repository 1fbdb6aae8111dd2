// Starting processes (MPI-5.0 section 11.8.2): docs/decisions/047-dynamic-processes.md.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/variables.h"
#include "mpi/bodies.h"
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

/// One program as the root of the call asks for it.
struct Asked {
  const char* command = nullptr;
  char** argv = nullptr;  ///< null: no arguments
  int maxprocs = 0;
  MPI_Info info = MPI_INFO_NULL;
  int number = -1;  ///< of MPI_Comm_spawn_multiple
};

/// Where a message for the user begins.
std::string words_for(const Asked& asked, const char* argument, std::string_view value) {
  if (asked.number < 0) return fmt::format("({} = {})", argument, value);
  const char* const plural = std::string_view(argument).ends_with('s') ? "" : "s";
  return fmt::format("(array_of_{}{}[{}] = {})", argument, plural, asked.number, value);
}

/// What a program's info object says.
class Wishes {
 public:
  explicit Wishes(const core::Info* info) : info_(info) {}
  /// The value of a key; empty if there is none.
  std::string operator[](std::string_view key) const {
    const std::string* const value = info_ != nullptr ? info_->get(key) : nullptr;
    return value != nullptr ? *value : std::string();
  }

 private:
  const core::Info* info_;
};

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// `path` as seen from the folder `from`.
std::string absolute(const std::string& path, const std::string& from) {
  return path.empty() ? from : (std::filesystem::path(from) / path).lexically_normal().string();
}

bool is_executable(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && ::access(path.c_str(), X_OK) == 0;
}

/// A name without '/' is looked for in the folders of the info key `path`, then in those of PATH. One with
/// '/' is as the caller sees it, whose working directory `here` is, or as the new ranks do.
std::string find_program(const std::string& command, const std::string& folders, const std::string& here,
                         const Command& made) {
  if (command.find('/') != std::string::npos) {
    for (const std::string& from : {here, made.working_directory})
      if (std::string path = absolute(command, from); is_executable(path)) return path;
    return {};
  }
  std::vector<std::string> all = split(folders, ':');
  for (std::string& folder : split(base::text_in(made.environment, "PATH"), ':'))
    all.push_back(std::move(folder));
  for (const std::string& folder : all)
    if (std::string path = absolute(folder + "/" + command, made.working_directory); is_executable(path))
      return path;
  return {};
}

/// The numbers that `soft` allows (MPI-5.0 section 11.8.4): the largest that is no more than `most`; 0: none.
/// Negative: it is no list of numbers.
int largest_of(std::string_view soft, int most) {
  int largest = 0;
  for (const std::string& triplet : split(soft, ',')) {
    std::array<int, 3> numbers{0, 0, 1};
    const std::vector<std::string> parts = split(triplet, ':');
    if (parts.empty() || parts.size() > 3) return -1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const char* const last = parts[i].data() + parts[i].size();
      const auto [end, error] = std::from_chars(parts[i].data(), last, numbers[i]);
      if (error != std::errc() || end != last) return -1;
    }
    if (parts.size() == 1) numbers[1] = numbers[0];
    const auto [from, to, step] = numbers;
    if (step == 0) return -1;
    for (std::int64_t n = from; step > 0 ? n <= to : n >= to; n += step)
      if (n <= most) largest = std::max(largest, static_cast<int>(n));
  }
  return largest;
}

/// How many ranks are started: maxprocs, or what `soft` allows instead. `room`: how many there can be.
Status choose_count(const Asked& asked, const Wishes& wishes, int& room, Command& made) {
  made.ranks = asked.maxprocs;
  if (const std::string soft = wishes["soft"]; !soft.empty()) {
    made.ranks = largest_of(soft, std::min(asked.maxprocs, room));
    if (made.ranks < 0)
      return base::fail(MPI_ERR_INFO_VALUE, "(info): soft = \"{}\" is no list of numbers and triplets a:b:c",
                        soft);
    if (made.ranks == 0)
      return base::fail(MPI_ERR_SPAWN,
                        "{}: soft = \"{}\" allows no number of ranks that can be started; room is for {}",
                        words_for(asked, "maxprocs", std::to_string(asked.maxprocs)), soft, room);
  } else if (made.ranks > room) {
    return base::fail(MPI_ERR_SPAWN, "{}: only {} more ranks can be started in this job",
                      words_for(asked, "maxprocs", std::to_string(asked.maxprocs)), room);
  }
  room -= made.ranks;
  return {};
}

/// The keys that say where: this host is all there is.
Status check_place(const Wishes& wishes) {
  utsname machine{};
  uname(&machine);  // cannot fail
  const std::string_view own = machine.nodename;
  for (const std::string& host : split(wishes["host"], ','))
    if (host != own && host != own.substr(0, own.find('.')) && host != "localhost" && host != "127.0.0.1")
      return base::fail(MPI_ERR_SPAWN, "(info): host = \"{}\": the job is on {} only", host, own);
  if (const std::string arch = wishes["arch"]; !arch.empty() && arch != machine.machine)
    return base::fail(MPI_ERR_SPAWN, "(info): arch = \"{}\": this machine is {}", arch, machine.machine);
  for (const char* const key : {"hostfile", "file"})
    if (const std::string name = wishes[key]; !name.empty())
      return base::fail(
          MPI_ERR_UNSUPPORTED_OPERATION,
          "(info): {} = \"{}\": Clump {} starts ranks on the host of their parents only, and reads no "
          "such files: leave the key out",
          key, name, CLUMP_VERSION);
  return {};
}

/// The error handler that the ranks begin with (MPI-5.0 section 11.5), as mpiexec passes it on.
Status choose_errhandler(const std::string& name, Command& made) {
  constexpr std::string_view kNames[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
  if (std::ranges::find(kNames, name) == std::end(kNames))
    return base::fail(MPI_ERR_INFO_VALUE, "(info): mpi_initial_errhandler = \"{}\": there are {}", name,
                      fmt::join(kNames, ", "));
  constexpr std::string_view kVariable = "CLUMP_INITIAL_ERRHANDLER=";
  std::erase_if(made.environment, [&](const std::string& known) { return known.starts_with(kVariable); });
  made.environment.push_back(std::string(kVariable) + name);
  return {};
}

/// What is to be run for one program. `made` has the caller's environment.
Status prepare(const Rank& self, const Asked& asked, int& room, Command& made) {
  if (asked.command == nullptr)
    return base::fail(MPI_ERR_ARG, "{}: it is the name of a program", words_for(asked, "command", "NULL"));
  if (asked.maxprocs < 1)
    return base::fail(MPI_ERR_ARG, "{}: at least one rank has to be started",
                      words_for(asked, "maxprocs", std::to_string(asked.maxprocs)));
  const core::Info* const info = asked.info != MPI_INFO_NULL ? self.info(asked.info) : nullptr;
  if (asked.info != MPI_INFO_NULL && info == nullptr)
    return base::fail(MPI_ERR_INFO, "(info): it is no info object");
  const Wishes wishes(info);
  CLUMP_TRY(check_place(wishes));
  CLUMP_TRY(choose_count(asked, wishes, room, made));

  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  made.working_directory = absolute(wishes["wdir"], here);
  if (!std::filesystem::is_directory(made.working_directory, error))
    return base::fail(MPI_ERR_SPAWN, "(info): wdir = \"{}\" is no folder", wishes["wdir"]);
  for (const std::string& entry : split(wishes["env"], '\n')) {
    const std::size_t end = entry.find('=');
    if (end == std::string::npos || end == 0)
      return base::fail(MPI_ERR_INFO_VALUE, "(info): env has the line \"{}\", which is no NAME=value", entry);
    std::erase_if(made.environment,
                  [&](const std::string& known) { return known.starts_with(entry.substr(0, end + 1)); });
    made.environment.push_back(entry);
  }
  if (const std::string handler = wishes["mpi_initial_errhandler"]; !handler.empty())
    CLUMP_TRY(choose_errhandler(handler, made));
  made.path = find_program(asked.command, wishes["path"], here, made);
  if (made.path.empty()) {
    std::string where = " in the folders of PATH and of the info key path";
    if (std::string_view(asked.command).find('/') != std::string_view::npos) {
      where = " that may be executed, seen from " + here;
      if (here != made.working_directory) where += " or " + made.working_directory;
    }
    return base::fail(MPI_ERR_SPAWN, "{}: there is no such program{}",
                      words_for(asked, "command", fmt::format("\"{}\"", asked.command)), where);
  }
  made.arguments = {asked.command};
  for (char** argument = asked.argv; argument != nullptr && *argument != nullptr; ++argument)
    made.arguments.emplace_back(*argument);
  return {};
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
  /// MPI_Comm_accept of the root ends by this.
  static void ended(void* job, int status) {
    auto* const self = static_cast<StartedJob*>(job);
    {
      const std::lock_guard lock(self->mutex_);
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
  bool is_waiting_ = true;
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
  std::vector<int> codes;  ///< array_of_errcodes: one for each rank that was asked for
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
                      "no rank can be started: not in this job, as {}; and not as another one: {}", why, why_not);
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
  const Status met = introduce(coll::Members(comm), root, find, comm, intercomm);
  if (told.job == nullptr) return met;
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
    CLUMP_TRY(prepare(self, asked, room, made));
    size += made.ranks;
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
  CLUMP_TRY(check_intra(comm));
  Told told;
  Status started;
  if (comm.rank == root) {
    std::vector<Asked> all;
    started = read(all);
    if (started.ok()) started = start(self, comm, all, told);
    told.error = started.error_class();
    if (!started.ok()) std::ranges::fill(told.codes, told.error);
  }
  const coll::Members members(comm);
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
  if (errcodes != nullptr) std::ranges::copy(told.codes, errcodes);
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
