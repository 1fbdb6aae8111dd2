#include "cluster/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "common/reach.h"
#include "common/ways.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::seconds kConnectPatience{10};  ///< until one of the addresses answers
constexpr std::size_t kSecret = sizeof Hello::secret;

std::string list_of(const std::vector<std::string>& addresses) {
  std::string list;
  for (const std::string& one : addresses) list += (list.empty() ? "" : ",") + one;
  return list;
}

}  // namespace

std::string ListenAddress::text() const {
  return fmt::format("{} {} {} {}", secret, port, list_of(addresses), network);
}

bool ListenAddress::read(ListenAddress& address) {
  const char* const given = std::getenv(kVariable);
  std::istringstream in(given != nullptr ? given : "");
  std::string list;
  if (!(in >> address.secret >> address.port >> list >> address.network) || address.secret.size() != kSecret)
    return false;
  std::istringstream parts(list);
  for (std::string one; std::getline(parts, one, ',');) address.addresses.push_back(one);
  return true;
}

base::Status ListenAddress::connect(Stream stream, int host, const char* needs, int& socket) const {
  std::string why;
  socket = tools::connect_back(addresses, network, port, kConnectPatience, why);
  if (socket < 0)
    return base::fail(MPI_ERR_OTHER,
                      "cannot connect to mpiexec ({}): {} a way from each host to that of mpiexec", why,
                      needs);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Hello hello{{}, host, stream};
  std::memcpy(hello.secret, secret.data(), kSecret);
  if (::send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello) return {};
  ::close(socket);
  socket = -1;
  return base::fail(MPI_ERR_OTHER, "mpiexec does not answer at {} port {}", list_of(addresses), port);
}

base::Status Listener::open(const std::vector<std::string>& addresses) {
  std::uint64_t number[2];
  if (::getrandom(number, sizeof number, 0) != sizeof number)
    return base::fail(MPI_ERR_OTHER, "cannot choose a secret for the job: {}", std::strerror(errno));
  ListenAddress here{fmt::format("{:016x}{:016x}", number[0], number[1]), 0, addresses, tools::own_network()};
  sockets_ = tools::listen_on(here.addresses, here.port);
  if (sockets_.empty())
    return base::fail(MPI_ERR_OTHER, "cannot listen for the job's hosts on {}: {}", list_of(addresses),
                      std::strerror(errno));
  secret_ = here.secret;
  ::setenv(ListenAddress::kVariable, here.text().c_str(), 1);
  return {};
}

bool Listener::knows(const Hello& hello) const {
  unsigned difference = 0;
  for (std::size_t i = 0; i < kSecret; ++i)
    difference |= static_cast<unsigned char>(hello.secret[i] ^ secret_[i]);
  return difference == 0;
}

Listener::~Listener() {
  for (const int socket : sockets_) ::close(socket);
}

}  // namespace clump::mpiexec
