#include "output/held_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/lines.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {
namespace {

// A file has always more to read, as prterun's pipe does where ranks write without end. The buffer takes all
// of it.
TEST(HeldOutput, ReadsNoMoreInATurnThanTheLoopCanWaitFor) {
  constexpr off_t kMuch = 64 << 20, kLittle = 2 << 20;
  const int source = ::memfd_create("source", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(source, kMuch), 0);
  const int target = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(target, 0);
  OutputBuffer buffer(target);
  LineForwarder lines({.descriptor = STDOUT_FILENO, .out = &buffer}, "");
  HeldOutput held;
  held.read_from(source);
  held.write_to(lines);
  held.release();
  held.transfer();
  const off_t first = ::lseek(source, 0, SEEK_CUR);
  EXPECT_GT(first, 0);
  EXPECT_LT(first, kLittle);
  held.transfer();
  EXPECT_EQ(::lseek(source, 0, SEEK_CUR), 2 * first);
  EXPECT_EQ(buffer.kept(), 0);
  ::close(source);
  ::close(target);
}

}  // namespace
}  // namespace clump::mpiexec
