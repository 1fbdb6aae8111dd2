#include "pmi/control.h"

#include <sys/socket.h>

#include <cstring>

#include "pmi/wire.h"

namespace clump::pmi {

namespace {
constexpr std::string_view kControlMagic = "clump failure " CLUMP_VERSION;
constexpr std::string_view kAddressMagic = "clump address " CLUMP_VERSION;
constexpr std::string_view kDoneMagic = "clump done " CLUMP_VERSION;
constexpr std::string_view kJoinMagic = "clump join " CLUMP_VERSION;
constexpr std::string_view kPlaceMagic = "clump place " CLUMP_VERSION;
constexpr std::string_view kSuccessorMagic = "clump successor " CLUMP_VERSION;
constexpr std::string_view kOutputMagic = "clump output " CLUMP_VERSION;
constexpr std::string_view kStartedJobMagic = "clump started job " CLUMP_VERSION;
constexpr std::string_view kSpawnMagic = "clump spawn " CLUMP_VERSION;
constexpr std::string_view kLaunchMagic = "clump launch " CLUMP_VERSION;
constexpr std::string_view kRestMagic = "clump rest " CLUMP_VERSION;

template <typename Writer>
void write(Writer& out, const FailureView& failure, std::size_t frames) {
  out.text(kControlMagic);
  out.template number<std::int32_t>(failure.rank);
  out.number(failure.reason);
  out.template number<std::int32_t>(failure.code);
  out.text(failure.text);
  out.number(static_cast<std::uint32_t>(frames));
  for (const FailureView::Frame& frame : failure.frames.first(frames)) {
    out.text(frame.object != nullptr ? frame.object : "");
    out.number(frame.address);
    out.text(frame.function != nullptr ? frame.function : "");
  }
}

std::string encode_process(std::string_view magic, int process) {
  Writer out;
  out.text(magic);
  out.number<std::int32_t>(process);
  return out.take();
}

bool decode_process(const std::string& bytes, std::string_view magic, int& process) {
  Reader in(bytes);
  if (in.text() != magic) return false;
  process = in.number<std::int32_t>();
  return in.finished();
}

}  // namespace

std::size_t encode(const FailureView& failure, std::span<char> buffer) {
  std::size_t frames = failure.frames.size();
  for (;;) {
    BasicWriter<FixedBytes> out(FixedBytes{buffer.data(), buffer.size()});
    write(out, failure, frames);
    const FixedBytes bytes = out.take();
    if (!bytes.overflowed) return bytes.used;
    if (frames == 0) return 0;
    frames /= 2;
  }
}

std::string encode(const Failure& failure) {
  std::vector<FailureView::Frame> frames;
  for (const Frame& frame : failure.frames) {
    const char* const function = frame.function.empty() ? nullptr : frame.function.c_str();
    frames.push_back({frame.object.c_str(), frame.address, function});
  }
  Writer out;
  write(out, {failure.rank, failure.reason, failure.code, failure.text, frames}, frames.size());
  return out.take();
}

bool decode(const std::string& bytes, Failure& failure) {
  Reader in(bytes);
  if (in.text() != kControlMagic) return false;
  Failure read;
  read.rank = in.number<std::int32_t>();
  read.reason = in.number<Reason>();
  read.code = in.number<std::int32_t>();
  read.text = in.text();
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    Frame frame;
    frame.object = in.text();
    frame.address = in.number<std::uint64_t>();
    frame.function = in.text();
    read.frames.push_back(std::move(frame));
  }
  if (!in.finished() || read.reason > Reason::kHang) return false;
  failure = std::move(read);
  return true;
}

std::string encode(const AddressNote& note) { return encode_process(kAddressMagic, note.process); }

bool decode(const std::string& bytes, AddressNote& note) {
  return decode_process(bytes, kAddressMagic, note.process);
}

std::string encode(const DoneNote& note) { return encode_process(kDoneMagic, note.process); }

bool decode(const std::string& bytes, DoneNote& note) {
  return decode_process(bytes, kDoneMagic, note.process);
}

