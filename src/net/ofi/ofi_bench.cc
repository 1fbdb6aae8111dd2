// What the ofi channel adds to libfabric: half the round trip of a message between two processes over an
// interface of this machine, by libfabric's calls alone, which copy nothing and match nothing, and by the
// channel. Both poll.
//
//   ofi_bench [ADDRESS]      default 127.0.0.1; CLUMP_OFI_PROVIDER chooses a provider
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/environment.h"
#include "net/ofi/ofi_channel.h"
#include "net/ofi/provider.h"

namespace clump::net {
namespace {

using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargest = 4 << 20;

void check(const base::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "ofi_bench: {}\n", base::message_of(status.code()));
  std::_Exit(1);
}

/// The other process.
struct Peer {
  int socket;
  bool is_second;

  Bytes exchange(const Bytes& mine) const {
    std::uint64_t size = mine.size();
    if (::write(socket, &size, sizeof size) < 0 || ::write(socket, mine.data(), mine.size()) < 0 ||
        ::read(socket, &size, sizeof size) < 0)
      std::_Exit(1);
    Bytes theirs(size);
    if (::read(socket, theirs.data(), theirs.size()) < 0) std::_Exit(1);
    return theirs;
  }
};

/// Tagged transfers, each into its place, which is announced before the other side can send.
class Raw {
 public:
  Raw(const Peer& peer, const std::string& address) {
    const ofi::Libfabric* library = nullptr;
    check(ofi::load_libfabric(library));
    std::vector<ofi::FabricInfo> found;
    const char* const provider = base::variable("CLUMP_OFI_PROVIDER");
    check(ofi::find_providers(*library, {provider != nullptr ? provider : "", address}, found));
    check(ofi::Endpoint::open(*library, *found.front(), endpoint_));
    ofi::Name name;
    check(endpoint_->name(name));
    check(endpoint_->insert(peer.exchange(name), there_));
    if (!peer.is_second) fmt::print("{}, two processes\n", ofi::describe(*found.front()));
  }
  void expect(std::byte* data, std::size_t bytes) {
    until([&] { return endpoint_->receive_tagged(data, bytes, 1, receiving_); });
  }
  void send(std::byte* data, std::size_t bytes) {
    if (bytes <= endpoint_->inject_limit())
      return until([&] { return endpoint_->inject_tagged(data, bytes, there_, 1); });
    until([&] { return endpoint_->send_tagged(data, bytes, there_, 1, sending_); });
    ++in_flight_;
  }
  void receive() {
    while (!arrived_) look();
    arrived_ = false;
  }
  void finish() {
    while (in_flight_ > 0) look();
  }

 private:
  template <typename Start>
  void until(Start start) {
    while (start() != 0) look();
  }
  void look() {
    fi_cq_data_entry entry;
    if (endpoint_->read({&entry, 1}) != 1) return;
    if (entry.op_context == &receiving_)
      arrived_ = true;
    else
      --in_flight_;
  }

  std::unique_ptr<ofi::Endpoint> endpoint_;
  fi_addr_t there_ = FI_ADDR_UNSPEC;
  ofi::Transfer sending_, receiving_;
  int in_flight_ = 0;
  bool arrived_ = false;
};

/// Every receive is posted before its message comes.
class Posted final : public Sink {
 public:
  bool take(Envelope, Count bytes, const datatype::Layout& payload, Bound) override {
    std::memcpy(to, payload.base, static_cast<std::size_t>(bytes));
    return here = true;
  }
  bool arrive(SendRequest&) override { return true; }
  void move(SendRequest& message) override {
    message.fetch({to, message.bytes, datatype::predefined(MPI_BYTE)}, message.bytes);
  }
  void fetched(SendRequest&) override { here = true; }
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope, const SendRequest*) override { return nullptr; }

  std::byte* to = nullptr;
  std::atomic<bool> here{false};
};

