// Frames that no process of the job would send: each field changed, too short, too long, drawn at random.
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "net/ofi/announced.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/provider.h"
#include "net/ofi/test_channels.h"
#include "net/ofi/wire.h"
#include "seed.h"

namespace clump::net {
namespace {

using namespace ofi;

/// Sends any bytes to a process, as a program does that knows libfabric and the process's address.
class Forger {
 public:
  Forger() {
    const Libfabric* library = nullptr;
    EXPECT_TRUE(load_libfabric(library).ok());
    const char* const provider = base::variable("CLUMP_OFI_PROVIDER");
    EXPECT_TRUE(find_providers(*library, {provider != nullptr ? provider : "", "127.0.0.1"}, found_).ok());
    EXPECT_TRUE(Endpoint::open(*library, *found_.front(), endpoint_).ok());
    Bytes name;
    EXPECT_TRUE(endpoint_->name(name).ok());
    address_ =
        PublishedAddress{.provider = found_.front()->fabric_attr->prov_name, .token = 7, .endpoints = {name}}
            .packed();
  }
  void connect_to(const Bytes& address) {
    PublishedAddress to;
    EXPECT_TRUE(PublishedAddress::unpack(address, to));
    token_ = to.token;
    EXPECT_TRUE(endpoint_->insert(to.endpoints.front(), to_).ok());
  }
  /// As it would be published.
  const Bytes& address() const { return address_; }
  std::uint64_t token() const { return token_; }
  /// False: not now.
  bool send(const Bytes& frame) {
    look();
    Sent& sent = sent_.emplace_back();
    sent.frame = frame;
    const bool is_sent = endpoint_->send(sent.frame.data(), frame.size(), to_, sent.transfer) == 0;
    if (!is_sent) sent_.pop_back();
    return is_sent;
  }
  void look() {
    fi_cq_data_entry entries[16];
    (void)endpoint_->read(entries);
  }

 private:
  struct Sent {
    Transfer transfer;
    Bytes frame;
  };
  std::vector<FabricInfo> found_;
  std::deque<Sent> sent_;
  std::unique_ptr<Endpoint> endpoint_;  // closed before what it sends ends
  Bytes address_;
  fi_addr_t to_ = FI_ADDR_UNSPEC;
  std::uint64_t token_ = 0;
};

/// Counts what comes, and keeps what is announced.
class StoringSink final : public Sink {
 public:
  void release_all() {
    for (SendRequest* const one : std::exchange(kept_, {})) one->released();
  }
  bool take(Envelope, Count, const datatype::Layout&, Bound) override { return ++taken > 0; }
  bool arrive(SendRequest& message) override {
    kept_.push_back(&message);
    return false;
  }
  void move(SendRequest&) override {}
  void fetched(SendRequest&) override {}
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope envelope, const SendRequest* original) override {
    const auto found = std::ranges::find_if(kept_, [&](const SendRequest* one) {
      return one->original == original && one->envelope == envelope;
    });
    if (found == kept_.end()) return nullptr;
    SendRequest* const one = *found;
    kept_.erase(found);
    return one;
  }
  std::atomic<int> taken{0};

