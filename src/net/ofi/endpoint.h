// One endpoint of libfabric, with its completion queue and its table of addresses. It has a domain of its
// own, so that threads at different endpoints share no lock in a provider.
//
// One thread at a time may call the functions here. A function that starts a transfer returns 0, or
// -FI_EAGAIN if there is no room now, or another negative error of libfabric.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "net/ofi/library.h"

namespace clump::net::ofi {

/// What a completion belongs to. It begins with the part that the provider uses.
struct Transfer {
  fi_context2 provider_has;
};

class Endpoint {
 public:
  static base::Status open(const Libfabric& library, fi_info& info, std::unique_ptr<Endpoint>& endpoint);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// The name by which other processes find the endpoint.
  base::Status name(std::vector<std::byte>& name) const;
  base::Status insert(std::span<const std::byte> name, fi_addr_t& address);

  /// The most bytes that can be injected: the buffer is the caller's again at once, and nothing completes.
  std::size_t inject_limit() const { return inject_limit_; }
  /// The pieces in which a rendezvous message is best fetched: their size, and how many are asked for at a
  /// time. Not `solid`: they are packed or unpacked.
  struct Pieces {
    Count bytes;
    int at_once;
  };
  Pieces pieces_of(Count message, bool solid) const;
  /// A message of up to so many bytes is better sent at once than by rendezvous.
  Count short_limit() const { return short_limit_; }
  /// Whether a send is a system call, so that several messages are better sent as one.
  bool sends_by_system_calls() const { return is_sockets_; }
  /// Whether the provider may report the memory of receive_into() as full when its last message has come,
  /// although messages from other sockets have come only in part. They lie one behind the other. (libfabric
  /// 1.17, tcp.)
  bool says_full_early() const { return is_sockets_; }
  std::uint64_t tag_mask() const { return tag_mask_; }

  ssize_t inject(const void* data, std::size_t bytes, fi_addr_t to) {
    return fi_inject(endpoint_, data, bytes, to);
  }
  ssize_t inject_tagged(const void* data, std::size_t bytes, fi_addr_t to, std::uint64_t tag) {
    return fi_tinject(endpoint_, data, bytes, to, tag);
  }
  ssize_t send(const void* data, std::size_t bytes, fi_addr_t to, Transfer& transfer) {
    return fi_send(endpoint_, data, bytes, nullptr, to, &transfer.provider_has);
  }
  ssize_t send(std::span<const iovec> parts, fi_addr_t to, Transfer& transfer) {
    return fi_sendv(endpoint_, parts.data(), nullptr, parts.size(), to, &transfer.provider_has);
  }
  ssize_t send_tagged(const void* data, std::size_t bytes, fi_addr_t to, std::uint64_t tag,
                      Transfer& transfer) {
    if (pads_header_)
      return fi_tsenddata(endpoint_, data, bytes, nullptr, 0, to, tag, &transfer.provider_has);
    return fi_tsend(endpoint_, data, bytes, nullptr, to, tag, &transfer.provider_has);
  }
  ssize_t receive_tagged(void* to, std::size_t bytes, std::uint64_t tag, Transfer& transfer) {
    return fi_trecv(endpoint_, to, bytes, nullptr, FI_ADDR_UNSPEC, tag, 0, &transfer.provider_has);
  }
  /// Gives the provider memory for many messages, one after the other.
  ssize_t receive_into(void* memory, std::size_t bytes, Transfer& transfer);

  /// Takes completions, and lets the provider make progress. -FI_EAGAIN: there are none; -FI_EAVAIL: an
  /// error, which read_error() returns.
  ssize_t read(std::span<fi_cq_data_entry> entries) {
    return fi_cq_read(completions_, entries.data(), entries.size());
  }
  /// The text about an error: "fi_send: Connection refused".
  std::string why(const char* call, ssize_t error) const;
  /// Takes an error; false: there is none.
  bool read_error(fi_cq_err_entry& entry, std::string& what);

  /// Whether the provider goes through the kernel's sockets.
  bool is_sockets() const { return is_sockets_; }
  /// Becomes readable when there is something to be read, after read() has found nothing and may_sleep() has
  /// returned true; -1: the provider has none.
  int descriptor() const { return descriptor_; }
  bool may_sleep();

 private:
  Endpoint(const Libfabric& library, const fi_info& info);
  base::Status open_all(fi_info& info);
  base::Status open_completions();
  int open_queue(fi_wait_obj object, fid_cq*& queue);

  const Libfabric& library_;
  const std::size_t inject_limit_;
  const bool is_sockets_;
  // The header that libfabric's tcp puts in front of a tagged message has 24 bytes, and 32 if the completion
  // has data. The kernel copies data of a piece to behind it; from aligned memory this is faster to an
  // aligned place (experiment 104).
  const bool pads_header_;
  const Count longest_, short_limit_;
  const std::uint64_t tag_mask_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_cq* bell_ = nullptr;  // its descriptor reports arrivals; completions_, or a queue for nothing else
  fid_ep* endpoint_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace clump::net::ofi
