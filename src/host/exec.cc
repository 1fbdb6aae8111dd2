// exec() by a rank that shares its process: what its successor (process/children/successor.h) may do.
//
// Before the rank has called MPI, the new program is the rank. It is started with all that it takes to ask
// mpiexec for the rank's place, and does so on its first call of MPI. Ranks of a job are either images or
// successors: when all of them have asked, mpiexec describes the job anew, a process for each rank. So a rank
// cannot begin with MPI in a job of which another has been replaced, nor the other way round, and whichever
// comes later says so.
//
// After that the new program is what the rank does last, and knows no MPI of this job.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/why_refused.h"
#include "host/failure.h"
#include "host/start_variables.h"
#include "host/state.h"
#include "pmi/control.h"
#include "process/children/successor.h"

namespace clump::host {

namespace {

pmi::HostState& state() { return host().node.host(host().job.process); }

/// The rank that has been replaced first, in this process or another of this node; -1: none.
int first_replaced() {
  const pmi::Node& node = host().job.this_node();
  for (int process = node.first; process < node.first + node.processes; ++process)
    if (const int found = host().node.host(process).replaced; found != 0) return found - 1;
  return -1;
}

/// Why a program that replaces `rank` cannot be the rank; empty: it can.
std::string why_not(int rank) {
  const pmi::Job& job = host().job;
  const char* obstacle = nullptr;
  if (job.nodes.size() > 1) obstacle = "the job has several hosts";
  if (job.seed) obstacle = "--seed and --explore order the ranks of one process only";
  if (host().is_debugged) obstacle = "the debugger has this process";
  if (host().rank(rank).spawned != nullptr) obstacle = "the rank was spawned";
  if (obstacle == nullptr) return {};
  return fmt::format(
      "exec() has replaced rank {} before MPI_Init, and the new program cannot take its place, as {}: use "
      "--ranks processes",
      rank, obstacle);
}

/// What the rank has asked for, as that may be a tool that stands before MPI, and behind it the libraries
/// that mpiexec has preloaded here.
std::string preload_of(char* const* environment) {
  const std::string ours = fmt::format("{0}/libclump_host.so:{0}/libmpi_abi.so.1", own_folder());
  constexpr std::string_view kName = "LD_PRELOAD=";
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (std::string_view(*environment).starts_with(kName)) return fmt::format("{}:{}", *environment, ours);
  return fmt::format("{}{}", kName, ours);
}

bool is_before_mpi(const fiber::Identity& rank) {
  // acquire: pairs with the release in mpi::find_rank()
  return rank.mpi.load(std::memory_order_acquire) == nullptr;
}

image::Passport prepare(const fiber::Identity& rank, char* const* environment) {
  image::Passport passport;
  if (!is_before_mpi(rank)) return passport;
  passport.variables.push_back(preload_of(environment));
  if (std::string why = why_not(rank.rank); !why.empty()) {
    passport.variables.push_back(fmt::format("{}={}", kNoMpiVariable, why));
    return passport;
  }
  passport.variables.push_back(fmt::format("{}={}", kSuccessorVariable, rank.rank));
  passport.variables.push_back(fmt::format("CLUMP_CONTROL_FD={}", host().control));
  passport.descriptors.push_back(host().control);
  return passport;
}

void started(const fiber::Identity& rank) {
  std::int32_t none = 0;
  if (!is_before_mpi(rank) || host().rank(rank).spawned != nullptr) return;
  host().rank(rank).is_replaced = true;
  state().replaced.compare_exchange_strong(none, rank.rank + 1);
}

void ended(const fiber::Identity& rank, int status) {
  if (is_before_mpi(rank) && host().rank(rank).spawned == nullptr) {
    // mpiexec knows whether the program has taken the rank's place, and so what its end means.
    const std::string packet = pmi::encode(pmi::SuccessorNote{rank.rank, status});
    (void)!::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL);
    ::_exit(0);
  }
  if (host().rank(rank).owes != nullptr && !WIFSIGNALED(status))
    end_job({rank.rank,
             pmi::Reason::kExited,
             WEXITSTATUS(status),
             "as the program that it has become by exec() before it called MPI_Finalize",
             {}});
  if (WIFSIGNALED(status))
    end_job({rank.rank,
             pmi::Reason::kSignal,
             WTERMSIG(status),
             "in the program that it has become by exec()",
             {}});
  ::_exit(WEXITSTATUS(status));
}

constexpr image::SuccessorHooks kHooks{prepare, started, ended};

/// The message and the descriptors behind it. Empty if mpiexec has gone.
std::string receive(int socket, std::array<int, pmi::PlaceNote::kMostDescriptors>& descriptors) {
  std::string bytes(16 << 10, '\0');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof descriptors)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t got = -1;
  while ((got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(descriptors.data(), CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

/// Asks mpiexec for the place of the rank, and waits until all others have asked for theirs. A text that says
/// what is wrong; empty if all is well.
std::string ask_for_place() {
  Host& here = host();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fmt::format("cannot make a socket pair: {}", base::why_refused("socketpair", errno));
  const bool asked = pmi::send(here.control, pmi::encode(pmi::JoinNote{here.successor_of, here.process}),
                               std::span(&ends[1], 1));
  ::close(ends[1]);
  std::array<int, pmi::PlaceNote::kMostDescriptors> descriptors;
  descriptors.fill(-1);
  pmi::PlaceNote place;
  const bool answered = asked && pmi::decode(receive(ends[0], descriptors), place);
  ::close(ends[0]);
  if (!answered)
    return fmt::format("rank {} was replaced by exec(), and mpiexec does not answer", here.successor_of);
  if (!place.why.empty()) return place.why;
  return take_place(place.process, descriptors);
}

}  // namespace

void offer_successors() { image::set_successor_hooks(kHooks); }

void become_successor(char** environment) {
  Host& here = host();
  here.successor_of = number_in(environment, kSuccessorVariable);
  if (!here.is_successor()) return;
  here.why_no_mpi = nullptr;
  here.control = number_in(environment, "CLUMP_CONTROL_FD");
  if (::fcntl(here.control, F_GETFD) < 0)
    here.why_no_mpi =
        "exec() has replaced a rank by another program, which has closed the descriptor that the rank needs "
        "(CLUMP_CONTROL_FD): have it pass it on, or use --ranks processes";
}

const char* join_as_successor() {
  static const auto& wrong = *new std::string(ask_for_place());
  return wrong.empty() ? nullptr : wrong.c_str();
}

const char* why_ranks_cannot_begin() {
  if (host().node_descriptor < 0) return nullptr;
  state().called_mpi = true;  // sequentially consistent, as `replaced`: one of two sides sees the other
  const int rank = first_replaced();
  if (rank < 0) return nullptr;
  static thread_local char why[300];
  const fiber::Identity* const mine = fiber::identity();
  std::snprintf(why, sizeof why,
                "rank %d has replaced itself by exec() before MPI_Init, and rank %d of the same job has not: "
                "ranks of which only some do so need a process each: use --ranks processes",
                rank, mine != nullptr ? mine->rank : -1);
  return why;
}

}  // namespace clump::host
