#include "io/transfer.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "io/errors.h"

namespace clump::io {

namespace {

using base::Status;
using datatype::Layout;

// The kernel moves no more than 2 GiB less a page in one call.
constexpr Count kMostPerCall = Count{1} << 30;
// The size of the buffer through which data goes that is scattered in memory, or in the file.
constexpr Count kStagingBytes = 1 << 20;
// A read takes gaps along as long as the span that it reads is no longer than so many times the data.
constexpr Count kSieveRatio = 8;
constexpr std::size_t kMostVectors = 128;

using Staging = std::unique_ptr<std::byte[]>;

constinit std::atomic<int> under_way{0};  // relaxed: only for reports

/// While one lives, the calling thread reads or writes.
struct UnderWay {
  UnderWay() { under_way.fetch_add(1, std::memory_order_relaxed); }
  ~UnderWay() { under_way.fetch_sub(1, std::memory_order_relaxed); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
};

/// Where the packed bytes of a layout lie one after the other; null: they do not.
std::byte* dense_base(const Layout& memory) {
  if (memory.type->is_dense()) return static_cast<std::byte*>(memory.base);
  if (memory.bytes() == 0) return nullptr;
  datatype::Cursor cursor(memory, 0);
  const datatype::Run run = cursor.run();
  return run.count == 1 && run.block == memory.bytes() ? reinterpret_cast<std::byte*>(run.address(0))
                                                       : nullptr;
}

Status failed(const Target& target, const Access& access, Count bytes, Count offset) {
  const bool reads = access.direction == Direction::kRead;
  return system_error(
      errno, fmt::format("{} {} bytes at byte {} of", reads ? "read" : "write", bytes, offset), target.name);
}

ssize_t move(const Target& target, Direction direction, const iovec* vectors, int count, Count offset) {
  const int descriptor = target.descriptor;
  if (direction == Direction::kRead)
    return target.is_stream ? ::readv(descriptor, vectors, count)
                            : ::preadv(descriptor, vectors, count, offset);
  return target.is_stream ? ::writev(descriptor, vectors, count)
                          : ::pwritev(descriptor, vectors, count, offset);
}

/// Moves the blocks of `memory` from packed byte `from` on to or from one place of the file, without a copy.
Status move_vectors(const Target& target, const Access& access, Count offset, Count& done) {
  std::array<iovec, kMostVectors> vectors;
  while (done < access.bytes) {
    datatype::Cursor cursor(access.memory, done);
    std::size_t used = 0;
    Count asked = 0;
    for (; used < vectors.size() && done + asked < access.bytes && asked < kMostPerCall; ++used) {
      const datatype::Run& run = cursor.run();
      vectors[used] = {reinterpret_cast<void*>(run.address(0)), static_cast<std::size_t>(run.block)};
      asked += run.block;
      if (done + asked < access.bytes) cursor.skip_blocks(1);
    }
    const auto count = static_cast<int>(used);
    const ssize_t moved = move(target, access.direction, vectors.data(), count, offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return failed(target, access, asked, offset + done);
    if (moved == 0 && access.direction == Direction::kRead) return {};
    if (moved == 0) return base::fail(MPI_ERR_IO, "\"{}\" has taken none of {} bytes", target.name, asked);
    done += moved;
  }
  return {};
}

/// One block of the file.
Status move_block(const Target& target, Direction direction, std::byte* memory, Count bytes, Count offset,
                  Count& done) {
  return direction == Direction::kRead ? read_at(target, memory, bytes, offset, done)
                                       : write_at(target, memory, bytes, offset, done);
}

/// Reads the span of the file that the view bytes [position, position + bytes) lie in, and picks them out.
Status sieve(const Target& target, const View& view, Count position, std::span<std::byte> to,
             Staging& span_buffer, Count& done) {
  const auto bytes = static_cast<Count>(to.size());
  const Count begin = view.offset_of(position), end = view.offset_of(position + bytes - 1) + 1;
  if (span_buffer == nullptr) span_buffer.reset(new std::byte[kSieveRatio * kStagingBytes]);
  Count there = 0;
  CLUMP_TRY(read_at(target, span_buffer.get(), end - begin, begin, there));
  view.for_each_block(position, bytes, [&](Count offset, Count block) {
    const Count found = std::clamp(begin + there - offset, Count{0}, block);
    std::memcpy(&to[static_cast<std::size_t>(done)], &span_buffer[static_cast<std::size_t>(offset - begin)],
                static_cast<std::size_t>(found));
    done += found;
    return found == block;
  });
  return {};
}

/// The view bytes from `position` on, whose bytes in memory lie side by side.
Status move_piece(const Target& target, const Access& access, Count position, std::span<std::byte> memory,
                  Staging& span_buffer, Count& done) {
  const View& view = *access.view;
  const auto bytes = static_cast<Count>(memory.size());
  if (bytes == 0) return {};
  if (access.direction == Direction::kRead && view.mean_block() < kDirectBlock) {
    const Count span = view.offset_of(position + bytes - 1) + 1 - view.offset_of(position);
    if (view.is_ordered() && span <= std::min(kSieveRatio * bytes, kSieveRatio * kStagingBytes))
      return sieve(target, view, position, memory, span_buffer, done);
  }
  Status outcome;
  view.for_each_block(position, bytes, [&](Count offset, Count block) {
    Count moved = 0;
    outcome =
        move_block(target, access.direction, &memory[static_cast<std::size_t>(done)], block, offset, moved);
    done += moved;
    return outcome.ok() && moved == block;
  });
  return outcome;
}

/// The general case: pieces of the packed bytes, through a buffer if they are scattered in memory.
Status move_pieces(const Target& target, const Access& access, Count& done) {
  std::byte* const dense = dense_base(access.memory);
  Staging staging, span_buffer;
  if (dense == nullptr) staging.reset(new std::byte[kStagingBytes]);
  while (done < access.bytes) {
    const Count bytes = std::min(kStagingBytes, access.bytes - done);
    std::byte* const place = dense != nullptr ? dense + done : staging.get();
    const std::span piece(place, static_cast<std::size_t>(bytes));
    if (dense == nullptr && access.direction == Direction::kWrite) datatype::pack(piece, access.memory, done);
    Count moved = 0;
    const Status outcome = move_piece(target, access, access.position + done, piece, span_buffer, moved);
    if (dense == nullptr && access.direction == Direction::kRead)
      datatype::unpack(access.memory, done, piece.first(static_cast<std::size_t>(moved)));
    done += moved;
    if (!outcome.ok() || moved < bytes) return outcome;
  }
  return {};
}

/// The mean length of the blocks of a layout, by its first ones.
bool has_long_blocks(const Layout& memory) {
  datatype::Cursor cursor(memory, 0);
  return cursor.run().block >= 4096;
}

}  // namespace

int transfers_under_way() noexcept { return under_way.load(std::memory_order_relaxed); }

Status read_at(const Target& target, void* to, Count bytes, Count offset, Count& done) {
  const UnderWay moves;
  while (done < bytes) {
    const auto asked = static_cast<std::size_t>(std::min(bytes - done, kMostPerCall));
    std::byte* const rest = static_cast<std::byte*>(to) + done;
    const ssize_t moved = target.is_stream ? ::read(target.descriptor, rest, asked)
                                           : ::pread(target.descriptor, rest, asked, offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0)
      return system_error(errno, fmt::format("read {} bytes at byte {} of", asked, offset + done),
                          target.name);
    if (moved == 0) return {};
    done += moved;
  }
  return {};
}

Status write_at(const Target& target, const void* from, Count bytes, Count offset, Count& done) {
  const UnderWay moves;
  while (done < bytes) {
    const auto asked = static_cast<std::size_t>(std::min(bytes - done, kMostPerCall));
    const std::byte* const rest = static_cast<const std::byte*>(from) + done;
    const ssize_t moved = target.is_stream ? ::write(target.descriptor, rest, asked)
                                           : ::pwrite(target.descriptor, rest, asked, offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0)
      return system_error(errno, fmt::format("write {} bytes at byte {} of", asked, offset + done),
                          target.name);
    if (moved == 0)
      return base::fail(MPI_ERR_IO, "\"{}\" has taken none of {} bytes at byte {}", target.name, asked,
                        offset + done);
    done += moved;
  }
  return {};
}

Status transfer(const Target& target, const Access& access, Count& done) {
  done = 0;
  if (access.bytes == 0) return {};
  const UnderWay moves;
  const View& view = *access.view;
  if (view.is_contiguous() && dense_base(access.memory) == nullptr && has_long_blocks(access.memory))
    return move_vectors(target, access, view.offset_of(access.position), done);
  if (view.is_contiguous() && dense_base(access.memory) != nullptr)
    return move_block(target, access.direction, dense_base(access.memory), access.bytes,
                      view.offset_of(access.position), done);
  return move_pieces(target, access, done);
}

}  // namespace clump::io
