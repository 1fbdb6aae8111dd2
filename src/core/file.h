// File: what the layers below src/io know of an open file (MPI-5.0 chapter 14): its handle and its error
// handler.
#pragma once

#include <string>
#include <utility>

#include "base/ref.h"
#include "core/errhandler.h"
#include "core/group.h"

namespace clump::core {

/// An open file, as one rank has it. Its contents belong to src/io (io/file.h).
class File : public base::RefCounted {
 public:
  File(std::string name, base::Ref<const Group> group, base::Ref<Errhandler> handler)
      : name(std::move(name)), group(std::move(group)), errhandler(std::move(handler)) {}

  const std::string name;              ///< as the program has given it to MPI_File_open
  const base::Ref<const Group> group;  ///< the ranks that have opened it together
  MPI_File handle = MPI_FILE_NULL;     ///< set by Rank::add()
  ErrhandlerSlot errhandler;
};

}  // namespace clump::core
