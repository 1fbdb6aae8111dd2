// Where the program calls MPI: mpiexec --check reports it with an object or a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace clump::core {

/// A call in the program.
struct Site {
  const char* call = nullptr;     ///< the function of MPI, "MPI_Send"; null: unknown
  const void* address = nullptr;  ///< the address to which it returns

  /// The call that the thread of control is in. A user's function that MPI calls may itself call MPI: that
  /// call then hides the outer one.
  static inline constinit thread_local const Site* current = nullptr;
};

/// What mpiexec --check counts of a rank: calls that have begun by which other ranks may learn what it has
/// done before, and collectives that have ended for which all ranks of the World model had to come. Written
/// by threads of the rank; read by those of others that compare their accesses with its (rma/conflicts.h),
/// which have learnt of the call before, so relaxed is enough.
struct Telling {
  std::atomic<std::uint64_t> told{0}, joined{0};
};

/// What mpiexec --check asks for.
enum class Checks : std::uint8_t {
  kNone,
  kTell,  ///< report at MPI_Finalize what is left
  kFail,  ///< the same, and make it an error (--check=error)
};

/// Something that a rank does and that no call fails for. It is reported at MPI_Finalize.
struct Remark {
  enum class Kind : std::uint8_t {
    kAllowed,   ///< right, but perhaps not what the program means
    kUncommon,  ///< not in the standard, but accepted by other libraries and by this one
  };
  Kind kind;
  std::string text;  ///< begins with the call and its place

  friend auto operator<=>(const Remark&, const Remark&) = default;
};

/// Where the handles of a rank were made, and the remarks about how it uses them. Any thread of the rank.
class Sites {
 public:
  enum class Kind : std::uint8_t {
    kComm,
    kGroup,
    kDatatype,
    kOp,
    kErrhandler,
    kInfo,
    kRequest,
    kMessage,
    kKeyval,
    kWindow,
  };

  /// Adds a remark; equal ones are kept once.
  void remark(Remark remark) {
    const std::lock_guard lock(mutex_);
    remarks_.insert(std::move(remark));
  }
  const std::set<Remark>& remarks() const { return remarks_; }

  void note(Kind kind, std::intptr_t handle, const Site& site) {
    const std::lock_guard lock(mutex_);
    sites_[key(kind, handle)] = site;
  }
  /// Whether so many handles were noted since the last clean() that most of them may be freed by now.
  bool is_crowded() const {
    const std::lock_guard lock(mutex_);
    return sites_.size() > most_;
  }
  /// Removes the handles for which `is_live(kind, handle)` is false.
  template <typename IsLive>
  void clean(IsLive is_live) {
    const std::lock_guard lock(mutex_);
    std::erase_if(sites_, [&](const auto& entry) {
      return !is_live(static_cast<Kind>(entry.first >> 32),
                      static_cast<std::intptr_t>(entry.first & kHandle));
    });
    most_ = 2 * sites_.size() + kFew;
  }
  /// The call that made a handle; a Site without a call if none was noted.
  Site find(Kind kind, std::intptr_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = sites_.find(key(kind, handle));
    return found == sites_.end() ? Site() : found->second;
  }

 private:
  static constexpr std::uint64_t kHandle = 0xffffffff;
  static constexpr std::size_t kFew = 4096;
  static std::uint64_t key(Kind kind, std::intptr_t handle) {
    return static_cast<std::uint64_t>(kind) << 32 | (static_cast<std::uint64_t>(handle) & kHandle);
  }

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Site> sites_;
  std::set<Remark> remarks_;
  std::size_t most_ = kFew;
};

}  // namespace clump::core
