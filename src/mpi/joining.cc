// MPI_Comm_join (MPI-5.0 section 11.10.3): two ranks that a socket connects.
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/random.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "mpi/bodies.h"
#include "mpi/introduction.h"
#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/host_socket.h"
#include "net/link/link_channel.h"

namespace clump::mpi {

namespace {

using base::Status;

/// What both sides send first.
struct Greeting {
  std::array<char, 8> mark{'c', 'l', 'u', 'm', 'p', ' ', 'j', '3'};
  std::array<char, 104> job{};  ///< job_name()
  std::int32_t rank = 0;        ///< its number in the job
  std::uint32_t draw = 0;
  net::link::PeerName name;  ///< for another job; none: it cannot be reached
};
static_assert(std::has_unique_object_representations_v<Greeting>, "no byte that is sent is padding");

/// The tags of introductions: those by ports have smaller ones.
constexpr int kFirstTag = 0x10000000, kTags = 0x0fffffff;

Status lost(const char* call, int fd) {
  return base::fail(MPI_ERR_OTHER, "(fd = {}): {}: {}", fd, call,
                    errno == 0 ? "the other side has closed the socket" : std::strerror(errno));
}

Status send_all(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(fd, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return lost("send", fd);
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return {};
}

/// With --seed one rank runs at a time, and the other side may be one of this process: it gets its turns.
Status receive_all(int fd, char* bytes, std::size_t count) {
  const int flags = fiber::exploration::is_on ? MSG_DONTWAIT : 0;
  while (count > 0) {
    errno = 0;
    const ssize_t came = ::recv(fd, bytes, count, flags);
    if (came < 0 && errno == EINTR) continue;
    if (came < 0 && errno == EAGAIN && flags != 0) {
      fiber::yield();
      continue;
    }
    if (came <= 0) return lost("recv", fd);
    bytes += came;
    count -= static_cast<std::size_t>(came);
  }
  return {};
}

/// Both sides know both greetings afterwards. The kernel keeps what is sent until it is received.
Status greet(int fd, const Greeting& ours, Greeting& theirs) {
  CLUMP_TRY(send_all(fd, reinterpret_cast<const char*>(&ours), sizeof ours));
  return receive_all(fd, reinterpret_cast<char*>(&theirs), sizeof theirs);
}

}  // namespace

Status comm_join(core::Rank& self, int fd, MPI_Comm* intercomm) {
  *intercomm = MPI_COMM_NULL;
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode))
    return base::fail(MPI_ERR_ARG, "(fd = {}): it is no open socket", fd);
  Greeting ours, theirs;
  job_name().copy(ours.job.data(), ours.job.size() - 1);
  ours.rank = self.number;
  ours.draw = static_cast<std::uint32_t>(base::random_number());
  if (self.world.link != nullptr) {
    CLUMP_TRY(listen_to_jobs(self.world));
    if (const std::string address = net::link::own_address_of(fd); !address.empty())
      CLUMP_TRY(self.world.link->listen_to_hosts(address));
    ours.name = self.world.link->name_of(self.number);
  }
  CLUMP_TRY(greet(fd, ours, theirs));
  if (theirs.mark != ours.mark)
    return base::fail(MPI_ERR_OTHER, "(fd = {}): the other side is not in MPI_Comm_join of Clump", fd);
  if (theirs.rank < 0 || (theirs.job == ours.job && theirs.rank >= self.world.places()))
    return base::fail(MPI_ERR_OTHER, "(fd = {}): the other side says that it is rank {}, which is not there",
                      fd, theirs.rank);
  net::HeldPlace place;
  if (theirs.job != ours.job) {
    // It cannot be reached: the standard asks for no error then.
    if (ours.name.job.id == 0 || theirs.name.job.id == 0) return {};
    CLUMP_TRY(reach(self.world, theirs.name, fmt::format("(fd = {})", fd), theirs.rank, place));
  }
  const int tag = kFirstTag + static_cast<int>((ours.draw ^ theirs.draw) & kTags);
  const auto find = [&](LeaderLink& link) -> Status {
    link = {self.comm_job.get(), theirs.rank, tag, tag, std::move(place)};
    return {};
  };
  return introduce(coll::Members(*self.comm_self, coll::Caller::kIntercommCreate), 0, find, *self.comm_self,
                   intercomm);
}

}  // namespace clump::mpi
