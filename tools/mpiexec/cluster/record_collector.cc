#include "cluster/record_collector.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/poll_set.h"
#include "record/clock.h"

namespace clump::mpiexec {

namespace {

using tools::profile::Moment;

constexpr int kPings = 16;
constexpr int kWordPatience = 10;  // seconds, for the other side's next word
constexpr std::size_t kPiece = 1 << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

/// What mpiexec sends: the proxy is to tell the time, or to send its records; or no answer is wanted any
/// more.
constexpr char kTime = 't', kRecords = 'r', kEnough = 'e';
/// What a proxy sends unasked: its ranks have ended.
constexpr char kDone = 'd';

/// What comes first of all.
struct RecordsHead {
  tools::profile::Moment start, end;
  std::uint64_t bytes;  ///< of the region, as far as it is used
};
/// Bytes that are not all zero follow; none: this was the last.
struct Piece {
  std::uint64_t at, bytes;
};

bool send_all(int socket, const void* data, std::size_t bytes) {
  for (const auto* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t sent = ::send(socket, from, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  for (auto* to = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = ::recv(socket, to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

template <typename Value>
bool send_one(int socket, const Value& value) {
  return send_all(socket, &value, sizeof value);
}
template <typename Value>
bool receive_one(int socket, Value& value) {
  return receive_all(socket, &value, sizeof value);
}

void limit_waiting(int socket) {
  const timeval patience{kWordPatience, 0};
  for (const int direction : {SO_SNDTIMEO, SO_RCVTIMEO})
    ::setsockopt(socket, SOL_SOCKET, direction, &patience, sizeof patience);
}

/// How far the other side's clock is ahead of ours, and how wrong that may be.
struct Offset {
  std::int64_t ahead = 0;
  std::int64_t error = INT64_MAX;
};

bool receive_region(int socket, std::uint64_t bytes, record::Region& region) {
  if (bytes < sizeof(record::Header) || bytes > kMostBytes) return false;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const std::span<std::byte> copy(static_cast<std::byte*>(memory), bytes);
  for (Piece piece{};;) {
    if (!receive_one(socket, piece)) return false;
    if (piece.bytes == 0) return region.read(copy).ok();
    if (piece.at > bytes || piece.bytes > bytes - piece.at) return false;
    if (!receive_all(socket, copy.data() + piece.at, piece.bytes)) return false;
  }
}

bool measure(int socket, Offset& best) {
  for (int i = 0; i < kPings; ++i) {
    const auto before = static_cast<std::int64_t>(record::system_nanoseconds());
    std::int64_t there = 0;
    if (!send_one(socket, kTime) || !receive_one(socket, there)) return false;
    const auto after = static_cast<std::int64_t>(record::system_nanoseconds());
    const Offset found{there - (before + (after - before) / 2), (after - before) / 2 + 1};
    if (found.error < best.error) best = found;
  }
  return true;
}

/// As long as the job takes. The channel of a host that is lost is closed.
bool wait_for_end(int socket) {
  tools::PollSet mine;
  mine.add(socket);
  char kind = 0;
  while (!mine.wait(-1))
    if (mine.failed()) return false;
  return receive_one(socket, kind) && kind == kDone;
}

/// Signals are for the thread that looks after the job.
template <typename Work>
std::thread start_thread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread made(work);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

}  // namespace

void RecordCollector::admit(std::size_t host, int socket) {
  servers_.push_back(start_thread([this, host, socket] {
    limit_waiting(socket);
    if (tools::profile::Source source{.host = static_cast<int>(host)}; fetch(socket, source)) {
      const std::lock_guard lock(mutex_);
      sources_.push_back(source);
    }
    ::close(socket);
  }));
}

bool RecordCollector::fetch(int socket, tools::profile::Source& source) {
  RecordsHead head{};
  Offset early, late;
  if (!measure(socket, early) || !send_one(socket, kEnough) || !wait_for_end(socket)) return false;
  if (!measure(socket, late) || !send_one(socket, kRecords) || !receive_one(socket, head) ||
      !receive_region(socket, head.bytes, source.region) || !send_one(socket, kEnough))
    return false;
  source.start = {head.start.ticks, head.start.nanoseconds - early.ahead};
  source.end = {head.end.ticks, head.end.nanoseconds - late.ahead};
  source.uncertainty = static_cast<double>(std::max(early.error, late.error)) * 1e-9;
  return true;
}

std::vector<tools::profile::Source> RecordCollector::finish() {
  for (std::thread& server : std::exchange(servers_, {})) server.join();
  std::ranges::sort(sources_, {}, &tools::profile::Source::host);
  return std::move(sources_);
}

RecordCollector::~RecordCollector() { finish(); }

void RecordSender::begin(int socket, int descriptor, const Moment& start) {
  socket_ = socket;
  descriptor_ = descriptor;
  start_ = start;
  (void)answer();  // report() tells how it went
}

bool RecordSender::answer() const {
  for (char ask = 0; receive_one(socket_, ask);) {
    if (ask == kEnough) return true;
    const auto now = static_cast<std::int64_t>(record::system_nanoseconds());
    if (!(ask == kTime ? send_one(socket_, now) : send_records())) return false;
  }
  return false;
}

bool RecordSender::send_records() const {
  record::Region region;
  if (!region.map(descriptor_).ok()) return false;
  const std::uint64_t bytes = std::min(region.header().used.load(), region.header().size);
  if (!send_one(socket_, RecordsHead{start_, tools::profile::now(), bytes})) return false;
  std::vector<char> buffer(kPiece);
  // What was never written to is a hole in the file.
  for (off_t at = 0, end = static_cast<off_t>(bytes); at < end;) {
    at = ::lseek(descriptor_, at, SEEK_DATA);
    if (at < 0 || at >= end) break;
    for (const off_t hole = std::min(::lseek(descriptor_, at, SEEK_HOLE), end); at < hole;) {
      const auto wanted = std::min(kPiece, static_cast<std::size_t>(hole - at));
      const ssize_t got = ::pread(descriptor_, buffer.data(), wanted, at);
      if (got <= 0) return false;
      const Piece piece{static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(got)};
      if (!send_one(socket_, piece) || !send_all(socket_, buffer.data(), piece.bytes)) return false;
      at += got;
    }
  }
  return send_one(socket_, Piece{0, 0});
}

bool RecordSender::report() const { return send_one(socket_, kDone) && answer(); }

RecordSender::~RecordSender() {
  if (socket_ >= 0) ::close(socket_);
}

}  // namespace clump::mpiexec
