// The descriptors of a program that a rank starts with posix_spawn(): those that the rank has.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "image/rank_image.h"
#include "process/files/standard.h"

namespace clump::image::standard {
namespace {

const char* bytes_of(const posix_spawn_file_actions_t& actions) {
  return reinterpret_cast<const char*>(actions.__actions);
}

constexpr int kOutOfTheWay = 200;  // as in standard.cc

int lift(int descriptor) {
  return static_cast<int>(syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kOutOfTheWay));
}

/// The numbers that the program would have, although the calling rank does not have them.
std::vector<int> numbers_of_others() {
  std::vector<int> all;
  owners::for_each_to_close(
      [](int descriptor, void* list) { static_cast<std::vector<int>*>(list)->push_back(descriptor); }, &all);
  return all;
}

}  // namespace

bool knows_layout_of_actions() {
  static const bool known = [] {
    posix_spawn_file_actions_t probe;
    if (posix_spawn_file_actions_init(&probe) != 0) return false;
    posix_spawn_file_actions_adddup2(&probe, 3, 4);
    posix_spawn_file_actions_adddup2(&probe, 5, 6);
    const int expected[] = {3, 4, 5, 6};
    int found[4];
    std::memcpy(found, bytes_of(probe) + 8, 2 * sizeof(int));
    std::memcpy(found + 2, bytes_of(probe) + kFileActionBytes + 8, 2 * sizeof(int));
    const bool same_kind = std::memcmp(bytes_of(probe), bytes_of(probe) + kFileActionBytes, sizeof(int)) == 0;
    posix_spawn_file_actions_destroy(&probe);
    return same_kind && std::memcmp(found, expected, sizeof found) == 0;
  }();
  return known;
}

ChildActions::ChildActions(const posix_spawn_file_actions_t* user) : user_(user) {
  if (!captured() || in_child()) return;
  const std::vector<int> others = numbers_of_others();
  if (is_home() && others.empty()) return;
  error_ = posix_spawn_file_actions_init(&own_);
  if (error_ != 0) return;
  has_own_ = true;
  for (const int number : others) error_ |= posix_spawn_file_actions_addclose(&own_, number);
  bring_home();
  if (user != nullptr && error_ == 0) append_users();
}

void ChildActions::bring_home() {
  Place places[3];
  for (int number = 0; number <= 2; ++number) {
    places[number] = place_of_standard(number);
    const int real = places[number].real;
    if (real < 0 || real > 2 || real == number) continue;
    lifted_[number] = lift(real);
    if (lifted_[number] < 0) error_ = errno;
    places[number].real = lifted_[number];
  }
  for (int number = 0; number <= 2; ++number) {
    const Place& place = places[number];
    if (place.real < 0 || place.closed_on_exec)
      error_ |= posix_spawn_file_actions_addclose(&own_, number);
    else if (place.real != number)
      error_ |= posix_spawn_file_actions_adddup2(&own_, place.real, number);
  }
}

/// Appends the user's actions. They may use 0, 1 and 2, which are the rank's by then.
void ChildActions::append_users() {
  if (!knows_layout_of_actions()) {
    error_ = ENOSYS;
    return;
  }
  const int ours = own_.__used;
  for (int i = 0; i < user_->__used && error_ == 0; ++i)
    error_ = posix_spawn_file_actions_addclose(&own_, 0);  // makes room for an action
  if (error_ != 0) return;
  std::memcpy(reinterpret_cast<char*>(own_.__actions) + static_cast<std::size_t>(ours) * kFileActionBytes,
              bytes_of(*user_), static_cast<std::size_t>(user_->__used) * kFileActionBytes);
}

ChildActions::~ChildActions() {
  const int error = errno;
  if (has_own_) {
    own_.__used = 0;  // the user's actions own what they hold
    posix_spawn_file_actions_destroy(&own_);
  }
  for (const int descriptor : lifted_)
    if (descriptor >= 0) syscall(SYS_close, descriptor);
  errno = error;
}

}  // namespace clump::image::standard
