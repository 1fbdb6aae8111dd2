// The functions of Scotch 7 that topo/scotch.cc calls, as its C library exports them where SCOTCH_Num is an
// int.
//
// They are declared here instead of being taken from <scotch/scotch.h>, since the packages that have that
// header bring another MPI library along (Debian's libscotch-dev: Open MPI). `scotch_api_test.cc` compares
// them with the header where there is one.
#pragma once

namespace clump::topo::scotch {

/// Objects are made by the library itself: their sizes differ from release to release.
struct Context;
struct Graph;
struct Architecture;
struct Strategy;

using Num = int;

/// Bits of SCOTCH_stratGraphMapBuild()'s second argument.
constexpr Num kQuality = 0x1;
constexpr Num kBalance = 0x4;

/// Read only after load() in scotch.cc has filled it. Any thread.
struct Library {
  int (*num_size)() = nullptr;
  void (*free)(void*) = nullptr;
  Context* (*new_context)() = nullptr;
  int (*context_init)(Context*) = nullptr;
  void (*context_exit)(Context*) = nullptr;
  int (*own_random)(Context*) = nullptr;
  void (*seed)(Context*, Num) = nullptr;
  void (*reset_random)(Context*) = nullptr;
  int (*spawn)(Context*, int threads, const int* cores) = nullptr;
  int (*bind_graph)(Context*, const Graph*, Graph* bound) = nullptr;
  Graph* (*new_graph)() = nullptr;
  int (*graph_init)(Graph*) = nullptr;
  void (*graph_exit)(Graph*) = nullptr;
  int (*build_graph)(Graph*, Num base, Num vertices, const Num* begins, const Num* ends, const Num* loads,
                     const Num* labels, Num arcs, const Num* neighbors, const Num* weights) = nullptr;
  int (*map_graph)(Graph*, const Architecture*, Strategy*, Num* parts) = nullptr;
  Architecture* (*new_architecture)() = nullptr;
  int (*architecture_init)(Architecture*) = nullptr;
  void (*architecture_exit)(Architecture*) = nullptr;
  int (*weighted_parts)(Architecture*, Num count, const Num* sizes) = nullptr;
  Strategy* (*new_strategy)() = nullptr;
  int (*strategy_init)(Strategy*) = nullptr;
  void (*strategy_exit)(Strategy*) = nullptr;
  int (*build_strategy)(Strategy*, Num flags, Num parts, double imbalance) = nullptr;
};

}  // namespace clump::topo::scotch
