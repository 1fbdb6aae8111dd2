#include "lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kLongestLine = 1 << 20;  // a longer one is written in pieces

void write_all(int target, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(target, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd writable{target, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

void LineForwarder::add(std::string_view bytes) {
  const std::size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    partial_ += bytes.substr(0, end + 1);
    write_lines(partial_);
    partial_.clear();
    bytes.remove_prefix(end + 1);
  }
  partial_ += bytes;
  if (partial_.size() > kLongestLine) finish();
}

void LineForwarder::finish() {
  if (partial_.empty()) return;
  if (!prefix_.empty()) partial_ += '\n';
  write_lines(partial_);
  partial_.clear();
}

void LineForwarder::write_lines(std::string_view lines) {
  if (prefix_.empty()) return write_all(target_, lines);
  std::string tagged;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end == std::string_view::npos ? lines.size() : end + 1);
    tagged.append(prefix_).append(line);
    lines.remove_prefix(line.size());
  }
  write_all(target_, tagged);
}

}  // namespace clump::mpiexec
