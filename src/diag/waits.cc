#include "diag/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "diag/libraries.h"
#include "diag/rank_names.h"
#include "diag/symbolize.h"

namespace clump::diag {

namespace {

using pmi::Awaited;
using Kind = pmi::Awaited::Kind;

constexpr std::size_t kMostLines = 8;                      // about the requests of one call
constexpr std::size_t kMostNamed = 10;                     // ranks of a cycle
constexpr std::ptrdiff_t kMostAlike = 8, kShownAlike = 4;  // groups of ranks at one place

/// The rank that a group of ranks waits for: the same one for all, or for each the one at the same distance
/// from it.
struct Relation {
  bool relative = false;
  int value = 0;

  /// The relation in a list of arguments: "3", "rank+1", "any".
  std::string argument() const {
    if (!relative) return value < 0 ? "any" : rank_name(value);
    return value == 0 ? "itself" : fmt::format("rank{:+}", value);
  }
  std::string subject() const { return relative ? "that rank" : "rank " + rank_name(value); }
};

std::string tag_text(int tag) { return tag == Awaited::kAny ? "any tag" : fmt::format("tag {}", tag); }

/// The arguments of an item, "from rank 3, tag 7", without what is known about why it does not come.
std::string arguments(const Scene& scene, const Awaited& item, const Relation& peer) {
  const std::string& comm = scene.name_of(item.comm);
  switch (item.kind) {
    case Kind::kReceive:
    case Kind::kProbe:
    case Kind::kPartitionedReceive:
      return fmt::format("source {}, {}, {}", peer.argument(), tag_text(item.tag), comm);
    case Kind::kSend:
      return fmt::format("destination {}, tag {}, {} bytes, {}", peer.argument(), item.tag, item.bytes, comm);
    case Kind::kPartitionedSend:
      return fmt::format("destination {}, tag {}, {}", peer.argument(), item.tag, comm);
    case Kind::kCollective:
      return comm;
    case Kind::kUser:
    case Kind::kWindow:
      return {};
  }
  return {};
}

std::string noun(const Awaited& item) {
  switch (item.kind) {
    case Kind::kReceive:
      return "a receive";
    case Kind::kProbe:
      return "a message";
    case Kind::kSend:
      return "a send";
    case Kind::kPartitionedSend:
      return "a partitioned send";
    case Kind::kPartitionedReceive:
      return "a partitioned receive";
    case Kind::kCollective:
      return item.call.empty() ? "a collective operation" : item.call;
    case Kind::kUser:
      return "a generalised request";
    case Kind::kWindow:
      return item.call;
  }
  return {};
}

/// Why a rank is missing in a collective: "rank 1 does not take part (it waits in MPI_Recv)".
std::string absence(const Scene& scene, const Wait& wait, const Awaited& item, bool is_final) {
  // Those in the same call are in another step of it, and wait for the others as well.
  std::vector<int> missing = scene.missing(item);
  const auto there = std::ranges::stable_partition(
      missing, [&](int rank) { return !scene.is_in_same_call(rank, wait, item); });
  if (there.begin() != missing.begin()) missing.erase(there.begin(), there.end());
  std::map<std::string, std::vector<int>> by_standing;
  for (const int rank : missing) by_standing[scene.standing_of(rank)].push_back(rank);
  std::string text;
  for (const auto& [standing, ranks] : by_standing) {
    const bool one = ranks.size() == 1;
    std::string state = standing;
    if (!one) state = "each: " + standing;
    const char* const what = is_final ? (one ? "does not take part" : "do not take part")
                                      : (one ? "has not come" : "have not come");
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", ranks_text(ranks), what, state);
  }
  if (!text.empty()) return text;
  if (!is_final) return "all who were asked have come";
  if (std::string others = scene.other_calls(wait, item); !others.empty()) return others;
  if (scene.has_others(item)) return "all its ranks of this job have called it; others are not asked";
  return "all its ranks have called it, but not with the same root and sizes (mpiexec --check tells more)";
}

/// Why one item does not come.
std::string reason(const Scene& scene, const Wait& wait, const Awaited& item, const Relation& peer,
                   bool is_final) {
  const std::string subject = item.peer == wait.rank ? "the rank itself" : peer.subject();
  std::string text;
  switch (item.kind) {
    case Kind::kCollective:
      return absence(scene, wait, item, is_final);
    case Kind::kUser:
      return fmt::format("the program {} it (MPI_Grequest_complete)",
                         is_final ? "never completes" : "has not completed");
    case Kind::kPartitionedSend:
      if (item.bytes > 0)
        return fmt::format("{} of its partitions {} {} marked as ready (MPI_Pready)", item.bytes,
                           item.bytes == 1 ? "is" : "are", is_final ? "never" : "not");
      text = fmt::format("{} {} to receive it", subject, is_final ? "never starts" : "has not started");
      break;
    case Kind::kWindow:
      if (item.peer < 0)
        text = "other ranks hold it";
      else if (item.holds)
        text = fmt::format("{} holds it{}", subject, is_final ? " and never gives it back" : "");
      else
        text = fmt::format("{} {} it", subject, is_final ? "never calls" : "has not called");
      break;
    case Kind::kSend:
      text = fmt::format("{} {} it", subject, is_final ? "never receives" : "has not received");
      break;
    default:
      text = item.peer < 0 ? fmt::format("nobody {} it", is_final ? "sends" : "has sent")
                           : fmt::format("{} {} it", subject, is_final ? "never sends" : "has not sent");
  }
  if (item.peer >= 0 && item.peer != wait.rank) text += "; " + scene.standing_of(item.peer);
  for (const std::string& hint : scene.hints(wait, item, peer.relative)) text += "; " + hint;
  return text;
}

/// The wait of one thread as text: waits that are reported together have equal texts.
struct Form {
  std::string text;
  std::vector<Relation> peers;  // by item
};

Form form_of(const Scene& scene, const Wait& wait, bool relative, bool is_final) {
  Form form{wait.call + "\n" + wait.place, {}};
  for (const Awaited& item : wait.items) {
    Relation peer{false, item.peer};
    if (relative && item.peer >= 0 && find_other(item.peer) == nullptr)
      peer = {true, distance(wait.rank, item.peer, scene.ranks())};
    form.peers.push_back(peer);
    form.text += "\n" + arguments(scene, item, peer) + noun(item) + reason(scene, wait, item, peer, is_final);
  }
  return form;
}

struct Group {
  const Wait* first;
  Form form;
  std::vector<int> ranks;
  int threads = 0;  // the threads of these ranks that are not the only ones of their rank
};

/// Puts each wait into the larger one of two groups: the waits for the same rank, and the waits for a rank at
/// the same distance.
std::vector<Group> groups_of(const Scene& scene, bool is_final) {
  std::map<std::string, int> sizes;
  std::vector<std::pair<Form, Form>> forms;
  for (const Wait& wait : scene.waits()) {
    forms.emplace_back(form_of(scene, wait, false, is_final), form_of(scene, wait, true, is_final));
    ++sizes[forms.back().first.text];
    if (forms.back().second.text != forms.back().first.text) ++sizes[forms.back().second.text];
  }
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    auto& [absolute, relative] = forms[i];
    Form& form = sizes[relative.text] > sizes[absolute.text] ? relative : absolute;
    const Wait& wait = scene.waits()[i];
    const auto [at, fresh] = known.try_emplace(form.text, groups.size());
    if (fresh) groups.push_back({&wait, std::move(form), {}, 0});
    Group& group = groups[at->second];
    if (group.ranks.empty() || group.ranks.back() != wait.rank) group.ranks.push_back(wait.rank);
    group.threads += static_cast<int>(scene.threads_of(wait.rank) > 1);
  }
  // Half way round, both directions are as far: the one in which no rank's peer is beyond the last rank.
  for (Group& group : groups)
    for (Relation& peer : group.form.peers)
      if (peer.relative && 2 * peer.value == scene.ranks() && std::ranges::min(group.ranks) >= peer.value)
        peer.value = -peer.value;
  std::ranges::stable_sort(groups, {}, [](const Group& group) { return group.ranks.front(); });
  return groups;
}

/// Whether the call does itself what is awaited (MPI_Recv, a receive), rather than waiting for a request that
/// does.
bool is_itself(const Wait& wait, const Awaited& item) {
  if (!item.call.empty()) return false;
  const std::string_view call = wait.call;
  switch (item.kind) {
    case Kind::kReceive:
      return call.find("ecv") != call.npos || call.find("eceive") != call.npos;
    case Kind::kSend:
      return call.find("end") != call.npos;
    case Kind::kProbe:
      return true;
    case Kind::kCollective:
      return true;
    default:
      return false;
  }
}

std::string who(const Group& group) {
  const bool one = group.ranks.size() == 1 && group.threads <= 1;
  if (group.threads == 0) return fmt::format("{} {}", ranks_text(group.ranks), one ? "waits" : "wait");
  if (one) return fmt::format("a thread of {} waits", ranks_text(group.ranks));
  return fmt::format("{} threads of {} wait", group.threads, ranks_text(group.ranks));
}

/// The clause "for 2 requests", and a line for each kind of them.
std::string list(const Scene& scene, const Group& group, bool is_final) {
  std::vector<std::pair<std::string, int>> lines;
  const std::vector<Awaited>& items = group.first->items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Relation& peer = group.form.peers[i];
    std::string line = fmt::format("{} ({}): {}", noun(items[i]), arguments(scene, items[i], peer),
                                   reason(scene, *group.first, items[i], peer, is_final));
    if (!lines.empty() && lines.back().first == line)
      ++lines.back().second;
    else
      lines.emplace_back(std::move(line), 1);
  }
  std::string text = fmt::format(" for {} requests", items.size());
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
    text += fmt::format("\n    {}{}", lines[i].first,
                        lines[i].second > 1 ? fmt::format(" ({} of these)", lines[i].second) : "");
  if (lines.size() > kMostLines) text += fmt::format("\n    ... and {} more", lines.size() - kMostLines);
  return text;
}

