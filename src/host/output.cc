// What ranks write to stdout and stderr: that it can be seen soon, and that mpiexec learns of what is lost.
//
// Ranks with images print through process/files/output.h. In a plain process the C library's buffers do it,
// and other programs between mpiexec and the rank (a shell) may have put something else in the place of the
// job's stdout: mpiexec names what it has given.
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "host/state.h"
#include "image/symbols.h"
#include "pmi/control.h"
#include "pmi/job.h"
#include "process/files/output.h"

namespace clump::host {

namespace {

std::atomic<bool> is_told{false};

void tell(int rank, int error) {
  if (is_told.exchange(true)) return;
  const std::string packet = pmi::encode(pmi::OutputNote{rank, error});
  (void)!::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL);
}

/// Of a plain process: what the job has given it, as "device:file"; empty if that is not known.
char given[3][64] = {};

bool is_jobs(int descriptor) {
  struct stat info {};
  return ::fstat(descriptor, &info) == 0 && pmi::name_of_file(info) == given[descriptor];
}

void on_failure(const fiber::Identity& rank, int descriptor, int error) {
  if (host().job.here().plain && !is_jobs(descriptor)) return;
  tell(rank.rank, error);
}

/// Writes what the C library still has, while that can be told.
void look_at_stream(std::FILE* stream, int descriptor) {
  if (::fileno(stream) != descriptor || !is_jobs(descriptor) || ::ftrylockfile(stream) != 0) return;
  errno = 0;
  const bool is_lost = ::fflush_unlocked(stream) != 0 || ::ferror_unlocked(stream) != 0;
  const int error = errno;
  ::funlockfile(stream);
  if (is_lost) tell(host().ranks[0].identity.rank, error);
}

void look_at_streams(int, void*) {
  if (::getpid() != host().process) return;  // a child: what it has inherited is its parent's to write
  look_at_stream(stdout, STDOUT_FILENO);
  look_at_stream(stderr, STDERR_FILENO);
}

}  // namespace

void watch_output() { image::output::set_failure_hook(on_failure); }

void watch_plain_output(const char* out, const char* err) {
  std::snprintf(given[STDOUT_FILENO], sizeof given[0], "%s", out != nullptr ? out : "");
  std::snprintf(given[STDERR_FILENO], sizeof given[0], "%s", err != nullptr ? err : "");
  watch_output();
  if (is_jobs(STDOUT_FILENO)) ::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (is_jobs(STDOUT_FILENO) || is_jobs(STDERR_FILENO)) ::on_exit(look_at_streams, nullptr);
}

}  // namespace clump::host
