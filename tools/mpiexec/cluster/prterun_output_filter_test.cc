#include "cluster/prterun_output_filter.h"

#include <gtest/gtest.h>

#include <vector>

namespace clump::mpiexec {
namespace {

const std::string kRule = std::string(74, '-') + "\n";

TEST(PrterunOutputFilter, ShowsWhatRanksWrite) {
  PrterunOutputFilter filter("done 17", {"a", "b"});
  EXPECT_EQ(filter.add("a line\nhalf "), "a line\n");
  EXPECT_EQ(filter.add("a line\n"), "half a line\n");
  EXPECT_EQ(filter.add("no end"), "");
  EXPECT_EQ(filter.finish(), "no end");
  EXPECT_EQ(filter.ends(), (std::vector{HostStatus::kUnknown, HostStatus::kUnknown}));
}

TEST(PrterunOutputFilter, TakesFinalStatusesOut) {
  PrterunOutputFilter filter("done 17", {"a", "b"});
  EXPECT_EQ(filter.add("before\n" + final_status("done 17", 1, HostStatus::kDone) + "after\n"),
            "before\nafter\n");
  EXPECT_EQ(filter.ends(), (std::vector{HostStatus::kUnknown, HostStatus::kDone}));
  EXPECT_EQ(filter.add(final_status("done 17", 0, HostStatus::kFailed)), "");
  EXPECT_EQ(filter.ends(), (std::vector{HostStatus::kFailed, HostStatus::kDone}));
}

TEST(PrterunOutputFilter, LeavesOutWhatAnAgentHasReported) {
  PrterunOutputFilter filter("done 17", {"a", "b"});
  EXPECT_EQ(
      filter.add("mpiexec: rank 3 failed\n" + kRule +
                 "prterun detected that one or more processes exited with non-zero status,\n\n  more\n" +
                 kRule + "after\n"),
      "mpiexec: rank 3 failed\nafter\n");
}

// A daemon that ends while it connects: the report of the job says why.
TEST(PrterunOutputFilter, DropsWhatItsLibrariesSayOfConnections) {
  PrterunOutputFilter filter("", {"h0", "h1"});
  EXPECT_EQ(filter.add("[h0:18592] PMIX ERROR: PMIX_ERR_UNREACH in file hdlr.c at line 121\nmpiexec: h1: x\n"),
            "mpiexec: h1: x\n");
}

// Of descriptors that prterun has closed: libevent's words, not the job's.
TEST(PrterunOutputFilter, LeavesOutWhatLibeventSays) {
  PrterunOutputFilter filter("", {"a", "b"});
  EXPECT_EQ(filter.add("[warn] Epoll MOD(4) on fd 22 failed. Old events were 6; read change was 2 (del); "
                       "write change was 0 "
                       "(none); close change was 0 (none): Bad file descriptor\n[warn] mine\n"),
            "[warn] mine\n");
}

TEST(PrterunOutputFilter, KeepsWhatElseStandsBetweenRules) {
  PrterunOutputFilter filter("", {"a", "b"});
  const std::string block = kRule + "All sums are right.\n" + kRule + kRule;
  std::string shown = filter.add(block);
  shown += filter.finish();
  EXPECT_EQ(shown, block);
}

TEST(PrterunOutputFilter, KnowsWhichHostIsLost) {
  PrterunOutputFilter filter("", {"a", "b"});
  EXPECT_EQ(filter.add(kRule + "PRTE has lost communication with a remote daemon.\n" +
                       "  HNP daemon   : [prterun-a-1@0,0] on node a\n" +
                       "  Remote daemon: [prterun-a-1@0,1] on node b\n" + kRule + "after\n"),
            "after\n");
  EXPECT_TRUE(filter.missing().starts_with("lost b: ")) << filter.missing();
}

TEST(PrterunOutputFilter, KnowsWhatIsWrongOnAHost) {
  PrterunOutputFilter filter("done 17", {"a", "b", "c"});
  EXPECT_EQ(filter.add(trouble_line("done 17", Finder::kStarter, "b", 127, "program 'x':\nNo such file") +
                       "between\n" + trouble_line("done 17", Finder::kStarter, "c", 126, "directory") +
                       trouble_line("done 17", Finder::kStarter, "a", 127, "program 'x':\nNo such file")),
            "between\n");
  EXPECT_FALSE(filter.has_begun());
  EXPECT_EQ(filter.troubles().code(), 127);
  EXPECT_EQ(filter.troubles().text(), "mpiexec: b, a: program 'x': No such file\nmpiexec: c: directory\n");
}

TEST(PrterunOutputFilter, KnowsThatRanksBegin) {
  PrterunOutputFilter filter("done 17", {"a", "b"});
  EXPECT_FALSE(filter.has_begun());
  EXPECT_EQ(filter.add(final_status("done 17", 1, HostStatus::kBegun)), "");
  EXPECT_TRUE(filter.has_begun());
  filter.add(trouble_line("done 17", Finder::kStarter, "b", 126, "ssh has ended"));
  EXPECT_FALSE(filter.troubles().any()) << "which is what comes of a lost host";
  filter.add(trouble_line("done 17", Finder::kProxy, "b", 126, "no directory"));
  EXPECT_EQ(filter.troubles().text(), "mpiexec: b: no directory\n");
  EXPECT_EQ(filter.ends(), (std::vector{HostStatus::kUnknown, HostStatus::kUnknown}));
}

TEST(PrterunOutputFilter, SaysOnceWhatSeveralAgentsSay) {
  PrterunOutputFilter filter("", {"a", "b"});
  EXPECT_EQ(filter.add("mpiexec: rank 3\nmpiexec: rank 3\nmpiexec: rank 4\n"),
            "mpiexec: rank 3\nmpiexec: rank 4\n");
  EXPECT_EQ(filter.add("mpiexec: rank 3\nx\nx\n"), "x\nx\n");
}

TEST(PrterunOutputFilter, NamesWhoIsMissing) {
  PrterunOutputFilter filter("done 17", {"127.0.0.1", "clump.invalid", "127.0.0.2"});
  EXPECT_EQ(filter.missing(), "no host has begun: no address is known for clump.invalid");
  filter.add(final_status("done 17", 1, HostStatus::kDone));
  EXPECT_TRUE(filter.missing().starts_with("lost 127.0.0.1 or 127.0.0.2: ")) << filter.missing();
  PrterunOutputFilter other("done 17", {"127.0.0.1", "127.0.0.2"});
  EXPECT_EQ(other.missing(),
            "no host has begun: prterun, which has said why, could not reach 127.0.0.1 or 127.0.0.2");
}

}  // namespace
}  // namespace clump::mpiexec
