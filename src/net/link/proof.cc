#include "net/link/proof.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/keyed_hash.h"
#include "base/random.h"

namespace clump::net::link {

namespace {

using Number = std::array<std::uint64_t, 2>;

constexpr std::uint64_t kMark = 0x31706f6f6c706c63;  // "clploop1": version 1 of this exchange

struct Call {
  std::uint64_t mark;
  Number nonce;
};
struct Answer {
  Number nonce, proof;
};
struct Reply {
  Number proof;
};
static_assert(sizeof(Call) == 24 && sizeof(Answer) == 32 && sizeof(Reply) == 16);
static_assert(sizeof(Answer) == Proof::kMost);

/// Takes the same time wherever they differ.
bool are_equal(const Number& one, const Number& other) {
  return ((one[0] ^ other[0]) | (one[1] ^ other[1])) == 0;
}

template <typename Message>
Message read(std::span<const std::byte> bytes) {
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

}  // namespace

Proof::Proof(Side side, const JobName& job, int process)
    : side_(side),
      job_(job),
      process_(static_cast<std::uint64_t>(process)),
      own_{base::random_number(), base::random_number()} {
  if (side == Side::kCalls) send(Call{kMark, own_});
  wanted_ = side == Side::kCalls ? sizeof(Answer) : sizeof(Call);
}

template <typename Message>
void Proof::send(const Message& message) {
  std::memcpy(output_.data(), &message, sizeof message);
  output_bytes_ = sizeof message;
}

Proof::Number Proof::proof_of(Side side) const {
  const bool calls = side_ == Side::kCalls;
  const Number &first = calls ? own_ : other_, &second = calls ? other_ : own_;
  Number proof{};
  for (std::uint64_t half = 0; half < proof.size(); ++half) {
    const std::uint64_t all[] = {
        kMark, static_cast<std::uint64_t>(side), half, process_, first[0], first[1], second[0], second[1]};
    proof[half] = base::keyed_hash({job_.id, job_.token}, all);
  }
  return proof;
}

bool Proof::take(std::span<const std::byte> bytes) {
  if (wanted_ == 0 || bytes.size() != std::exchange(wanted_, 0)) return false;
  output_bytes_ = 0;
  if (bytes.size() == sizeof(Call)) {
    const auto call = read<Call>(bytes);
    if (call.mark != kMark) return false;
    other_ = call.nonce;
    send(Answer{own_, proof_of(Side::kListens)});
    wanted_ = sizeof(Reply);
    return true;
  }
  if (bytes.size() == sizeof(Answer)) {
    const auto answer = read<Answer>(bytes);
    other_ = answer.nonce;
    if (!are_equal(answer.proof, proof_of(Side::kListens))) return false;
    send(Reply{proof_of(Side::kCalls)});
    return true;
  }
  return are_equal(read<Reply>(bytes).proof, proof_of(Side::kCalls));
}

Stranger::State Stranger::fail(std::string why) {
  why_ = std::move(why);
  return State::kFails;
}

bool Stranger::send_output(int socket, State& state) {
  while (writes()) {
    const auto rest = proof_.output().subspan(sent_);
    const ssize_t count = ::send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      state = errno == EAGAIN ? State::kWaits : fail(std::strerror(errno));
      return false;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  return true;
}

Stranger::State Stranger::proceed(int socket) {
  for (State state{};;) {
    if (!send_output(socket, state)) return state;
    if (proof_.wanted() == 0) return State::kIsKnown;
    const ssize_t count = ::recv(socket, came_.data() + count_, proof_.wanted() - count_, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? State::kWaits : fail(std::strerror(errno));
    if (count == 0) return fail("it has closed the connection");
    count_ += static_cast<std::size_t>(count);
    if (count_ < proof_.wanted()) continue;
    if (!proof_.take(std::span(came_).first(std::exchange(count_, 0))))
      return fail("what listens there does not know the job: the job has ended");
    sent_ = 0;
  }
}

}  // namespace clump::net::link
