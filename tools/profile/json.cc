// The JSON file, which docs/profile.md describes; the page has the same inside.
#include <fmt/format.h>

#include "profile.h"

namespace clump::tools::profile {

namespace {

/// Elements of an array or an object, with commas in between.
class List {
 public:
  explicit List(char open, char close) : text_(1, open), close_(close) {}
  void add(const std::string& element) {
    if (text_.size() > 1) text_ += ',';
    text_ += element;
  }
  void add(std::string_view key, const std::string& value) { add(json_quoted(key) + ":" + value); }
  std::string take() { return std::move(text_) + close_; }

 private:
  std::string text_;
  char close_;
};

List object() { return List('{', '}'); }
List array() { return List('[', ']'); }

std::string number(double seconds) { return fmt::format("{:.9g}", seconds); }

std::string calls_of(const std::map<unsigned, Calls>& all) {
  List calls = object();
  for (const auto& [call, numbers] : all)
    calls.add(name_of_call(call),
              fmt::format(R"({{"calls":{},"seconds":{},"waiting":{},"no_core":{},"bytes":{}}})",
                          numbers.calls, number(numbers.seconds), number(numbers.waiting),
                          number(numbers.no_core), numbers.bytes));
  return calls.take();
}

/// {least size, messages, bytes} of the classes that are not empty.
std::string sizes_of(const Sizes& sizes) {
  List all = array();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].messages != 0)
      all.add(fmt::format("[{},{},{}]", i == 0 ? 0 : std::uint64_t{1} << (i - 1), sizes[i].messages,
                          sizes[i].bytes));
  return all.take();
}

std::string traffic(const Traffic& traffic) {
  return fmt::format(R"({{"messages":{},"bytes":{}}})", traffic.messages, traffic.bytes);
}

std::string rank_of(const Rank& rank, std::size_t number_of_rank) {
  List fields = object();
  fields.add("rank", std::to_string(number_of_rank));
  fields.add("host", std::to_string(rank.host));
  fields.add("process", std::to_string(rank.process));
  if (!rank.is_known) return fields.take();
  fields.add("threads", std::to_string(rank.threads));
  fields.add("mean_threads", number(rank.mean_threads));
  fields.add("seconds", number(rank.seconds));
  List kinds = object();
  for (std::size_t i = 0; i < kKinds; ++i) kinds.add(name_of(Kind(i)), number(rank.kinds[i]));
  fields.add("times", kinds.take());
  fields.add("calls", calls_of(rank.calls));
  List sent = array();
  for (const auto& [peer, traffic] : rank.sent)
    sent.add(fmt::format("[{},{},{}]", peer, traffic.messages, traffic.bytes));
  fields.add("sent", sent.take());
  fields.add("received", traffic(rank.received));
  fields.add("message_sizes", sizes_of(rank.messages));
  fields.add("collective_sizes", sizes_of(rank.collectives));
  List waits = array();
  for (const Waits& wait : rank.waits)
    waits.add(fmt::format(R"({{"for":{},"in":"{}","times":{},"seconds":{}}})", wait.peer,
                          name_of_call(wait.call), wait.times, number(wait.seconds)));
  fields.add("waits", waits.take());
  if (!rank.unfinished.empty())
    fields.add("unfinished", fmt::format(R"({{"call":"{}","seconds":{}}})", rank.unfinished,
                                         number(rank.unfinished_seconds)));
  return fields.take();
}

}  // namespace

std::string as_json(const Profile& profile) {
  List fields = object();
  fields.add("clump_profile", "2");
  fields.add("clump", json_quoted(CLUMP_VERSION));
  fields.add("program", json_quoted(profile.program));
  fields.add("command", json_quoted(profile.command));
  fields.add("started", json_quoted(profile.started));
  fields.add("seconds", number(profile.seconds));
  fields.add("exit_code", std::to_string(profile.exit_code));
  List hosts = array();
  for (const std::string& host : profile.hosts) hosts.add(json_quoted(host));
  fields.add("hosts", hosts.take());
  List notes = array();
  for (const std::string& note : profile.notes) notes.add(json_quoted(note));
  fields.add("notes", notes.take());
  const Profile::Distances far = profile.distances();
  List distances = object();
  distances.add("within_process", traffic(far.process));
  distances.add("within_host", traffic(far.host));
  distances.add("between_hosts", traffic(far.hosts));
  fields.add("distances", distances.take());
  fields.add("calls", calls_of(profile.all_calls()));
  List kinds = object();
  for (const auto& [call, numbers] : profile.all_calls())
    kinds.add(name_of_call(call), json_quoted(name_of(kind_of_call(call))));
  fields.add("kinds", kinds.take());
  List ranks = array();
  for (std::size_t i = 0; i < profile.ranks.size(); ++i) ranks.add("\n" + rank_of(profile.ranks[i], i));
  fields.add("ranks", ranks.take());
  return fields.take() + "\n";
}

}  // namespace clump::tools::profile
