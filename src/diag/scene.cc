#include "diag/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "diag/rank_names.h"

namespace clump::diag {

namespace {

using pmi::Awaited;
using Kind = pmi::Awaited::Kind;

constexpr std::size_t kMostPieces = 12;  // in the text of a list of ranks
constexpr std::size_t kMostHints = 2;
constexpr std::size_t kMostTargets = 4;  // of one wait, in the search for a cycle
constexpr std::size_t kMostStarts = 256;

std::string messages_text(int count, std::int64_t bytes) {
  return count == 1 ? fmt::format("1 message of {} bytes waits unmatched", bytes)
                    : fmt::format("{} messages of {} bytes wait unmatched", count, bytes);
}

/// `name`: of a number. Numbers follow each other if is_next(one, other).
std::string numbers_text(const std::vector<int>& ranks, auto name, auto is_next) {
  std::string text;
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < ranks.size(); ++pieces) {
    if (pieces == kMostPieces) return text + fmt::format(",... ({} in all)", ranks.size());
    std::size_t end = i + 1;
    while (end < ranks.size() && is_next(ranks[end - 1], ranks[end])) ++end;
    if (end - i < 3) end = i + 1;
    if (i > 0) text += ',';
    text += end - i > 1 ? fmt::format("{}-{}", name(ranks[i]), name(ranks[end - 1])) : name(ranks[i]);
    i = end;
  }
  return text;
}

std::string plural(std::size_t count) { return count == 1 ? "rank" : "ranks"; }

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<int> ours, theirs;
  std::set<std::uint64_t> jobs;
  for (const int number : ranks) {
    const pmi::OtherRank* const other = find_other(number);
    (other != nullptr ? theirs : ours).push_back(other != nullptr ? other->rank : number);
    if (other != nullptr) jobs.insert(other->job);
  }
  std::string text;
  if (!ours.empty() || theirs.empty()) {
    const auto is_next = [](int one, int other) {
      return other == one + 1 && launch_of(other) == launch_of(one);
    };
    text = fmt::format("{} {}", plural(ours.size()), numbers_text(ours, rank_name, is_next));
  }
  if (!theirs.empty()) {
    const auto name = [](int rank) { return std::to_string(rank); };
    const auto is_next = [](int one, int other) { return other == one + 1; };
    text += fmt::format("{}{} {} of {}", text.empty() ? "" : " and ", plural(theirs.size()),
                        numbers_text(theirs, name, is_next), jobs.size() == 1 ? "another job" : "other jobs");
  }
  return text;
}

int distance(int rank, int other, int ranks) {
  const int forward = ((other - rank) % ranks + ranks) % ranks;
  return forward > ranks / 2 ? forward - ranks : forward;
}

Scene::Scene(std::vector<Wait> waits, pmi::Account account, int ranks)
    : ranks_(ranks), waits_(std::move(waits)), account_(std::move(account)) {
  for (const pmi::CommFacts& comm : account_.comms) comms_.emplace(comm.key, &comm);
  name_comms();
  for (const pmi::Begun& begun : account_.begun) begun_[{begun.comm, begun.rank}] = begun.count;
  for (const pmi::Standing& standing : account_.standings) standings_[standing.rank] = &standing;
  for (const Wait& wait : waits_) {
    by_rank_[wait.rank].push_back(&wait);
    for (const Awaited& item : wait.items)
      if (item.kind == Kind::kCollective && item.call.empty()) meeting_[item.comm][wait.rank] = wait.call;
  }
}

/// Names the communicators. One without a name is named by its ranks, and if two have the same ranks, also by
/// a number.
void Scene::name_comms() {
  std::map<std::string, int> used;
  for (const auto& [key, facts] : comms_) {
    std::string name = facts->name;
    if (name.empty())
      name = facts->members.empty() ? "a communicator of all ranks"
                                    : fmt::format("a communicator of {}", ranks_text(facts->members));
    if (const int number = ++used[name]; number > 1 && facts->name.empty())
      name += fmt::format(" (no. {})", number);
    names_[key] = std::move(name);
  }
}

int Scene::threads_of(int rank) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? 0 : static_cast<int>(found->second.size());
}

const std::string& Scene::name_of(pmi::CommKey comm) const {
  static const std::string unknown = "a communicator that the receiver does not have";
  const auto found = names_.find(comm);
  if (found != names_.end()) return found->second;
  // The process that has this communicator may not have been asked. The same context number then tells which
  // one it is.
  const auto same =
      std::ranges::find_if(names_, [&](const auto& one) { return one.first.context == comm.context; });
  return same != names_.end() && comm.first < 0 ? same->second : unknown;
}

pmi::Standing::State Scene::state_of(int rank) const {
  if (find_other(rank) != nullptr) return pmi::Standing::State::kSilent;
  const auto found = standings_.find(rank);
  return found != standings_.end() ? found->second->state : pmi::Standing::State::kBefore;
}

