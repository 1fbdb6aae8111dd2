// The ranks that MPI_Comm_spawn starts, as objects of this process: docs/decisions/047-dynamic-processes.md.
#include "runtime/join.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/variables.h"
#include "core/rank.h"
#include "host/host.h"
#include "instruments/settings.h"
#include "mpi/new_comm.h"
#include "mpi/process.h"
#include "net/self/self_channel.h"
#include "p2p/matcher.h"

namespace clump {

core::Info describe(const pmi::App& app) {
  utsname machine{};
  uname(&machine);  // cannot fail
  core::Info info;
  info.handle = MPI_INFO_ENV;
  info.set("command", app.program);
  std::string arguments;
  for (std::size_t i = 1; i < app.arguments.size(); ++i) arguments += (i > 1 ? " " : "") + app.arguments[i];
  info.set("argv", arguments);
  info.set("maxprocs", std::to_string(app.ranks));
  std::error_code none;
  info.set("wdir", app.working_directory.empty() ? std::filesystem::current_path(none).string()
                                                 : app.working_directory);
  info.set("host", machine.nodename);
  info.set("arch", machine.machine);
  return info;
}

namespace {

using core::Group;

/// The launch as its ranks see it. It lives as long as the process.
core::Launch& make_launch(const core::World& world, const host::Joining& joining) {
  auto& launch = *new core::Launch;
  launch.number = joining.launch;
  launch.first = joining.first;
  for (std::size_t app = 0; app < joining.apps.size(); ++app) {
    launch.size += joining.apps[app].ranks;
    launch.app_numbers.insert(launch.app_numbers.end(), static_cast<std::size_t>(joining.apps[app].ranks),
                              static_cast<int>(app));
    launch.environments.push_back(describe(joining.apps[app]));
  }
  launch.universe = std::max(world.launch.universe, launch.size);
  return launch;
}

/// A rank of this process that takes turns with another one does not poll as one that is alone.
void share_home(core::World& world, int rank) {
  for (const auto& other : world.ranks)
    if (other != nullptr &&
        world.homes[static_cast<std::size_t>(other->number)] == world.homes[static_cast<std::size_t>(rank)])
      other->has_own_worker.store(false, std::memory_order_relaxed);
}

/// Sets the control variables that are in the environment.
void apply_control_variables(const pmi::App& app, core::Rank& rank) {
  std::vector<std::string> ours;
  for (const std::string& variable : app.environment)
    if (variable.starts_with("CLUMP_")) ours.push_back(variable);
  const base::Status set = instruments::set_from(ours, rank);
  if (!set.ok()) rank.world.abort_job(rank.number, set.error_class(), base::message_of(set.code()));
}

void make_rank(core::World& world, core::Launch& launch, int number, const mpi::Parents& parents,
               const std::vector<pmi::App>& apps) {
  auto rank = std::make_unique<core::Rank>(world, launch, number);
  rank->inbox = std::make_unique<p2p::Matcher>();
  world.self->add(number, *rank->inbox);
  const pmi::App& app = apps[static_cast<std::size_t>(launch.app_of(number))];
  apply_initial_errhandler(app, *rank);
  apply_control_variables(app, *rank);
  const auto children = Group::regular(launch.size, launch.first);
  const auto origin_of_all = Group::of(parents.group.world_ranks(), core::Origin::kWorld);
  const base::Ref<core::Errhandler> handler = rank->comm_world->errhandler.get();
  rank->parent.comm = mpi::make_comm({*rank, *handler}, parents.contexts, children, origin_of_all);
  rank->parent.comm->name.set("MPI_COMM_PARENT");
  if (world.checks != core::Checks::kNone)
    rank->eager_limit.store(parents.eager_limit, std::memory_order_relaxed);
  share_home(world, number);
  world.ranks[static_cast<std::size_t>(number)] = std::move(rank);
}

}  // namespace

namespace mpi {

std::string job_name() { return host::job_name(); }
std::string why_none_can_join() { return host::why_none_joins(); }
int room_to_join() { return host::room_to_join(); }
void note_codes_of_spawn(const int* array_of_errcodes, int count) {
  host::note_codes_of_spawn(array_of_errcodes, count);
}
std::string why_no_image(const Command& command) {
  return host::why_no_image(command.path, base::text_in(command.environment, "LD_LIBRARY_PATH"));
}
std::vector<std::string> environment_of_caller() { return host::environment_of_caller(); }

base::Status start_ranks(core::World& world, const std::vector<Command>& commands, const Parents& parents,
                         const core::Launch*& started) {
  static std::mutex one_at_a_time;  // no rank waits while it holds this
  const std::lock_guard lock(one_at_a_time);
  host::Joining joining;
  for (const Command& command : commands)
    joining.apps.push_back({.program = command.path,
                            .arguments = command.arguments,
                            .environment = command.environment,
                            .working_directory = command.working_directory,
                            .ranks = command.ranks});
  if (const std::string wrong = host::prepare_joining(joining); !wrong.empty())
    return base::fail(MPI_ERR_SPAWN, "{}", wrong);
  core::Launch& launch = make_launch(world, joining);
  for (int rank = launch.first; rank < launch.first + launch.size; ++rank)
    make_rank(world, launch, rank, parents, joining.apps);
  host::start_joining(joining);
  started = &launch;
  return {};
}

}  // namespace mpi
}  // namespace clump
