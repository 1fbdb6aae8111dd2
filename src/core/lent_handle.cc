#include "core/lent_handle.h"

#include "core/rank.h"

namespace clump::core {

LentHandle::LentHandle(Rank& rank, const datatype::Datatype& type, MPI_Datatype programs) : rank_(rank) {
  if (type.is_predefined()) {
    handle_ = handle_of<MPI_Datatype>(type.handle_value());
    way_ = Way::kPredefined;
  } else if (rank.hold(programs, type)) {
    handle_ = programs;
    way_ = Way::kPrograms;
  } else {
    handle_ = rank.add(datatype::Ref(&type));
    way_ = Way::kOwn;
  }
  handle = handle_;
}

LentHandle::~LentHandle() {
  if (way_ == Way::kPrograms) rank_.let_go(handle_);
  if (way_ == Way::kOwn) rank_.remove(handle_);
}

}  // namespace clump::core
