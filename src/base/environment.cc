#include "base/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

namespace clump::base {

bool has_rights_of_file() { return ::getauxval(AT_SECURE) != 0; }

const char* variable(const char* name) { return has_rights_of_file() ? nullptr : std::getenv(name); }

char** obeyed(char** environment) {
  static char* none[] = {nullptr};
  return has_rights_of_file() ? none : environment;
}

char** environment() { return obeyed(environ); }

}  // namespace clump::base
