#include "profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/printable.h"

namespace clump::tools::profile {

namespace {

struct Named {
  std::string_view name, chapter;
};
constexpr Named kNumbered[] = {
#include "calls.inc"
};

bool completes(std::string_view name) {
  for (const std::string_view start : {"MPI_Wait", "MPI_Test", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe",
                                       "MPI_Improbe", "MPI_Request_get_status", "MPI_Parrived"})
    if (name.starts_with(start)) return true;
  return false;
}

std::string with_unit(double value, double base, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  for (; value >= base * 0.9995 && unit + 1 != units.end(); ++unit) value /= base;
  const int digits = value >= 99.95 || (unit == units.begin() && value == std::floor(value)) ? 0
                     : value >= 9.995                                                        ? 1
                                                                                             : 2;
  return fmt::format("{:.{}f}{}", value, digits, *unit);
}

}  // namespace

std::string_view name_of(Kind kind) {
  static constexpr std::string_view kNames[kKinds] = {"compute", "messages", "completion", "collectives",
                                                      "other",   "waiting",  "no_core"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of_call(unsigned call) {
  return call < std::size(kNumbered) ? kNumbered[call].name : "a call of another version";
}

Kind kind_of_call(unsigned call) {
  if (call >= std::size(kNumbered)) return Kind::kOther;
  const auto& [name, chapter] = kNumbered[call];
  if (completes(name)) return Kind::kCompletion;
  if (chapter == "p2p" || chapter == "partitioned") return Kind::kMessages;
  const bool is_neighbours = name.find("eighbor_") != name.npos;
  return chapter == "collectives" || is_neighbours ? Kind::kCollectives : Kind::kOther;
}

void Calls::add(const Calls& other) {
  calls += other.calls;
  seconds += other.seconds;
  waiting += other.waiting;
  no_core += other.no_core;
  bytes += other.bytes;
}

void Traffic::add(const Traffic& other) {
  messages += other.messages;
  bytes += other.bytes;
}

std::map<unsigned, Calls> Profile::all_calls() const {
  std::map<unsigned, Calls> all;
  for (const Rank& rank : ranks)
    for (const auto& [call, numbers] : rank.calls) all[call].add(numbers);
  return all;
}

Profile::Distances Profile::distances() const {
  Distances all;
  for (const Rank& from : ranks) {
    for (const auto& [peer, traffic] : from.sent) {
      const Rank& to = ranks[static_cast<std::size_t>(peer)];
      (to.process == from.process ? all.process : to.host == from.host ? all.host : all.hosts).add(traffic);
    }
  }
  return all;
}

std::string human_seconds(double seconds) {
  if (seconds >= 1) return with_unit(seconds, 1e9, {" s"});
  return seconds == 0 ? "0" : with_unit(seconds * 1e9, 1000, {" ns", " us", " ms", " s"});
}

std::string human_bytes(double bytes) {
  return with_unit(bytes, 1000, {" B", " kB", " MB", " GB", " TB", " PB"});
}

std::string human_count(double count) { return with_unit(count, 1000, {"", " k", " M", " G", " T"}); }

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = base::length_of_character(text);
    if (length == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

}  // namespace clump::tools::profile
