#include "io/agreement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "coll/coll.h"
#include "coll/schedule/agree.h"

namespace clump::io {

namespace {

using base::Status;
using coll::Members;

constexpr int kNobody = std::numeric_limits<int>::max();

/// A failure as a message: its class and its text.
struct Told {
  int error_class;
  std::array<char, 508> text;
};

Status tell(core::Comm& comm, int from, Status mine) {
  Told told{};
  if (comm.rank == from) {
    told.error_class = mine.error_class();
    const std::string text = base::message_of(mine.code());
    std::memcpy(told.text.data(), text.data(), std::min(text.size(), told.text.size() - 1));
  }
  std::array<int, sizeof(Told) / sizeof(int)> words;
  std::memcpy(words.data(), &told, sizeof told);
  CLUMP_TRY(coll::bcast_ints(Members(comm, coll::Caller::kFile), words, from));
  if (comm.rank == from) return mine;
  std::memcpy(&told, words.data(), sizeof told);
  return base::fail(told.error_class, "{} (at {})", told.text.data(), comm.group->name_of(from));
}

}  // namespace

Status agree(core::Comm& comm, Status mine) {
  if (comm.size() == 1) return mine;
  std::array<int, 1> first = {mine.ok() ? kNobody : comm.rank};
  CLUMP_TRY(coll::agree_min(Members(comm, coll::Caller::kFile), first));
  return first[0] == kNobody ? Status() : tell(comm, first[0], mine);
}

Status agree_same(core::Comm& comm, Status mine, const char* name, Count value) {
  if (comm.size() == 1) return mine;
  const int low = static_cast<int>(value & 0x3fffffff), high = static_cast<int>(value >> 33 & 0x3fffffff),
            middle = static_cast<int>(value >> 30 & 7);
  std::array<int, 7> least = {mine.ok() ? kNobody : comm.rank, low, -low, middle, -middle, high, -high};
  CLUMP_TRY(coll::agree_min(Members(comm, coll::Caller::kFile), least));
  if (least[0] != kNobody) return tell(comm, least[0], mine);
  if (least[1] == -least[2] && least[3] == -least[4] && least[5] == -least[6]) return {};
  return base::fail(MPI_ERR_NOT_SAME, "({} = {}): it is not the same at all ranks of the file", name, value);
}

Status allgather(core::Comm& comm, std::span<const std::byte> mine, std::span<std::byte> all) {
  const auto bytes = [](const std::byte* data, std::size_t size) {
    return coll::bytes_at(const_cast<std::byte*>(data), static_cast<Count>(size));
  };
  const datatype::Layout out = bytes(mine.data(), mine.size()), in = bytes(all.data(), all.size());
  return coll::run(comm, coll::Call::allgather(out, in).by(coll::Caller::kFile));
}

Status share(core::Comm& comm, Count& value) {
  static_assert(sizeof value == 2 * sizeof(int));
  std::array<int, 2> words;
  std::memcpy(words.data(), &value, sizeof value);
  CLUMP_TRY(coll::bcast_ints(Members(comm, coll::Caller::kFile), words, 0));
  std::memcpy(&value, words.data(), sizeof value);
  return {};
}

Status synchronize(core::Comm& comm) { return coll::synchronize(Members(comm, coll::Caller::kFile)); }

}  // namespace clump::io
