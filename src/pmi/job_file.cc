#include "pmi/job_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/memory_file.h"
#include "base/why_refused.h"
#include "pmi/job_check.h"

namespace clump::pmi {

namespace {

constexpr off_t kMostBytes = 1 << 30;  // a process has 9, and a program its environment

base::Status read_all(int descriptor, std::string& bytes) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0)
    return base::fail(MPI_ERR_ARG, "the description of the job (CLUMP_JOB_FD={}): {}", descriptor,
                      std::strerror(errno));
  if (info.st_size > kMostBytes)
    return base::fail(MPI_ERR_ARG, "the description of the job (CLUMP_JOB_FD={}) has {} bytes: more than {}",
                      descriptor, info.st_size, kMostBytes);
  bytes.resize(static_cast<std::size_t>(info.st_size));
  const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return {};
}

}  // namespace

base::Status write_job(const Job& job, int& descriptor) {
  const std::string bytes = encode(job);
  const char* call = "memfd_create";
  descriptor = base::memory_file("clump job");
  if (descriptor >= 0) {
    call = "ftruncate";
    if (base::set_size(descriptor, bytes.size())) {
      call = "pwrite";
      if (::pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()))
        return {};
    }
  }
  return base::fail(MPI_ERR_NO_MEM, "no memory for the description of the job: {}",
                    base::why_refused(call, errno));
}

base::Status read_job(int descriptor, int process, Job& job) {
  std::string bytes;
  Job read;
  CLUMP_TRY(read_all(descriptor, bytes));
  CLUMP_TRY(decode(bytes, read));
  if (const std::string wrong = why_not_here(read, process); !wrong.empty())
    return base::fail(
        MPI_ERR_ARG,
        "CLUMP_PROCESS, by which mpiexec numbers this process, is {}: {}; have programs that mpiexec starts "
        "this one by pass its variables on as they are",
        process, wrong);
  job = std::move(read);
  job.process = process;
  return {};
}

}  // namespace clump::pmi
