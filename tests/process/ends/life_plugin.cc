// Is opened by a constructor of the program: see life.cc.
#include "life.h"

namespace {

struct Object {
  Object() { life_check("constructor of the plugin's object"); }
  ~Object() { life_check("destructor of the plugin's object"); }
} object;

}  // namespace