std::string encode(const RestNote& note) {
  Writer out;
  out.text(kRestMagic);
  out.number(note.process);
  out.number(note.check);
  out.number(note.rests);
  out.number(note.waits);
  for (const std::uint64_t number : {note.wakes, note.sent, note.taken}) out.number(number);
  return out.take();
}

bool decode(const std::string& bytes, RestNote& note) {
  Reader in(bytes);
  if (in.text() != kRestMagic) return false;
  note.process = in.number<std::int32_t>();
  note.check = in.number<std::uint32_t>();
  note.rests = in.number<std::uint8_t>() != 0;
  note.waits = in.number<std::uint8_t>() != 0;
  for (std::uint64_t* number : {&note.wakes, &note.sent, &note.taken}) *number = in.number<std::uint64_t>();
  return in.finished();
}

namespace {

std::string encode_two(std::string_view magic, int first, int second) {
  Writer out;
  out.text(magic);
  out.number<std::int32_t>(first);
  out.number<std::int32_t>(second);
  return out.take();
}

bool decode_two(const std::string& bytes, std::string_view magic, int& first, int& second) {
  Reader in(bytes);
  if (in.text() != magic) return false;
  first = in.number<std::int32_t>();
  second = in.number<std::int32_t>();
  return in.finished();
}

}  // namespace

std::string encode(const JoinNote& note) { return encode_two(kJoinMagic, note.rank, note.process_id); }

bool decode(const std::string& bytes, JoinNote& note) {
  return decode_two(bytes, kJoinMagic, note.rank, note.process_id);
}

std::string encode(const OutputNote& note) { return encode_two(kOutputMagic, note.rank, note.error); }

bool decode(const std::string& bytes, OutputNote& note) {
  return decode_two(bytes, kOutputMagic, note.rank, note.error);
}

std::string encode(const StartedJobNote& note) { return encode_two(kStartedJobMagic, note.rank, note.code); }

bool decode(const std::string& bytes, StartedJobNote& note) {
  return decode_two(bytes, kStartedJobMagic, note.rank, note.code);
}

std::string encode(const LaunchNote& note) {
  Writer out;
  out.text(kLaunchMagic);
  for (const int number : {note.launch, note.first, note.size}) out.number<std::int32_t>(number);
  return out.take();
}

bool decode(const std::string& bytes, LaunchNote& note) {
  Reader in(bytes);
  if (in.text() != kLaunchMagic) return false;
  for (int* const number : {&note.launch, &note.first, &note.size}) *number = in.number<std::int32_t>();
  return in.finished();
}

std::string encode(const PlaceNote& note) {
  Writer out;
  out.text(kPlaceMagic);
  out.number<std::int32_t>(note.process);
  out.text(note.why);
  return out.take();
}

bool decode(const std::string& bytes, PlaceNote& note) {
  Reader in(bytes);
  if (in.text() != kPlaceMagic) return false;
  note.process = in.number<std::int32_t>();
  note.why = in.text();
  return in.finished();
}

std::string encode(const SuccessorNote& note) { return encode_two(kSuccessorMagic, note.rank, note.status); }

bool decode(const std::string& bytes, SuccessorNote& note) {
  return decode_two(bytes, kSuccessorMagic, note.rank, note.status);
}

std::string encode(const SpawnNote& note) { return encode_process(kSpawnMagic, note.process); }

bool decode(const std::string& bytes, SpawnNote& note) {
  return decode_process(bytes, kSpawnMagic, note.process);
}

std::string encode(const SpawnRequest& request) {
  Writer out;
  out.texts(request.words);
  out.texts(request.environment);
  return out.take();
}

bool decode(const std::string& bytes, SpawnRequest& request) {
  Reader in(bytes);
  request.words = in.texts();
  request.environment = in.texts();
  return bytes.size() <= SpawnRequest::kMost && in.finished();
}

std::string encode(const SpawnAnswer& answer) {
  Writer out;
  out.number(answer.status);
  out.text(answer.why);
  return out.take();
}

bool decode(const std::string& bytes, SpawnAnswer& answer) {
  Reader in(bytes);
  answer.status = in.number<std::int32_t>();
  answer.why = in.text();
  return in.finished();
}

bool send(int socket, const std::string& bytes, std::span<const int> descriptors) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(PlaceNote::kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace clump::pmi
