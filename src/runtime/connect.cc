// How each rank of the job is reached: the channels of this host process.
#include "runtime/connect.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/memory_file.h"
#include "base/why_refused.h"
#include "fiber/completion.h"
#include "fiber/fiber.h"
#include "host/host.h"
#include "net/link/link_channel.h"
#include "net/ofi/ofi_channel.h"
#include "net/self/drawn_channel.h"
#include "net/self/self_channel.h"
#include "net/shm/shared_allocator.h"
#include "net/shm/shm_channel.h"
#include "pmi/node_memory.h"

namespace clump {

namespace {

/// The world whose channels are drained; there is one. Set before any thread asks for progress.
core::World* connected = nullptr;

[[noreturn]] void cannot_connect(const pmi::Job& job, int error_class, std::string text,
                                 pmi::Reason reason = pmi::Reason::kAborted) {
  pmi::Failure failure;
  failure.rank = job.first_rank(job.here());
  failure.reason = reason;
  failure.code = error_class;
  failure.text = std::move(text);
  host::fail_job(std::move(failure));
}

/// Delivers what has arrived for a worker; whether anything moved. Called by the worker thread and by every
/// thread that waits.
bool drain(int worker) {
  bool moved = false;
  for (const auto& channel : connected->channels) moved = channel->drain(worker) || moved;
  return moved;
}

bool may_sleep() {
  for (const auto& channel : connected->channels)
    if (!channel->may_sleep()) return false;
  return true;
}

std::unique_ptr<net::SelfChannel> make_self_channel(const pmi::Job& job, std::vector<net::Sink*> sinks) {
  const int workers = fiber::worker_count();
  if (workers == 0) return std::make_unique<net::SelfChannel>(std::move(sinks));
  std::vector<int> homes;
  for (int rank = 0; rank < job.places_for_ranks(); ++rank) {
    const bool may_run_here = (job.is_of_start(rank) || job.has_room_to_join()) && job.is_here(rank);
    homes.push_back(may_run_here ? job.worker_of(rank) - job.first_worker(job.here()) : 0);
  }
  return std::make_unique<net::SelfChannel>(std::move(sinks), std::move(homes), workers);
}

/// Maps `bytes` of the node's memory, behind the part that pmi uses. MAP_FAILED with errno, and in `call` the
/// system call that has failed.
void* map_node_memory(const pmi::Job& job, std::size_t bytes, const char*& call) {
  const int file = host::node_descriptor();
  const std::size_t begin = pmi::NodeMemory::end(job);
  struct stat info {};
  // Each process makes the file this long, so that it does not matter which one comes first.
  call = "ftruncate";
  if (::fstat(file, &info) != 0) return MAP_FAILED;
  if (static_cast<std::size_t>(info.st_size) < begin + bytes && !base::set_size(file, begin + bytes))
    return MAP_FAILED;
  call = "mmap";
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(begin));
}

/// Maps the memory in which other processes of this node leave messages for this one. ulimit -v and -f may
/// leave room for less than all of it: then the common part is halved until it fits.
void map_segment(const pmi::Job& job, net::Segment& segment) {
  for (std::size_t common = net::Segment::kCommonBytes;; common /= 2) {
    const char* call = nullptr;
    void* const base = map_node_memory(job, segment.bytes(common), call);
    if (base != MAP_FAILED && segment.set_base(static_cast<std::byte*>(base), common)) return;
    if (base == MAP_FAILED && common > net::Segment::kLeastCommonBytes && (errno == ENOMEM || errno == EFBIG))
      continue;
    cannot_connect(job, MPI_ERR_NO_MEM,
                   fmt::format("cannot map {} MiB of memory for messages between {} processes: {}",
                               segment.bytes(common) >> 20, job.this_node().processes,
                               base::why_refused(call, base == MAP_FAILED ? errno : ENOMEM)));
  }
}

/// Of all processes of this node.
int count_ports(const pmi::Job& job) {
  int ports = 0;
  const pmi::Node& node = job.this_node();
  for (int process = node.first; process < node.first + node.processes; ++process)
    ports += job.ports(job.processes[static_cast<std::size_t>(process)]);
  return ports;
}

std::unique_ptr<net::ShmChannel> make_shm_channel(const pmi::Job& job, std::vector<net::Sink*> sinks) {
  net::ShmChannel::Setup setup{
      .sinks = std::move(sinks),
      .ports = {},
      .first_port = job.first_port(job.process),
      .own_ports = job.ports(job.here()),
      .segment = net::Segment(count_ports(job), job.ranks()),
      .bells = &host::bell(0),
      // Pieces pay if both sides copy at the same time, which needs a core for each process, and while they
      // stay in the caches. From this size on the receiver reads the sender's memory.
      .read_from = job.spin ? Count{1} << 20 : Count{32} << 10};
  for (int rank = 0; rank < job.ranks(); ++rank)
    setup.ports.push_back(job.node_of(rank) == job.node ? job.port_of(rank) : net::ShmChannel::kElsewhere);
  map_segment(job, setup.segment);
  return std::make_unique<net::ShmChannel>(std::move(setup));
}

base::Status find_address(int process, std::vector<std::byte>& address) {
  const std::string wrong = host::find_address(process, address);
  return wrong.empty() ? base::Status() : base::fail(MPI_ERR_OTHER, "{}", wrong);
}

void lost_process(int process, std::string why) {
  if (host::is_over()) return;  // the job has ended, and so will this process
  const pmi::Job& job = host::job();
  const int first = job.first_rank(job.processes[static_cast<std::size_t>(process)]);
  cannot_connect(job, MPI_ERR_OTHER,
                 fmt::format("{} cannot reach rank {} on {}: {}", job.this_node().name, first,
                             job.nodes[static_cast<std::size_t>(job.node_of(first))].name, why),
                 pmi::Reason::kUnreachable);
}

/// The time of CLUMP_CONNECT_TIMEOUT, or `otherwise` if it is not set.
std::chrono::seconds connect_timeout(const pmi::Job& job, std::chrono::seconds otherwise) {
  const char* const text = base::variable(net::ofi::kConnectTimeoutVariable);
  if (text == nullptr || *text == '\0') return otherwise;
  const std::string_view digits = text;
  int seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (error != std::errc() || end != digits.data() + digits.size() || seconds < 1)
    cannot_connect(job, MPI_ERR_ARG,
                   fmt::format("{}={}: a number of seconds is needed, 1 or more",
                               net::ofi::kConnectTimeoutVariable, text));
  return std::chrono::seconds(seconds);
}

/// libfabric's provider for the job: that of mpiexec's --net, or else of CLUMP_OFI_PROVIDER; empty: any.
std::string provider_of(const pmi::Job& job) {
  const char* const chosen = base::variable(net::ofi::kProviderVariable);
  return job.network.provider.empty() && chosen != nullptr ? chosen : job.network.provider;
}

/// Makes the channel to ranks of other nodes: over the network.
std::unique_ptr<net::OfiChannel> make_ofi_channel(const pmi::Job& job, std::vector<net::Sink*> sinks) {
  net::OfiChannel::Setup setup{.sinks = std::move(sinks),
                               .processes = {},
                               .process = job.process,
                               .provider = provider_of(job),
                               .interface_address = job.network.interface,
                               .find = find_address,
                               .lost = lost_process,
                               .keep_calls = host::keep_calls_of_network,
                               .expect_greetings = host::expect_greetings,
                               .give_greetings = host::give_greetings};
  for (int rank = 0; rank < job.ranks(); ++rank) setup.processes.push_back(job.process_of(rank));
  setup.connect_timeout = connect_timeout(job, setup.connect_timeout);
  std::unique_ptr<net::OfiChannel> channel;
  base::Status opened = net::OfiChannel::open(std::move(setup), channel);
  if (!opened.ok()) cannot_connect(job, opened.error_class(), base::message_of(opened.code()));
  return channel;
}

}  // namespace

