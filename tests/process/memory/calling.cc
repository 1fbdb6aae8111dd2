// Programs under an allocator whose start-up uses the C library before the process has begun, as jemalloc's
// does: LD_PRELOAD and linked (calling_allocator.cc). Right: it came before main, no interposed function came
// back to malloc() by itself, and every function that libclump_host.so exports has a row in the allocator's
// table.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <unordered_set>

namespace {

template <typename Function>
Function* asked(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Ours, and what the tools of other layers use.
bool is_of_clump(const char* name) {
  return std::strncmp(name, "_Z", 2) == 0 || std::strncmp(name, "clump_", 6) == 0;
}

/// How many exported functions the allocator does not know.
int count_unknown(bool (*knows)(const char*)) {
  void* const handle = dlopen("libclump_host.so", RTLD_NOW | RTLD_NOLOAD);
  link_map* map = nullptr;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return 1;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* hash = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto place = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(place);
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(place);
    if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t*>(place);
  }
  const std::uint32_t* const buckets = hash + 4 + 2 * hash[2];
  const std::uint32_t* const chain = buckets + hash[0];
  // Further names of a function (src/process/aliases.txt) have its address.
  const auto is_function = [&](std::uint32_t number) {
    return ELF64_ST_TYPE(symbols[number].st_info) == STT_FUNC && symbols[number].st_shndx != SHN_UNDEF;
  };
  std::unordered_set<std::uint64_t> known;
  const auto all = [&](auto use) {
    for (std::uint32_t bucket = 0; bucket < hash[0]; ++bucket) {
      if (buckets[bucket] == 0) continue;
      for (std::uint32_t number = buckets[bucket];; ++number) {
        if (is_function(number)) use(symbols[number], strings + symbols[number].st_name);
        if ((chain[number - hash[1]] & 1) != 0) break;
      }
    }
  };
  all([&](const ElfW(Sym) & symbol, const char* name) {
    if (knows(name)) known.insert(symbol.st_value);
  });
  int unknown = 0;
  all([&](const ElfW(Sym) & symbol, const char* name) {
    if (is_of_clump(name) || known.contains(symbol.st_value)) return;
    std::fprintf(stderr, "libclump_host.so exports %s(): it needs a row in tests/process/memory/calls_*.cc\n",
                 name);
    ++unknown;
  });
  return unknown;
}

}  // namespace

int main(int argc, char** argv) {
  const auto begins = asked<void()>("calling_allocator_main_begins");
  const auto knows = asked<bool(const char*)>("calling_allocator_knows");
  const auto calls = asked<int()>("calling_allocator_calls");
  const auto offender = asked<const char*(int)>("calling_allocator_offender");
  if (begins == nullptr || knows == nullptr || calls == nullptr || offender == nullptr) {
    std::fprintf(stderr, "the allocator is not there\n");
    return 1;
  }
  begins();
  MPI_Init(&argc, &argv);
  int rank = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    if (calls() < 300) std::fprintf(stderr, "only %d functions were called before main\n", calls()), ++wrong;
    for (int i = 0; offender(i) != nullptr; ++i)
      std::fprintf(stderr, "%s() allocates before the process has begun\n", offender(i)), ++wrong;
    wrong += count_unknown(knows);
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
