#include "output_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace clump::mpiexec {

namespace {

base::Status cannot_write(const std::string& path, const std::string& why) {
  return base::fail(MPI_ERR_BAD_FILE,
                    "cannot write {}: {}; name another place by --output-dir (--outfile-pattern, "
                    "--errfile-pattern)",
                    path, why);
}

}  // namespace

base::Status make_output_files(const pmi::Job& job) {
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

int open_output_file(const pmi::Job& job, int rank, int descriptor) {
  return ::open(job.output_file(rank, descriptor).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
}

}  // namespace clump::mpiexec