void connect(core::World& world, const std::vector<net::Sink*>& sinks) {
  const pmi::Job& job = host::job();
  if (job.seed) {
    world.channels.push_back(std::make_unique<net::DrawnChannel>(sinks));
  } else {
    auto self = make_self_channel(job, sinks);
    world.self = self.get();
    world.channels.push_back(std::move(self));
  }
  world.routes.assign(world.ranks.size(), world.channels.front().get());
  const auto add = [&](std::unique_ptr<net::Channel> channel, auto reaches) {
    world.channels.push_back(std::move(channel));
    for (std::size_t rank = 0; rank < sinks.size(); ++rank)
      if (sinks[rank] == nullptr && job.is_of_start(static_cast<int>(rank)) &&
          reaches(static_cast<int>(rank)))
        world.routes[rank] = world.channels.back().get();
  };
  if (job.processes.size() > 1) {
    std::unique_ptr<net::OfiChannel> ofi;
    if (job.nodes.size() > 1) ofi = make_ofi_channel(job, sinks);
    const std::string wrong = host::announce(ofi != nullptr ? ofi->address() : std::span<const std::byte>());
    if (!wrong.empty()) cannot_connect(job, MPI_ERR_OTHER, wrong);
    if (ofi != nullptr) add(std::move(ofi), [&](int rank) { return job.node_of(rank) != job.node; });
  }
  if (job.this_node().processes > 1) {
    auto shm = make_shm_channel(job, sinks);
    world.shared_allocator = std::make_unique<net::SharedAllocator>(*shm);
    add(std::move(shm), [&](int rank) { return job.node_of(rank) == job.node; });
  }
  if (const auto processes = static_cast<std::uint32_t>(job.processes.size()); processes > 1) {
    world.next_context += 2 * static_cast<std::uint32_t>(job.process);
    world.context_step = 2 * processes;
  }
  connected = &world;
  fiber::on_progress(drain);
  if (job.nodes.size() > 1) {
    fiber::before_sleep(may_sleep);
    fiber::offer_cores();
  }
}

bool network_rests(std::uint64_t& sent, std::uint64_t& taken) {
  net::Passed passed;
  if (connected->link != nullptr && connected->link->is_expecting()) return false;
  for (const auto& channel : connected->channels)
    if (!channel->rests(passed)) return false;
  sent = passed.sent;
  taken = passed.taken;
  return true;
}

}  // namespace clump
