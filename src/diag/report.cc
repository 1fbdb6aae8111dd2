#include "diag/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "diag/libraries.h"
#include "diag/rank_names.h"
#include "diag/symbolize.h"

namespace clump::diag {

namespace {

std::string who_failed(const pmi::Failure& failure, int ranks) {
  if (!failure.sharers.empty()) return "the process of ranks " + failure.sharers;
  return failure.rank >= 0 ? rank_of(failure.rank, ranks) : "the job's process";
}

std::string headline(const pmi::Failure& failure, int ranks, std::string_view where, bool has_core) {
  const std::string who = fmt::format("{}{}", who_failed(failure, ranks), where);
  const std::string_view core = has_core ? " (core dumped)" : "";
  switch (failure.reason) {
    case pmi::Reason::kExited:
      return fmt::format("{} ended with exit code {}", who, failure.code & 0xff);
    case pmi::Reason::kAborted:
    case pmi::Reason::kUnreachable:
      return fmt::format("{} aborted the job with code {}", who, failure.code);
    case pmi::Reason::kSignal:
      return fmt::format("{} was ended by {}{}", who, signal_name(failure.code), core);
    case pmi::Reason::kException:
      return fmt::format("{} was ended by an uncaught exception{}", who, core);
    case pmi::Reason::kCannotStart:
      return fmt::format("{} could not start", who);
    case pmi::Reason::kDeadlock:
      return "deadlock";
    case pmi::Reason::kHang:
      return "no progress";
  }
  return who;
}

/// Whether the frame is in a library below the user's code: an error is noticed there, but is not made there.
bool is_below_user(const pmi::Frame& frame) {
  static constexpr std::string_view kLibraries[] = {
      "libclump_host.so", "libclump_malloc.so", "libmpi_abi.so", "libc.so", "libstdc++.so", "libgcc_s.so",
      "libm.so",          "libpthread.so",      "ld-linux",      "[vdso]"};
  if (!frame.function.empty()) return false;
  if (frame.object.empty()) return true;  // a call through a wild pointer
  return is_binding(frame.object) || std::ranges::any_of(kLibraries, [&](std::string_view library) {
           return is_library(frame.object, library);
         });
}

/// Whether the frame only raises the signal or the exception, or ends the process, on the way out of the
/// user's code: true of the failure, but not the place of the mistake.
bool is_messenger(const pmi::Frame& frame, const Place& place) {
  static constexpr std::string_view kMessengers[] = {"raise",
                                                     "abort",
                                                     "__pthread_kill_implementation",
                                                     "pthread_kill",
                                                     "gsignal",
                                                     "__cxxabiv1::__terminate(void (*)())",
                                                     "std::terminate()",
                                                     "__cxa_throw",
                                                     "__cxa_rethrow",
                                                     "__run_exit_handlers",
                                                     "exit",
                                                     "quick_exit"};
  if (is_library(frame.object, "libclump_host.so")) return true;
  const std::string_view function = std::string_view(place.function).substr(0, place.function.find('@'));
  return function.empty() || std::ranges::find(kMessengers, function) != std::end(kMessengers);
}

/// The line "  in strlen, called by": it names the function that the user's code has called and that did not
/// return. Empty if there is no such function, or if no signal has ended the rank.
std::string what_was_called(const pmi::Failure& failure, std::size_t users, Symbolizer& symbolizer) {
  while (users > 0 && is_binding(failure.frames[users - 1].object)) --users;
  if (users == 0 || failure.reason != pmi::Reason::kSignal) return {};
  const pmi::Frame& frame = failure.frames[users - 1];
  const Place place = symbolizer.place(frame);
  if (is_messenger(frame, place)) return {};
  return fmt::format("  in {}, called by\n",
                     is_mpi(frame.object) ? mpi_call(place.function) : place.function);
}

std::string line(int number, const pmi::Frame& frame, const Place& place) {
  const std::string function = place.function.empty() ? fmt::format("{:#x}", frame.address) : place.function;
  std::string where;
  if (place.line > 0) {
    where = fmt::format(" at {}:{}", place.file, place.line);
  } else if (!frame.object.empty()) {
    where = fmt::format(" in {}{}", frame.object,
                        place.function.empty() ? "" : fmt::format(" ({:#x})", frame.address));
  }
  return fmt::format("  #{:<3}{}{}\n", number, function, where);
}

/// Repeated frames that are shown: endless recursion fills a stack with one line.
constexpr int kShownRepeats = 3;

std::string stack(const pmi::Failure& failure) {
  Symbolizer symbolizer(Symbolizer::Search::kOtherFilesToo);
  std::string text;
  int number = 0;
  int repeated = 0;
  std::string last;
  const std::size_t count = failure.frames.size();
  std::size_t users = 0;
  // For a thread that belongs to no rank, the stack has only Clump's own functions.
  if (failure.rank >= 0) {
    while (users < count && is_below_user(failure.frames[users])) ++users;
    if (users == count) return {};  // the thread has left its main(), or nothing is known
    text = what_was_called(failure, users, symbolizer);
  }
  for (std::size_t i = users; i < count; ++i) {
    const pmi::Frame& frame = failure.frames[i];
    const Place place = symbolizer.place(frame);
    const bool is_machine_code = frame.function.empty();
    if (is_machine_code && place.function == "_start") return text;  // it has returned from main()
    const std::string shown = line(0, frame, place);
    repeated = shown == last ? repeated + 1 : 0;
    last = shown;
    if (repeated < kShownRepeats) text += line(number, frame, place);
    if (repeated == kShownRepeats) text += "  ... the same again and again\n";
    ++number;
    if (is_machine_code && (place.function == "main" || place.function == "MAIN__")) return text;
  }
  return text;
}

}  // namespace

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  const char* meaning = ::sigdescr_np(number);
  if (name == nullptr || meaning == nullptr) return fmt::format("signal {}", number);
  return fmt::format("SIG{} ({})", name, meaning);
}

std::string report(const pmi::Failure& failure, int ranks, std::string_view where, bool has_core) {
  std::string text = headline(failure, ranks, where, has_core);
  // After an exit code the text continues the sentence: "before it called MPI_Finalize".
  if (!failure.text.empty()) text += (failure.reason == pmi::Reason::kExited ? " " : ": ") + failure.text;
  if (text.back() != '\n') text += '\n';
  // Otherwise the stack is Clump's own.
  const bool has_culprit =
      failure.reason != pmi::Reason::kCannotStart && failure.reason < pmi::Reason::kDeadlock;
  return has_culprit ? text + stack(failure) : text;
}

}  // namespace clump::diag
