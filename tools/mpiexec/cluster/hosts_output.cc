#include "cluster/hosts_output.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "output/flush.h"

namespace clump::mpiexec {

namespace {

using Clock = LineForwarder::Clock;

/// What a proxy's own words begin with.
constexpr std::string_view kWord = "mpiexec: ";
constexpr std::pair<Channel, int> kOutputs[] = {{Channel::kOutput, STDOUT_FILENO},
                                                {Channel::kErrors, STDERR_FILENO}};

bool may_be_word(std::string_view line) {
  return line.starts_with(kWord) || (line.size() < kWord.size() && kWord.starts_with(line));
}

}  // namespace

HostsOutput::HostsOutput(std::size_t hosts, int collapsed) {
  if (collapsed > 0) screen_.emplace(collapsed);
  CollapsedScreen* const screen = screen_ ? &*screen_ : nullptr;
  for (std::size_t host = 0; host < hosts; ++host)
    hosts_.push_back({LineForwarder({.descriptor = STDOUT_FILENO, .screen = screen}),
                      LineForwarder({.descriptor = STDERR_FILENO, .screen = screen})});
}

void HostsOutput::add(std::size_t host, int target, std::string_view bytes) {
  if (target == STDERR_FILENO && hosts_.size() > 1) return add_errors(hosts_[host], bytes);
  of(host, target).add(bytes, Clock::now());
}

/// A line is held back for as long as it may be one that another proxy has said.
void HostsOutput::add_errors(Lines& lines, std::string_view bytes) {
  for (std::size_t end; !bytes.empty(); bytes.remove_prefix(end)) {
    end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    lines.beginning += bytes.substr(0, end);
    const bool is_whole = lines.beginning.back() == '\n';
    if (!is_whole && may_be_word(lines.beginning)) continue;
    const std::string line = std::exchange(lines.beginning, {});
    const bool is_word = line.starts_with(kWord);
    if (is_word && !said_.insert(line).second) continue;
    lines.err.add(is_word ? as_shown(line, Word::kTrouble) : line, Clock::now());
  }
}

void HostsOutput::end(std::size_t host, int target) {
  if (target == STDERR_FILENO) of(host, target).add(std::exchange(hosts_[host].beginning, {}), Clock::now());
  of(host, target).finish();
}

bool HostsOutput::take(std::size_t host, Channels& channels) {
  bool is_full = false;
  for (const auto& [channel, target] : kOutputs) {
    const std::string_view bytes = channels.waiting(channel);
    if (bytes.empty()) continue;
    if (of(host, target).is_blocked()) {
      is_full = true;
      continue;
    }
    add(host, target, bytes);
    channels.note_taken(channel, bytes.size());
    silent_since_ = Clock::now();
  }
  return !is_full;
}

void HostsOutput::end(std::size_t host, Channels& channels) {
  for (const auto& [channel, target] : kOutputs) {
    const std::string_view bytes = channels.waiting(channel);
    add(host, target, bytes);
    channels.note_taken(channel, bytes.size());
    end(host, target);
  }
}

bool HostsOutput::is_unread() const { return Clock::now() - silent_since_ >= kSilence; }

void HostsOutput::show(const std::string& text) { put(base::printable(text)); }

void HostsOutput::say(const std::string& text, Word kind) { put(as_shown(as_word(text), kind)); }

void HostsOutput::put(const std::string& text) {
  if (screen_) return screen_->add(STDERR_FILENO, text);
  output_buffer(STDERR_FILENO).put(text);
}

void HostsOutput::show_due() {
  for (Lines& lines : hosts_)
    for (LineForwarder* const one : {&lines.out, &lines.err}) one->show_beginning(Clock::now());
  if (screen_) screen_->show();
  std::size_t kept = 0;
  for (const OutputBuffer* const buffer : output_buffers()) kept += buffer->kept();
  if (kept == 0 || std::exchange(kept_, kept) != kept) silent_since_ = Clock::now();
}

std::optional<Clock::time_point> HostsOutput::next() const {
  auto first = screen_ ? screen_->next() : std::nullopt;
  for (const Lines& lines : hosts_)
    for (const LineForwarder* const one : {&lines.out, &lines.err})
      if (const auto time = one->next()) first = std::min(first.value_or(*time), *time);
  return first;
}

void HostsOutput::show_all() {
  if (screen_) screen_->show_all();
}

}  // namespace clump::mpiexec
