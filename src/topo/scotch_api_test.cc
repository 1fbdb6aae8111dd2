// Are the functions of Scotch what scotch_api.h says? The compiler compares them with the header of Scotch,
// where there is one.
#include "topo/scotch_api.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <type_traits>

#if __has_include(<scotch/scotch.h>)
#include <scotch/scotch.h>
#define HAS_HEADER 1
#endif

namespace clump::topo::scotch {
namespace {

TEST(ScotchApi, IsThatOfTheHeader) {
#ifdef HAS_HEADER
  // The header's types stand for ours; constants of arguments are no part of a function's type.
  static_assert(std::is_same_v<SCOTCH_Num, Num>);
  static_assert(SCOTCH_STRATQUALITY == kQuality && SCOTCH_STRATBALANCE == kBalance);
  static_assert(std::is_same_v<decltype(&::SCOTCH_numSizeof), decltype(Library::num_size)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_memFree), decltype(Library::free)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextAlloc), SCOTCH_Context* (*)()>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextInit), int (*)(SCOTCH_Context*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextExit), void (*)(SCOTCH_Context*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextRandomClone), int (*)(SCOTCH_Context*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextRandomSeed), void (*)(SCOTCH_Context*, Num)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextRandomReset), void (*)(SCOTCH_Context*)>);
  static_assert(
      std::is_same_v<decltype(&::SCOTCH_contextThreadSpawn), int (*)(SCOTCH_Context*, int, const int*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_contextBindGraph),
                               int (*)(SCOTCH_Context*, const SCOTCH_Graph*, SCOTCH_Graph*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_graphAlloc), SCOTCH_Graph* (*)()>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_graphInit), int (*)(SCOTCH_Graph*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_graphExit), void (*)(SCOTCH_Graph*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_graphBuild),
                               int (*)(SCOTCH_Graph*, Num, Num, const Num*, const Num*, const Num*,
                                       const Num*, Num, const Num*, const Num*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_graphMap),
                               int (*)(SCOTCH_Graph*, const SCOTCH_Arch*, SCOTCH_Strat*, Num*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_archAlloc), SCOTCH_Arch* (*)()>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_archInit), int (*)(SCOTCH_Arch*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_archExit), void (*)(SCOTCH_Arch*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_archCmpltw), int (*)(SCOTCH_Arch*, Num, const Num*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_stratAlloc), SCOTCH_Strat* (*)()>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_stratInit), int (*)(SCOTCH_Strat*)>);
  static_assert(std::is_same_v<decltype(&::SCOTCH_stratExit), void (*)(SCOTCH_Strat*)>);
  static_assert(
      std::is_same_v<decltype(&::SCOTCH_stratGraphMapBuild), int (*)(SCOTCH_Strat*, Num, Num, double)>);
#else
  GTEST_SKIP() << "no header of Scotch";
#endif
}

}  // namespace
}  // namespace clump::topo::scotch
