// What a wrong argument gets: the class of the standard, and a message with the argument, its value and what
// is right. A right one gets nothing, up to the last value that is allowed.
#include "mpi/entry/entry_checks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/test_failure.h"
#include "datatype/derive.h"
#include "mpi/process.h"

namespace clump::mpi {

/// In place of the process's (runtime/boot.cc).
static std::string& other_mpi() {
  static auto& words = *new std::string;
  return words;
}
std::string words_about_other_mpi() { return other_mpi(); }

namespace check {
namespace {

using base::failure;
using base::Failure;
using base::kNoFailure;

constexpr int kRanks = 4;

/// Rank 1 of four, and a call of it.
class EntryChecks : public testing::Test {
 protected:
  EntryChecks() {
    world_.launch.size = kRanks;
    rank_ = std::make_unique<core::Rank>(world_, world_.launch, 1);
    rank_->show_world(true);
    call_.self = rank_.get();
  }
  ~EntryChecks() override { other_mpi().clear(); }

  core::Comm& all() { return *rank_->comm_world; }
  core::Comm& own() { return *rank_->comm_self; }
  /// Ranks 0 and 1 on this side, `there` ranks on the other one.
  core::Comm& inter(int there = 3) {
    inter_ = base::make_ref<core::Comm>(*rank_, world_.allocate_context(), core::Group::regular(2),
                                        core::Group::regular(there, 5));
    return *inter_;
  }
  /// `count` ints in a row, which are not committed.
  const datatype::Datatype& ints(Count count) {
    datatype::Made made;
    EXPECT_TRUE(datatype::make_contiguous(count, *datatype::predefined(MPI_INT), made).ok());
    return *types_.emplace_back(made.type);
  }
  static const datatype::Datatype& bytes() { return *datatype::predefined(MPI_BYTE); }

  core::World world_;
  std::unique_ptr<core::Rank> rank_;
  Call call_{"MPI_Test"};
  base::Ref<core::Comm> inter_;
  std::vector<datatype::Ref> types_;
};

/// What a check says of a handle.
template <auto kCheck>
class HandleCheck;
template <typename Handle, typename Object, base::Status (*kCheck)(Call&, Named<Handle>, Object*&)>
class HandleCheck<kCheck> {
 public:
  static Failure told(Call& call, Handle value) {
    Object* found = nullptr;
    const Failure outcome = failure(kCheck(call, {"arg", value}, found));
    EXPECT_EQ(found == nullptr, outcome != kNoFailure);
    return outcome;
  }
};

void ignore_error(void*, int*, ...) {}

template <typename Handle>
Handle number(std::intptr_t value) {
  return core::handle_of<Handle>(value);
}

TEST_F(EntryChecks, CommunicatorsAreThoseOfTheRank) {
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_COMM_WORLD), kNoFailure);
  EXPECT_EQ(call_.target.comm, &all()) << "its error handler is the one that is called";
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_COMM_SELF), kNoFailure);
  EXPECT_EQ(call_.target.comm, &all()) << "the first communicator of a call has its errors";
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_COMM_NULL),
            (Failure{MPI_ERR_COMM, "(arg = MPI_COMM_NULL): a communicator is needed here"}));
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_Comm{}),
            (Failure{MPI_ERR_COMM, "(arg = 0): this is not a communicator; is the variable initialised?"}));
  EXPECT_EQ(HandleCheck<comm>::told(call_, number<MPI_Comm>(0x12345)),
            (Failure{MPI_ERR_COMM,
                     "(arg = 0x12345): this is not a communicator of this rank; it was freed, belongs to "
                     "another rank or was never made"}));
  rank_->show_world(false);
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_COMM_WORLD),
            (Failure{MPI_ERR_COMM,
                     "(arg = MPI_COMM_WORLD): it is there between MPI_Init and MPI_Finalize only; with "
                     "sessions, make a communicator of the process set mpi://WORLD"}));
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_COMM_SELF).error_class, MPI_ERR_COMM);
}

TEST_F(EntryChecks, AFreedCommunicatorIsNone) {
  const MPI_Comm made = rank_->add(base::Ref<core::Comm>(&inter()));
  EXPECT_EQ(HandleCheck<comm>::told(call_, made), kNoFailure);
  rank_->remove(made);
  call_.target = {};
  EXPECT_EQ(HandleCheck<comm>::told(call_, made).error_class, MPI_ERR_COMM);
  EXPECT_EQ(call_.target.comm, nullptr);
}