class Message final : public SendRequest {
 public:
  void released() override { gone = true; }
  std::atomic<bool> gone{false};
};

class ByChannel {
 public:
  ByChannel(const Peer& peer, const std::string& address) : here_(peer.is_second ? 1 : 0) {
    OfiChannel::Setup setup;
    setup.sinks = {nullptr, nullptr};
    setup.sinks[static_cast<std::size_t>(here_)] = &sink_;
    setup.processes = {0, 1};
    setup.process = here_;
    if (const char* const provider = base::variable("CLUMP_OFI_PROVIDER")) setup.provider = provider;
    setup.interface_address = address;
    setup.find = [this](int, Bytes& found) { return found = theirs_, base::Status(); };
    setup.lost = [](int, const std::string& what) { check(base::fail(MPI_ERR_OTHER, "{}", what)); };
    check(OfiChannel::open(std::move(setup), channel_));
    theirs_ = peer.exchange(channel_->address());
  }
  void expect(std::byte* data, std::size_t) { sink_.to = data; }
  void send(std::byte* data, std::size_t bytes) {
    const Route route{here_, 1 - here_};
    const datatype::Layout payload{data, static_cast<Count>(bytes), datatype::predefined(MPI_BYTE)};
    if (channel_->try_send(route, {0, here_, 0}, payload.count, payload)) return;
    Message message;
    message.envelope = {0, here_, 0};
    message.bytes = payload.count;
    message.synchronous = message.bytes > channel_->least_eager();
    message.payload = payload;
    channel_->send(route, message);
    while (!message.gone) channel_->drain(0);
  }
  void receive() {
    while (!sink_.here) channel_->drain(0);
    sink_.here = false;
  }
  void finish() {}

 private:
  const int here_;
  Posted sink_;
  Bytes theirs_;
  std::unique_ptr<OfiChannel> channel_;
};

/// Half the round trip, in microseconds.
template <typename WorkerThread>
double measure(WorkerThread& worker_thread, const Peer& peer, Bytes& buffer, std::size_t bytes) {
  const int rounds = bytes <= 16'384 ? 2000 : bytes <= 262'144 ? 400 : 60;
  Clock::time_point begin;
  for (int round = -rounds / 10; round < rounds; ++round) {
    if (round == 0) begin = Clock::now();
    worker_thread.expect(buffer.data() + kLargest, bytes);
    if (round == -rounds / 10) peer.exchange({});
    if (peer.is_second) worker_thread.receive();
    worker_thread.send(buffer.data(), bytes);
    if (!peer.is_second) worker_thread.receive();
    worker_thread.finish();
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / rounds / 2;
}

void run(const Peer& peer, const std::string& address) {
  Raw raw(peer, address);
  ByChannel channel(peer, address);
  Bytes buffer(2 * kLargest, std::byte{1});
  if (!peer.is_second)
    fmt::print("{:>9} {:>14} {:>12} {:>14} {:>12}\n", "bytes", "libfabric us", "MB/s", "channel us", "MB/s");
  for (std::size_t bytes : {8, 64, 256, 1024, 4096, 16'344, 65'536, 262'144, 1'048'576, 4'194'304}) {
    const double alone = measure(raw, peer, buffer, bytes), ours = measure(channel, peer, buffer, bytes);
    const auto size = static_cast<double>(bytes);
    if (!peer.is_second)
      fmt::print("{:>9} {:>14.2f} {:>12.1f} {:>14.2f} {:>12.1f}\n", bytes, alone, size / alone, ours,
                 size / ours);
  }
  peer.exchange({});
}

}  // namespace
}  // namespace clump::net

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1";
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t second = ::fork();
  if (second < 0) return 1;
  clump::net::run({ends[second == 0 ? 1 : 0], second == 0}, address);
  std::fflush(stdout);
  if (second == 0) std::_Exit(0);
  int status = 0;
  ::waitpid(second, &status, 0);
  return status == 0 ? 0 : 1;
}
