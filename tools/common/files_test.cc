// Files that tools read and write, with links and FIFOs in their place.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "common/new_file.h"
#include "common/text_file.h"

namespace clump::tools {
namespace {

constexpr uid_t kOther = 65534;

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = testing::TempDir() + "clump_files_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Why it is not; empty: it is.
  std::string write(const std::string& to, const std::string& text) const {
    std::string why;
    if (!may_write(to, why)) return why;
    NewFile file(to);
    if (file) std::fputs(text.c_str(), file.stream());
    return file && file.finish() ? "" : file.why();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  bool give_away(const std::string& name) const { return ::lchown(path(name).c_str(), kOther, kOther) == 0; }

  std::string folder_;
};

TEST_F(Files, AppearAsAWhole) {
  put("file", "before");
  {
    NewFile unfinished(path("file"));
    ASSERT_TRUE(unfinished);
    std::fputs("half", unfinished.stream());
    EXPECT_EQ(get("file"), "before");
  }
  EXPECT_EQ(get("file"), "before");
  EXPECT_EQ(write(path("file"), "after"), "");
  EXPECT_EQ(get("file"), "after");
  EXPECT_EQ(entries(), 1u) << "nothing else is left";
  const mode_t mask = ::umask(027);
  EXPECT_EQ(write(path("other"), ""), "");
  ::umask(mask);
  EXPECT_EQ(std::filesystem::status(path("other")).permissions(), std::filesystem::perms{0640});
  std::filesystem::permissions(path("other"), std::filesystem::perms{0600});
  EXPECT_EQ(write(path("other"), ""), "");
  EXPECT_EQ(std::filesystem::status(path("other")).permissions(), std::filesystem::perms{0600})
      << "as it was";
}

TEST_F(Files, AreWrittenInPlaceInAFolderThatIsNotWritable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to all folders";
  EXPECT_EQ(write(path("own"), "before"), "");
  std::filesystem::permissions(path(""), std::filesystem::perms{0500});
  std::string why;
  EXPECT_TRUE(may_write(path("own"), why)) << why;
  EXPECT_EQ(write(path("own"), "after"), "");
  EXPECT_FALSE(may_write(path("other"), why));
  std::filesystem::permissions(path(""), std::filesystem::perms{0700});
  EXPECT_EQ(get("own"), "after");
}

TEST_F(Files, FollowOwnLinks) {
  ASSERT_EQ(::symlink("target", path("link").c_str()), 0);
  EXPECT_EQ(write(path("link"), "text"), "");
  EXPECT_EQ(get("target"), "text");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(Files, ReplaceLinksAndPipesOfOthers) {
  put("target", "precious");
  ASSERT_EQ(::symlink("target", path("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0666), 0);
  if (!give_away("link") || !give_away("fifo")) GTEST_SKIP() << "only root makes files of other users";
  for (const char* const name : {"link", "fifo"}) {
    EXPECT_EQ(write(path(name), "text"), "") << name;
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path(name)))) << name;
    EXPECT_EQ(get(name), "text");
  }
  EXPECT_EQ(get("target"), "precious");
}

TEST_F(Files, DevicesAndDescriptorsStayWhatTheyAre) {
  EXPECT_EQ(write("/dev/null", "text"), "");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(write("/dev/fd/" + std::to_string(ends[1]), "text"), "");
  char text[5] = {};
  EXPECT_EQ(::read(ends[0], text, 4), 4);
  EXPECT_STREQ(text, "text");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Files, OwnPipesAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(write(path("fifo"), "text"), "it is a FIFO from which nothing reads");
  const int reader = ::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(write(path("fifo"), "text"), "");
  char text[5] = {};
  EXPECT_EQ(::read(reader, text, 4), 4);
  ::close(reader);
}

TEST_F(Files, CannotBeWrittenEverywhere) {
  EXPECT_NE(write(path("no/file"), ""), "");
  EXPECT_EQ(write(folder_, ""), "Is a directory");
}

TEST_F(Files, AreReadFromPipes) {
  std::string text, why;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (const char* const part : {"one\n", "two\n"}) {
      EXPECT_EQ(::write(ends[1], part, 4), 4);
      ::usleep(1000);
    }
    ::close(ends[1]);
  });
  EXPECT_TRUE(read_file("/dev/fd/" + std::to_string(ends[0]), text, why)) << why;
  writer.join();
  ::close(ends[0]);
  EXPECT_EQ(text, "one\ntwo\n");

  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::thread late([&] {
    ::usleep(1000);
    put("fifo", "late");
  });
  EXPECT_TRUE(read_file(path("fifo"), text, why)) << why;
  late.join();
  EXPECT_EQ(text, "late");
}

TEST_F(Files, OfOthersAreNotWaitedFor) {
  std::string text, why;
  put("file", "text");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0666), 0);
  if (!give_away("fifo") || !give_away("file")) GTEST_SKIP() << "only root makes files of other users";
  EXPECT_FALSE(read_file(path("fifo"), text, why));
  EXPECT_EQ(why, "it is a FIFO of another user (uid 65534)");
  EXPECT_TRUE(read_file(path("file"), text, why)) << why;
  EXPECT_EQ(text, "text");
}

TEST_F(Files, ThatAreNone) {
  std::string text, why;
  EXPECT_FALSE(read_file(path("none"), text, why));
  EXPECT_EQ(why, "No such file or directory");
  EXPECT_FALSE(read_file(folder_, text, why));
  EXPECT_EQ(why, "Is a directory");
  EXPECT_TRUE(read_file("/dev/null", text, why)) << why;
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace clump::tools
