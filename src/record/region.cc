#include "record/region.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory_file.h"
#include "base/why_refused.h"
#include "record/clock.h"

namespace clump::record {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kThreads = 64;  // of a rank, for which there is room whatever the others do

std::size_t rounded(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

std::size_t beginning(int ranks) {
  return rounded(sizeof(Header) + static_cast<std::size_t>(ranks) * sizeof(RankRecord));
}

}  // namespace

base::Status Region::make(int ranks, std::int64_t events, int& descriptor) {
  const auto chunks = (static_cast<std::size_t>(events) + kEventsInChunk - 1) / kEventsInChunk;
  const auto many = static_cast<std::size_t>(ranks);
  // Chunks of peers are made for those that are written to: a hundred thousand ranks need not all know all.
  const std::size_t peers = std::min(many, std::size_t{4096}) * sizeof(PeerRecord);
  const std::size_t thread = sizeof(ThreadRecord) + many / kPeersInChunk * 8 + 4096;
  const std::size_t size =
      beginning(ranks) + many * (kThreads * thread + 2 * peers + chunks * sizeof(EventChunk)) + (64 << 20);
  descriptor = base::memory_file("clump records");
  if (descriptor < 0 || !base::set_size(descriptor, size))
    return base::fail(MPI_ERR_NO_MEM, "no memory for the records of {} ranks: {}", ranks,
                      base::why_refused(descriptor < 0 ? "memfd_create" : "ftruncate", errno));
  Region made;
  CLUMP_TRY(made.map(descriptor));
  Header& header = made.header();
  header.magic = Header::kMagic;
  header.size = size;
  header.used = beginning(ranks);
  header.ranks = static_cast<std::uint32_t>(ranks);
  header.event_chunks = static_cast<std::uint32_t>(chunks);
  header.by_counter = counter_is_steady() ? 1 : 0;
  return {};
}

base::Status Region::map(int descriptor) {
  struct stat info {};
  void* begin = MAP_FAILED;
  if (::fstat(descriptor, &info) == 0)
    begin = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (begin == MAP_FAILED)
    return base::fail(MPI_ERR_NO_MEM, "cannot map the memory for records (--profile, --trace): {}",
                      base::why_refused("mmap", errno));
  begin_ = static_cast<std::byte*>(begin);
  size_ = static_cast<std::size_t>(info.st_size);
  return {};
}

base::Status Region::check(int ranks) const {
  if (size_ >= beginning(ranks) && header().magic == Header::kMagic && header().size <= size_ &&
      header().ranks == static_cast<std::uint32_t>(ranks))
    return {};
  return base::fail(
      MPI_ERR_ARG,
      "what CLUMP_RECORD_FD names ({} bytes) is no memory for the records of {} ranks: a program between "
      "mpiexec and this one has put another file there, or they are of different versions of Clump",
      size_, ranks);
}

base::Status Region::read(std::span<std::byte> copy) {
  const auto* const header = reinterpret_cast<const Header*>(copy.data());
  if (copy.size() < sizeof(Header) || header->magic != Header::kMagic ||
      copy.size() < beginning(static_cast<int>(header->ranks)))
    return base::fail(MPI_ERR_ARG, "these are no records of this version of Clump");
  begin_ = copy.data();
  size_ = copy.size();
  return {};
}

std::uint64_t Region::allocate_bytes(std::size_t bytes) const {
  const std::uint64_t at = reserve(header().used, rounded(bytes), size_);
  if (at == 0) header().full.store(1, std::memory_order_relaxed);
  return at;
}

}  // namespace clump::record
