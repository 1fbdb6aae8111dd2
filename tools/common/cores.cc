#include "common/cores.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace clump::tools {

namespace {

base::Status listed(const std::string& list, const std::vector<std::int32_t>& allowed,
                    std::vector<Processor>& all) {
  std::vector<std::int32_t> numbers;
  if (!read_list(list, numbers))
    return base::fail(MPI_ERR_ARG, "--cores '{}': not a list of cores, such as 0,4-7", list);
  const std::vector<Processor> known = describe(allowed);
  for (const std::int32_t number : numbers) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [number](const Processor& one) { return one.number == number; });
    if (found == known.end()) {
      return base::fail(MPI_ERR_ARG, "--cores {}: core {} is not usable here; these are: {}", list, number,
                        as_list(allowed));
    }
    all.push_back(*found);
  }
  return {};
}

/// So many jobs may share a core and know it of each other. The names are the same for all users, so that
/// jobs of two users choose different cores. A user who takes names without having a job changes which cores
/// others choose first, and nothing else: a job gets as many as it wants in any case.
constexpr int kMostJobs = 64;

/// True if no other job is the one with this number, from 0 on, of those that share the core.
bool claim_one(std::int32_t number, int job) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("clump core {} {}", number, job);  // after a null byte: no file
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0) return true;
  ::close(socket);
  return false;
}

}  // namespace

std::vector<std::int32_t> allowed_processors() {
  std::vector<std::int32_t> allowed;
  constexpr std::size_t kMost = 1 << 16;
  for (std::size_t most = 1024; most <= kMost; most *= 2) {
    cpu_set_t* set = CPU_ALLOC(most);
    const std::size_t size = CPU_ALLOC_SIZE(most);
    const bool fits = ::sched_getaffinity(0, size, set) == 0;
    for (std::size_t number = 0; fits && number < most; ++number) {
      if (CPU_ISSET_S(number, size, set)) allowed.push_back(static_cast<std::int32_t>(number));
    }
    CPU_FREE(set);
    if (fits) break;
  }
  return allowed;
}

base::Status find_cores(const CoreWish& wish, UsableCores& cores) {
  const std::vector<std::int32_t> allowed = allowed_processors();
  cores = {};
  if (wish.list) {
    CLUMP_TRY(listed(*wish.list, allowed, cores.all));
    cores.most = cores.all.size();
    return {};
  }
  cores.all = describe(allowed);
  if (!wish.hardware_threads) {
    const auto siblings = [](const Processor& a, const Processor& b) { return a.core == b.core; };
    cores.all.erase(std::unique(cores.all.begin(), cores.all.end(), siblings), cores.all.end());
  }
  cores.most = cores.all.size();
  cores.quota = tightest_quota(control_groups("cpu"));
  if (cores.quota && std::ceil(cores.quota->cores) < static_cast<double>(cores.most)) {
    cores.most = static_cast<std::size_t>(std::ceil(cores.quota->cores));
  } else {
    cores.quota.reset();
  }
  return {};
}

std::vector<Processor> claim(const std::vector<Processor>& cores, std::size_t wanted) {
  std::vector<Processor> chosen, left = cores;
  for (int job = 0; job < kMostJobs && chosen.size() < wanted && !left.empty(); ++job)
    std::erase_if(left, [&](const Processor& core) {
      if (chosen.size() == wanted || !claim_one(core.number, job)) return false;
      chosen.push_back(core);
      return true;
    });
  left.resize(std::min(left.size(), wanted - chosen.size()));
  chosen.insert(chosen.end(), left.begin(), left.end());
  return chosen;
}

}  // namespace clump::tools
