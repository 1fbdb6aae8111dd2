#include "datatype/stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace clump::datatype {

#if defined(__x86_64__)

namespace {

constexpr Count kLine = 64;
// Lines are asked for so far ahead. The processor's own prefetching ends at each page. They are asked for as
// lines that will be used again: with _MM_HINT_NTA a copy took twice as long on an Intel Xeon
// (docs/experiments/046).
constexpr Count kAhead = 1024;
// A cache of the last level that is larger is shared by more cores than a virtual machine sees, and as slow
// as memory: 260 MB on that Xeon, where copies past it are faster from here on, too.
constexpr Count kLargestCache = Count{32} << 20;

/// What Linux says of the outermost cache of a core, or nothing. sysconf() will not do: on a virtual machine
/// with AMD's processors glibc says 320 MB where there are 32.
Count last_level_cache() {
  Count bytes = 0;
  for (int index = 0;; ++index) {
    std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    Count kilobytes = 0;
    if (!(size >> kilobytes)) return bytes;
    bytes = std::max(bytes, kilobytes << 10);
  }
}

Count least_streamed(Count largest_cache) {
  const Count bytes = last_level_cache();
  return (bytes > 0 ? std::min(bytes, largest_cache) : kLargestCache) / 4 * 3;
}

void stream_line(std::byte* to, const std::byte* from) {
  const auto* in = reinterpret_cast<const __m128i*>(from);
  auto* out = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
  const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
  _mm_stream_si128(out, a);
  _mm_stream_si128(out + 1, b);
  _mm_stream_si128(out + 2, c);
  _mm_stream_si128(out + 3, d);
}

// A part of a line, past the caches as well: with plain stores here, 16 MB from blocks of 4 KB took 1.7 ms
// instead of 1.4 (docs/experiments/045).
void stream_edge(std::byte* to, const std::byte* from, Count bytes) {
  constexpr Count kWord = sizeof(long long);
  if (reinterpret_cast<std::uintptr_t>(to) % kWord != 0 || bytes % kWord != 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  for (Count at = 0; at < bytes; at += kWord) {
    long long word;
    std::memcpy(&word, from + at, kWord);
    _mm_stream_si64(reinterpret_cast<long long*>(to + at), word);
  }
}

}  // namespace

bool is_streamed(Count touched) {
  static const Count least = least_streamed(kLargestCache);
  return touched >= least;
}

bool is_streamed_alone(Count touched) {
  static const Count least = least_streamed(std::numeric_limits<Count>::max());
  return touched >= least;
}

void stream(void* to, const void* from, Count bytes) {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const Count skew = static_cast<Count>(-reinterpret_cast<std::uintptr_t>(out) % kLine);
  const Count first = std::min(bytes, skew);
  stream_edge(out, in, first);
  Count at = first;
  for (; at + kLine <= bytes; at += kLine) {
    _mm_prefetch(reinterpret_cast<const char*>(in) + at + kAhead, _MM_HINT_T0);
    stream_line(out + at, in + at);
  }
  stream_edge(out + at, in + at, bytes - at);
}

// Such stores are not ordered with what follows, so not with the release that tells others of them either.
void drain_streams() { _mm_sfence(); }

#else

bool is_streamed(Count) { return false; }
bool is_streamed_alone(Count) { return false; }
void stream(void* to, const void* from, Count bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
void drain_streams() {}

#endif

}  // namespace clump::datatype
