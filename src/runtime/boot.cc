// Boot of libmpi_abi: makes the ranks of this host process and connects them. The only file that knows every
// layer.
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "base/uncaught.h"
#include "base/variables.h"
#include "coll/select/rules.h"
#include "core/rank.h"
#include "fiber/fiber.h"
#include "host/host.h"
#include "instruments/settings.h"
#include "mpi/process.h"
#include "p2p/label.h"
#include "p2p/matcher.h"
#include "record/recorder.h"
#include "rma/facts.h"
#include "runtime/account.h"
#include "runtime/connect.h"
#include "runtime/hardware.h"
#include "runtime/join.h"
#include "runtime/links.h"

namespace clump {

namespace {

void abort_job(int rank, int code, const std::string& text) {
  pmi::Failure failure;
  failure.rank = rank;
  failure.reason = pmi::Reason::kAborted;
  failure.code = code;
  failure.text = text;
  host::fail_job(std::move(failure));
}

/// Makes collectives use the rules in the environment, if it has any: in that of the first app, so that all
/// ranks have the same.
void apply_rules(const pmi::Job& job) {
  const std::string start = std::string(coll::kRulesVariable) + "=";
  for (const std::string& variable : job.apps.front().environment) {
    if (!variable.starts_with(start)) continue;
    coll::RuleText text;
    const base::Status parsed = coll::parse_rules(coll::kRulesVariable, variable.substr(start.size()), text);
    if (!parsed.ok())
      return abort_job(job.first_rank(job.here()), parsed.error_class(), base::message_of(parsed.code()));
    coll::use_rules(text.rules);
  }
}

/// Sets the control variables that are in the environment.
void apply_environment(const pmi::Job& job, core::World& world) {
  std::vector<std::vector<std::string>> ours;  // of each app; read once, as there may be many ranks
  for (const pmi::App& app : job.apps) {
    auto& variables = ours.emplace_back();
    for (const std::string& variable : app.environment)
      if (variable.starts_with("CLUMP_")) variables.push_back(variable);
  }
  for (const auto& rank : world.ranks) {
    if (rank == nullptr) continue;
    const auto app = static_cast<std::size_t>(rank->launch.app_of(rank->number));
    const base::Status set = instruments::set_from(ours[app], *rank);
    if (!set.ok()) abort_job(rank->number, set.error_class(), base::message_of(set.code()));
  }
}

/// Applies mpiexec --check. It is read from the first app's environment, because all ranks have to do the
/// same.
void apply_checks(const pmi::Job& job, core::World& world) {
  world.checks = instruments::checks_from(job.apps.front().environment);
  if (world.checks == core::Checks::kNone) return;
  // A label takes none of the bytes that a rank may send without waiting.
  for (const auto& rank : world.ranks)
    if (rank != nullptr) rank->eager_limit.fetch_add(sizeof(p2p::Label), std::memory_order_relaxed);
}

/// Applies mpiexec --profile and --trace.
void open_records(const pmi::Job& job) {
  if (host::record_descriptor() < 0) return;
  const base::Status opened = record::Book::open(host::record_descriptor(), job.ranks());
  if (!opened.ok())
    abort_job(job.first_rank(job.here()), opened.error_class(), base::message_of(opened.code()));
}

/// Makes all ranks at once, so that a message can be sent to a rank that has not called MPI_Init yet.
core::World* make_world() {
  base::tell_uncaught(host::fail_by_exception);
  const pmi::Job& job = host::job();
  auto* const world = new core::World;
  world->launch.size = job.ranks();
  world->launch.universe = std::max(job.universe, job.ranks());
  world->abort_job = abort_job;
  world->find_programs_call = host::find_programs_call;
  world->find_in_code = host::find_in_code;
  world->name_in_code = host::name_in_code;
  world->tells_placement = job.map;

  utsname machine{};
  uname(&machine);  // cannot fail
  world->node = machine.nodename;
  for (const pmi::App& app : job.apps) world->launch.environments.push_back(describe(app));

  const auto places = static_cast<std::size_t>(job.places_for_ranks());
  world->ranks.resize(places);
  std::vector<net::Sink*> sinks(places);
  for (int rank = 0; rank < job.places_for_ranks(); ++rank) world->homes.push_back(home_of(job, rank));
  for (int rank = 0; rank < job.ranks(); ++rank) {
    world->launch.app_numbers.push_back(job.app_of(rank));
    if (job.nodes.size() > 1) world->nodes.push_back(job.node_of(rank));
    if (!job.is_here(rank)) continue;
    auto& made = world->ranks[static_cast<std::size_t>(rank)];
    made = std::make_unique<core::Rank>(*world, world->launch, rank);
    made->inbox = std::make_unique<p2p::Matcher>();
    sinks[static_cast<std::size_t>(rank)] = made->inbox.get();
    if (job.seed) made->attend(core::Rank::kExplored);
    apply_initial_errhandler(job.apps[static_cast<std::size_t>(job.app_of(rank))], *made);
  }
  if (job.nodes.size() > 1) world->nodes.resize(places, kElsewhere);
  world->resources = resources_of(job);
  open_records(job);
  connect(*world, sinks);
  open_links(*world);
  for (const auto& rank : world->ranks)
    if (rank != nullptr)
      rank->has_own_worker.store(world->self != nullptr && world->self->has_own_worker(rank->number),
                                 std::memory_order_relaxed);
  apply_rules(job);
  apply_environment(job, *world);
  apply_checks(job, *world);
  if (job.processes.size() > 1 && world->ranks[0] != nullptr)
    mpi::keep_names(*world->ranks[0]);
  else if (job.nodes.size() > 1 && job.process == job.this_node().first)
    mpi::keep_names(*world->ranks[static_cast<std::size_t>(mpi::first_rank_of(job.process))]);
  if (job.processes.size() > 1 && world->link != nullptr)
    mpi::answer_locations(*world->ranks[static_cast<std::size_t>(job.first_rank(job.here()))]);
  return world;
}

/// The world. Made when the first rank needs it. Never destroyed: ranks may still use it while others leave.
core::World& the_world() {
  static core::World* const made = [] {
    static core::World* const fresh = make_world();
    host::describe_to_debuggers(rma::AllWindows::facts());
    host::observe({.take_account = [] { return take_account(*fresh); },
                   .progress = [] { return progress_of(*fresh); },
                   .all_in_mpi = [] { return all_in_mpi(*fresh); },
                   .network_rests = network_rests,
                   .last_call =
                       [](const fiber::Identity& rank) {
                         // relaxed: for a message only
                         const core::Rank* const known = rank.mpi.load(std::memory_order_relaxed);
                         return known != nullptr ? known->call.load(std::memory_order_relaxed) : nullptr;
                       }});
    host::keep_copied_buffers_by([](std::intptr_t request, const host::CopiedBuffer& buffer) {
      return mpi::keep_copied(reinterpret_cast<MPI_Request>(request),
                              {buffer.copy, buffer.take, buffer.give_back, buffer.free});
    });
    return fresh;
  }();
  return *made;
}

}  // namespace

void apply_initial_errhandler(const pmi::App& app, core::Rank& rank) {
  const char* const name = base::value_in(app.environment, pmi::kInitialErrhandlerVariable);
  if (name == nullptr) return;
  base::Ref<core::Errhandler> (*const makers[])() = {core::Errhandler::fatal, core::Errhandler::abort,
                                                     core::Errhandler::returns};
  const auto found = std::ranges::find(pmi::kInitialErrhandlers, name);
  if (found == std::end(pmi::kInitialErrhandlers))
    return abort_job(
        rank.number, MPI_ERR_ARG,
        fmt::format("{}={}: that is no error handler; there are {}", pmi::kInitialErrhandlerVariable, name,
                    fmt::join(pmi::kInitialErrhandlers, ", ")));
  const auto handler = makers[found - std::begin(pmi::kInitialErrhandlers)]();
  for (const base::Ref<core::Comm>& comm : {rank.comm_world, rank.comm_self, rank.comm_founding})
    comm->errhandler.set(handler);
}

namespace mpi {

core::Rank* find_rank(std::string& why) {
  if (core::Rank* const known = core::current_rank()) return known;
  if (const char* const reason = host::why_no_mpi()) {
    why = reason;
    return nullptr;
  }
  fiber::Identity* const identity = fiber::identity();
  if (identity == nullptr) {
    why =
        "the calling thread belongs to no rank: call MPI from the program's main thread or from threads that "
        "it has made";
    return nullptr;
  }
  core::Rank* const rank = the_world().ranks[identity->rank].get();
  static std::mutex first;  // several threads of a rank may be the first
  const std::lock_guard lock(first);
  if (core::Rank* const known = core::current_rank()) return known;
  rank->identity = identity;
  rank->callbacks.belong_to(*identity);
  identity->mpi.store(rank, std::memory_order_release);  // release: pairs with the acquire in current_rank()
  return rank;
}

std::string words_about_other_mpi() { return host::words_about_other_mpi(); }

void note_abi_question() { host::note_abi_question(); }

void announce_owed(const char* call) { host::rank_owes(*fiber::identity(), call); }

}  // namespace mpi
}  // namespace clump
