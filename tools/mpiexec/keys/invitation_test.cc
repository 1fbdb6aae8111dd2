#include "keys/invitation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "base/test_failure.h"

namespace clump::mpiexec {
namespace {

TEST(InvitationTest, IsAWord) {
  Invitation read;
  ASSERT_TRUE(parse(text_of(Invitation{{"10.0.0.1", "fd00::1"}, 40123}), read).ok());
  EXPECT_EQ(read.addresses, (std::vector<std::string>{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(read.port, 40123);
  for (const char* const text : {"", "10.0.0.1", "@", "@1", "10.0.0.1@", "10.0.0.1@x", "10.0.0.1@0",
                                 "10.0.0.1@65536", "10.0.0.1@1x", ",@7"})
    EXPECT_FALSE(parse(text, read).ok()) << text;
}

/// A home folder of its own.
class KeyFileTest : public testing::Test {
 protected:
  void SetUp() override {
    home_ = testing::TempDir() + "clump-keys-XXXXXX";
    ASSERT_NE(::mkdtemp(home_.data()), nullptr);
    before_ = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
    ::setenv("HOME", home_.c_str(), 1);
    file_.choose();
    ASSERT_TRUE(file_.write(key_, {{"10.0.0.1"}, 7}).ok());
  }
  void TearDown() override {
    ::setenv("HOME", before_.c_str(), 1);
    std::filesystem::remove_all(home_);
  }
  static mode_t mode_of(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
  }
  std::string why_refused(const std::string& path) {
    std::optional<Key> key;
    Invitation invitation;
    const base::Status read = read_key_file(path, key, invitation);
    EXPECT_FALSE(key);
    return read.ok() ? "not at all" : base::message_of(read.code());
  }

  const Key key_ = Key::draw();
  KeyFile file_;
  std::string home_, before_;
};

TEST_F(KeyFileTest, IsForThisUserAlone) {
  EXPECT_EQ(mode_of(file_.folder()), 0700U);
  EXPECT_EQ(mode_of(file_.path()), 0600U);
  EXPECT_TRUE(file_.folder().starts_with(home_ + "/.clump-key-"));
  std::optional<Key> key;
  Invitation invitation;
  ASSERT_TRUE(read_key_file(file_.path(), key, invitation).ok());
  EXPECT_EQ(key->text(), key_.text());
  EXPECT_EQ(invitation.port, 7);
}

/// A proxy may look for it before mpiexec has written it.
TEST_F(KeyFileTest, IsThereAsAWholeOrNotAtAll) {
  for (int i = 0; i < 1500; ++i) {
    KeyFile file;
    file.choose();
    std::string seen;
    std::thread proxy([&, path = file.path()] {
      int opened = -1;
      while ((opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) < 0) continue;
      char bytes[1000];
      const ssize_t got = ::read(opened, bytes, sizeof bytes);
      ::close(opened);
      seen.assign(bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    });
    ASSERT_TRUE(file.write(key_, {{"10.0.0.1"}, 7}).ok());
    proxy.join();
    ASSERT_EQ(seen, key_.text() + " 10.0.0.1@7\n") << i;
  }
}

TEST_F(KeyFileTest, IsRemovedWithItsFolder) {
  file_.remove();
  EXPECT_TRUE(std::filesystem::is_empty(home_));
}

TEST_F(KeyFileTest, IsNotReadIfOthersCanReadIt) {
  ASSERT_EQ(::chmod(file_.path().c_str(), 0640), 0);
  EXPECT_NE(why_refused(file_.path()).find("is not a file of this user alone"), std::string::npos);
}

TEST_F(KeyFileTest, IsNotReadIfItIsAnothersOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(file_.path().c_str(), 65534, 65534), 0);
  EXPECT_NE(why_refused(file_.path()).find("is not a file of this user alone"), std::string::npos);
}

TEST_F(KeyFileTest, IsNeitherALinkNorAFifo) {
  const std::string link = home_ + "/link", fifo = home_ + "/fifo";
  ASSERT_EQ(::symlink(file_.path().c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(why_refused(link).find("cannot open " + link), std::string::npos);
  EXPECT_NE(why_refused(fifo).find("is not a file of this user alone"), std::string::npos);
}

TEST_F(KeyFileTest, IsNotWhereAnotherFolderIs) {
  KeyFile other;
  other.choose();
  ASSERT_EQ(::mkdir(other.folder().c_str(), 0777), 0);
  const base::Status written = other.write(key_, {{"10.0.0.1"}, 7});
  ASSERT_FALSE(written.ok());
  EXPECT_NE(base::message_of(written.code()).find("cannot make the folder"), std::string::npos);
}

}  // namespace
}  // namespace clump::mpiexec
