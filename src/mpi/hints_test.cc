#include "mpi/hints.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/test_failure.h"
#include "coll/select/select.h"
#include "core/rank.h"

namespace clump::mpi {
namespace {

using Hint = std::pair<std::string_view, std::string_view>;

core::Info info_of(std::initializer_list<Hint> hints) {
  core::Info info;
  for (const auto& [key, value] : hints) info.set(key, value);
  return info;
}

base::Failure checked(std::initializer_list<Hint> hints) {
  const core::Info info = info_of(hints);
  return base::failure(check_hints(&info));
}

/// A communicator of one rank that has been given hints.
class Hinted {
 public:
  explicit Hinted(std::initializer_list<Hint> hints) {
    const core::Info info = info_of(hints);
    give_hints(*rank_.comm_self, &info);
  }
  /// "key=value" of all that it tells again, one after the other.
  std::string told() const {
    std::string all;
    for (const auto& [key, value] : rank_.comm_self->info.entries()) all += key + "=" + value + ";";
    return all;
  }
  const core::CollectiveWishes* wishes() const { return rank_.comm_self->wishes.get(); }

 private:
  core::World world_;
  core::Rank rank_{world_, world_.launch, 0};
};

TEST(Hints, AreCheckedIfTheyAreKnown) {
  EXPECT_EQ(base::failure(check_hints(nullptr)), base::kNoFailure);
  EXPECT_EQ(checked({{"clump_allreduce_algorithm", "automatic"}, {"clump_reductions", "reproducible"}}),
            base::kNoFailure);
  EXPECT_EQ(checked({{"clump_unknown", "x"}, {"unknown", "x"}, {"mpi_assert_no_any_tag", "maybe"}}),
            base::kNoFailure)
      << "what is not known is no error (MPI-5.0 section 10)";
  EXPECT_EQ(checked({{"clump_eager_limit", "x"}}), base::kNoFailure) << "no control of collectives";
  EXPECT_EQ(checked({{"allreduce_algorithm", "x"}}), base::kNoFailure) << "not our key";
}

TEST(Hints, WithAWrongValueAreNamed) {
  EXPECT_EQ(checked({{"a", "b"}, {"clump_reductions", "slow"}}),
            (base::Failure{MPI_ERR_INFO_VALUE,
                           "info key clump_reductions has the value 'slow': there is fast, reproducible"}));
  const base::Failure told = checked({{"clump_allreduce_algorithm", ""}});
  EXPECT_EQ(told.error_class, MPI_ERR_INFO_VALUE);
  EXPECT_TRUE(
      told.text.starts_with("info key clump_allreduce_algorithm has the value '': there is automatic, "))
      << told.text;
}

TEST(Hints, AreToldAgainIfTheyAreUsed) {
  EXPECT_EQ(Hinted({}).told(), "");
  EXPECT_EQ(Hinted({{"x", "y"},
                    {"clump_unknown", "1"},
                    {"clump_reductions", "reproducible"},
                    {"mpi_assert_no_any_source", "true"},
                    {"mpi_assert_exact_length", "false"}})
                .told(),
            "clump_reductions=reproducible;mpi_assert_no_any_source=true;mpi_assert_exact_length=false;");
  EXPECT_EQ(Hinted({{"mpi_assert_no_any_tag", "yes"}, {"mpi_assert_something", "true"}}).told(), "");
}

TEST(Hints, AreWishesOfTheCommunicator) {
  EXPECT_EQ(Hinted({{"mpi_assert_no_any_tag", "true"}}).wishes(), nullptr);
  const Hinted reproducible({{"clump_reductions", "reproducible"}});
  ASSERT_NE(reproducible.wishes(), nullptr);
  EXPECT_TRUE(reproducible.wishes()->reproducible);
  EXPECT_FALSE(Hinted({{"clump_reductions", "fast"}}).wishes()->reproducible);

  const char* const ring = coll::name_of(coll::Algorithm::kRing);
  const Hinted with_ring({{"clump_allreduce_algorithm", ring}});
  ASSERT_NE(with_ring.wishes(), nullptr);
  const auto allreduce = static_cast<std::size_t>(coll::Collective::kAllreduce);
  for (std::size_t i = 0; i < with_ring.wishes()->wanted.size(); ++i)
    EXPECT_EQ(with_ring.wishes()->wanted[i],
              i == allreduce ? static_cast<int>(coll::Algorithm::kRing) + 1 : 0)
        << i;
}

}  // namespace
}  // namespace clump::mpi