std::string line_of(const Scene& scene, const Group& group, bool is_final) {
  const Wait& wait = *group.first;
  const std::string place = wait.place.empty() ? "" : " " + wait.place;
  if (wait.items.empty()) {
    const bool one = group.ranks.size() == 1;
    return fmt::format("{} {} {}{}", ranks_text(group.ranks), one ? "is" : "are",
                       wait.call.empty() ? "outside MPI" : "in " + wait.call, place);
  }
  std::string text = fmt::format("{} in {}", who(group), wait.call.empty() ? "MPI" : wait.call);
  if (wait.items.size() > 1) return text + place + list(scene, group, is_final);
  const Awaited& item = wait.items.front();
  const Relation& peer = group.form.peers.front();
  const std::string details = arguments(scene, item, peer);
  if (item.kind == Kind::kCollective && is_itself(wait, item))
    text += fmt::format("{} ({})", place, details);
  else if (is_itself(wait, item))
    text += fmt::format("({}){}", details, place);
  else
    text += fmt::format("{} for {}{}", place, noun(item), details.empty() ? "" : " (" + details + ")");
  return text + ": " + reason(scene, wait, item, peer, is_final);
}

std::string place_of(const Wait& wait) {
  return fmt::format("{} {}", wait.call.empty() ? "the program" : wait.call, wait.place);
}

