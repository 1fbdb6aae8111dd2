// What a host process tells mpiexec, over the socket pair that CLUMP_CONTROL_FD names (SOCK_SEQPACKET: one
// packet, one message).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clump::pmi {

/// An address in a rank's code, told by file and offset, so that mpiexec can find function and line whatever
/// copy it was in; or a function of a program that an interpreter runs.
struct Frame {
  std::string object;         ///< path of the program or library; empty if unknown
  std::uint64_t address = 0;  ///< as in the file: run-time address minus load address (what addr2line takes)
  std::string function;  ///< of an interpreted program: then `object` is its source, and `address` the line
};

enum class Reason : std::uint8_t {
  kExited,       ///< left with exit code `code` before MPI_Finalize, or with a non-zero code
  kAborted,      ///< MPI_Abort(code), or an error handler that ends the job
  kSignal,       ///< took signal `code`
  kException,    ///< an uncaught C++ exception; `text` says which
  kCannotStart,  ///< the host process could not start its ranks; `text` says why
  kUnreachable,  ///< cannot reach a process of another host, which may have failed; `code` as with kAborted
  kDeadlock,     ///< all ranks wait for each other; accounts (waits.h) were sent before
  kHang,         ///< nothing has moved for too long: mpiexec's
};

/// The first failure of a host process. At most one is sent; the process ends right after it.
struct Failure {
  int rank = -1;  ///< -1: the host process itself
  Reason reason = Reason::kExited;
  int code = 0;               ///< exit code or signal number
  std::string text;           ///< one or more lines for the user; may be empty
  std::vector<Frame> frames;  ///< innermost first; may be empty
  std::string sharers;  ///< "0-3": the ranks of a process that has ended, if it had several; mpiexec adds it
};

/// A Failure whose texts and frames lie elsewhere: for signal handlers, which must not allocate.
struct FailureView {
  int rank = -1;
  Reason reason = Reason::kExited;
  int code = 0;
  std::string_view text;
  struct Frame {
    const char* object;  ///< null if unknown
    std::uint64_t address;
    const char* function = nullptr;  ///< null: it is no interpreted program's
  };
  std::span<const Frame> frames;
};

/// Writes `failure` into `buffer` and returns how many bytes it took; outer frames are left out until it
/// fits. Async-signal-safe.
std::size_t encode(const FailureView& failure, std::span<char> buffer);
std::string encode(const Failure& failure);
bool decode(const std::string& bytes, Failure& failure);

/// mpiexec shall look at the address of a host process in the memory of the node (node_memory.h): it is the
/// sender's own, and known now, or is wanted.
struct AddressNote {
  int process = 0;
};
std::string encode(const AddressNote& note);
bool decode(const std::string& bytes, AddressNote& note);

/// A host process with an address is done with MPI, and stays until its address is over, which it is when all
/// of the job are: what it has sent may still be on its way.
struct DoneNote {
  int process = 0;
};
std::string encode(const DoneNote& note);
bool decode(const std::string& bytes, DoneNote& note);

/// Whether all threads of a host process sleep in MPI (node_memory.h), and nothing of what it has to do with
/// the network is under way.
struct RestNote {
  std::int32_t process = 0;
  std::uint32_t check = 0;  ///< which one it answers; 0: it was not asked, rests, and will for long
  bool rests = false;
  bool waits = false;                            ///< it rests, and is not done with MPI
  std::uint64_t wakes = 0, sent = 0, taken = 0;  ///< so far; messages between hosts
};
std::string encode(const RestNote& note);
bool decode(const std::string& bytes, RestNote& note);

/// A program that has replaced a rank by exec() calls MPI, and asks for the rank's place. With it comes a
/// socket for the answer, a PlaceNote.
struct JoinNote {
  int rank = 0;
  int process_id = 0;
};
std::string encode(const JoinNote& note);
bool decode(const std::string& bytes, JoinNote& note);

/// The place of a rank that was replaced: a host process of a job that is described anew. With it come the
/// descriptors of job, node memory and life line, and of the records if there are any.
struct PlaceNote {
  static constexpr std::size_t kMostDescriptors = 4;
  int process = 0;
  std::string why;  ///< not empty: why there is none
};
std::string encode(const PlaceNote& note);
bool decode(const std::string& bytes, PlaceNote& note);

/// What has replaced a rank before it called MPI has ended, with this status of waitpid(). Sent by the
/// process that the rank was in.
struct SuccessorNote {
  int rank = 0;
  int status = 0;
};
std::string encode(const SuccessorNote& note);
bool decode(const std::string& bytes, SuccessorNote& note);

/// Ranks have joined the job (MPI_Comm_spawn): those with the numbers first to first + size - 1. They are
/// launch `launch`, from 1 on.
struct LaunchNote {
  int launch = 0, first = 0, size = 0;
};
std::string encode(const LaunchNote& note);
bool decode(const std::string& bytes, LaunchNote& note);

/// What a rank has written to its stdout or stderr could not be written, for the first time.
struct OutputNote {
  int rank = 0;
  int error = 0;  ///< errno; 0: nobody knows
};
std::string encode(const OutputNote& note);
bool decode(const std::string& bytes, OutputNote& note);

/// A job that a rank has started (MPI_Comm_spawn), and that its ranks were connected to, has ended with this
/// exit code, which is not 0.
struct StartedJobNote {
  int rank = 0;
  int code = 0;
};
std::string encode(const StartedJobNote& note);
bool decode(const std::string& bytes, StartedJobNote& note);

/// A rank spawns a job that mpiexec starts (Job::has_proxies). With it comes a stream socket, over which the
/// process sends a SpawnRequest, and gets two SpawnAnswers: whether the job has been started, and how it has
/// ended. Each goes behind its length, 4 bytes.
struct SpawnNote {
  int process = 0;
};
std::string encode(const SpawnNote& note);
bool decode(const std::string& bytes, SpawnNote& note);

/// For an mpiexec of its own: what follows behind its name.
struct SpawnRequest {
  static constexpr std::size_t kMost = 64 << 20;  ///< bytes, encoded
  std::vector<std::string> words, environment;
};
std::string encode(const SpawnRequest& request);
bool decode(const std::string& bytes, SpawnRequest& request);

struct SpawnAnswer {
  std::int32_t status = 0;  ///< of waitpid(), in the second one
  std::string why;          ///< it could not be started; then there is no second one
};
std::string encode(const SpawnAnswer& answer);
bool decode(const std::string& bytes, SpawnAnswer& answer);

/// Sends a message with descriptors over a socket of the kind above. False if that has failed.
bool send(int socket, const std::string& bytes, std::span<const int> descriptors);

}  // namespace clump::pmi
