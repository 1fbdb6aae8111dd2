#include "p2p/unwaited_send.h"

#include <algorithm>

namespace clump::p2p {

void UnwaitedSend::send(const Address& to, std::span<const std::byte> bytes) {
  const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  const auto count = static_cast<Count>(bytes.size());
  if (try_send(to, {const_cast<std::byte*>(bytes.data()), count, byte})) return;
  auto memory = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes.size(), 1));
  std::ranges::copy(bytes, memory.get());
  const datatype::Layout copy{memory.get(), count, byte};
  auto* const message = new UnwaitedSend(std::move(memory));
  message->uses(to.comm, *byte);
  message->begin_untaken(to, copy);
}

}  // namespace clump::p2p
