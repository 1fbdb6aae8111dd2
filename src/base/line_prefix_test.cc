#include "base/line_prefix.h"

#include <gtest/gtest.h>

#include <ctime>
#include <regex>

namespace clump::base {
namespace {

std::string written(const LinePrefix& prefix, int launch, int rank) {
  char line[LinePrefix::kLongestLine];
  return {line, prefix.write(line, launch, rank)};
}

TEST(LinePrefix, HasRankHostAndPercent) {
  EXPECT_TRUE(LinePrefix().is_empty());
  EXPECT_EQ(written(LinePrefix(), 0, 3), "");
  EXPECT_EQ(written(LinePrefix("[%r] ", "h", 0), 0, 3), "[3] ");
  EXPECT_EQ(written(LinePrefix("[%r] ", "h", 0), 1, 3), "[1:3] ");
  EXPECT_EQ(written(LinePrefix("%h:%r 100%% ", "a%rb", 0), 0, 12), "a%rb:12 100% ");
  EXPECT_EQ(written(LinePrefix("%", "h", 0), 0, 1), "%");
}

TEST(LinePrefix, HasTheTime) {
  const std::string text = written(LinePrefix("%t|", "h", 0), 0, 0);
  EXPECT_TRUE(std::regex_match(text, std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\|)"))) << text;
  const auto minute_of = [](std::time_t when) {
    char text[20];
    std::tm utc{};
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", ::gmtime_r(&when, &utc));
    return std::string(text);
  };
  const std::time_t before = std::time(nullptr);
  const std::string east = written(LinePrefix("%t", "h", -3600), 0, 0).substr(0, 16);
  EXPECT_TRUE(east == minute_of(before - 3600) || east == minute_of(std::time(nullptr) - 3600)) << east;
}

TEST(LinePrefix, StaysWithinItsBounds) {
  const std::string many(LinePrefix::kLongest, 'x');
  EXPECT_EQ(written(LinePrefix("%h%h%r", many, 0), 0, 1), many);
  std::string times;
  for (std::size_t i = 0; i < LinePrefix::kLongest / 2; ++i) times += "%t";
  EXPECT_LE(written(LinePrefix(times, "h", 0), 0, 1).size(), LinePrefix::kLongestLine);
}

TEST(LinePrefix, ComplainsOfWhatHasNoMeaning) {
  EXPECT_EQ(LinePrefix::complaint("%r%h%t%% x"), "");
  EXPECT_TRUE(LinePrefix::complaint("a%p").starts_with("'%p' has no meaning"));
  EXPECT_TRUE(LinePrefix::complaint("a%").starts_with("'%' has no meaning"));
  EXPECT_TRUE(LinePrefix::complaint(std::string(200, 'x')).starts_with("200 bytes"));
}

}  // namespace
}  // namespace clump::base
