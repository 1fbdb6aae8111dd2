// clump fortran: module files belong to a compiler, so those of the installation are of use to one. The
// script that compiles them (bindings/fortran/modules.sh) is installed with their sources.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "commands.h"
#include "common/output.h"
#include "common/places.h"

namespace clump::tools {

int make_fortran_modules(const std::string& compiler) {
  const std::string sources = own_prefix() + "/share/clump/fortran";
  const std::string script = sources + "/modules.sh";
  const std::string include = own_prefix() + "/include";
  if (::access(script.c_str(), R_OK) != 0) {
    print_error(
        "clump: this installation has no Fortran bindings ({} is missing): Clump was built where "
        "there was no gfortran, or its "
        "component 'development' was not installed\n",
        script);
    return 1;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", script.c_str(), compiler.c_str(), sources.c_str(), include.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    std::perror("clump: fork");
    return 1;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

}  // namespace clump::tools
