// Which allocator the ranks of a job get: what mpiexec preloads for it, and why.
#pragma once

#include <string>

#include "base/status.h"
#include "inspect/inspect.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// What the job's programs bring or need, one after the other.
class AllocatorNeeds {
 public:
  void note(const image::Verdict& verdict, const pmi::App& app);

  std::string brought;    ///< path of the allocator that a program brings: linked or preloaded
  std::string only_libc;  ///< why it has to be the C library's
  bool is_sanitized = false;
};

struct Allocator {
  std::string library;        ///< preloaded where ranks have images; empty: none
  std::string plain_library;  ///< preloaded where they are processes: only if the user asks for one
  std::string note;           ///< for --explain
};

/// What the user asks for, or mimalloc where nothing speaks against it. On this host, where the largest
/// process needs `mappings` of memory without the allocator's. Fails with MPI_ERR_ARG and a message if there
/// is no such allocator. Reads files.
base::Status choose_allocator(const pmi::Job& job, const AllocatorNeeds& needs, long mappings,
                              Allocator& chosen);

}  // namespace clump::mpiexec
