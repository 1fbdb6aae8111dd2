#include "base/why_refused.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/memory_file.h"

namespace clump::base {
namespace {

/// Sets a soft limit for as long as it lives.
class SoftLimit {
 public:
  SoftLimit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource, &before_);
    rlimit changed = before_;
    changed.rlim_cur = value;
    EXPECT_EQ(::setrlimit(resource, &changed), 0);
  }
  ~SoftLimit() { ::setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

TEST(WhyRefused, NamesTheLimitAndItsValue) {
  const SoftLimit files(RLIMIT_NOFILE, 77);
  EXPECT_EQ(
      why_refused("open", EMFILE)
          .rfind("open: Too many open files: RLIMIT_NOFILE (ulimit -n) is 77; raise it with ulimit -n", 0),
      0U)
      << why_refused("open", EMFILE);
  const SoftLimit space(RLIMIT_AS, rlim_t{1} << 40);
  EXPECT_NE(why_refused("mmap", ENOMEM).find("RLIMIT_AS (ulimit -v) is 1073741824 KiB"), std::string::npos);
  EXPECT_NE(limits_of_memory().find("RLIMIT_AS (ulimit -v) is 1073741824 KiB"), std::string::npos);
}

TEST(WhyRefused, SaysNoMoreThanTheErrorWhereNoLimitIsKnown) {
  EXPECT_EQ(why_refused("open", ENOENT), "open: No such file or directory");
}

TEST(WhyRefused, NamesTheKernelThatHasNoSuchCall) {
  if (has_call_filter()) GTEST_SKIP() << "a filter of system calls is in force";
  EXPECT_NE(why_refused("membarrier", ENOSYS).find("this kernel, Linux "), std::string::npos);
}

TEST(MemoryFile, GrowsNoFurtherThanTheLimitOfFilesAndRaisesNoSignal) {
  const int file = memory_file("trial");
  ASSERT_GE(file, 0);
  const SoftLimit size(RLIMIT_FSIZE, 8192);
  EXPECT_TRUE(set_size(file, 8192));
  EXPECT_FALSE(set_size(file, 8193));  // SIGXFSZ would end the test
  EXPECT_EQ(errno, EFBIG);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGXFSZ), 0);
  ::close(file);
}

}  // namespace
}  // namespace clump::base
