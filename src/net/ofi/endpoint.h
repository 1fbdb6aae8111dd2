// One endpoint of libfabric's, with the completion queue and the addresses that belong to it. It has a domain
// of its own, so that threads at different endpoints share no lock in a provider.
//
// One thread at a time may call anything here. Functions that start a transfer return 0, or -FI_EAGAIN if
// there is no room now, or another negative error of libfabric's.
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

/// What a completion belongs to. First the provider's part.
struct Transfer {
  fi_context2 provider_has;
};

class Endpoint {
 public:
  static base::Status open(const Libfabric& library, fi_info& info, std::unique_ptr<Endpoint>& endpoint);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// By which others find it.
  base::Status name(std::vector<std::byte>& name) const;
  base::Status insert(std::span<const std::byte> name, fi_addr_t& address);

  /// Up to so many bytes can be injected: they are the caller's again, and nothing completes.
  std::size_t inject_limit() const { return inject_limit_; }
  /// In what pieces an announced message is best fetched, and how many of them at a time. Not solid: they are
  /// packed or unpacked.
  struct Pieces {
    Count bytes;
    int at_once;
  };
  Pieces pieces_of(Count message, bool solid) const;
  /// Messages up to so many bytes are better sent at once than rendezvous.
  Count short_limit() const { return short_limit_; }
  /// So that several messages had better be one.
  bool sends_by_system_calls() const { return is_sockets_; }
  /// Memory of receive_into() is said to be full when its last message has come, though others, from other
  /// sockets, may have come in parts. They lie one behind the other. (libfabric 1.17, tcp.)
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
    return fi_tsend(endpoint_, data, bytes, nullptr, to, tag, &transfer.provider_has);
  }
  ssize_t receive_tagged(void* to, std::size_t bytes, std::uint64_t tag, Transfer& transfer) {
    return fi_trecv(endpoint_, to, bytes, nullptr, FI_ADDR_UNSPEC, tag, 0, &transfer.provider_has);
  }
  /// Memory for many messages, one after the other.
  ssize_t receive_into(void* memory, std::size_t bytes, Transfer& transfer);

  /// What has completed, and lets the provider go on. -FI_EAGAIN: nothing; -FI_EAVAIL: an error, read_error()
  /// has it.
  ssize_t read(std::span<fi_cq_data_entry> entries) {
    return fi_cq_read(completions_, entries.data(), entries.size());
  }
  /// "fi_send: Connection refused".
  std::string why(const char* call, ssize_t error) const;
  /// False: there is none.
  bool read_error(fi_cq_err_entry& entry, std::string& what);

  /// Becomes readable when there is something to be read, after read() has found nothing and may_sleep() has
  /// returned true; -1: the provider has none.
  /// Whether it goes through the kernel's sockets.
  bool is_sockets() const { return is_sockets_; }
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
  const Count longest_, short_limit_;
  const std::uint64_t tag_mask_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_cq* bell_ = nullptr;  // whose descriptor tells of arrivals; completions_, or a queue for nothing else
  fid_ep* endpoint_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace clump::net::ofi
