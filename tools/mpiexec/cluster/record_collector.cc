#include "cluster/record_collector.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/why_refused.h"
#include "common/poll_set.h"
#include "record/clock.h"

namespace clump::mpiexec {

namespace {

using tools::profile::Moment;

constexpr int kPings = 16;
constexpr int kWordPatience = 10;  // seconds, for the other side's next word
constexpr std::size_t kPiece = 1 << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

/// What mpiexec sends: the proxy is to tell the time, to send its records, or may go.
constexpr char kTime = 't', kRecords = 'r', kDismissed = 'b';
/// What a proxy sends besides, unasked: its ranks have ended, well or not.
constexpr char kDone = 'd', kFailed = 'f';

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

/// A connection to a proxy.
class RecordCollector::Line {
 public:
  explicit Line(int socket) : socket(socket) {}
  ~Line() { ::close(socket); }

  const int socket;
  bool is_done = false, has_failed = false;

  /// Asks; what was asked for is what comes next.
  bool ask(char what) {
    if (!send_one(socket, what)) return false;
    for (char kind = 0; receive_one(socket, kind);)
      if (kind == what || !note(kind)) return kind == what;
    return false;
  }
  /// Whether a word that came unasked is a right one.
  bool note(char kind) {
    is_done = is_done || kind == kDone || kind == kFailed;
    has_failed = has_failed || kind == kFailed;
    return kind == kDone || kind == kFailed;
  }
  bool measure(Offset& best) {
    for (int i = 0; i < kPings; ++i) {
      const auto before = static_cast<std::int64_t>(record::system_nanoseconds());
      std::int64_t there = 0;
      if (!ask(kTime) || !receive_one(socket, there)) return false;
      const auto after = static_cast<std::int64_t>(record::system_nanoseconds());
      const Offset found{there - (before + (after - before) / 2), (after - before) / 2 + 1};
      if (found.error < best.error) best = found;
    }
    return true;
  }
  /// As long as the job takes. A host whose network has gone says nothing.
  bool wait_for_end(const RecordCollector& all) {
    while (!is_done && !all.has_failed_) {
      tools::PollSet both;
      both.add(socket);
      both.add(all.news_);
      both.wait(-1);
      char kind = 0;
      const bool has_come = both.is_ready(socket);
      if (both.failed() || (has_come && (!receive_one(socket, kind) || !note(kind)))) return false;
      if (!has_come && all.is_over_) return false;
    }
    return true;
  }
};

base::Status RecordCollector::open() {
  if ((news_ = ::eventfd(0, EFD_CLOEXEC)) >= 0) return {};
  return base::fail(MPI_ERR_OTHER, "cannot make an event: {}", base::why_refused("eventfd", errno));
}

void RecordCollector::admit(std::size_t host, int socket) {
  const std::lock_guard lock(mutex_);
  ++unserved_;
  servers_.push_back(start_thread([this, host, socket] { serve(host, socket); }));
}

void RecordCollector::serve(std::size_t host, int socket) {
  Line line(socket);
  limit_waiting(socket);
  tools::profile::Source source{.host = static_cast<int>(host)};
  const bool all_came = fetch(line, source);
  {
    const std::lock_guard lock(mutex_);
    if (all_came) sources_.push_back(source);
    --unserved_;
  }
  served_one_.notify_all();
  if (has_failed_) wait_for_others();  // it ends when this one does
  (void)send_one(socket, kDismissed);
}

bool RecordCollector::fetch(Line& line, tools::profile::Source& source) {
  RecordsHead head{};
  Offset early, late;
  if (!line.measure(early) || !line.wait_for_end(*this)) return false;
  if (line.has_failed) {
    has_failed_ = true;
    ::eventfd_write(news_, 1);
  }
  if (!line.measure(late) || !line.ask(kRecords) || !receive_one(line.socket, head) ||
      !receive_region(line.socket, head.bytes, source.region))
    return false;
  source.start = {head.start.ticks, head.start.nanoseconds - early.ahead};
  source.end = {head.end.ticks, head.end.nanoseconds - late.ahead};
  source.uncertainty = static_cast<double>(std::max(early.error, late.error)) * 1e-9;
  return true;
}

void RecordCollector::wait_for_others() {
  std::unique_lock lock(mutex_);
  served_one_.wait_for(lock, std::chrono::seconds(kWordPatience), [this] { return unserved_ == 0; });
}

std::vector<tools::profile::Source> RecordCollector::finish() {
  if (news_ < 0) return {};
  is_over_ = true;
  ::eventfd_write(news_, 1);
  for (std::thread& server : std::exchange(servers_, {}))
    server.join();  // proxies that have ended have closed their ends
  std::ranges::sort(sources_, {}, &tools::profile::Source::host);
  return std::move(sources_);
}

RecordCollector::~RecordCollector() {
  finish();
  if (news_ >= 0) ::close(news_);
}

void RecordSender::begin(int socket, int descriptor, const Moment& start) {
  socket_ = socket;
  descriptor_ = descriptor;
  start_ = start;
  thread_ = start_thread([this] { answer_all(); });
}

void RecordSender::answer_all() {
  char ask = 0;
  while (receive_one(socket_, ask) && ask != kDismissed && answer(ask)) {
  }
  const std::lock_guard lock(mutex_);
  dismissed_ = ask == kDismissed;
  ended_ = true;
  changed_.notify_all();
}

bool RecordSender::answer(char ask) {
  const std::lock_guard lock(sending_);
  if (!send_one(socket_, ask)) return false;
  return ask == kTime ? send_one(socket_, static_cast<std::int64_t>(record::system_nanoseconds()))
                      : send_records();
}

bool RecordSender::send_records() {
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

bool RecordSender::report(bool failed) {
  {
    const std::lock_guard lock(sending_);
    (void)send_one(socket_, failed ? kFailed : kDone);  // it may have been dismissed before
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
  return dismissed_;
}

RecordSender::~RecordSender() {
  if (socket_ < 0) return;
  ::shutdown(socket_, SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
  ::close(socket_);
}

}  // namespace clump::mpiexec