const std::string& Scene::last_call_of(int rank) const {
  static const std::string unknown;
  const auto found = standings_.find(rank);
  return found != standings_.end() ? found->second->call : unknown;
}

const pmi::Frame* Scene::place_of_interpreter(int rank) const {
  const auto found = standings_.find(rank);
  return found != standings_.end() && !found->second->runs.empty() ? &found->second->runs.front() : nullptr;
}

std::string Scene::standing_of(int rank) const {
  using State = pmi::Standing::State;
  if (find_other(rank) != nullptr) return "its job is not asked";
  switch (state_of(rank)) {
    case State::kEnded:
      return "it has ended";
    case State::kFinalized:
      return "it has called MPI_Finalize";
    case State::kBefore:
      return "it has not called MPI_Init";
    case State::kSilent:
      return "its host has not answered";
    case State::kStopped:
      return "its process is stopped";
    case State::kEnds:
      return "its process is ending";
    case State::kMute:
      return "it has not answered";
    case State::kUses:
      break;
  }
  const auto found = by_rank_.find(rank);
  if (found == by_rank_.end()) return "it runs";
  const std::string& call = found->second.front()->call;
  if (call.empty()) return "it is outside MPI";
  if (call == "MPI_Finalize") return "it has called MPI_Finalize";
  return fmt::format("it {} in {}", found->second.front()->items.empty() ? "is" : "waits", call);
}

std::vector<int> Scene::members_of(const Awaited& collective) const {
  if (!collective.part.empty()) return {collective.part.begin(), collective.part.end()};
  const auto facts = comms_.find(collective.comm);
  if (facts == comms_.end()) return {};
  if (!facts->second->members.empty()) return {facts->second->members.begin(), facts->second->members.end()};
  std::vector<int> all(static_cast<std::size_t>(ranks_));
  for (int rank = 0; rank < ranks_; ++rank) all[static_cast<std::size_t>(rank)] = rank;
  return all;
}

bool Scene::has_others(const Awaited& collective) const {
  return std::ranges::any_of(members_of(collective), [](int rank) { return find_other(rank) != nullptr; });
}

// A collective by messages has a number, and each rank reports how many collectives it has begun. In a
// collective by shared memory, a rank that has come waits there, so its wait is in `meeting_`.
std::vector<int> Scene::missing(const Awaited& collective) const {
  std::vector<int> missing = members_of(collective);
  const auto met = meeting_.find(collective.comm);
  std::erase_if(missing, [&](int rank) {
    if (pmi::Standing::is_unheard(state_of(rank))) return true;  // no report about it
    if (collective.sequence >= 0) {
      const auto begun = begun_.find({collective.comm, rank});
      return begun != begun_.end() && begun->second > collective.sequence;
    }
    return met != meeting_.end() && met->second.contains(rank);
  });
  return missing;
}

bool Scene::is_in_same_call(int rank, const Wait& wait, const Awaited& collective) const {
  return std::ranges::any_of(waits_, [&](const Wait& other) {
    return other.rank == rank && other.call == wait.call &&
           std::ranges::any_of(other.items, [&](const Awaited& item) {
             return item.kind == Kind::kCollective && item.comm == collective.comm;
           });
  });
}

std::string Scene::other_calls(const Wait& wait, const Awaited& collective) const {
  std::map<std::string, std::vector<int>> others;
  for (const Wait& other : waits_)
    for (const Awaited& item : other.items) {
      if (item.kind != Kind::kCollective || item.comm != collective.comm) continue;
      const std::string& call = item.call.empty() ? other.call : item.call;
      const std::string& mine = collective.call.empty() ? wait.call : collective.call;
      if (call != mine) others[call].push_back(other.rank);
    }
  std::string text;
  for (const auto& [call, ranks] : others)
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", ranks_text(ranks),
                        ranks.size() == 1 ? "calls" : "call", call);
  return text.empty() ? text : text + " there";
}

std::vector<std::string> Scene::hints(const Wait& wait, const Awaited& item, bool relative) const {
  std::vector<std::string> found;
  if (item.kind == Kind::kReceive || item.kind == Kind::kProbe)
    found = hints_about_messages(wait.rank, item, relative);
  if (item.kind == Kind::kSend) found = hints_about_receives(wait.rank, item, relative);
  if (found.size() > kMostHints) found.resize(kMostHints);
  return found;
}

std::string Scene::name_of(int rank, int seen_from, bool relative) const {
  if (rank == Awaited::kAny) return "any rank";
  return relative ? fmt::format("rank{:+}", distance(seen_from, rank, ranks_)) : "rank " + rank_name(rank);
}

