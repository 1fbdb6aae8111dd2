#include "pmi/node_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace clump::pmi {

namespace {

constexpr std::size_t kPage = 4096;

int ports(const Job& job) { return job.first_port(static_cast<int>(job.processes.size())); }

std::size_t bells_at(const Job& job) { return job.processes.size() * sizeof(HostState); }

}  // namespace

std::size_t NodeMemory::end(const Job& job) {
  const std::size_t used = bells_at(job) + static_cast<std::size_t>(ports(job)) * sizeof(base::Bell);
  return (used + kPage - 1) / kPage * kPage;
}

base::Status NodeMemory::make(const Job& job, int& descriptor) {
  descriptor = ::memfd_create("clump node", MFD_CLOEXEC);
  if (descriptor >= 0 && ::ftruncate(descriptor, static_cast<off_t>(end(job))) == 0) return {};
  return base::fail(MPI_ERR_NO_MEM, "no memory for what the job's {} processes share: {}",
                    job.processes.size(), std::strerror(errno));
}

base::Status NodeMemory::map(const Job& job, int descriptor, NodeMemory& memory) {
  void* const begin = ::mmap(nullptr, end(job), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (begin == MAP_FAILED)
    return base::fail(MPI_ERR_NO_MEM, "cannot map the memory that the job's processes share: {}",
                      std::strerror(errno));
  memory.hosts_ = static_cast<HostState*>(begin);
  memory.bells_ = reinterpret_cast<base::Bell*>(static_cast<std::byte*>(begin) + bells_at(job));
  return {};
}

}  // namespace clump::pmi
