// What `--check` finds at MPI_Finalize (check/left_over.cc), between ranks and as the text that is told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clump::mpi::left_over {

/// What is told in one sentence, in the order in which it is told.
enum class Kind : std::uint8_t {
  kComm,
  kGroup,
  kDatatype,
  kOp,
  kErrhandler,
  kInfo,
  kKeyval,
  kWindow,
  kFile,
  kBuffer,
  kPersistent,
  kRequest,
  kProbed,
  kReceive,
  kFreedReceive,
  kMessage,
  kRemark,    ///< what stands in `words` is told as it is
  kAllowed,   ///< the same of a core::Remark, which is no failure
  kUncommon,  ///< likewise
};

/// Something of a rank's, so many times. Is sent as it is, with the texts behind it.
struct Finding {
  Kind kind{};
  int rank = 0;
  int source = -1;  ///< of a message: the rank that has sent it
  int count = 0;
  int origin = 0;  ///< length of the text that says which call has made it
  int words = 0;   ///< length of the text that tells more, of messages and receives
};

struct Told {
  Finding head;
  std::string origin;  ///< "MPI_Isend at solver.c:12"
  std::string words;   ///< "MPI_Isend(4 x MPI_INT, tag 7, MPI_COMM_WORLD) at solver.c:12"
};

/// Bytes that decode() turns back into the same, also behind those of other ranks.
std::string encode(const std::vector<Told>& all);
std::vector<Told> decode(std::string_view bytes);

/// Takes away the request of each send whose message nobody has received: the message is told, so not the
/// request.
void forget_told_twice(std::vector<Told>& all);

/// A line for each, with a line break in front: equal ones of several ranks once.
std::string text_of(const std::vector<Told>& all);

}  // namespace clump::mpi::left_over
