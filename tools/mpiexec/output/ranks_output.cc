#include "output/ranks_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/foreign_name.h"
#include "base/why_refused.h"

namespace clump::mpiexec {

namespace {

base::Status cannot_write(const std::string& path, const std::string& why) {
  return base::fail(MPI_ERR_BAD_FILE,
                    "cannot write {}: {}; name another place by --output-dir (--outfile-pattern, "
                    "--errfile-pattern)",
                    path, why);
}

/// What another user has put there is not opened: a link would lead elsewhere, a FIFO might have no reader.
base::Status check_name(const std::string& path) {
  const std::optional<uid_t> other = base::foreign_name_by(path.c_str());
  return other
             ? cannot_write(path, fmt::format("another user (uid {}) has put a link or a FIFO there", *other))
             : base::Status();
}

/// A FIFO that nobody reads from now on holds up its rank, and not mpiexec. The open file description is
/// mpiexec's own.
std::unique_ptr<OutputBuffer> buffer_of(int file) {
  if (file < 0) return nullptr;
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
  return std::make_unique<OutputBuffer>(file);
}

}  // namespace

RanksOutput::RanksOutput(const pmi::Job& job, bool collapses) : job_(job) {
  if (collapses) screen_.emplace(job.ranks());
}

base::Status RanksOutput::make_files(const pmi::Job& job) {
  std::filesystem::path made;
  for (const int rank : job.ranks_of(job.this_node())) {
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
      const std::filesystem::path path = job.output_file(rank, descriptor);
      if (path.empty()) continue;
      std::error_code error;
      if (path.parent_path() != made) std::filesystem::create_directories(path.parent_path(), error);
      if (error) return cannot_write(path.parent_path().string(), error.message());
      made = path.parent_path();
      CLUMP_TRY(check_name(path.string()));
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
      if (file < 0) return cannot_write(path.string(), std::strerror(errno));
      ::close(file);
    }
  }
  return {};
}

long RanksOutput::files(const pmi::Job& job) {
  constexpr long kOthers = 32;
  long each = 0;
  for (const std::string& pattern : job.output.files) each += pattern.empty() ? 0 : 1;
  return each == 0 ? 0 : each * job.ranks(job.this_node()) + kOthers;
}

base::Status RanksOutput::direct(const pmi::HostProcess& process, int target, int& end) {
  const int rank = job_.first_rank(process);
  const std::string path = process.plain ? job_.output_file(rank, target) : "";
  int file = -1;
  if (!path.empty()) CLUMP_TRY(check_name(path));
  if (!path.empty() && (file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
    return cannot_write(path, std::strerror(errno));
  if (file >= 0 && job_.output.to_files_only) return end = file, base::Status{};
  // A process alone writes for itself, and so to a terminal if there is one.
  const bool is_alone = job_.this_node().processes == 1;
  const bool is_read = process.plain && (file >= 0 || !job_.output.prefix.empty());
  if (is_alone && !is_read && !screen_) return {};
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  end = pipe[1];
  std::unique_ptr<OutputBuffer> copy = buffer_of(file);
  // mpiexec --collapse on another host, which asks for marks, shows whole lines only.
  const std::vector<int> ranks = job_.ranks_of(process);
  const bool has_input =
      job_.input == pmi::kInputForAll || std::ranges::find(ranks, job_.input) != ranks.end();
  LineForwarder lines(
      {target, screen_ ? &*screen_ : nullptr, copy.get(), nullptr, has_input && !job_.output.whole_lines},
      process.plain ? job_.line_prefix() : base::LinePrefix(), rank);
  streams_.push_back({pipe[0], std::move(copy), std::move(lines)});
  return {};
}

std::vector<OutputBuffer*> RanksOutput::buffers() const {
  std::vector<OutputBuffer*> all = output_buffers();
  for (const Stream& stream : streams_)
    if (stream.copy) all.push_back(stream.copy.get());
  return all;
}

void RanksOutput::add_to(tools::PollSet& all) const {
  for (const Stream& stream : streams_)
    if (!stream.lines.is_blocked()) all.add(stream.source);
  for (const OutputBuffer* const buffer : buffers()) buffer->add_to(all);
}

std::optional<std::chrono::steady_clock::time_point> RanksOutput::next() const {
  auto first = screen_ ? screen_->next() : std::nullopt;
  for (const Stream& stream : streams_)
    if (const auto time = stream.lines.next()) first = std::min(first.value_or(*time), *time);
  return first;
}

std::size_t RanksOutput::read(Stream& stream) {
  char bytes[64 << 10];
  const ssize_t got = stream.source >= 0 ? ::read(stream.source, bytes, sizeof bytes) : -1;
  if (got > 0) stream.lines.add({bytes, static_cast<std::size_t>(got)}, LineForwarder::Clock::now());
  if (got == 0) {
    stream.lines.finish();
    ::close(std::exchange(stream.source, -1));
  }
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

void RanksOutput::pass_on() {
  for (OutputBuffer* const buffer : buffers()) buffer->write();
  // The first one that finds no room is the first next time: all get their turn.
  const std::size_t begin = first_;
  bool is_full = false;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::size_t number = (begin + i) % streams_.size();
    Stream& stream = streams_[number];
    if (stream.lines.is_blocked()) {
      if (!std::exchange(is_full, true)) first_ = number;
    } else if (read(stream) == 0) {
      stream.lines.show_beginning(LineForwarder::Clock::now());
    }
  }
  if (screen_) screen_->show();
}

void RanksOutput::finish() {
  for (Stream& stream : streams_) {
    // What is in the pipe, and no more: somebody whom a rank has left behind may still hold the other end.
    const int most = stream.source >= 0 ? ::fcntl(stream.source, F_GETPIPE_SZ) : 0;
    for (int got = 0; got < most;) {
      const std::size_t more = read(stream);
      if (more == 0) break;
      got += static_cast<int>(more);
    }
    stream.lines.finish();
  }
  if (screen_) screen_->show_all();
}

}  // namespace clump::mpiexec
