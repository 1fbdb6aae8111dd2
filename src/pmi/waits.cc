#include "pmi/waits.h"

#include <iterator>
#include <utility>

#include "pmi/wire.h"

namespace clump::pmi {

namespace {

constexpr std::string_view kWaitsMagic = "clump account " CLUMP_VERSION;

// One function for each struct, which writes or reads all of its fields in turn.

struct Out {
  Writer out;
  template <typename Number>
  void field(const Number& number) {
    out.number(number);
  }
  void field(const std::string& text) { out.text(text); }
  void field(const CommKey& key) { out.number(key.context), out.number(key.first); }
  template <typename One>
  void field(const std::vector<One>& all);
};

struct In {
  Reader in;
  template <typename Number>
  void field(Number& number) {
    number = in.number<Number>();
  }
  void field(std::string& text) { text = in.text(); }
  void field(CommKey& key) { field(key.context), field(key.first); }
  template <typename One>
  void field(std::vector<One>& all);
};

template <typename Stream, typename Number>
void each(Stream& s, Number& number) requires(std::is_integral_v<std::remove_const_t<Number>>) {
  s.field(number);
}

// Fields as a list: const ones are written, others are read.
#define CLUMP_FIELDS(Type, ...)                                    \
  template <typename Stream>                                       \
  void each(Stream& s, const Type& x) {                            \
    [&](auto&... fields) { (s.field(fields), ...); }(__VA_ARGS__); \
  }                                                                \
  template <typename Stream>                                       \
  void each(Stream& s, Type& x) {                                  \
    [&](auto&... fields) { (s.field(fields), ...); }(__VA_ARGS__); \
  }

CLUMP_FIELDS(Frame, x.object, x.address, x.function)
CLUMP_FIELDS(CommFacts, x.key, x.name, x.members)
CLUMP_FIELDS(Begun, x.rank, x.comm, x.count)
CLUMP_FIELDS(Awaited, x.kind, x.comm, x.peer, x.tag, x.bytes, x.call, x.holds, x.sequence, x.part)
CLUMP_FIELDS(Waiter, x.rank, x.frames, x.items)
CLUMP_FIELDS(Unmatched, x.rank, x.source, x.tag, x.comm, x.bytes, x.count)
CLUMP_FIELDS(Posted, x.rank, x.source, x.tag, x.comm, x.count)
CLUMP_FIELDS(Standing, x.rank, x.state, x.call, x.moved, x.runs)
CLUMP_FIELDS(OtherRank, x.number, x.rank, x.job)
CLUMP_FIELDS(Account, x.standings, x.comms, x.begun, x.waiters, x.unmatched, x.posted, x.others)
#undef CLUMP_FIELDS

template <typename One>
void Out::field(const std::vector<One>& all) {
  out.number(static_cast<std::uint32_t>(all.size()));
  for (const One& one : all) each(*this, one);
}

template <typename One>
void In::field(std::vector<One>& all) {
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) each(*this, all.emplace_back());
}

template <typename One>
void append(std::vector<One>& to, std::vector<One>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Account::add(Account&& other) {
  append(standings, std::move(other.standings));
  append(comms, std::move(other.comms));
  append(begun, std::move(other.begun));
  append(waiters, std::move(other.waiters));
  append(unmatched, std::move(other.unmatched));
  append(posted, std::move(other.posted));
  append(others, std::move(other.others));
}

std::string encode(const Account& account) {
  Out out;
  each(out, account);
  return out.out.take();
}

bool decode(std::string_view bytes, Account& account) {
  In in{Reader(bytes)};
  each(in, account);
  return in.in.finished();
}

std::string encode(const AccountNote& note) {
  Writer out;
  out.text(kWaitsMagic);
  out.number(note.process);
  out.number(note.question);
  out.number(note.is_last);
  out.text(note.bytes);
  return out.take();
}

bool decode(const std::string& bytes, AccountNote& note) {
  Reader in(bytes);
  if (in.text() != kWaitsMagic) return false;
  note.process = in.number<std::int32_t>();
  note.question = in.number<std::uint32_t>();
  note.is_last = in.number<bool>();
  note.bytes = in.text();
  return in.finished();
}

}  // namespace clump::pmi
