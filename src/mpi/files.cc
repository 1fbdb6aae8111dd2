// Files: opening, closing, sizes, hints, consistency (MPI-5.0 sections 14.2 and 14.6), and their error
// handlers.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/rank.h"
#include "io/errors.h"
#include "io/file.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry.h"
#include "mpi/initialization.h"
#include "mpi/new_comm.h"

namespace clump::mpi {

namespace {

using base::Status;
using io::File;

/// ROMIO's prefixes of file systems ("ufs:/tmp/file", "nfs:...") are left away: the system knows which one it
/// is.
const char* path_of(const char* name) {
  for (const char* const prefix : {"ufs:", "nfs:", "testfs:", "xfs:", "panfs:", "lustre:", "gpfs:"}) {
    const std::size_t length = std::strlen(prefix);
    if (std::strncmp(name, prefix, length) == 0) return name + length;
  }
  return name;
}

}  // namespace

Status file_open(core::Rank&, core::Comm& comm, const char* filename, int amode, core::Info* info,
                 MPI_File* fh) {
  File::Opening opening{.name = path_of(filename), .amode = amode};
  if (info != nullptr) opening.hints.take(*info);
  base::Ref<File> file;
  CLUMP_TRY(File::open(comm, opening, file));
  *fh = comm.owner.add(base::Ref<core::File>(std::move(file)));
  return {};
}

Status file_close(core::Rank& self, MPI_File* fh) {
  const base::Ref<core::File> file(self.file(*fh));
  CLUMP_TRY(File::of(*file).close());
  self.remove(*fh);
  *fh = MPI_FILE_NULL;
  return {};
}

Status file_delete(core::Rank&, const char* filename, core::Info*) {
  return ::unlink(path_of(filename)) == 0 ? Status() : io::system_error(errno, "delete", path_of(filename));
}

Status file_get_amode(core::Rank&, core::File& fh, int* amode) {
  *amode = File::of(fh).amode();
  return {};
}

Status file_get_group(core::Rank& self, core::File& fh, MPI_Group* group) {
  *group = add_group(self, fh.group);
  return {};
}

Status file_get_size(core::Rank&, core::File& fh, MPI_Offset* size) {
  Count bytes = 0;
  CLUMP_TRY(File::of(fh).size(bytes));
  *size = bytes;
  return {};
}

Status file_set_size(core::Rank&, core::File& fh, MPI_Offset size) { return File::of(fh).set_size(size); }
Status file_preallocate(core::Rank&, core::File& fh, MPI_Offset size) {
  return File::of(fh).preallocate(size);
}
Status file_sync(core::Rank&, core::File& fh) { return File::of(fh).sync(); }

Status file_set_info(core::Rank&, core::File& fh, core::Info* info) {
  if (info != nullptr) File::of(fh).hints.take(*info);
  return {};
}

Status file_get_info(core::Rank& self, core::File& fh, MPI_Info* info_used) {
  auto told = std::make_unique<core::Info>(File::of(fh).hints.told());
  told->set("mpi_memory_alloc_kinds", kMemoryKinds);
  *info_used = self.add(std::move(told));
  return {};
}

Status file_set_atomicity(core::Rank&, core::File& fh, int flag) {
  return File::of(fh).set_atomic(flag != 0);
}

Status file_get_atomicity(core::Rank&, core::File& fh, int* flag) {
  *flag = File::of(fh).atomic() ? 1 : 0;
  return {};
}

}  // namespace clump::mpi
