// The buffers and arrays of an operation in progress: whether the program writes what is MPI's.
#include <algorithm>
#include <cstring>

#include "coll/check/check.h"
#include "core/rank.h"
#include "datatype/fingerprint.h"
#include "datatype/overlap.h"

namespace clump::coll {

namespace {

constexpr std::intptr_t kAlignment = 64;

/// LeaderBuffer that is mostly empty is not worth its memory: blocks may be at the ends of the address space.
bool is_sparse(const datatype::Reach& reach, Count bytes) {
  constexpr Count kAlways = Count{1} << 20, kTimes = 16;
  return reach.end - reach.begin > kAlways + kTimes * bytes;
}

/// The first element in which two arrays of numbers differ, in words.
std::string difference(const Check::Call::Array& array, const std::byte* before) {
  const auto* const now = static_cast<const std::byte*>(array.data);
  std::size_t i = 0;
  while (std::memcmp(now + i * array.bytes_each, before + i * array.bytes_each, array.bytes_each) == 0) ++i;
  const auto number = [&](const std::byte* at) -> Count {
    if (array.bytes_each == sizeof(int)) {
      int value;
      std::memcpy(&value, at + i * sizeof value, sizeof value);
      return value;
    }
    Count value;
    std::memcpy(&value, at + i * sizeof value, sizeof value);
    return value;
  };
  return fmt::format("{}[{}] was {} and is {}", array.name, i, number(before), number(now));
}

}  // namespace

void Check::keep_buffers(const Call& call) {
  for (const Layout& data : call.sends)
    if (data.bytes() > 0) sends_.push_back({data, Portion::of(data)});
  for (const Call::Array& array : call.arrays) {
    const auto* const first = static_cast<const std::byte*>(array.data);
    if (first != nullptr) arrays_.push_back({array, {first, first + array.elements * array.bytes_each}});
  }
  datatype::Reach reach;
  Count bytes = 0;
  for (const Layout& data : call.receives) {
    if (data.bytes() == 0) continue;
    const datatype::Reach own = datatype::reach_of(data);
    reach =
        bytes == 0 ? own : datatype::Reach{std::min(reach.begin, own.begin), std::max(reach.end, own.end)};
    bytes += data.bytes();
  }
  if (bytes == 0 || is_sparse(reach, bytes)) return;
  // Where elements are aligned, they are there, too.
  const std::intptr_t into_line = reach.begin & (kAlignment - 1);
  room_.reset(
      static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(reach.end - reach.begin + 2 * kAlignment))));
  if (room_ == nullptr) return;
  const auto start = reinterpret_cast<std::intptr_t>(room_.get());
  shift_ = ((start + kAlignment - 1) & -kAlignment) + into_line - reach.begin;
  for (const Layout& data : call.receives)
    if (data.bytes() > 0) receives_.push_back({data, Portion::of(data)});
}

void* Check::stand_in(void* buffer) const {
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(buffer) + shift_);
}

Layout Check::stand_in(const Layout& data) const { return {stand_in(data.base), data.count, data.type}; }

/// "were given to MPI_Iallreduce at a.c:12\n  and are the program's again with MPI_Wait at a.c:14"
std::string Check::when(const char* verb) const {
  const core::World& world = comm_.owner.world;
  const core::Site* const now = core::Site::current;
  return fmt::format("given to {}{}\n  and {} the program's again with {}{}", started_.call,
                     world.at(started_), verb, now != nullptr ? now->call : "this call",
                     now != nullptr ? world.at(*now) : "");
}

base::Status Check::changed(const char* what, const Buffer& buffer, const char* advice) const {
  return base::fail(MPI_ERR_BUFFER, "the {} buffer has changed while it was MPI's\n  {} of {} were {}\n  {}",
                    what, buffer.portion.words(), name_, when("are"), advice);
}

base::Status Check::look_at_arrays() const {
  const auto found = std::ranges::find_if(arrays_, [](const Array& array) {
    return std::memcmp(array.array.data, array.contents.data(), array.contents.size()) != 0;
  });
  if (found == arrays_.end()) return {};
  return base::fail(
      MPI_ERR_ARG,
      "the array {} has changed while it was MPI's: {}\n  it was {}\n  the arrays of a call must not "
      "be written before its operation is complete, and those of a persistent one not before it is "
      "freed",
      found->array.name, difference(found->array, found->contents.data()), when("is"));
}

base::Status Check::look_at_sends() const {
  for (const Buffer& buffer : sends_)
    if (datatype::fingerprint(buffer.data) != buffer.fingerprint)
      return changed("send", buffer, "what is sent must not be written before the operation is complete");
  return {};
}

base::Status Check::look_at_receives() const {
  for (const Buffer& buffer : receives_)
    if (datatype::fingerprint(buffer.data) != buffer.fingerprint)
      return changed("receive", buffer,
                     "a receive buffer must not be written before the operation is complete");
  return {};
}

/// The first time it is asked for since start(): afterwards the buffers are the program's.
base::Status Check::give_back() {
  if (was_given_) return {};
  was_given_ = true;
  base::Status status = look_at_arrays();
  if (status.ok()) status = look_at_sends();
  if (status.ok()) status = look_at_receives();
  for (const Buffer& buffer : receives_)
    datatype::copy(buffer.data, stand_in(buffer.data), 0, buffer.data.bytes());
  return status;
}

}  // namespace clump::coll
