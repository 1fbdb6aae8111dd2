// Large messages are copied by everyone who waits: the one that matched them, and whoever has nothing better
// to do (fiber/help.h).
#pragma once

#include "datatype/datatype.h"

namespace clump::p2p {

/// datatype::copy() of the packed bytes [offset, offset + bytes), with helpers if they are many. Returns when
/// all are copied. Any thread.
void joint_copy(const datatype::Layout& to, const datatype::Layout& from, Count offset, Count bytes);

}  // namespace clump::p2p
