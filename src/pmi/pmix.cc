#include "pmi/pmix.h"

#include <dlfcn.h>
#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/environment.h"

namespace clump::pmi::pmix {

namespace {

/// What we need of libpmix.
struct Library {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Abort) abort;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Fence) fence;
  decltype(&PMIx_Resolve_nodes) resolve_nodes;
  decltype(&PMIx_Resolve_peers) resolve_peers;
  decltype(&PMIx_Error_string) error_string;
};

Library library;
pmix_proc_t me;
int job_size = 0;

template <typename Function>
bool find(void* object, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(object, name));
  return function != nullptr;
}

bool find_all(void* object) {
  return find(object, "PMIx_Init", library.init) && find(object, "PMIx_Finalize", library.finalize) &&
         find(object, "PMIx_Abort", library.abort) && find(object, "PMIx_Put", library.put) &&
         find(object, "PMIx_Commit", library.commit) && find(object, "PMIx_Get", library.get) &&
         find(object, "PMIx_Fence", library.fence) &&
         find(object, "PMIx_Resolve_nodes", library.resolve_nodes) &&
         find(object, "PMIx_Resolve_peers", library.resolve_peers) &&
         find(object, "PMIx_Error_string", library.error_string);
}

/// The server's own version first, where it tells (PMIX_PREFIX): others may misunderstand it. Then the
/// system's, with which servers like Slurm's are linked; then what an installation of Clump has brought
/// along.
base::Status load(const std::string& brought) {
  std::vector<std::string> names;
  if (const char* const prefix = base::variable("PMIX_PREFIX"))
    names = {fmt::format("{}/lib/openmpi/libpmix.so.2", prefix), fmt::format("{}/lib/libpmix.so.2", prefix)};
  names.emplace_back("libpmix.so.2");
  if (!brought.empty()) names.push_back(brought);
  std::string tried;
  for (const std::string& name : names) {
    void* const object = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object != nullptr && find_all(object)) return {};
    tried += fmt::format("\n  {}", object != nullptr ? name + ": it is older than PMIx 4" : ::dlerror());
  }
  return base::fail(
      MPI_ERR_SPAWN,
      "a PMIx server has started this process, and its client library is missing: install libpmix2 "
      "(Debian, Ubuntu) or pmix on every host; tried:{}",
      tried);
}

base::Status check(pmix_status_t outcome, std::string_view what) {
  if (outcome == PMIX_SUCCESS) return {};
  return base::fail(MPI_ERR_SPAWN, "PMIx cannot {}: {}", what, library.error_string(outcome));
}

pmix_proc_t process(pmix_rank_t rank) {
  pmix_proc_t other = me;
  other.rank = rank;
  return other;
}

/// How many processes there are; 0 if the server does not tell.
int find_size() {
  const pmix_proc_t all = process(PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  if (library.get(&all, PMIX_JOB_SIZE, nullptr, 0, &value) != PMIX_SUCCESS) return 0;
  const std::unique_ptr<pmix_value_t, decltype(&std::free)> kept(value, std::free);
  return value->type == PMIX_UINT32 ? static_cast<int>(value->data.uint32) : 0;
}

std::span<const std::byte> bytes_of(const pmix_value_t& value) {
  if (value.type != PMIX_BYTE_OBJECT) return {};
  return {reinterpret_cast<const std::byte*>(value.data.bo.bytes), value.data.bo.size};
}

}  // namespace

base::Status join(const std::string& brought) {
  CLUMP_TRY(load(brought));
  CLUMP_TRY(check(library.init(&me, nullptr, 0), "reach the server that has started this process"));
  job_size = find_size();
  if (job_size > 0) return {};
  return base::fail(MPI_ERR_SPAWN, "PMIx does not tell how many processes were started");
}

int rank() { return static_cast<int>(me.rank); }

int size() { return job_size; }

base::Status hosts(std::vector<std::string>& of_rank) {
  of_rank.assign(static_cast<std::size_t>(job_size), {});
  char* names = nullptr;
  CLUMP_TRY(check(library.resolve_nodes(me.nspace, &names), "tell the job's hosts"));
  const std::unique_ptr<char, decltype(&std::free)> kept(names, std::free);
  std::istringstream list(names != nullptr ? names : "");
  for (std::string name; std::getline(list, name, ',');) {
    pmix_proc_t* there = nullptr;
    std::size_t count = 0;
    CLUMP_TRY(check(library.resolve_peers(name.c_str(), me.nspace, &there, &count), "tell who is on a host"));
    for (std::size_t i = 0; i < count; ++i)
      if (there[i].rank < of_rank.size()) of_rank[there[i].rank] = name;
    std::free(there);
  }
  const auto missing = std::ranges::find(of_rank, std::string());
  if (missing == of_rank.end()) return {};
  return base::fail(MPI_ERR_SPAWN, "PMIx does not tell which host rank {} is on", missing - of_rank.begin());
}

base::Status put(const char* key, std::span<const std::byte> value) {
  pmix_value_t told{};
  told.type = PMIX_BYTE_OBJECT;
  // PMIx copies it.
  told.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(value.data()));
  told.data.bo.size = value.size();
  return check(library.put(PMIX_GLOBAL, key, &told), "tell the other processes something");
}

base::Status get(int rank, const char* key, std::vector<std::byte>& value) {
  const pmix_proc_t other = process(static_cast<pmix_rank_t>(rank));
  pmix_value_t* got = nullptr;
  CLUMP_TRY(check(library.get(&other, key, nullptr, 0, &got), "look up what another process has told"));
  const auto bytes = bytes_of(*got);
  value.assign(bytes.begin(), bytes.end());
  std::free(got->data.bo.bytes);
  std::free(got);
  return {};
}

base::Status exchange() {
  pmix_info_t with_data{};
  std::strncpy(with_data.key, PMIX_COLLECT_DATA, sizeof with_data.key - 1);
  with_data.value.type = PMIX_BOOL;
  with_data.value.data.flag = true;
  CLUMP_TRY(check(library.commit(), "tell the other processes something"));
  return check(library.fence(nullptr, 0, &with_data, 1), "exchange data with the other processes");
}

base::Status fence() { return check(library.fence(nullptr, 0, nullptr, 0), "wait for the other processes"); }

void abort(int code, const char* why) { library.abort(code, why, nullptr, 0); }

void leave() { library.finalize(nullptr, 0); }

}  // namespace clump::pmi::pmix
