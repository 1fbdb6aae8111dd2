// CallSignatures and checks, without entry points around them.
#include "coll/check/check.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

const datatype::Datatype& type(MPI_Datatype handle) { return *datatype::predefined(handle); }
Layout some(Count count, MPI_Datatype handle) { return {nullptr, count, &type(handle)}; }

CallSignature call_signature_of(const char* name, int root = CallSignature::kNoRoot) {
  CallSignature signature;
  signature.set_name(name);
  signature.root = root;
  return signature;
}

Difference between(const CallSignature& a, const CallSignature& b, bool inter = false) {
  const Difference there = difference({a, 0}, {b, 1}, inter);
  EXPECT_EQ(there, difference({b, 1}, {a, 0}, inter)) << "both ranks have to find the same";
  return there;
}

TEST(CallSignatures, NameTheFunctionButNotItsForm) {
  EXPECT_EQ(between(call_signature_of("MPI_Bcast", 0), call_signature_of("MPI_Bcast_c", 0)),
            Difference::kNone);
  EXPECT_EQ(between(call_signature_of("MPI_Bcast", 0), call_signature_of("MPI_Ibcast", 0)),
            Difference::kCall);
  EXPECT_EQ(between(call_signature_of("MPI_Bcast", 0), call_signature_of("MPI_Bcast", 1)), Difference::kRoot);
}

TEST(CallSignatures, CompareOperations) {
  CallSignature a = call_signature_of("MPI_Allreduce"), b = a;
  a.operation = number_of(core::Op(MPI_SUM));
  b.operation = number_of(core::Op(MPI_MAX));
  EXPECT_EQ(between(a, b), Difference::kOperation);
  MPI_User_function* const none = nullptr;
  a.operation = number_of(core::Op(none, true));
  EXPECT_EQ(between(a, b), Difference::kOperation);
  b.operation = number_of(core::Op(none, true));
  EXPECT_EQ(between(a, b), Difference::kNone);
  b.operation = number_of(core::Op(none, false));
  EXPECT_EQ(between(a, b), Difference::kOperation);
}

TEST(CallSignatures, TellOwnOperationsOfOneFileApart) {
  CallSignature a = call_signature_of("MPI_Allreduce"), b = a;
  MPI_User_function* const none = nullptr;
  a.operation = b.operation = number_of(core::Op(none, true));
  a.place_of_operation = 10, b.place_of_operation = 20;
  EXPECT_EQ(between(a, b), Difference::kNone) << "nobody knows their files";
  a.file_of_operation = 1;
  EXPECT_EQ(between(a, b), Difference::kNone);
  b.file_of_operation = 3;
  EXPECT_EQ(between(a, b), Difference::kNone);
  b.file_of_operation = 1;
  EXPECT_EQ(between(a, b), Difference::kOperation);
  b.place_of_operation = 10;
  EXPECT_EQ(between(a, b), Difference::kNone);
}

TEST(CallSignatures, CompareOtherArguments) {
  CallSignature a = call_signature_of("MPI_Cart_create"), b = a;
  a.arguments = 1, b.arguments = 2;
  EXPECT_EQ(between(a, b), Difference::kArguments);
}

TEST(CallSignatures, KnowTheRootsOfIntercommunicators) {
  const auto roots = [](int a, int b) {
    return between(call_signature_of("MPI_Bcast", a), call_signature_of("MPI_Bcast", b),
                   true);  // ranks 0 and 1 of two groups
  };
  EXPECT_EQ(roots(1, MPI_ROOT), Difference::kNone);
  EXPECT_EQ(roots(0, MPI_PROC_NULL), Difference::kNone);
  EXPECT_EQ(roots(0, MPI_ROOT), Difference::kRoot);
  EXPECT_EQ(roots(1, MPI_PROC_NULL), Difference::kRoot);
  EXPECT_EQ(roots(MPI_ROOT, MPI_ROOT), Difference::kRoot);
  EXPECT_EQ(roots(1, 0), Difference::kRoot);
}