TEST_F(EntryChecks, AHandleOfAnotherLibraryIsToldAsOne) {
  other_mpi() = "libother.so is there, too";
  EXPECT_EQ(HandleCheck<comm>::told(call_, number<MPI_Comm>(0x44000000)),
            (Failure{MPI_ERR_COMM, "(arg = 0x44000000): libother.so is there, too"}));
  EXPECT_EQ(HandleCheck<comm>::told(call_, MPI_COMM_NULL).text,
            "(arg = MPI_COMM_NULL): a communicator is needed here");
}

TEST_F(EntryChecks, EachKindOfHandleHasItsClassAndItsName) {
  const datatype::Datatype* type = nullptr;
  EXPECT_EQ(failure(datatype(call_, {"type", MPI_DATATYPE_NULL}, type)),
            (Failure{MPI_ERR_TYPE, "(type = MPI_DATATYPE_NULL): a datatype is needed here"}));
  const core::Group* group_found = nullptr;
  EXPECT_EQ(failure(group(call_, {"group", MPI_GROUP_NULL}, group_found)),
            (Failure{MPI_ERR_GROUP, "(group = MPI_GROUP_NULL): a group is needed here"}));
  EXPECT_EQ(failure(group(call_, {"group", MPI_GROUP_EMPTY}, group_found)), kNoFailure);
  EXPECT_EQ(HandleCheck<op>::told(call_, MPI_OP_NULL),
            (Failure{MPI_ERR_OP, "(arg = MPI_OP_NULL): a reduction operation is needed here"}));
  EXPECT_EQ(HandleCheck<errhandler>::told(call_, MPI_ERRHANDLER_NULL),
            (Failure{MPI_ERR_ERRHANDLER, "(arg = MPI_ERRHANDLER_NULL): an error handler is needed here"}));
  EXPECT_EQ(HandleCheck<info>::told(call_, MPI_INFO_NULL),
            (Failure{MPI_ERR_INFO, "(arg = MPI_INFO_NULL): an info object is needed here"}));
  EXPECT_EQ(HandleCheck<session>::told(call_, MPI_SESSION_NULL),
            (Failure{MPI_ERR_SESSION, "(arg = MPI_SESSION_NULL): a session is needed here"}));
  EXPECT_EQ(HandleCheck<win>::told(call_, MPI_WIN_NULL),
            (Failure{MPI_ERR_WIN, "(arg = MPI_WIN_NULL): a window is needed here"}));
  EXPECT_EQ(HandleCheck<file>::told(call_, MPI_FILE_NULL),
            (Failure{MPI_ERR_FILE, "(arg = MPI_FILE_NULL): an open file is needed here"}));
  EXPECT_TRUE(call_.target.of_files) << "the error handler of MPI_FILE_NULL is called";
}

TEST_F(EntryChecks, TheNullInfoIsAllowedWhereNoneIsNeeded) {
  core::Info* found = nullptr;
  EXPECT_EQ(failure(info_or_null(call_, {"info", MPI_INFO_NULL}, found)), kNoFailure);
  EXPECT_EQ(failure(info_or_null(call_, {"info", number<MPI_Info>(0x777)}, found)).error_class, MPI_ERR_INFO);
  const MPI_Info made = rank_->add(std::make_unique<core::Info>());
  EXPECT_EQ(failure(info_or_null(call_, {"info", made}, found)), kNoFailure);
  EXPECT_EQ(found, rank_->info(made));
}

TEST_F(EntryChecks, AnErrorHandlerSuitsWhatItIsFor) {
  using Action = core::Errhandler::Action;
  const MPI_Errhandler of_comms = rank_->add(base::make_ref<core::Errhandler>(Action::kComm, ignore_error));
  core::Errhandler* found = nullptr;
  EXPECT_EQ(failure(new_errhandler(call_, {"eh", of_comms}, Action::kComm, found)), kNoFailure);
  EXPECT_EQ(call_.target.errhandler, found);
  EXPECT_EQ(failure(new_errhandler(call_, {"eh", MPI_ERRORS_RETURN}, Action::kSession, found)), kNoFailure);
  const Failure told = failure(new_errhandler(call_, {"eh", of_comms}, Action::kSession, found));
  EXPECT_EQ(told.error_class, MPI_ERR_ARG);
  EXPECT_TRUE(told.text.ends_with("): it was not made by MPI_Session_create_errhandler")) << told.text;
}