std::vector<std::string> Scene::hints_about_messages(int rank, const Awaited& wanted, bool relative) const {
  std::vector<std::string> found;
  for (const pmi::Unmatched& have : account_.unmatched) {
    if (have.rank != rank) continue;
    const bool same_source = wanted.peer == Awaited::kAny || have.source == wanted.peer;
    const bool same_tag = wanted.tag == Awaited::kAny || have.tag == wanted.tag;
    const bool same_comm = have.comm == wanted.comm;
    const std::string who = have.source == wanted.peer ? "it" : name_of(have.source, rank, relative);
    const std::string what = messages_text(have.count, have.bytes);
    if (same_source && same_comm && !same_tag)
      found.push_back(fmt::format("{} sent tag {} instead: {}", who, have.tag, what));
    else if (same_source && same_tag && !same_comm)
      found.push_back(fmt::format("{} sent it in {} instead: {}", who, name_of(have.comm), what));
    else if (same_tag && same_comm && !same_source)
      found.push_back(fmt::format("{} sent one with tag {}: {}", who, have.tag, what));
  }
  return found;
}

std::vector<std::string> Scene::hints_about_receives(int rank, const Awaited& sent, bool relative) const {
  std::vector<std::string> found;
  for (const pmi::Posted& wanted : account_.posted) {
    if (wanted.rank != sent.peer) continue;
    const bool same_source = wanted.source == Awaited::kAny || wanted.source == rank;
    const bool same_tag = wanted.tag == Awaited::kAny || wanted.tag == sent.tag;
    if (same_source && wanted.comm == sent.comm && !same_tag)
      found.push_back(fmt::format("it expects tag {} instead", wanted.tag));
    else if (same_source && same_tag && wanted.comm != sent.comm)
      found.push_back(fmt::format("it expects one in {}", name_of(wanted.comm)));
    else if (wanted.comm == sent.comm && same_tag && !same_source)
      found.push_back("it expects one from " + name_of(wanted.source, rank, relative));
  }
  return found;
}

/// Whether a send waits for a receive that is posted, or the reverse: the data moves, so neither side keeps
/// the other waiting.
bool Scene::is_under_way(int rank, const Awaited& item) const {
  const auto other = by_rank_.find(item.peer);
  if (other == by_rank_.end()) return false;
  const Kind counterpart = item.kind == Kind::kSend ? Kind::kReceive : Kind::kSend;
  const auto fits = [&](const Awaited& its) {
    const bool same_tag = its.tag == item.tag || its.tag == Awaited::kAny || item.tag == Awaited::kAny;
    return its.kind == counterpart && its.comm == item.comm && same_tag && its.peer == rank;
  };
  return std::ranges::any_of(other->second,
                             [&](const Wait* wait) { return std::ranges::any_of(wait->items, fits); });
}

std::vector<int> Scene::waited_for(int rank) const {
  std::vector<int> targets;
  const auto found = by_rank_.find(rank);
  if (found == by_rank_.end() || found->second.size() != 1) return targets;  // each thread has its own wait
  for (const Awaited& item : found->second.front()->items) {
    if (item.kind != Kind::kCollective) {
      if (item.peer >= 0 && !is_under_way(rank, item)) targets.push_back(item.peer);
      continue;
    }
    std::vector<int> missing = this->missing(item);
    if (missing.size() > kMostTargets) missing.resize(kMostTargets);
    targets.insert(targets.end(), missing.begin(), missing.end());
  }
  return targets;
}

pmi::CommKey Scene::comm_between(int rank, int target) const {
  const auto found = by_rank_.find(rank);
  if (found == by_rank_.end()) return {};
  for (const Awaited& item : found->second.front()->items) {
    if (item.kind != Kind::kCollective) {
      if (item.peer == target && !is_under_way(rank, item)) return item.comm;
    } else if (const std::vector<int> absent = missing(item);
               std::ranges::find(absent, target) != absent.end()) {
      return item.comm;
    }
  }
  return {};
}

/// The shortest cycle through `rank`, by breadth-first search; empty: there is none.
std::vector<int> Scene::circle_through(int rank, const std::set<int>* among) const {
  std::map<int, int> reached_from;
  std::deque<int> todo{rank};
  while (!todo.empty()) {
    const int at = todo.front();
    todo.pop_front();
    if (among != nullptr && !among->contains(at)) continue;
    for (const int target : waited_for(at)) {
      if (target == rank) {
        std::vector<int> circle{at};
        while (circle.back() != rank) circle.push_back(reached_from[circle.back()]);
        std::ranges::reverse(circle);
        return circle;
      }
      if (reached_from.emplace(target, at).second) todo.push_back(target);
    }
  }
  return {};
}

std::vector<int> Scene::cycle(const std::set<int>* among) const {
  std::vector<int> shortest;
  std::size_t starts = 0;
  for (const auto& [rank, waits] : by_rank_) {
    if (++starts > kMostStarts) break;
    std::vector<int> circle = circle_through(rank, among);
    if (!circle.empty() && (shortest.empty() || circle.size() < shortest.size()))
      shortest = std::move(circle);
    if (shortest.size() == 1) break;
  }
  return shortest;
}

}  // namespace clump::diag