std::string cycle_text(const Scene& scene, const std::set<int>* among) {
  const std::vector<int> circle = scene.cycle(among);
  if (circle.empty()) return {};
  if (circle.size() == 1) return fmt::format("  rank {} waits for itself\n", rank_name(circle.front()));
  // If the cycle goes through several communicators, each link names its own.
  std::vector<std::string> comms;
  for (std::size_t i = 0; i < circle.size(); ++i)
    comms.push_back(scene.name_of(scene.comm_between(circle[i], circle[(i + 1) % circle.size()])));
  const bool is_one =
      std::ranges::all_of(comms, [&](const std::string& comm) { return comm == comms.front(); });
  std::string text = fmt::format("  in a circle: rank {}", rank_name(circle.front()));
  for (std::size_t i = 1; i <= circle.size(); ++i) {
    if (circle.size() > kMostNamed && i == kMostNamed / 2) {
      text += fmt::format(" waits for ... ({} ranks in all)", circle.size());
      i = circle.size() - 1;
    }
    text += fmt::format(" waits for rank {}", rank_name(circle[i % circle.size()]));
    if (!is_one) text += fmt::format(" (in {})", comms[i - 1]);
  }
  return text + "\n";
}

/// Of a function that an interpreter runs: "at solve.py:41, in step".
std::string interpreted_place(const pmi::Frame& frame) {
  if (frame.object.empty()) return "in " + frame.function;
  return fmt::format("at {}:{}, in {}", frame.object.substr(frame.object.rfind('/') + 1), frame.address,
                     frame.function);
}

/// The text about the ranks none of whose threads waits.
std::string others_text(const Scene& scene) {
  using State = pmi::Standing::State;
  std::map<std::tuple<State, std::string, std::string>, std::vector<int>> by_state;
  for (int rank = 0; rank < end_of_ranks(scene.ranks()); ++rank)
    if (scene.threads_of(rank) == 0) {
      const pmi::Frame* const place = scene.place_of_interpreter(rank);
      by_state[{scene.state_of(rank), scene.last_call_of(rank),
                place != nullptr ? interpreted_place(*place) : ""}]
          .push_back(rank);
    }
  std::string text;
  for (const auto& [key, ranks] : by_state) {
    const auto& [state, call, place] = key;
    const bool one = ranks.size() == 1;
    std::string what = one ? "runs" : "run";
    if (!place.empty()) what += " " + place;
    what += call.empty() ? ", outside MPI" : fmt::format("; the last call of MPI was {}", call);
    if (state == State::kEnded) what = one ? "has ended" : "have ended";
    if (state == State::kFinalized) what = one ? "has called MPI_Finalize" : "have called MPI_Finalize";
    if (state == State::kSilent)
      what = one ? "is on a host that has not answered" : "are on hosts that have not answered";
    if (state == State::kStopped) what = one ? "is stopped" : "are stopped";
    if (state == State::kEnds) what = one ? "is ending" : "are ending";
    if (state == State::kMute) what = one ? "has not answered" : "have not answered";
    if (state == State::kBefore) what = one ? "has not called MPI_Init" : "have not called MPI_Init";
    text += fmt::format("  {} {}\n", ranks_text(ranks), what);
  }
  return text;
}