TEST_F(EntryChecks, TypesAreCommittedBeforeTheyCarryData) {
  const datatype::Datatype* found = nullptr;
  EXPECT_EQ(failure(committed(call_, {"datatype", MPI_INT}, found)), kNoFailure);
  const datatype::Datatype& three = ints(3);
  const MPI_Datatype made = rank_->add(datatype::Ref(&three));
  EXPECT_EQ(failure(datatype(call_, {"datatype", made}, found)), kNoFailure);
  EXPECT_EQ(
      failure(committed(call_, {"datatype", made}, found)),
      (Failure{MPI_ERR_TYPE, "(datatype = " + three.description() +
                                 "): call MPI_Type_commit before this type is used for communication"}));
  const MPI_Datatype several[] = {MPI_INT, made, MPI_DATATYPE_NULL};
  EXPECT_EQ(failure(types(call_, {"sendtypes", several}, 1)), kNoFailure);
  EXPECT_EQ(failure(types(call_, {"sendtypes", several}, 2)).text,
            "(sendtypes[1] = " + three.description() +
                "): call MPI_Type_commit before this type is used for communication");
  three.commit();
  EXPECT_EQ(failure(types(call_, {"sendtypes", several}, 2)), kNoFailure);
  EXPECT_EQ(failure(types(call_, {"sendtypes", several}, 3)),
            (Failure{MPI_ERR_TYPE, "(sendtypes[2] = MPI_DATATYPE_NULL): a datatype is needed here"}));
  EXPECT_EQ(failure(types(call_, {"sendtypes", nullptr}, 2)),
            (Failure{MPI_ERR_ARG, "(sendtypes = NULL): an array of 2 elements is needed here"}));
}

TEST_F(EntryChecks, ATopologyHasNeighbours) {
  const Failure told = failure(topology({"comm", MPI_COMM_WORLD}, all()));
  EXPECT_EQ(told.error_class, MPI_ERR_TOPOLOGY);
  EXPECT_TRUE(told.text.ends_with("MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create make one"))
      << told.text;
}

TEST_F(EntryChecks, RanksAreThoseOfTheCommunicator) {
  for (const int rank : {0, kRanks - 1, MPI_PROC_NULL}) {
    EXPECT_EQ(failure(destination({"dest", rank}, all())), kNoFailure) << rank;
    EXPECT_EQ(failure(source({"source", rank}, all())), kNoFailure) << rank;
  }
  EXPECT_EQ(failure(source({"source", MPI_ANY_SOURCE}, all())), kNoFailure);
  EXPECT_EQ(failure(destination({"dest", MPI_ANY_SOURCE}, all())),
            (Failure{MPI_ERR_RANK, "(dest = MPI_ANY_SOURCE): only receives and probes may use it"}));
  for (const int rank : {kRanks, INT32_MAX, INT32_MIN})
    EXPECT_EQ(failure(destination({"dest", rank}, all())),
              (Failure{MPI_ERR_RANK, "(dest = " + std::to_string(rank) +
                                         "): the communicator MPI_COMM_WORLD has ranks 0 to 3"}));
  EXPECT_EQ(failure(source({"source", 1}, own())),
            (Failure{MPI_ERR_RANK, "(source = 1): the communicator MPI_COMM_SELF has only rank 0"}));
}

TEST_F(EntryChecks, RanksOfAnIntercommunicatorAreThoseOfItsOtherSide) {
  EXPECT_EQ(failure(destination({"dest", 2}, inter())), kNoFailure);
  EXPECT_EQ(failure(destination({"dest", 3}, inter())),
            (Failure{MPI_ERR_RANK,
                     "(dest = 3): the communicator (it has no name, and 2 ranks) is an intercommunicator, "
                     "and its remote group has ranks 0 to 2"}));
  EXPECT_EQ(failure(member({"rank", 1}, inter())), kNoFailure);
  EXPECT_EQ(
      failure(member({"rank", 2}, inter())),
      (Failure{MPI_ERR_RANK, "(rank = 2): the communicator (it has no name, and 2 ranks) has ranks 0 to 1"}));
  EXPECT_EQ(failure(member({"rank", -1}, all())).error_class, MPI_ERR_RANK);
  EXPECT_EQ(failure(member({"rank", MPI_PROC_NULL}, all())).error_class, MPI_ERR_RANK);
}

