#include "job/preload_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace clump::mpiexec {

namespace {

constexpr const char* kSpecial = " :$";

}  // namespace

PreloadNames::~PreloadNames() {
  for (const auto& [folder, descriptor] : folders_) ::close(descriptor);
}

base::Status PreloadNames::replace(std::vector<std::string>& libraries) {
  for (std::string& library : libraries) {
    if (library.find_first_of(kSpecial) == std::string::npos) continue;
    const std::size_t slash = library.rfind('/');
    if (slash == std::string::npos || library.find_first_of(kSpecial, slash) != std::string::npos)
      return base::fail(MPI_ERR_NO_SUCH_FILE,
                        "'{}' cannot be preloaded: ld.so takes no name with a space, ':' or '$'; give the "
                        "file another name",
                        library);
    const std::string folder = library.substr(0, slash + 1);
    auto known = folders_.find(folder);
    if (known == folders_.end()) {
      const int descriptor = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (descriptor < 0)
        return base::fail(MPI_ERR_NO_SUCH_FILE, "'{}' cannot be preloaded: its folder cannot be opened: {}",
                          library, std::strerror(errno));
      known = folders_.emplace(folder, descriptor).first;
    }
    library = fmt::format("/proc/{}/fd/{}/{}", ::getpid(), known->second, library.substr(slash + 1));
  }
  return {};
}

}  // namespace clump::mpiexec
