#include "core/buffers_in_use.h"

#include "core/rank.h"

namespace clump::core {

namespace {

base::Status overlaps(const World& world, const BufferInUse& use, const BufferInUse& other) {
  return base::fail(
      MPI_ERR_BUFFER,
      "the {} overlaps the {} of another operation in progress\n  this one: {}\n  the other one: "
      "{}\n  what an operation writes must not be used, and what it reads must not be written, "
      "before it is complete",
      use.what, other.what, use.words(world), other.words(world));
}

base::Status look_at_windows(const Rank& rank, const BufferInUse& use) {
  if (rank.live(Rank::Handles::kWindows) == 0) return {};
  for (const base::Ref<Window>& window : rank.all_windows()) CLUMP_TRY(window->look_at_own(use));
  return {};
}

}  // namespace

std::string BufferInUse::words(const World& world) const {
  return fmt::format("{}({} x {}){}", site.call != nullptr ? site.call : "a call", data.count,
                     data.type->description(), world.at(site));
}

base::Status look_at_buffer(const Rank& rank, const BufferInUse& use) {
  if (rank.buffers_in_use == nullptr) return {};
  if (const auto other = rank.buffers_in_use->find(use)) return overlaps(rank.world, use, *other);
  return look_at_windows(rank, use);
}

base::Status claim_buffer(Rank& rank, const BufferInUse& use) {
  CLUMP_TRY(look_at_windows(rank, use));
  const auto other = rank.buffers_in_use->add(use);
  return other ? overlaps(rank.world, use, *other) : base::Status();
}

}  // namespace clump::core
