// Datatypes: which bytes of a buffer a message consists of (MPI-5.0 chapter 5).
//
// A Datatype is immutable once made, and reference counted: the handle that the user holds, the types built from it and
// the operations that use it each hold a reference, so MPI_Type_free never pulls a type from under a pending message.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/types.h"

namespace clump::datatype {

class Datatype;

/// A shared, reference-counted datatype. Copying is an atomic increment; predefined types are never freed.
class Ref;

/// `count` elements of `type` at `base`: the bytes of a message, where they lie. Does not own anything.
struct Layout {
  void* base = nullptr;
  Count count = 0;
  const Datatype* type = nullptr;

  Count bytes() const;  ///< packed size: count * type->size()
};

/// Copies the packed bytes [offset, offset + bytes) of `from` to the same places of `to`, without packing in between.
/// Both layouts must hold that many bytes. Different parts of one pair may be copied by different threads at the same time.
void copy(const Layout& to, const Layout& from, Count offset, Count bytes);
/// The packed bytes [offset, offset + out.size()) of `from`.
void pack(std::span<std::byte> out, const Layout& from, Count offset);
/// The reverse.
void unpack(const Layout& to, Count offset, std::span<const std::byte> in);

}  // namespace clump::datatype
