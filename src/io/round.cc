#include "io/round.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "fiber/help.h"
#include "io/background.h"
#include "io/coverage.h"

namespace clump::io {

namespace {

using base::Status;
using datatype::Layout;

// As long as the blocks of a collective access are this far apart, a read takes the gaps along.
constexpr Count kFarApart = 128 << 10;
// An access by itself is divided among threads in pieces of this length, if all of a round have as many bytes
// as pay for waking a thread.
constexpr Count kPieceBytes = 4 << 20, kWorthSharing = 512 << 10;

/// Adds the part to its round; null if others are missing.
std::unique_ptr<Round> add(OpenedFile& file, std::uint64_t number, int rank, Part& part, Round*& round) {
  const std::lock_guard lock(file.rounds_mutex);
  std::unique_ptr<Round>& place = file.rounds[number];
  if (place == nullptr) place = std::make_unique<Round>(file.members().size());
  round = place.get();
  round->parts[static_cast<std::size_t>(file.index_of(rank))] = &part;
  if (++round->arrived < round->parts.size()) return nullptr;
  std::unique_ptr<Round> complete = std::move(place);
  file.rounds.erase(number);
  return complete;
}

}  // namespace

std::unique_ptr<Round> meet(OpenedFile& file, std::uint64_t number, int rank, Part& part) {
  Round* round = nullptr;
  return add(file, number, rank, part, round);
}

std::unique_ptr<Round> meet_as_leader(OpenedFile& file, std::uint64_t number, int rank, Part& part) {
  Round* round = nullptr;
  const bool leads = file.members().front() == rank;
  std::unique_ptr<Round> complete = add(file, number, rank, part, round);
  if (leads && complete == nullptr) {
    round->gathered.wait();
    return std::unique_ptr<Round>(round);
  }
  if (!leads && complete != nullptr) complete.release()->gathered.signal();  // it is the leader's now
  return complete;
}

Status Round::failure() const {
  for (const Part* part : parts)
    if (!part->status.ok()) return part->status;
  return {};
}

void Round::end(Status outcome, const Part* own) {
  for (Part* const part : parts) {
    if (!outcome.ok()) part->status = outcome;
    if (part != own) part->end();
  }
}

void Extent::add(const Part& part) {
  if (part.is_empty()) return;
  const Access& access = part.access;
  const Count mean = std::max(Count{1}, access.view->mean_block());
  add(Extent{access.begin(), access.end(), access.bytes, 1 + access.bytes / mean, access.view->is_ordered()});
}

void Extent::add(const Extent& other) {
  if (other.bytes == 0) return;
  begin = bytes == 0 ? other.begin : std::min(begin, other.begin);
  end = bytes == 0 ? other.end : std::max(end, other.end);
  bytes += other.bytes;
  blocks += other.blocks;
  ordered = ordered && other.ordered;
}

bool Extent::is_coarse() const {
  return bytes == 0 || bytes / blocks >= kDirectBlock || (end - begin) / blocks >= kFarApart;
}

Count size_of(const Target& target) {
  struct stat about = {};
  if (::fstat(target.descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return -1;
  return about.st_size;
}

Count bytes_before(const Access& access, Count file_size) {
  return std::clamp(access.view->position_of(file_size) - access.position, Count{0}, access.bytes);
}

Status transfer_locked(OpenedFile& file, const Access& access, bool atomic, Count& done) {
  std::unique_lock<std::mutex> whole;
  if (file.target.is_stream) whole = std::unique_lock(file.stream_mutex);
  if (!atomic || access.bytes == 0) return transfer(file.target, access, done);
  const bool ordered = access.view->is_ordered();  // otherwise its first byte need not be the lowest one
  const Count begin = ordered ? access.begin() : 0;
  const Count end = ordered ? access.end() : std::numeric_limits<Count>::max();
  CLUMP_TRY(file.lock(begin, end));
  const Status outcome = transfer(file.target, access, done);
  file.unlock(begin, end);
  return outcome;
}

void copy_domain(const Access& access, std::byte* domain, Count begin, Count first, Count last) {
  const View& view = *access.view;
  const bool reads = access.direction == Direction::kRead;
  const auto base = reinterpret_cast<std::intptr_t>(domain) - begin;
  Count skipped = 0;
  const Layout in_domain = view.layout(base, access.position, access.bytes, skipped);
  if (skipped == 0) {  // packed byte n of the one is packed byte n of the other
    const Count offset = first - access.position, bytes = last - first;
    if (reads)
      datatype::copy(access.memory, in_domain, offset, bytes);
    else
      datatype::copy(in_domain, access.memory, offset, bytes);
    return;
  }
  Count at = first - access.position;
  view.for_each_block(first, last - first, [&](Count offset, Count bytes) {
    const std::span block(domain + (offset - begin), static_cast<std::size_t>(bytes));
    if (reads)
      datatype::unpack(access.memory, at, block);
    else
      datatype::pack(block, access.memory, at);
    at += bytes;
    return true;
  });
}

namespace {

/// A round whose data goes through buffers.
class FileDomains {
 public:
  FileDomains(OpenedFile& file, Round& round, const Manner& manner, const Extent& extent)
      : file_(file), round_(round), manner_(manner), extent_(extent), size_(size_of(file.target)) {
    first_ = extent.begin / manner.domain_bytes;
    count_ = (extent.end + manner.domain_bytes - 1) / manner.domain_bytes - first_;
  }

  Status run() {
    for (Count from = 0; from < count_; from += fiber::kMostParts) {
      const auto parts = static_cast<std::uint32_t>(std::min<Count>(count_ - from, fiber::kMostParts));
      do_on_all_cores(parts, [this, from](std::uint32_t part) { run(from + part); });
    }
    for (Part* const part : round_.parts)
      part->done =
          manner_.direction == Direction::kRead ? bytes_before(part->access, size_) : part->access.bytes;
    return Status::from_code(failure_.load());
  }

 private:
  struct Slice {
    const Access* access;
    Count first, last;  // view bytes
  };

  void run(Count domain) {
    if (failure_.load(std::memory_order_relaxed) != MPI_SUCCESS) return;
    const Count begin = std::max(extent_.begin, (first_ + domain) * manner_.domain_bytes);
    const Count end = std::min(extent_.end, (first_ + domain + 1) * manner_.domain_bytes);
    std::vector<Slice> slices;
    for (const Part* const part : round_.parts) {
      if (part->is_empty()) continue;
      const Access& access = part->access;
      const auto inside = [&](Count offset) {
        return std::clamp(access.view->position_of(offset), access.position, access.position + access.bytes);
      };
      const Slice slice{&access, inside(begin), inside(end)};
      if (slice.first < slice.last) slices.push_back(slice);
    }
    if (slices.empty()) return;
    DomainBuffers::Buffer buffer = file_.domain_buffers.take(manner_.domain_bytes);
    std::byte* const bytes = buffer.bytes.get();
    const Status outcome = manner_.direction == Direction::kRead ? read(slices, bytes, begin, end)
                                                                 : write(slices, bytes, begin, end);
    file_.domain_buffers.give_back(std::move(buffer));
    int none = MPI_SUCCESS;
    if (!outcome.ok()) failure_.compare_exchange_strong(none, outcome.code());
  }

  Status read(const std::vector<Slice>& slices, std::byte* buffer, Count begin, Count end) {
    Count there = 0;
    CLUMP_TRY(read_at(file_.target, buffer, std::min(end, size_) - begin, begin, there));
    for (const Slice& slice : slices) {
      const Count last = std::min(slice.last, slice.access->view->position_of(begin + there));
      if (slice.first < last) copy_domain(*slice.access, buffer, begin, slice.first, last);
    }
    return {};
  }

  Status write(const std::vector<Slice>& slices, std::byte* buffer, Count begin, Count end) {
    Coverage coverage(begin, end);
    for (const Slice& slice : slices)
      slice.access->view->for_each_run(slice.first, slice.last - slice.first,
                                       [&](const datatype::Run& run) { coverage.measure(run); });
    for (const Slice& slice : slices) {
      slice.access->view->for_each_run(slice.first, slice.last - slice.first,
                                       [&](const datatype::Run& run) { coverage.add(run); });
      copy_domain(*slice.access, buffer, begin, slice.first, slice.last);
    }
    Status outcome;
    coverage.for_each([&](Count offset, Count bytes) {
      Count done = 0;
      outcome = write_at(file_.target, buffer + (offset - begin), bytes, offset, done);
      return outcome.ok();
    });
    return outcome;
  }

  OpenedFile& file_;
  Round& round_;
  const Manner& manner_;
  const Extent& extent_;
  const Count size_;
  Count first_ = 0, count_ = 0;
  std::atomic<int> failure_{MPI_SUCCESS};
};

}  // namespace

namespace {

/// An access that one thread carries out: that of a part, or some of its bytes.
struct Piece {
  Part* part;
  Access access;
  Count done = 0;
  Status status;
};

/// Cuts an access where the file has a multiple of kPieceBytes, if its bytes lie side by side in memory and
/// in the file.
void cut(Part& part, std::vector<Piece>& pieces) {
  const Access& whole = part.access;
  if (!whole.view->is_contiguous() || !whole.memory.type->is_dense()) {
    pieces.push_back({&part, whole, 0, {}});
    return;
  }
  const Count begin = whole.begin();
  for (Count at = 0; at < whole.bytes;) {
    const Count bytes = std::min(kPieceBytes - (begin + at) % kPieceBytes, whole.bytes - at);
    Access access = whole;
    access.memory = {static_cast<std::byte*>(whole.memory.base) + at, bytes, datatype::predefined(MPI_BYTE)};
    access.position += at;
    access.bytes = bytes;
    pieces.push_back({&part, std::move(access), 0, {}});
    at += bytes;
  }
}

/// The pieces of all parts, on all cores.
void run_pieces(const Target& target, std::vector<Piece>& pieces) {
  Piece* const first = pieces.data();
  do_on_all_cores(static_cast<std::uint32_t>(pieces.size()), [&target, first](std::uint32_t number) {
    Piece& piece = first[number];
    piece.status = transfer(target, piece.access, piece.done);
  });
  const Part* ended = nullptr;  // a piece of it has failed, or has met the end of the file
  for (Piece& piece : pieces) {
    if (piece.part == ended) continue;
    piece.part->done += piece.done;
    if (!piece.status.ok()) piece.part->status = piece.status;
    if (!piece.status.ok() || piece.done < piece.access.bytes) ended = piece.part;
  }
}

}  // namespace

Status run_each(OpenedFile& file, Round& round, const Manner& manner) {
  Count bytes = 0;
  for (const Part* const part : round.parts) bytes += part->access.bytes;
  // In atomic mode an access waits for a lock, and has all its bytes locked. What has no size, as a device,
  // may have no places either.
  if (bytes >= kWorthSharing && !manner.atomic && size_of(file.target) >= 0) {
    std::vector<Piece> pieces;
    for (Part* const part : round.parts)
      if (part->status.ok() && !part->is_empty()) cut(*part, pieces);
    run_pieces(file.target, pieces);
    return round.failure();
  }
  for (Part* const part : round.parts) {
    if (!part->status.ok()) continue;
    const Status outcome = transfer_locked(file, part->access, manner.atomic, part->done);
    if (!outcome.ok()) part->status = outcome;
  }
  return round.failure();
}

Status run_here(OpenedFile& file, Round& round, const Manner& manner) {
  CLUMP_TRY(round.failure());
  Extent extent;
  for (const Part* const part : round.parts) extent.add(*part);
  const bool wanted = manner.use == Hints::Collective::kAlways ||
                      (manner.use == Hints::Collective::kAutomatic && !extent.is_coarse());
  if (!wanted || manner.atomic || !extent.ordered || extent.bytes == 0 || size_of(file.target) < 0)
    return run_each(file, round, manner);
  return FileDomains(file, round, manner, extent).run();
}

}  // namespace clump::io
