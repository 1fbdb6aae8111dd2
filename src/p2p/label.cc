#include "p2p/label.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

#include "datatype/overlap.h"

namespace clump::p2p {

static_assert(std::is_trivially_copyable_v<Label>);
// The space that a user adds for each message in an attached buffer is enough for a label.
static_assert(sizeof(Label) < MPI_BSEND_OVERHEAD);

namespace {

template <std::size_t kRoom>
void write(std::array<char, kRoom>& to, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), kRoom - 1), to.data());
}

std::string name_of_source(const core::Comm& comm, int source) {
  return (comm.is_inter() ? "remote " : "") + comm.peers().name_of(source);
}

}  // namespace

bool may_go_into(const datatype::Content& sent, const datatype::Layout& buffer) {
  if (sent.signature.packed || sent.bytes == 0) return true;
  if (buffer.type->signature().packed) return true;
  return sent.signature.elements <= buffer.count * buffer.type->signature().elements &&
         sent.signature == buffer.type->signature_of(sent.signature.elements);
}

std::string call_now(const core::World& world) {
  const core::Site* const now = core::Site::current;
  return now == nullptr ? "now" : now->call + world.at(*now);
}

Label::Label(const core::World& world, const core::Site& site, const datatype::Layout& data)
    : content(datatype::Content::of(data)), count(data.count) {
  write(call, site.call);
  write(type, data.type->description());
  if (world.find_in_code == nullptr) return;
  const CodePlace place = world.find_in_code(site.address);
  if (place.object == nullptr || std::strlen(place.object) >= object.size()) return;
  write(object, place.object);
  address = place.address;
}

std::string Label::words(const core::World& world, const std::string& whom) const {
  return fmt::format("{}({} x {}{}){}", call.data(), count, type.data(), whom, place(world));
}

std::string Label::origin(const core::World& world) const { return call.data() + place(world); }

std::string Label::place(const core::World& world) const {
  if (object[0] == '\0' || world.name_in_code == nullptr) return {};
  return " at " + world.name_in_code({object.data(), address});
}

Package::Package(Count data_bytes)
    : memory_(static_cast<std::byte*>(std::malloc(sizeof(Label) + static_cast<std::size_t>(data_bytes)))),
      bytes_(data_bytes) {
  if (memory_ == nullptr) throw std::bad_alloc();
}

Sent::Sent(const core::World& world, const core::Site& site, const datatype::Layout& data)
    : portion_(data), site_(site), package_(data.bytes()) {
  new (&package_.label()) Label(world, site, data);
  datatype::pack({package_.data(), static_cast<std::size_t>(data.bytes())}, data, 0);
}

base::Status Sent::may_send(const core::Rank& rank, int to) const {
  if (to == MPI_PROC_NULL) return {};
  return core::look_at_buffer(rank, {portion_.data, site_, "send buffer", false, {}});
}

base::Status Sent::look(const core::World& world) const {
  const Count byte = datatype::first_difference(portion_.data, package_.data());
  if (byte < 0) return {};
  return base::fail(MPI_ERR_BUFFER,
                    "the send buffer has changed while it was MPI's: byte {} of {}\n  it was given to "
                    "{}({} x {}){}\n  and is the program's again with {}\n  what is sent must not be written "
                    "before the operation is complete",
                    byte, portion_.data.bytes(), site_.call, portion_.data.count,
                    portion_.data.type->description(), world.at(site_), call_now(world));
}

Received::Received(const core::Site& site, const datatype::Layout& data, Until until)
    : portion_(data), site_(site), package_(data.bytes()) {
  if (until == Until::kCompletion) before_.emplace(data);
}

base::Status keep_apart(const core::World& world, const datatype::Layout& out, const datatype::Layout& in) {
  if (!datatype::overlap(out, in)) return {};
  return base::fail(
      MPI_ERR_BUFFER,
      "the receive buffer overlaps the send buffer\n  {} x {} are sent, {} x {} received by "
      "{}\n  they must have no byte in common: MPI_Sendrecv_replace receives into what it sends",
      out.count, out.type->description(), in.count, in.type->description(), call_now(world));
}

base::Status Received::claim(core::Rank& rank, int from) {
  if (from == MPI_PROC_NULL) return {};
  const datatype::Layout& data = portion_.data;
  if (datatype::overlap_themselves({&data, 1}))
    return base::fail(MPI_ERR_TYPE,
                      "the receive buffer has bytes that belong to two elements of its datatype\n  "
                      "{}({} x {}){}\n  what is received must not be written twice: such types are for sends",
                      site_.call, data.count, data.type->description(), rank.world.at(site_));
  use_ = {.data = data, .site = site_, .type = portion_.type};
  CLUMP_TRY(core::claim_buffer(rank, use_));
  claimed_by_ = &rank;
  return {};
}

void Received::unclaim() {
  if (claimed_by_ != nullptr) claimed_by_->buffers_in_use->remove(use_);
  claimed_by_ = nullptr;
}

void Received::open(const core::Comm& comm, core::Result& result) {
  unclaim();  // a thread that sees the data may use the buffer
  if (result.cancelled || result.source < 0) return;
  result.bytes -= static_cast<Count>(sizeof(Label));
  base::Status status = compare(comm, result);
  if (status.ok()) status = look(comm.owner.world, result);
  if (!status.ok()) result.error = status.code();
  datatype::unpack(portion_.data, 0, {package_.data(), static_cast<std::size_t>(result.bytes)});
}

/// The receive in words: "MPI_Recv(2 x MPI_INT from rank 0, tag 7) at solver.c:40".
std::string Received::words(const core::Comm& comm, const core::Result& result) const {
  return fmt::format("{}({} x {} from {}, tag {}){}", site_.call, portion_.data.count,
                     portion_.data.type->description(), name_of_source(comm, result.source), result.tag,
                     comm.owner.world.at(site_));
}

base::Status Received::compare(const core::Comm& comm, const core::Result& result) const {
  const Label& label = package_.label();
  const bool is_cut = label.content.bytes > portion_.data.bytes();
  if (!is_cut && may_go_into(label.content, portion_.data)) return {};
  const std::string source = name_of_source(comm, result.source), self = comm.group->name_of(comm.rank);
  const char* const what = is_cut ? "takes less than it is sent by" : "does not take what it is sent by";
  const char* const advice =
      is_cut ? "the receive buffer has to have room for the whole message" : kSameTypes;
  return base::fail(is_cut ? MPI_ERR_TRUNCATE : MPI_ERR_TYPE, "{} {} {}\n  {}: {}\n  {}: {}\n  {}", self,
                    what, source, source,
                    label.words(comm.owner.world, fmt::format(" to {}, tag {}", self, result.tag)), self,
                    words(comm, result), advice);
}

/// Bytes behind the message are not its: the program may use them for what it likes.
base::Status Received::look(const core::World& world, const core::Result& result) const {
  if (!before_ || !before_->has_changed(portion_.data, result.bytes)) return {};
  return base::fail(
      MPI_ERR_BUFFER,
      "the receive buffer has changed while it was MPI's\n  it was "
      "given to {}({} x {}){}\n  and is the program's again with {}\n  a receive buffer must not be "
      "written before the operation is complete",
      site_.call, portion_.data.count, portion_.data.type->description(), world.at(site_), call_now(world));
}

}  // namespace clump::p2p
