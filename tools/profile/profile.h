// What is known of a job's calls when it is over, as the table, the JSON file and the page show it. read.h
// makes it of what the ranks have written down. Times are seconds, of all threads of a rank together unless
// it says otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/layout.h"

namespace clump::tools::profile {

/// What a rank spends its time with. What it waits within a call is counted as waiting alone, and time in
/// which it could go on but had no core as nothing else.
enum class Kind : std::uint8_t { kCompute, kMessages, kCompletion, kCollectives, kOther, kWaiting, kNoCore };
inline constexpr std::size_t kKinds = 7;
/// As in the JSON file.
std::string_view name_of(Kind kind);

/// By its number in records.
std::string_view name_of_call(unsigned call);
Kind kind_of_call(unsigned call);

struct Calls {
  std::uint64_t calls = 0;
  double seconds = 0;
  double waiting = 0, no_core = 0;  ///< of these
  std::uint64_t bytes = 0;

  void add(const Calls& other);
};
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
  void add(const Traffic& other);
};
struct Waits {
  int peer = 0;
  unsigned call = 0;
  std::uint64_t times = 0;
  double seconds = 0;
};
using Sizes = std::array<Traffic, record::kSizes>;

struct Rank {
  int host = 0, process = 0, app = 0;
  /// It has called MPI; if not, all that follows is empty.
  bool is_known = false;
  int threads = 0;                     ///< that have called MPI
  double mean_threads = 1;             ///< of these, how many were there at a time; 1 at least
  double seconds = 0;                  ///< for so long it was watched
  std::array<double, kKinds> kinds{};  ///< of these, the mean over the threads that were there
  std::map<unsigned, Calls> calls;
  std::map<int, Traffic> sent;  ///< by peer
  Traffic received;
  Sizes messages{}, collectives{};
  std::vector<Waits> waits;
  double waits_left_out = 0;
  /// What it was in when the job ended; null: nothing.
  std::string_view unfinished;
  double unfinished_seconds = 0;

  double of(Kind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  double mpi() const { return seconds - of(Kind::kCompute) - of(Kind::kNoCore); }
};

struct Profile {
  std::string program;  ///< its name, of several that of the first
  std::string command;  ///< as typed
  std::string started;  ///< UTC
  double seconds = 0;   ///< from the start of the job to its end
  int exit_code = 0;
  std::vector<std::string> hosts;
  std::vector<Rank> ranks;
  std::vector<std::string> notes;  ///< what one should know: what is missing, and why

  std::map<unsigned, Calls> all_calls() const;
  /// How far messages went.
  struct Distances {
    Traffic process, host, hosts;  ///< inside of one process, of one host, between hosts
  };
  Distances distances() const;
};

// How it is shown.

/// In lines of at most so many letters: on narrow terminals the numbers that matter least are left out.
std::string as_table(const Profile& profile, std::size_t columns);
std::string as_json(const Profile& profile);
/// One HTML file that needs no other.
std::string as_page(const Profile& profile);

/// "1.5 ms"; "12 MB".
std::string human_seconds(double seconds);
std::string human_bytes(double bytes);
std::string human_count(double count);

/// A text in quotes, as JSON has it, for pages too: it cannot end a script.
std::string json_quoted(std::string_view text);

}  // namespace clump::tools::profile
