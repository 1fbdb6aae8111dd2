// Hints for files (MPI-5.0 section 14.2.8): the info keys that are understood here.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.h"
#include "base/types.h"
#include "core/info.h"

namespace clump::io {

struct Hints {
  enum class Collective : std::uint8_t { kAutomatic, kNever, kAlways };

  int aggregators = 0;     ///< cb_nodes: processes that write and read for the others; 0: as suits
  Count buffer_bytes = 0;  ///< cb_buffer_size: what one of them collects before it writes; 0: as suits
  Collective reading = Collective::kAutomatic, writing = Collective::kAutomatic;
  mode_t permissions = 0666;  ///< file_perm, octal

  /// Takes over what `info` says. Unknown keys and values are ignored, as the standard asks for.
  void take(const core::Info& info);
  /// What is in effect, for MPI_File_get_info.
  core::Info told() const;

 private:
  core::Info kept_;  // keys that are reserved by the standard, and that this library has no use for
};

}  // namespace clump::io
