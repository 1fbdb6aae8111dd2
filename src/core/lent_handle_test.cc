// A handle that a function of the program gets, while another thread of the rank frees the type.
#include "core/lent_handle.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "core/rank.h"
#include "datatype/derive.h"

namespace {

thread_local bool stops_after_unlock = false;
std::atomic<bool> has_stopped{false}, goes_on{false};

}  // namespace

/// In place of the C library's: the thread that frees the type stops when it first gives a lock back.
extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_unlock"));
  const int result = real(mutex);
  if (stops_after_unlock) {
    stops_after_unlock = false;
    has_stopped.store(true);
    while (!goes_on.load()) std::this_thread::yield();
  }
  return result;
}

namespace clump::core {
namespace {

TEST(LentHandle, NamesTheTypeAlthoughAnotherThreadFreesIt) {
  static World world;
  world.launch.size = 2;
  static Rank rank(world, world.launch, 0);
  datatype::Made made;
  ASSERT_TRUE(datatype::make_contiguous(3, *datatype::predefined(MPI_INT), made).ok());
  const datatype::Ref type = made.type;
  const MPI_Datatype programs = rank.add(type);
  std::thread frees([&] {
    stops_after_unlock = true;
    rank.remove(programs);
  });
  while (!has_stopped.load()) std::this_thread::yield();
  {
    const LentHandle lent(rank, *type, programs);
    goes_on.store(true);
    frees.join();
    EXPECT_EQ(rank.datatype(lent.handle), type.get());
  }
  EXPECT_EQ(rank.datatype(programs), nullptr);
}

}  // namespace
}  // namespace clump::core