std::string place_text(Symbolizer& symbolizer, std::span<const pmi::Frame> callers) {
  std::string function;
  for (const pmi::Frame& frame : callers) {
    if (!frame.function.empty()) return interpreted_place(frame);
    const Place place = symbolizer.place(frame);
    if (place.line > 0)
      return fmt::format("at {}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
    if (function.empty()) function = place.function;
  }
  if (!function.empty()) return "in " + function;
  if (callers.empty() || callers.front().object.empty()) return {};
  const std::string& object = callers.front().object;
  return fmt::format("in {}+{:#x}", object.substr(object.rfind('/') + 1), callers.front().address);
}

}  // namespace

Scene scene_of(pmi::Account account, int ranks) {
  for (const pmi::OtherRank& other : account.others) name_other(other);
  Symbolizer symbolizer(Symbolizer::Search::kOtherFilesToo);
  std::ranges::stable_sort(account.waiters, {}, &pmi::Waiter::rank);
  std::vector<Wait> waits;
  for (pmi::Waiter& waiter : account.waiters) {
    Wait& wait = waits.emplace_back(Wait{waiter.rank, {}, {}, std::move(waiter.items)});
    std::span<const pmi::Frame> frames = waiter.frames;
    if (!frames.empty() && is_mpi(frames.front().object)) {
      wait.call = mpi_call(symbolizer.place(frames.front()).function);
      frames = frames.subspan(1);
    }
    wait.place = place_text(symbolizer, frames);
  }
  return {std::move(waits), std::move(account), ranks};
}

std::set<int> settled_ranks(const pmi::Account& first, const pmi::Account& second) {
  using Waits = std::map<int, std::vector<const pmi::Waiter*>>;
  const auto waits_of = [](const pmi::Account& account) {
    Waits waits;
    for (const pmi::Waiter& waiter : account.waiters) waits[waiter.rank].push_back(&waiter);
    return waits;
  };
  std::map<int, std::uint64_t> moved;
  for (const pmi::Standing& standing : first.standings) moved[standing.rank] = standing.moved;
  Waits before = waits_of(first), now = waits_of(second);
  std::set<int> settled;
  for (const pmi::Standing& standing : second.standings) {
    const auto &one = before[standing.rank], &other = now[standing.rank];
    if (moved.contains(standing.rank) && moved[standing.rank] == standing.moved && one.size() == 1 &&
        other.size() == 1 && one.front()->items == other.front()->items)
      settled.insert(standing.rank);
  }
  return settled;
}

std::string waits_text(const Scene& scene, bool is_final, const std::set<int>& settled) {
  std::string text;
  // Of the groups that wait in different ways at one place, only the first ones are printed.
  std::map<std::string, std::vector<const Group*>> by_place;
  const std::vector<Group> groups = groups_of(scene, is_final);
  for (const Group& group : groups) by_place[group.first->call + "\n" + group.first->place].push_back(&group);
  for (const Group& group : groups) {
    const std::vector<const Group*>& alike = by_place[group.first->call + "\n" + group.first->place];
    const auto at = std::ranges::find(alike, &group) - alike.begin();
    if (std::ssize(alike) <= kMostAlike || at < kShownAlike) {
      text += fmt::format("  {}\n", line_of(scene, group, is_final));
    } else if (at == kShownAlike) {
      std::vector<int> rest;
      for (const Group* one : std::span(alike).subspan(kShownAlike))
        rest.insert(rest.end(), one->ranks.begin(), one->ranks.end());
      std::ranges::sort(rest);
      text += fmt::format("  {} {} {}, too, in {} other ways\n", ranks_text(rest),
                          group.first->items.empty() ? "are in" : "wait in", place_of(*group.first),
                          std::ssize(alike) - kShownAlike);
    }
  }
  text += others_text(scene);
  return text + cycle_text(scene, is_final ? nullptr : &settled);
}

}  // namespace clump::diag
