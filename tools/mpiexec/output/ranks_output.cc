#include "output/ranks_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/why_refused.h"

namespace clump::mpiexec {

namespace {

using Tags = pmi::Output::Tags;

base::Status cannot_write(const std::string& path, const std::string& why) {
  return base::fail(MPI_ERR_BAD_FILE,
                    "cannot write {}: {}; name another place by --output-dir (--outfile-pattern, "
                    "--errfile-pattern)",
                    path, why);
}

/// What mpiexec puts in front of the lines of a plain process.
std::string tag_of(Tags tags, int rank) {
  if (tags == Tags::kNumbers) return fmt::format("[{}] ", rank);
  if (tags == Tags::kMarks) return fmt::format("{0}{1}{0}", pmi::kLineMark, rank);
  return {};
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
  if (!path.empty() && (file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
    return cannot_write(path, std::strerror(errno));
  if (file >= 0 && job_.output.to_files_only) return end = file, base::Status{};
  // A process alone writes for itself, and so to a terminal if there is one.
  const bool is_alone = job_.this_node().processes == 1;
  const bool is_read = process.plain && (file >= 0 || job_.output.tags != Tags::kNone);
  if (is_alone && !is_read && !screen_) return {};
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  end = pipe[1];
  streams_.push_back({pipe[0], LineForwarder({target, screen_ ? &*screen_ : nullptr, file},
                                             process.plain ? tag_of(job_.output.tags, rank) : "")});
  return {};
}

void RanksOutput::add_to(tools::PollSet& all) const {
  for (const Stream& stream : streams_) all.add(stream.source);
}

std::optional<std::chrono::steady_clock::time_point> RanksOutput::next() const {
  return screen_ ? screen_->next() : std::nullopt;
}

bool RanksOutput::pass_on() {
  bool any = false;
  char bytes[64 << 10];
  for (Stream& stream : streams_) {
    const ssize_t got = stream.source >= 0 ? ::read(stream.source, bytes, sizeof bytes) : -1;
    if (got > 0) {
      stream.lines.add({bytes, static_cast<std::size_t>(got)});
      any = true;
    } else if (got == 0) {
      stream.lines.finish();
      ::close(std::exchange(stream.source, -1));
    }
  }
  if (screen_) screen_->show();
  return any;
}

void RanksOutput::finish() {
  while (pass_on()) {
  }
  // Somebody whom a rank has left behind may still hold the other end.
  for (Stream& stream : streams_) stream.lines.finish();
  if (screen_) screen_->show_all();
}

}  // namespace clump::mpiexec
