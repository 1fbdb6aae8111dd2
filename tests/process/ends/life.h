#pragma once

extern "C" {
/// All ranks come here together, each with its own variables: global ones, of its thread, and specific to it.
/// In a child of the rank: writes a byte to the parent, if it has a descriptor for that.
void life_check(const char* where);
void life_tell_parent(int descriptor);
}
