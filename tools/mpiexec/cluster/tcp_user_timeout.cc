#include "cluster/tcp_user_timeout.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

namespace clump::mpiexec {

namespace {

int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, level, name, &value, &size) == 0 ? value : 0;
}

/// False: it is no such socket, or not yet.
bool set_user_timeout(int socket) {
  if (option(socket, SOL_SOCKET, SO_KEEPALIVE) == 0) return false;
  const int seconds = option(socket, IPPROTO_TCP, TCP_KEEPIDLE) +
                      option(socket, IPPROTO_TCP, TCP_KEEPINTVL) * option(socket, IPPROTO_TCP, TCP_KEEPCNT);
  const unsigned milliseconds = static_cast<unsigned>(seconds) * 1000;
  return ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds) == 0;
}

}  // namespace

void TcpUserTimeout::apply_to(pid_t prterun) {
  namespace fs = std::filesystem;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + std::chrono::milliseconds(kMilliseconds);
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, prterun, 0));
  if (process < 0) return;
  std::error_code gone;
  for (fs::directory_iterator entry("/proc/" + std::to_string(prterun) + "/fd", gone), end;
       !gone && entry != end; entry.increment(gone)) {
    std::error_code closed;
    const std::string file = fs::read_symlink(entry->path(), closed).string();
    if (closed || !file.starts_with("socket:") || set_on_.contains(file)) continue;
    const int number = std::stoi(entry->path().filename().string());
    const auto socket = static_cast<int>(::syscall(SYS_pidfd_getfd, process, number, 0));
    if (socket < 0) continue;
    if (set_user_timeout(socket)) set_on_.insert(file);
    ::close(socket);
  }
  ::close(process);
}

}  // namespace clump::mpiexec