TEST(CallSignatures, CompareWhatIsGivenWithWhatIsTaken) {
  CallSignature a = call_signature_of("MPI_Alltoallv"), b = a;
  a.gives = datatype::Content::of(some(4, MPI_INT));
  b.takes = datatype::Content::of(some(4, MPI_INT));
  EXPECT_EQ(between(a, b), Difference::kNone);
  b.takes = datatype::Content::of(some(5, MPI_INT));
  EXPECT_EQ(between(a, b), Difference::kAmount);
  b.takes = datatype::Content::of(some(4, MPI_FLOAT));
  EXPECT_EQ(between(a, b), Difference::kType);
  b.takes = datatype::Content::of(some(4, MPI_DOUBLE));
  EXPECT_EQ(between(a, b), Difference::kType);
  b.takes = {};
  EXPECT_EQ(between(a, b), Difference::kAmount);
}

/// What all ranks of a job are told; each makes its call with `call(comm)`.
template <typename Call>
std::set<std::string> told(int size, Call call) {
  Job job(size);
  std::mutex mutex;
  std::set<std::string> texts;
  job.run([&](core::Comm& comm) {
    const base::Status status = Check(comm, call(comm)).run();
    const std::lock_guard lock(mutex);
    texts.insert(status.ok() ? "fine"
                             : fmt::format("{} {}", base::name_of_class(status.error_class()),
                                           base::message_of(status.code())));
  });
  return texts;
}

/// One text, in which all of these are.
void expect_told(const std::set<std::string>& texts, std::initializer_list<const char*> parts) {
  ASSERT_EQ(texts.size(), 1u) << *texts.begin() << "\n" << *texts.rbegin();
  for (const char* part : parts)
    EXPECT_NE(texts.begin()->find(part), std::string::npos) << "'" << part << "' in " << *texts.begin();
}

TEST(Checks, SayNothingToRanksThatAgree) {
  for (const int size : {1, 2, 5, 8}) {
    expect_told(told(size,
                     [](core::Comm& comm) {
                       // Rank i gives j elements to rank j, which takes them.
                       Check::Call call{.name = "MPI_Alltoallv"};
                       call.gives = [](int peer) { return some(peer, MPI_INT); };
                       call.takes = [rank = comm.rank](int) { return some(rank, MPI_INT); };
                       return call;
                     }),
                {"fine"});
  }
}

TEST(Checks, TellAllRanksOfTheLowestTwoThatDiffer) {
  expect_told(told(7,
                   [](core::Comm& comm) {
                     Check::Call call{.name = "MPI_Alltoallv"};
                     const int rank = comm.rank;
                     call.gives = [=](int peer) { return some(rank == 4 && peer == 2 ? 3 : 1, MPI_INT); };
                     call.takes = [=](int peer) {
                       return some(1, rank == 6 && peer == 5 ? MPI_FLOAT : MPI_INT);
                     };
                     return call;
                   }),
              {"MPI_ERR_TRUNCATE rank 2 and rank 4",
               "rank 2: MPI_Alltoallv(1 x MPI_INT to rank 4, 1 x MPI_INT from rank 4)",
               "rank 4: MPI_Alltoallv(3 x MPI_INT to rank 2, 1 x MPI_INT from rank 2)"});
}

TEST(Checks, TellOfDifferentCalls) {
  expect_told(told(3,
                   [](core::Comm& comm) {
                     return Check::Call{.name = comm.rank == 2 ? "MPI_Finalize" : "MPI_Barrier"};
                   }),
              {"MPI_ERR_OTHER rank 0 and rank 2 call different functions", "rank 0: MPI_Barrier()",
               "rank 2: MPI_Finalize()", "same order"});
}

TEST(Checks, ComeOneAfterTheOther) {
  Job job(4);
  job.run([&](core::Comm& comm) {
    for (int i = 0; i < 20; ++i) {
      const int root = i % 3 == 2 && comm.rank == 1 ? 1 : 0;
      const base::Status status = Check(comm, {.name = "MPI_Bcast", .root = root}).run();
      EXPECT_EQ(status.error_class(), i % 3 == 2 ? MPI_ERR_ROOT : MPI_SUCCESS) << i;
    }
  });
}

}  // namespace
}  // namespace clump::coll
