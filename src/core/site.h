// Where the program calls MPI: what mpiexec --check tells of an object or a message besides what it is.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace clump::core {

/// A call of the program's.
struct Site {
  const char* call = nullptr;     ///< the function of MPI, "MPI_Send"; null: nobody knows
  const void* address = nullptr;  ///< where it returns to

  /// The call that the thread of control is in; one inside of it, by a function of the user's that MPI calls,
  /// hides it.
  static inline constinit thread_local const Site* current = nullptr;
};

/// How much mpiexec --check wants.
enum class Checks : std::uint8_t {
  kNone,
  kTell,  ///< what is left at MPI_Finalize is told
  kFail,  ///< and is an error (--check=error)
};

/// What a rank does that no call fails for, and that is told at MPI_Finalize.
struct Remark {
  enum class Kind : std::uint8_t {
    kWrong,     ///< as what is left is
    kUncommon,  ///< the standard does not have it, but other libraries take it, and so does this one
  };
  Kind kind;
  std::string text;  ///< begins with the call and its place

  friend auto operator<=>(const Remark&, const Remark&) = default;
};

/// Where the handles of a rank were made, and what there is to say about what it does with them. Any thread
/// of the rank.
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
  };

  /// Each is told once.
  void remark(Remark remark) {
    const std::lock_guard lock(mutex_);
    remarks_.insert(std::move(remark));
  }
  const std::set<Remark>& remarks() const { return remarks_; }

  void note(Kind kind, std::intptr_t handle, const Site& site) {
    const std::lock_guard lock(mutex_);
    sites_[key(kind, handle)] = site;
  }
  /// Whether so many were noted since the last clean() that most of them may be gone.
  bool is_crowded() const {
    const std::lock_guard lock(mutex_);
    return sites_.size() > most_;
  }
  /// Forgets those for which `is_live(kind, handle)` is false.
  template <typename IsLive>
  void clean(IsLive is_live) {
    const std::lock_guard lock(mutex_);
    std::erase_if(sites_, [&](const auto& entry) {
      return !is_live(static_cast<Kind>(entry.first >> 32),
                      static_cast<std::intptr_t>(entry.first & kHandle));
    });
    most_ = 2 * sites_.size() + kFew;
  }
  /// One without a call if it was not noted.
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
