#include "net/ofi/endpoint.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "net/ofi/wire.h"

namespace clump::net::ofi {

namespace {

/// The tag bits that the provider allows: all up to the highest one in `format`.
std::uint64_t mask_of(std::uint64_t format) {
  return format == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(format);
}

/// Whether the provider uses sockets, with nothing above them. It has different names in different versions.
bool uses_sockets(const fi_info& info) {
  const std::string_view name = info.fabric_attr->prov_name;
  return name == "tcp" || name == "net";
}

// A rendezvous takes two messages more than sending at once. Through the kernel these cost more than the copy
// that they save. Other providers have an eager protocol of their own up to this limit.
Count short_limit_of(const fi_info& info) {
  return static_cast<Count>((uses_sockets(info) ? wire::kLongest : 16 * 1024) - wire::kHead);
}

template <typename Object>
void close_object(Object*& object) {
  if (object != nullptr) fi_close(&object->fid);
  object = nullptr;
}

}  // namespace

Endpoint::Endpoint(const Libfabric& library, const fi_info& info)
    : library_(library),
      inject_limit_(info.tx_attr->inject_size),
      is_sockets_(uses_sockets(info)),
      pads_header_(is_sockets_ && info.domain_attr->cq_data_size > 0),
      longest_(static_cast<Count>(std::min(info.ep_attr->max_msg_size, std::size_t{1} << 62))),
      short_limit_(short_limit_of(info)),
      tag_mask_(mask_of(info.ep_attr->mem_tag_format)) {}

base::Status Endpoint::open(const Libfabric& library, fi_info& info, std::unique_ptr<Endpoint>& endpoint) {
  std::unique_ptr<Endpoint> made(new Endpoint(library, info));
  CLUMP_TRY(made->open_all(info));
  endpoint = std::move(made);
  return {};
}

base::Status Endpoint::open_all(fi_info& info) {
  const auto check = [this](const char* call, int error) -> base::Status {
    if (error == 0) return {};
    return base::fail(MPI_ERR_OTHER, "{}: {}", call, library_.why(error));
  };
  fi_av_attr addresses{};
  addresses.type = FI_AV_TABLE;
  // The buffer is its owner's again as soon as the provider does not need it any more.
  info.tx_attr->op_flags = FI_INJECT_COMPLETE;
  CLUMP_TRY(check("fi_fabric", library_.fabric(info.fabric_attr, &fabric_, nullptr)));
  CLUMP_TRY(check("fi_domain", fi_domain(fabric_, &info, &domain_, nullptr)));
  CLUMP_TRY(check("fi_av_open", fi_av_open(domain_, &addresses, &addresses_, nullptr)));
  CLUMP_TRY(open_completions());
  CLUMP_TRY(check("fi_endpoint", fi_endpoint(domain_, &info, &endpoint_, nullptr)));
  CLUMP_TRY(check("fi_ep_bind", fi_ep_bind(endpoint_, &addresses_->fid, 0)));
  CLUMP_TRY(check("fi_ep_bind", fi_ep_bind(endpoint_, &completions_->fid, FI_TRANSMIT | FI_RECV)));
  std::size_t least = wire::kHead + static_cast<std::size_t>(short_limit_);
  CLUMP_TRY(check("fi_setopt(FI_OPT_MIN_MULTI_RECV)",
                  fi_setopt(&endpoint_->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least)));
  return check("fi_enable", fi_enable(endpoint_));
}

// A queue of the sockets provider that a thread can sleep at is signalled for each completion, also while no
// thread sleeps: two system calls for a message. But the descriptors of all queues of a domain report
// everything that arrives at its sockets. So there is one queue for completions, and another one, which gets
// none, to sleep at.
base::Status Endpoint::open_completions() {
  int error = open_queue(FI_WAIT_FD, bell_);
  if (error == 0 && fi_control(&bell_->fid, FI_GETWAIT, &descriptor_) != 0) {
    close_object(bell_);
    descriptor_ = -1;
    error = -FI_ENODATA;
  }
  if (error == 0 && !is_sockets_) {
    completions_ = bell_;
    return {};
  }
  // Some providers have nothing that a thread can sleep at: then descriptor_ is -1.
  error = open_queue(FI_WAIT_NONE, completions_);
  if (error == 0) return {};
  return base::fail(MPI_ERR_OTHER, "fi_cq_open: {}", library_.why(error));
}

int Endpoint::open_queue(fi_wait_obj object, fid_cq*& queue) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = object;
  return fi_cq_open(domain_, &attributes, &queue, nullptr);
}

Endpoint::~Endpoint() {
  close_object(endpoint_);
  if (bell_ != completions_) close_object(bell_);
  close_object(completions_);
  close_object(addresses_);
  close_object(domain_);
  close_object(fabric_);
}

// If the network copies, pieces are long. There are always several, so that one is on its way while another
// is asked for. Data that go through the kernel should be in the core's own cache when they are taken out: 4
// MB took 1.2 ms in these pieces, and 1.8 ms in those for the network. The same is true of data that are
// packed and unpacked.
Endpoint::Pieces Endpoint::pieces_of(Count message, bool solid) const {
  Pieces pieces{64 * 1024, 4};
  if (solid && !is_sockets_)
    pieces = {1 << 20, 4};
  else if (solid)
    pieces = {message <= 1 << 20 ? 512 * 1024 : 192 * 1024, 2};
  return {std::min(longest_, pieces.bytes), pieces.at_once};
}

base::Status Endpoint::name(std::vector<std::byte>& name) const {
  std::size_t bytes = 0;
  fi_getname(&endpoint_->fid, nullptr, &bytes);  // sets `bytes` to the length of the name
  name.resize(bytes);
  const int error = fi_getname(&endpoint_->fid, name.data(), &bytes);
  if (error != 0) return base::fail(MPI_ERR_OTHER, "fi_getname: {}", library_.why(error));
  name.resize(bytes);
  return {};
}

base::Status Endpoint::insert(std::span<const std::byte> name, fi_addr_t& address) {
  const int inserted = fi_av_insert(addresses_, name.data(), 1, &address, 0, nullptr);
  if (inserted == 1) return {};
  return base::fail(MPI_ERR_OTHER, "fi_av_insert: {}",
                    inserted < 0 ? library_.why(inserted) : "this is no address of this network");
}

ssize_t Endpoint::receive_into(void* memory, std::size_t bytes, Transfer& transfer) {
  const iovec part{memory, bytes};
  fi_msg message{};
  message.msg_iov = &part;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &transfer.provider_has;
  return fi_recvmsg(endpoint_, &message, FI_MULTI_RECV);
}

std::string Endpoint::why(const char* call, ssize_t error) const {
  return fmt::format("{}: {}", call, library_.why(error));
}

bool Endpoint::read_error(fi_cq_err_entry& entry, std::string& what) {
  entry = {};
  if (fi_cq_readerr(completions_, &entry, 0) != 1) return false;
  what = library_.why(entry.err);
  char text[256] = "";
  const char* const more = entry.prov_errno == 0 ? nullptr
                                                 : fi_cq_strerror(completions_, entry.prov_errno,
                                                                  entry.err_data, text, sizeof text);
  if (more != nullptr && *more != '\0' && what != more) what += fmt::format(" ({})", more);
  return true;
}

bool Endpoint::may_sleep() {
  if (descriptor_ < 0) return false;
  fid* const objects[] = {&bell_->fid};
  return fi_trywait(fabric_, const_cast<fid**>(objects), 1) == 0;
}

}  // namespace clump::net::ofi
