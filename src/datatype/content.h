// Content: what the two ends of a message have to agree about (MPI-5.0 section 3.3.1), in a few words that
// can be sent: the sequence of basic types, and the bytes. How the types were made makes no difference, and
// neither does where the data lie.
#pragma once

#include "datatype/datatype.h"

namespace clump::datatype {

struct Content {
  Signature signature;
  Count bytes = 0;

  static Content of(const Layout& layout) {
    return layout.count == 0 ? Content()
                             : Content{layout.type->signature().times(layout.count), layout.bytes()};
  }
};

/// Whether what one of them describes may be received as the other, all of it: the same basic types in the
/// same order, of which MPI_BYTE is one that matches only itself; or as many bytes, if one is packed.
inline bool matches(const Content& a, const Content& b) {
  return a.bytes == b.bytes && (a.signature.packed || b.signature.packed || a.signature == b.signature);
}

}  // namespace clump::datatype
