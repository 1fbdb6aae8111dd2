#include "topo/scotch.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topo/scotch_api.h"

namespace clump::topo {

namespace {

using scotch::Library;
using scotch::Num;

template <typename Function>
void find(void* file, const char* name, Function& function, const char*& missing) {
  function = reinterpret_cast<Function>(::dlsym(file, name));
  if (function == nullptr) missing = name;
}

base::Status load(Library& library) {
  // As Debian, and others, call it.
  void* file = nullptr;
  for (const char* const name : {"libscotch-7.0.so", "libscotch.so.7.0", "libscotch.so.7", "libscotch.so"})
    if (file = ::dlopen(name, RTLD_NOW | RTLD_LOCAL); file != nullptr) break;
  if (file == nullptr)
    return base::fail(MPI_ERR_OTHER,
                      "graphs are placed by Scotch 7, which cannot be loaded here: install it (Debian 12: "
                      "libscotch-7.0, newer ones: libscotch-7.0c), or put its folder into LD_LIBRARY_PATH");
  const char* missing = nullptr;
  find(file, "SCOTCH_numSizeof", library.num_size, missing);
  find(file, "SCOTCH_memFree", library.free, missing);
  find(file, "SCOTCH_contextAlloc", library.new_context, missing);
  find(file, "SCOTCH_contextInit", library.context_init, missing);
  find(file, "SCOTCH_contextExit", library.context_exit, missing);
  find(file, "SCOTCH_contextRandomClone", library.own_random, missing);
  find(file, "SCOTCH_contextRandomSeed", library.seed, missing);
  find(file, "SCOTCH_contextRandomReset", library.reset_random, missing);
  find(file, "SCOTCH_contextThreadSpawn", library.spawn, missing);
  find(file, "SCOTCH_contextBindGraph", library.bind_graph, missing);
  find(file, "SCOTCH_graphAlloc", library.new_graph, missing);
  find(file, "SCOTCH_graphInit", library.graph_init, missing);
  find(file, "SCOTCH_graphExit", library.graph_exit, missing);
  find(file, "SCOTCH_graphBuild", library.build_graph, missing);
  find(file, "SCOTCH_graphMap", library.map_graph, missing);
  find(file, "SCOTCH_archAlloc", library.new_architecture, missing);
  find(file, "SCOTCH_archInit", library.architecture_init, missing);
  find(file, "SCOTCH_archExit", library.architecture_exit, missing);
  find(file, "SCOTCH_archCmpltw", library.weighted_parts, missing);
  find(file, "SCOTCH_stratAlloc", library.new_strategy, missing);
  find(file, "SCOTCH_stratInit", library.strategy_init, missing);
  find(file, "SCOTCH_stratExit", library.strategy_exit, missing);
  find(file, "SCOTCH_stratGraphMapBuild", library.build_strategy, missing);
  if (missing != nullptr)
    return base::fail(MPI_ERR_OTHER, "graphs are placed by Scotch 7; the one here has no {}()", missing);
  if (library.num_size() != sizeof(Num))
    return base::fail(MPI_ERR_OTHER, "the Scotch here counts in {} bytes, not in {}", library.num_size(),
                      sizeof(Num));
  return {};
}

base::Status load_scotch(const Library*& library) {
  static Library loaded;
  static const base::Status status = load(loaded);
  library = &loaded;
  return status;
}

/// One of its objects, from init to exit.
template <typename T>
class Object {
 public:
  Object(const Library& library, T* (*make)(), int (*init)(T*), void (*exit)(T*))
      : library_(library), exit_(exit), object_(make()) {
    if (object_ != nullptr && init(object_) == 0) return;
    library.free(object_);
    object_ = nullptr;
  }
  ~Object() {
    if (object_ == nullptr) return;
    exit_(object_);
    library_.free(object_);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  T* get() const { return object_; }

 private:
  const Library& library_;
  void (*const exit_)(T*);
  T* object_;
};

/// Links as Scotch wants them: its numbers, weights of 1 or more whose sum is no larger than they hold.
struct Arrays {
  std::vector<Num> begins{0}, ends, weights;

  explicit Arrays(const Links& links) {
    constexpr std::int64_t kMost = 1 << 30;
    std::int64_t sum = 0;
    for (int place = 0; place < links.places(); ++place)
      for (const Links::End& end : links.of(place)) sum += end.weight;
    const std::int64_t divisor = sum / kMost + 1;
    for (int place = 0; place < links.places(); ++place) {
      for (const Links::End& end : links.of(place)) {
        ends.push_back(end.place);
        weights.push_back(static_cast<Num>(std::max<std::int64_t>(end.weight / divisor, 1)));
      }
      begins.push_back(static_cast<Num>(ends.size()));
    }
  }
};

}  // namespace

base::Status partition_by_scotch(const Links& links, std::span<const int> sizes, std::span<int> part_of) {
  const Library* found = nullptr;
  CLUMP_TRY(load_scotch(found));
  const Library& library = *found;
  const Arrays arrays(links);
  const Object context(library, library.new_context, library.context_init, library.context_exit);
  const Object graph(library, library.new_graph, library.graph_init, library.graph_exit);
  const Object bound(library, library.new_graph, library.graph_init, library.graph_exit);
  const Object parts(library, library.new_architecture, library.architecture_init, library.architecture_exit);
  const Object strategy(library, library.new_strategy, library.strategy_init, library.strategy_exit);
  const auto count = static_cast<Num>(sizes.size());
  std::vector<Num> result(part_of.size());
  const bool made = context.get() != nullptr && graph.get() != nullptr && bound.get() != nullptr &&
                    parts.get() != nullptr && strategy.get() != nullptr;
  // The same graph is placed in the same way each time: a context has random numbers of its own, if asked.
  if (made && library.own_random(context.get()) == 0) {
    library.seed(context.get(), 1);
    library.reset_random(context.get());
  }
  // Without threads of its own: cores are for ranks.
  const bool done =
      made && library.spawn(context.get(), 1, nullptr) == 0 &&
      library.build_graph(graph.get(), 0, links.places(), arrays.begins.data(), arrays.begins.data() + 1,
                          nullptr, nullptr, static_cast<Num>(arrays.ends.size()), arrays.ends.data(),
                          arrays.weights.data()) == 0 &&
      library.bind_graph(context.get(), graph.get(), bound.get()) == 0 &&
      library.weighted_parts(parts.get(), count, sizes.data()) == 0 &&
      library.build_strategy(strategy.get(), scotch::kQuality | scotch::kBalance, count, 0.01) == 0 &&
      library.map_graph(bound.get(), parts.get(), strategy.get(), result.data()) == 0;
  if (!done)
    return base::fail(MPI_ERR_OTHER, "Scotch cannot divide a graph of {} places into {} parts",
                      links.places(), count);
  std::ranges::copy(result, part_of.begin());
  return {};
}

}  // namespace clump::topo
