// A buffer of a call, as everything below takes it.
#pragma once

#include "datatype/datatype.h"

namespace clump::mpi {

inline datatype::Layout layout(const void* buffer, Count count, const datatype::Datatype& type) {
  return {const_cast<void*>(buffer), count, &type};
}

}  // namespace clump::mpi
