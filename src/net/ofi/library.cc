#include "net/ofi/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/adapters.h"

namespace clump::net::ofi {

namespace {

// The oldest interface version that has everything used here; Debian 11 and RHEL 8 have it.
constexpr std::uint32_t kOldest = FI_VERSION(1, 11);

template <typename Function>
bool find(void* file, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(file, name));
  if (function == nullptr) missing = name;
  return function != nullptr;
}

/// libfabric needs the libraries of PSM, whose constructors measure the processor's clock for 100 ms each. On
/// a host without their adapters other libraries of these names are loaded first, which ld.so then takes.
void* open_without_psm(const char* file) {
  static constexpr char kHere = 0;
  Dl_info own{};
  if (base::has_rdma_adapter() || ::dladdr(&kHere, &own) == 0) return nullptr;
  const std::string path = own.dli_fname;
  void* absent[2]{};
  for (int i = 0; const char* const name : {"libpsm_infinipath.so.1", "libpsm2.so.2"})
    absent[i++] = ::dlopen((path.substr(0, path.rfind('/') + 1) + "clump/absent/" + name).c_str(), RTLD_NOW);
  void* const opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  // If libfabric has them, they stay.
  for (void* const one : absent)
    if (one != nullptr) ::dlclose(one);
  return opened;
}

base::Status load(Libfabric& library) {
  constexpr const char* kFile = "libfabric.so.1";
  // Two of its libraries replace Clump's handlers for fatal signals by their own, unless these variables are
  // set.
  for (const char* const variable : {"IPATH_NO_BACKTRACE", "HFI_NO_BACKTRACE"}) ::setenv(variable, "1", 0);
  // By io_uring its tcp would accept connections without a call of accept(), which takes greetings.
  ::setenv("FI_TCP_IO_URING", "0", 1);
  // Never closed: the providers leave threads and exit handlers behind.
  void* file = open_without_psm(kFile);
  if (file == nullptr) file = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr)
    return base::fail(MPI_ERR_OTHER,
                      "several hosts talk through libfabric, which cannot be loaded here: {}; install it on "
                      "every host (Debian and Ubuntu: libfabric1; RHEL: libfabric), or put its folder into "
                      "LD_LIBRARY_PATH",
                      ::dlerror());
  std::string missing;
  if (!find(file, "fi_getinfo", library.getinfo, missing) ||
      !find(file, "fi_freeinfo", library.freeinfo, missing) ||
      !find(file, "fi_dupinfo", library.dupinfo, missing) ||
      !find(file, "fi_fabric", library.fabric, missing) ||
      !find(file, "fi_strerror", library.strerror, missing) ||
      !find(file, "fi_version", library.version, missing))
    return base::fail(MPI_ERR_OTHER, "{} has no {}(): it is not libfabric, or a broken one", kFile, missing);
  if (const std::uint32_t found = library.version(); FI_VERSION_LT(found, kOldest))
    return base::fail(MPI_ERR_OTHER, "{} is libfabric {}.{}; at least {}.{} is needed", kFile,
                      FI_MAJOR(found), FI_MINOR(found), FI_MAJOR(kOldest), FI_MINOR(kOldest));
  return {};
}

}  // namespace

base::Status load_libfabric(const Libfabric*& library) {
  static Libfabric loaded;
  static const base::Status status = load(loaded);
  library = &loaded;
  return status;
}

}  // namespace clump::net::ofi
