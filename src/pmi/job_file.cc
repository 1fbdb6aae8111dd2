#include "pmi/job_file.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/memory_file.h"
#include "base/why_refused.h"

namespace clump::pmi {

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

}  // namespace clump::pmi