 private:
  std::vector<SendRequest*> kept_;
};

constexpr wire::Address kToOne{4, 0, 9, 1};
constexpr int kNamed = 64;

class OfiDamaged : public Ofi {
 protected:
  void SetUp() override {
    named_address_ = forger_.address();
    open({.named = kNamed});
    forger_.connect_to(channel(1).address());
  }
  wire::Header header(wire::Kind kind) const {
    return {forger_.token(), 0, static_cast<std::uint32_t>(process_), 0, kind};
  }
  /// In the name of process_.
  template <typename Body>
  Bytes frame(wire::Kind kind, const Body& body) const {
    return frame(header(kind), body);
  }
  template <typename Body>
  static Bytes frame(const wire::Header& head, const Body& body) {
    const wire::Note<Body> note{head, body};
    Bytes bytes(sizeof note);
    std::memcpy(bytes.data(), &note, sizeof note);
    return bytes;
  }
  static Bytes resized(Bytes bytes, int more) {
    bytes.resize(bytes.size() + static_cast<std::size_t>(more));
    return bytes;
  }
  void send(const Bytes& bytes) {
    ASSERT_TRUE(drain_until([&] { return forger_.send(bytes); }));
  }
  std::size_t losses() {
    const std::lock_guard lock(mutex_);
    return lost_.size();
  }
  /// Process 1 gives up process_ for these frames, and says why. The next ones come in the name of another
  /// process.
  void expect_wrong(const std::vector<Bytes>& frames, const std::string& why) {
    for (const Bytes& one : frames) send(one);
    ASSERT_TRUE(drain_until([&] { return forger_.look(), losses() == 1; })) << why;
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(
        lost_.front().starts_with(fmt::format("{}: a wrong frame has come from 127.0.0.1 port ", process_)))
        << lost_.front();
    EXPECT_NE(lost_.front().find(why), std::string::npos) << lost_.front() << "\nand not: " << why;
    lost_.clear();
    ++process_;
  }
  void expect_wrong(const Bytes& bytes, const std::string& why) {
    expect_wrong(std::vector<Bytes>(1, bytes), why);
  }
  /// Announces a message to process_; its number.
  std::uint64_t announce(Message& message) {
    channel(1).send({1, process_}, message);
    EXPECT_TRUE(drain_until([&] { return forger_.look(), message.original != nullptr; }));
    return reinterpret_cast<std::uint64_t>(message.original);
  }
  void expect_that_all_goes_on() {
    Bytes data = pattern(300'000);
    Message sent(data, 1);
    const int before = sink(1).came;
    channel(0).send({0, 1}, sent);
    EXPECT_TRUE(drain_until([&] { return sink(1).came == before + 1 && sent.times_released == 1; }));
    EXPECT_EQ(sink(1).last().data, data);
  }

  Forger forger_;
  int process_ = 2;
};

TEST_F(OfiDamaged, KindsAndLengths) {
  using enum wire::Kind;
  expect_wrong(frame(static_cast<wire::Kind>(77), wire::NoBody{}), "one of kind 77 with 32 bytes");
  for (const int more : {-8, 8}) {
    expect_wrong(resized(frame(kRts, wire::RtsBody{kToOne, 5, 8, 1}), more), "one of kind 1 with");
    expect_wrong(resized(frame(kCts, wire::CtsBody{5, 0, 8, 8, 1}), more), "one of kind 2 with");
    expect_wrong(resized(frame(kFin, wire::FinBody{5}), more), "one of kind 3 with");
    expect_wrong(resized(frame(kCancel, wire::CancelBody{kToOne, 5}), more), "one of kind 4 with");
    expect_wrong(resized(frame(kCancelled, wire::FinBody{5}), more), "one of kind 5 with");
    expect_wrong(resized(frame(kCredit, wire::NoBody{}), more), "one of kind 6 with");
  }
  wire::Header generous = header(kCredit);
  generous.credit = 1;
  expect_wrong(frame(generous, wire::NoBody{}), "1 bytes of credit too many");
  const Bytes once = frame(kCredit, wire::NoBody{});
  expect_wrong({once, once}, "one with the number 0 again");
  EXPECT_EQ(sink(1).size(), 0U);
  expect_that_all_goes_on();
}

TEST_F(OfiDamaged, MessagesAndOffers) {
  using enum wire::Kind;
  const auto message = [&](wire::Address to, Count bytes, int with) {
    return resized(frame(kMessage, wire::MessageBody{to, bytes}), with);
  };
  for (const int rank : {-1, 0, 2, 1 << 30}) {
    expect_wrong(message({4, 0, 9, rank}, 4, 4), fmt::format("for rank {}, which", rank));
    expect_wrong(frame(kRts, wire::RtsBody{{4, 0, 9, rank}, 5, 8, 1}),
                 fmt::format("for rank {}, which", rank));
  }
  expect_wrong(message({4, -1, 9, 1}, 4, 4), "a message of rank -1");
  expect_wrong(frame(kRts, wire::RtsBody{{4, -1, 9, 1}, 5, 8, 1}), "the offer of a message of rank -1");
  expect_wrong(message(kToOne, 5, 4), "a message of 5 bytes in 4 bytes");
  expect_wrong(message(kToOne, -1, 4), "a message of -1 bytes in 4 bytes");
  expect_wrong(message(kToOne, 0, -24), "0 bytes where a message was to begin");
  EXPECT_EQ(sink(1).size(), 0U);
  expect_wrong(message(kToOne, 0, 23), "23 bytes where a message was to begin");
  EXPECT_EQ(sink(1).size(), 1U) << "the message before was right";
  expect_wrong(frame(kRts, wire::RtsBody{kToOne, 5, -1, 1}), "the offer of message 5 with -1 bytes");
  expect_wrong(frame(kRts, wire::RtsBody{kToOne, 0x7f0000001000, 8, 1}),
               "the offer of message 139637976731648 with");
  expect_that_all_goes_on();
}

TEST_F(OfiDamaged, NumbersOfMessages) {
  using enum wire::Kind;
  Bytes data = pattern(100'000);
  std::deque<Message> all;
  const auto number = [&] { return announce(all.emplace_back(data, 1)); };
  const auto ask = [&](std::uint64_t message, Count offset, Count bytes, Count wanted) {
    return frame(kCts, wire::CtsBody{message, offset, bytes, wanted, 1});
  };
  expect_wrong(ask(5, 0, 8, 8), "message 5, which it was not offered");
  expect_wrong(ask(0x7f0000001000, 0, 8, 8), "which it was not offered");
  expect_wrong(ask(~0ULL, 0, 8, 8), "which it was not offered");
  const std::uint64_t others = number();
  ++process_;
  expect_wrong(ask(others, 0, 8, 8), "which it was not offered");
  expect_wrong(frame(kFin, wire::FinBody{others}), "which it was not offered");
  expect_wrong(frame(kCancelled, wire::FinBody{others}), "which it was not offered");
  expect_wrong(ask(number(), 1, 8, 9), "8 bytes at 1, of 9");
  expect_wrong(ask(number(), 0, 0, 8), "0 bytes at 0, of 8");
  expect_wrong(ask(number(), 0, -8, 8), "-8 bytes at 0, of 8");
  expect_wrong(ask(number(), 0, 9, 8), "9 bytes at 0, of 8");
  expect_wrong(ask(number(), 0, 8, 100'001), "8 bytes at 0, of 100001");
  expect_wrong(ask(number(), -8, 8, 8), "8 bytes at -8, of 8");
  expect_wrong(frame(kCancelled, wire::FinBody{number()}), "which it was not asked to give back");
  for (const Message& one : all) EXPECT_EQ(one.times_released + one.times_withdrawn, 0);
  expect_that_all_goes_on();
  channels_.clear();  // before the messages
}

TEST_F(OfiDamaged, MessagesThatAreFetched) {
  using enum wire::Kind;
  Bytes data = pattern(100'000);
  std::deque<Message> all;
  const auto frames = [&](Count offset, Count bytes, Count wanted, bool ends) {
    const std::uint64_t number = announce(all.emplace_back(data, 1));
    wire::Header second = header(ends ? kFin : kCts);
    second.sequence = 1;
    return std::vector{frame(kCts, wire::CtsBody{number, 0, 1000, 2000, 1}),
                       ends ? frame(second, wire::FinBody{number})
                            : frame(second, wire::CtsBody{number, offset, bytes, wanted, 2})};
  };
  expect_wrong(frames(1000, 1001, 2000, false), "1001 bytes at 1000, of 2000");
  expect_wrong(frames(1000, 1000, 3000, false), "1000 bytes at 1000, of 3000");
  expect_wrong(frames(0, 1000, 2000, false), "1000 bytes at 0, of 2000");
  expect_wrong(frames(0, 0, 0, true), "which it is being sent");
  for (const Message& one : all) EXPECT_EQ(one.times_released, 0);
  expect_that_all_goes_on();
  channels_.clear();  // before the messages
}

TEST_F(OfiDamaged, StrangersAreNotHeard) {
  using enum wire::Kind;
  std::uint64_t sent = 0;
  for (const std::uint32_t kind : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 77U}) {
    wire::Header head = header(static_cast<wire::Kind>(kind));
    head.token ^= 1;
    send(frame(head, wire::CtsBody{5, 0, 8, 8, 1}));
    ++sent;
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, sizeof(wire::Header) - 1}) {
    send(Bytes(bytes));
    ++sent;
  }
  wire::Header head = header(kCredit);
  head.process = 2 + kNamed;
  send(frame(head, wire::NoBody{}));
  ++sent;
  EXPECT_TRUE(drain_until([&] { return forger_.look(), channel(1).refused() == sent; }))
      << channel(1).refused();
  EXPECT_EQ(losses(), 0U);
  EXPECT_EQ(sink(1).size(), 0U);
  expect_that_all_goes_on();
}

/// Frames of all kinds, with words of them drawn anew, and cut or prolonged.
class OfiDrawn : public OfiDamaged {
 protected:
  static constexpr int kFrames = 3000, kAnnounced = 8;

  unsigned draw(unsigned below) { return static_cast<unsigned>(random_()) % below; }
  /// As a process of the job would send it.
  Bytes right(const wire::Header& head) {
    using enum wire::Kind;
    const std::uint64_t number = numbers_[draw(kAnnounced)];
    switch (head.kind) {
      case kMessage:
        return resized(frame(head, wire::MessageBody{kToOne, 4}), 4);
      case kRts:
        return frame(head,
                     wire::RtsBody{kToOne, std::uint64_t{draw(8)} << 2 | 1, Count{1} << draw(40), draw(2)});
      case kCts:
        return frame(head, wire::CtsBody{number, 0, 100, 100 + draw(2), draw(100)});
      case kFin:
      case kCancelled:
        return frame(head, wire::FinBody{number});
      case kCancel:
        return frame(head, wire::CancelBody{kToOne, std::uint64_t{draw(8)} << 2 | 1});
      default:
        return frame(head, wire::NoBody{});
    }
  }
  Bytes drawn() {
    wire::Header head = header(static_cast<wire::Kind>(draw(8)));
    head.process = 2 + draw(kNamed);
    head.sequence = next_[head.process];
    Bytes bytes = right(head);
    constexpr unsigned kHead = sizeof head / 4;
    for (unsigned changes = draw(4); changes > 0; --changes) {
      const std::uint32_t values[] = {0, 1, 4, 0x7fffffff, 0x80000000, 0xffffffff, draw(0x7fffffff)};
      const unsigned word = kHead + draw(static_cast<unsigned>(bytes.size() / 4) - kHead);
      std::memcpy(bytes.data() + std::size_t{4} * word, &values[draw(std::size(values))], 4);
    }
    if (draw(4) == 0)
      bytes.resize(draw(static_cast<unsigned>(bytes.size()) + 1));
    else if (draw(8) == 0)
      bytes.resize(bytes.size() + draw(100));
    if (bytes.size() < sizeof head)
      ++refused_;
    else
      ++next_[head.process];
    return bytes;
  }

  std::mt19937 random_{static_cast<unsigned>(test_seed(5))};
  std::vector<std::uint32_t> next_ = std::vector<std::uint32_t>(2 + kNamed);
  std::uint64_t numbers_[kAnnounced] = {};
  std::uint64_t refused_ = 0;
};

TEST_F(OfiDrawn, FramesDoNoHarm) {
  StoringSink storing;
  open({.named = kNamed, .sink = &storing});
  forger_.connect_to(channel(1).address());
  Bytes data = pattern(100'000);
  std::deque<Message> announced;
  for (std::uint64_t& number : numbers_) {
    number = announce(announced.emplace_back(data, 1));
    ++process_;
  }
  for (int i = 0; i < kFrames; ++i) send(drawn());
  wire::Header last = header(wire::Kind::kCredit);
  last.token ^= 1;
  send(frame(last, wire::NoBody{}));  // what comes from one endpoint comes in its order: so all has come
  EXPECT_TRUE(drain_until([&] { return forger_.look(), channel(1).refused() == refused_ + 1; }))
      << channel(1).refused() << " and not " << refused_ + 1;
  EXPECT_GT(storing.taken, 0);
  EXPECT_GT(losses(), 0U);
  for (const Message& one : announced) EXPECT_LE(one.times_released + one.times_withdrawn, 1);
  Message sent(data, 1);
  sent.bytes = 300;
  sent.payload = bytes_at(data.data(), 300);
  const int before = storing.taken;
  channel(0).send({0, 1}, sent);
  EXPECT_TRUE(drain_until([&] { return storing.taken == before + 1 && sent.times_released == 1; }));
  storing.release_all();
  channels_.clear();
  lost_.clear();
}

}  // namespace
}  // namespace clump::net
