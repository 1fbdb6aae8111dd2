#include "mpi/check/left_over_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

namespace clump::mpi::left_over {

namespace {

struct Words {
  const char *before, *one, *several, *of;
};
constexpr Words kWords[] = {
    {"not freed", "communicator", "communicators", " of "},
    {"not freed", "group", "groups", " of "},
    {"not freed", "datatype", "datatypes", " of "},
    {"not freed", "operation", "operations", " of "},
    {"not freed", "error handler", "error handlers", " of "},
    {"not freed", "info object", "info objects", " of "},
    {"not freed", "attribute key", "attribute keys", " of "},
    {"not freed", "window", "windows", " of "},
    {"not closed", "file", "files", " of "},
    {"not detached", "buffer", "buffers", " of "},
    {"not freed", "persistent request", "persistent requests", " of "},
    {"not completed", "request", "requests", " of "},
    {"not received", "message", "messages", " of "},
    {"got no message for", "receive", "receives", ": "},
    {"freed, before a message came,", "receive", "receives", ": "},
    {"not received", "message", "messages", ""},
};
const Words& words_of(Kind kind) { return kWords[static_cast<std::size_t>(kind)]; }

/// "rank 3", "ranks 0-2,5".
std::string ranks_text(const std::set<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (auto at = ranks.begin(); at != ranks.end();) {
    const int first = *at;
    int last = first;
    while (++at != ranks.end() && *at == last + 1) last = *at;
    if (first != *ranks.begin()) text += ',';
    text += fmt::format("{}", first);
    if (last > first) text += fmt::format("{}{}", last > first + 1 ? '-' : ',', last);
  }
  return text;
}

/// A sentence for what several ranks have in common.
std::string sentence(const Told& told, const std::set<int>& ranks, const std::set<int>& sources) {
  if (told.head.kind == Kind::kRemark || told.head.kind == Kind::kAllowed)
    return fmt::format("\n  {} {}", ranks_text(ranks), told.words);
  if (told.head.kind == Kind::kUncommon) return fmt::format("\n  {}: {}", ranks_text(ranks), told.words);
  const Words& words = words_of(told.head.kind);
  std::string text = fmt::format(
      "\n  {} {} {} {} {}{}", ranks_text(ranks), ranks.size() == 1 ? "has" : "have", words.before,
      told.head.count, told.head.count == 1 ? words.one : words.several, ranks.size() == 1 ? "" : " each");
  if (told.head.kind == Kind::kMessage)
    text += sources.contains(-1) ? ": " : fmt::format(" of {}: ", ranks_text(sources));
  return text + words.of + (told.words.empty() ? told.origin : told.words);
}

}  // namespace

std::string encode(const std::vector<Told>& all) {
  std::string bytes;
  for (const Told& told : all) {
    Finding head = told.head;
    head.origin = static_cast<int>(told.origin.size());
    head.words = static_cast<int>(told.words.size());
    bytes.append(reinterpret_cast<const char*>(&head), sizeof head).append(told.origin).append(told.words);
  }
  return bytes;
}

std::vector<Told> decode(std::string_view bytes) {
  std::vector<Told> all;
  while (!bytes.empty()) {
    Told& told = all.emplace_back();
    std::memcpy(&told.head, bytes.data(), sizeof told.head);
    bytes.remove_prefix(sizeof told.head);
    told.origin = bytes.substr(0, static_cast<std::size_t>(told.head.origin));
    bytes.remove_prefix(told.origin.size());
    told.words = bytes.substr(0, static_cast<std::size_t>(told.head.words));
    bytes.remove_prefix(told.words.size());
  }
  return all;
}

void forget_told_twice(std::vector<Told>& all) {
  for (const Told& message : all) {
    if (message.head.kind != Kind::kMessage) continue;
    for (Told& request : all)
      if (request.head.kind == Kind::kRequest && request.head.rank == message.head.source &&
          request.origin == message.origin)
        request.head.count = std::max(0, request.head.count - message.head.count);
  }
  std::erase_if(all, [](const Told& told) { return told.head.count == 0; });
}

std::string text_of(const std::vector<Told>& all) {
  struct Group {
    const Told* told;
    std::set<int> ranks, sources;
  };
  std::map<std::tuple<Kind, std::string, std::string, int>, Group> groups;
  for (const Told& told : all) {
    Group& group = groups[{told.head.kind, told.origin, told.words, told.head.count}];
    group.told = &told;
    group.ranks.insert(told.head.rank);
    group.sources.insert(told.head.source);
  }
  std::string text;
  for (const auto& [key, group] : groups) text += sentence(*group.told, group.ranks, group.sources);
  return text;
}

}  // namespace clump::mpi::left_over