TEST_F(EntryChecks, ARootIsARankOrOneOfTwoConstants) {
  EXPECT_EQ(failure(root({"root", 3}, all())), kNoFailure);
  EXPECT_EQ(failure(root({"root", 4}, all())),
            (Failure{MPI_ERR_ROOT, "(root = 4): the communicator MPI_COMM_WORLD has ranks 0 to 3"}));
  EXPECT_EQ(failure(root({"root", MPI_PROC_NULL}, all())).error_class, MPI_ERR_ROOT);
  const Failure told = failure(root({"root", MPI_ROOT}, all()));
  EXPECT_TRUE(told.text.ends_with("has ranks 0 to 3; MPI_ROOT is for intercommunicators")) << told.text;
  for (const int rank : {0, 2, MPI_ROOT, MPI_PROC_NULL})
    EXPECT_EQ(failure(root({"root", rank}, inter())), kNoFailure);
  EXPECT_EQ(failure(root({"root", 1}, inter(1))),
            (Failure{MPI_ERR_ROOT,
                     "(root = 1): the communicator (it has no name, and 2 ranks) is an intercommunicator, so "
                     "this must be MPI_ROOT, MPI_PROC_NULL or a rank of its remote group, which has only "
                     "rank 0"}));
}

TEST_F(EntryChecks, RolesFollowTheRoot) {
  const auto roles = [](int root, const core::Comm& comm) {
    const Roles found(root, comm);
    return std::vector<bool>{found.at_root, found.contributes, found.takes_part};
  };
  EXPECT_EQ(roles(1, all()), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(roles(0, all()), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(roles(MPI_ROOT, inter()), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(roles(1, inter()), (std::vector<bool>{false, true, true}))
      << "a rank of the other side is the root";
  EXPECT_EQ(roles(MPI_PROC_NULL, inter()), (std::vector<bool>{false, false, false}));
}

TEST_F(EntryChecks, TagsAreFromZeroToTheirBound) {
  for (const int tag : {0, kMaxTag}) {
    EXPECT_EQ(failure(send_tag({"tag", tag})), kNoFailure);
    EXPECT_EQ(failure(receive_tag({"tag", tag})), kNoFailure);
  }
  EXPECT_EQ(failure(receive_tag({"tag", MPI_ANY_TAG})), kNoFailure);
  EXPECT_EQ(failure(send_tag({"tag", MPI_ANY_TAG})),
            (Failure{MPI_ERR_TAG, "(tag = MPI_ANY_TAG): only receives and probes may use it"}));
  for (const int tag : {kMaxTag + 1, INT32_MAX, INT32_MIN}) {
    const Failure told{MPI_ERR_TAG,
                       "(tag = " + std::to_string(tag) + "): tags are from 0 to 1073741823 (MPI_TAG_UB)"};
    EXPECT_EQ(failure(send_tag({"tag", tag})), told);
    EXPECT_EQ(failure(receive_tag({"tag", tag})), told);
  }
}

TEST_F(EntryChecks, CountsAreNotNegative) {
  EXPECT_EQ(failure(not_negative({"count", Count{0}}, MPI_ERR_COUNT)), kNoFailure);
  EXPECT_EQ(failure(not_negative({"count", INT64_MIN}, MPI_ERR_COUNT)),
            (Failure{MPI_ERR_COUNT, "(count = -9223372036854775808): this must not be negative"}));
  EXPECT_EQ(failure(not_negative({"size", Count{-1}}, MPI_ERR_SIZE)).error_class, MPI_ERR_SIZE);
}

TEST_F(EntryChecks, CountsOfArraysAreReadInTheirWidth) {
  const int narrow[] = {0, 7, -2};
  const std::int64_t wide[] = {0, std::int64_t{1} << 40, -3};
  EXPECT_EQ(failure(not_negative({"counts", narrow}, 2)), kNoFailure);
  EXPECT_EQ(failure(not_negative({"counts", wide}, 2)), kNoFailure);
  EXPECT_EQ(failure(not_negative({"counts", narrow}, 3)),
            (Failure{MPI_ERR_COUNT, "(counts[2] = -2): this must not be negative"}));
  EXPECT_EQ(failure(not_negative({"counts", wide}, 3)),
            (Failure{MPI_ERR_COUNT, "(counts[2] = -3): this must not be negative"}));
  EXPECT_EQ(failure(not_negative({"counts", Counts()}, 0)), kNoFailure);
  EXPECT_EQ(failure(not_negative({"counts", Counts()}, 1)),
            (Failure{MPI_ERR_ARG, "(counts = NULL): an array of 1 element is needed here"}));
}

TEST_F(EntryChecks, AddressesAreThereWhereSomethingIsWritten) {
  int place = 0;
  EXPECT_EQ(failure(pointer({"flag", &place})), kNoFailure);
  EXPECT_EQ(failure(pointer({"flag", nullptr})),
            (Failure{MPI_ERR_ARG, "(flag = NULL): an address is needed here"}));
  EXPECT_EQ(failure(pointer({"key", nullptr}, MPI_ERR_INFO_KEY)).error_class, MPI_ERR_INFO_KEY);
  EXPECT_EQ(failure(array({"ranks", nullptr}, 0)), kNoFailure);
  EXPECT_EQ(failure(array({"ranks", &place}, 5)), kNoFailure);
  EXPECT_EQ(failure(array({"ranks", nullptr}, 5)),
            (Failure{MPI_ERR_ARG, "(ranks = NULL): an array of 5 elements is needed here"}));
}

TEST_F(EntryChecks, NullDisplacementsAreRightForEmptyBlocksOnly) {
  const int none[] = {0, 0}, some[] = {0, 5};
  const int there[] = {0, 0};
  EXPECT_EQ(failure(displacements({"displs", Counts()}, {"recvcounts", none}, 2)), kNoFailure);
  EXPECT_EQ(failure(displacements({"displs", Counts()}, {"recvcounts", some}, 1)), kNoFailure);
  EXPECT_EQ(failure(displacements({"displs", there}, {"recvcounts", some}, 2)), kNoFailure);
  EXPECT_EQ(failure(displacements({"displs", Counts()}, {"recvcounts", some}, 2)),
            (Failure{MPI_ERR_ARG,
                     "(displs = NULL): an array of 2 displacements is needed here, because recvcounts[1] "
                     "is 5"}));
}

TEST_F(EntryChecks, ABufferIsMemory) {
  int data = 0;
  EXPECT_EQ(failure(buffer({"buf", &data}, 1, bytes())), kNoFailure);
  EXPECT_EQ(failure(buffer({"buf", nullptr}, 0, bytes())), kNoFailure) << "no elements, so no memory";
  EXPECT_EQ(failure(buffer({"buf", nullptr}, 1, ints(0))), kNoFailure) << "elements without bytes";
  EXPECT_EQ(failure(buffer({"buf", nullptr}, 1, bytes())),
            (Failure{MPI_ERR_BUFFER, "(buf = NULL): a buffer for 1 element of MPI_BYTE is needed"}));
  EXPECT_EQ(failure(buffer({"buf", MPI_IN_PLACE}, 0, bytes())),
            (Failure{MPI_ERR_BUFFER, "(buf = MPI_IN_PLACE): this argument has to be a buffer"}));
  EXPECT_EQ(failure(buffer({"buf", MPI_BUFFER_AUTOMATIC}, 0, bytes())),
            (Failure{MPI_ERR_BUFFER,
                     "(buf = MPI_BUFFER_AUTOMATIC): only MPI_Buffer_attach and its family take it"}));
}

TEST_F(EntryChecks, TheNullAddressIsABufferForAbsoluteAddresses) {
  const auto at = [&](Count address) -> const datatype::Datatype& {
    const Count length = 1;
    datatype::Made made;
    EXPECT_TRUE(datatype::make_hindexed({&length, 1}, {&address, 1}, bytes(), made).ok());
    return *types_.emplace_back(made.type);
  };
  EXPECT_EQ(failure(buffer({"buf", MPI_BOTTOM}, 1, at(4096))), kNoFailure);
  EXPECT_EQ(failure(buffer({"buf", MPI_BOTTOM}, 1, at(-1))), kNoFailure)
      << "the upper half of the address space";
  EXPECT_EQ(failure(buffer({"buf", MPI_BOTTOM}, 1, at(4095))).error_class, MPI_ERR_BUFFER)
      << "the first page";
}

TEST_F(EntryChecks, ABufferOfBlocksIsMemoryForThoseWithData) {
  const int none[] = {0, 0}, some[] = {0, 2};
  const std::int64_t near[] = {0, 1023}, far[] = {0, 1024};
  const datatype::Datatype* const four = datatype::predefined(MPI_INT);
  EXPECT_EQ(failure(buffer({"buf", nullptr}, Blocks{{"counts", none}, {}, 2, four})), kNoFailure);
  EXPECT_EQ(failure(buffer({"buf", nullptr}, Blocks{{"counts", some}, {}, 1, four})), kNoFailure);
  EXPECT_EQ(failure(buffer({"buf", nullptr}, Blocks{{"counts", some}, {}, 2, four})),
            (Failure{MPI_ERR_BUFFER,
                     "(buf = NULL): a buffer is needed here, because counts[1] is 2 (of MPI_INT)"}));
  EXPECT_EQ(failure(buffer({"buf", nullptr}, Blocks{{"counts", some}, near, 2, four})).error_class,
            MPI_ERR_BUFFER)
      << "displacements are in elements: 4092 bytes";
  EXPECT_EQ(failure(buffer({"buf", nullptr}, Blocks{{"counts", some}, far, 2, four})), kNoFailure)
      << "4096 bytes";
  const MPI_Datatype types[] = {MPI_BYTE, MPI_INT};
  const std::int64_t page[] = {0, 4096};
  EXPECT_EQ(
      failure(buffer({"buf", nullptr}, Blocks{{"counts", some}, far, 2, nullptr, types, rank_.get()})).text,
      "(buf = NULL): a buffer is needed here, because counts[1] is 2 (of MPI_INT)")
      << "with types of their own displacements are in bytes: 1024";
  EXPECT_EQ(failure(buffer({"buf", nullptr}, Blocks{{"counts", some}, page, 2, nullptr, types, rank_.get()})),
            kNoFailure);
}

TEST_F(EntryChecks, WorkingInPlaceIsForThoseWhoMay) {
  int data = 0;
  bool works_in_place = true;
  EXPECT_EQ(failure(in_place({"sendbuf", &data}, false, works_in_place)), kNoFailure);
  EXPECT_FALSE(works_in_place);
  EXPECT_EQ(failure(in_place({"sendbuf", MPI_IN_PLACE}, true, works_in_place)), kNoFailure);
  EXPECT_TRUE(works_in_place);
  EXPECT_EQ(failure(in_place({"sendbuf", MPI_IN_PLACE}, false, works_in_place)),
            (Failure{MPI_ERR_BUFFER, "(sendbuf = MPI_IN_PLACE): this process may not work in place here"}));
}

TEST_F(EntryChecks, DataAndResultLieApart) {
  int memory = 0;
  const datatype::Datatype* const integer = datatype::predefined(MPI_INT);
  const auto told = [&](Count count, const datatype::Datatype* type, Count other, const char* hint) {
    return failure(apart({"sendbuf", {&memory, count, integer}}, {"recvbuf", {&memory, other, type}}, hint));
  };
  EXPECT_EQ(told(0, integer, 1, nullptr), kNoFailure);
  EXPECT_EQ(told(1, integer, 0, nullptr), kNoFailure);
  const Failure without = told(1, integer, 1, nullptr);
  EXPECT_EQ(without.error_class, MPI_ERR_BUFFER);
  EXPECT_TRUE(without.text.starts_with("(sendbuf = recvbuf = 0x")) << without.text;
  EXPECT_TRUE(without.text.ends_with("the result must not overlap the data; give one of them other memory"))
      << without.text;
  EXPECT_EQ(told(1, integer, 1, "sendbuf").text,
            without.text + ", or pass MPI_IN_PLACE as sendbuf in an intracommunicator");
}

}  // namespace
}  // namespace check
}  // namespace clump::mpi
