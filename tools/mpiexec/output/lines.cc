#include "output/lines.h"

#include "output/collapse.h"

namespace clump::mpiexec {

namespace {

constexpr std::size_t kLongestLine = 1 << 20;  // a longer one is written in pieces

}  // namespace

void LineForwarder::add(std::string_view bytes, Clock::time_point now) {
  if (now - last_ >= kPause) burst_ = 0;
  last_ = now;
  burst_ += bytes.size();
  const std::size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    partial_ += bytes.substr(0, end + 1);
    write(partial_);
    partial_.clear();
    bytes.remove_prefix(end + 1);
  }
  partial_ += bytes;
  if (partial_.size() > kLongestLine) finish();
}

std::optional<LineForwarder::Clock::time_point> LineForwarder::next() const {
  if (partial_.empty() || !target_.shows_beginnings || target_.screen != nullptr || burst_ >= kBufferSize ||
      is_blocked())
    return {};
  return last_ + kPause;
}

void LineForwarder::show_beginning(Clock::time_point now) {
  if (const auto due = next(); !due || now < *due) return;
  write(partial_);
  partial_.clear();
}

void LineForwarder::finish() {
  if (!prefix_.is_empty() && (!partial_.empty() || out().has_open_line_of(this))) partial_ += '\n';
  if (!partial_.empty()) write(partial_);
  partial_.clear();
}

std::string LineForwarder::prefixed(std::string_view lines) const {
  std::string text;
  char begin[base::LinePrefix::kLongestLine];
  const std::string_view own(begin, prefix_.write(begin, 0, rank_));
  for (bool goes_on = out().has_open_line_of(this); !lines.empty(); goes_on = false) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end == std::string_view::npos ? lines.size() : end + 1);
    text.append(goes_on ? std::string_view() : own).append(line);
    lines.remove_prefix(line.size());
  }
  return text;
}

void LineForwarder::write(std::string_view lines) {
  if (target_.copy != nullptr) target_.copy->put(lines, this);
  const std::string with_prefix = prefix_.is_empty() ? std::string() : prefixed(lines);
  const std::string_view shown = prefix_.is_empty() ? lines : std::string_view(with_prefix);
  if (target_.screen != nullptr) return target_.screen->add(target_.descriptor, shown);
  out().put(shown, this);
}

}  // namespace clump::mpiexec
