// plugins PLUGIN: dlopen() and its kin as one rank sees them.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "rank.h"

__attribute__((visibility("default"))) int number_of_program = 1;  // for the plugin

namespace {

using Add = int (*)(int);

Add find(void* library) { return reinterpret_cast<Add>(dlsym(library, "plugin_add")); }

}  // namespace

int main(int argc, char** argv) {
  const int rank = begin_rank();
  if (argc != 2) return 2;
  std::printf("not open %d\n", dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == nullptr);
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  std::printf("same handle %d\n", dlopen(argv[1], RTLD_LAZY) == library);
  Add add = find(library);
  MPI_Barrier(MPI_COMM_WORLD);
  std::printf("%d\n", add(rank) - 1001 * rank);
  int in_thread = 0;
  std::thread([&] { in_thread = add(1); }).join();
  std::printf("%d %d\n", in_thread - 1000 * rank, number_of_program - rank);

  Dl_info info{};
  const int known = dladdr(reinterpret_cast<void*>(add), &info);
  std::printf("dladdr %d %s\n", known, info.dli_sname);
  std::printf("default %d\n", dlsym(RTLD_DEFAULT, "number_of_program") == &number_of_program);
  std::printf("next %d\n", dlsym(RTLD_NEXT, "strlen") != nullptr);
  const bool undefined =
      dlsym(library, "no_such_symbol") == nullptr && std::strstr(dlerror(), "no_such_symbol") != nullptr;
  const bool missing =
      dlopen("libno_such_library.so", RTLD_NOW) == nullptr && std::strstr(dlerror(), "libno_such") != nullptr;
  std::printf("errors %d %d %d\n", undefined, missing, dlerror() == nullptr);
  dlclose(library);
  std::printf("still open\n");
  dlclose(library);
  MPI_Barrier(MPI_COMM_WORLD);

  library = dlopen(argv[1], RTLD_NOW);
  std::printf("%d\n", find(library)(0));
  MPI_Finalize();
  return 0;
}
