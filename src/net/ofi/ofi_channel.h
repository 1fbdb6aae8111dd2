// The `ofi` channel: to ranks on other hosts, through libfabric.
//
// Each process has one or more endpoint contexts (endpoint_context.h). Everything that a rank sends to
// another goes through one of them. A thread that works or waits drives them (drain()); a thread that goes to
// sleep first tells the network thread (may_sleep()).
#pragma once

#include <memory>
#include <vector>

#include "net/channel.h"
#include "net/ofi/addresses.h"
#include "net/ofi/endpoint_context.h"
#include "net/ofi/network_thread.h"
#include "net/ofi/setup.h"

namespace clump::net {

class OfiChannel final : public Channel {
 public:
  using Setup = ofi::Setup;
  /// Loads libfabric and chooses a network. Takes some tens of milliseconds.
  static base::Status open(Setup setup, std::unique_ptr<OfiChannel>& channel);
  ~OfiChannel() override;

  /// The address of this process. To be published before any other process sends.
  const std::vector<std::byte>& address() const { return address_; }
  /// The provider and the network, as text for the user.
  const std::string& network() const { return network_; }

  const Traffic& traffic(int rank) const override { return traffic_[static_cast<std::size_t>(rank)]; }
  bool try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) override;
  void send(Route route, SendRequest& message) override;
  bool retract(Route route, SendRequest& message) override;
  void poll(int rank) override;
  void submit(int, ProgressTask& task) override { run_here(&task); }

  /// Drives the endpoint contexts of all workers, beginning with another one for each worker.
  bool drain(int worker) override;
  /// Whether the network thread will take in what comes.
  bool may_sleep() override { return thread_->watch(); }
  bool rests(Passed& passed) override;
  /// How many messages have come from outside of this job so far.
  std::uint64_t refused() const;
  /// Whether short messages wait to be sent together.
  bool holds_back() const;
  const ofi::NetworkThread& network_thread() const { return *thread_; }

 private:
  explicit OfiChannel(Setup setup);
  base::Status open_contexts(const ofi::Libfabric& library, fi_info& info);
  ofi::EndpointContext& context(Route route) { return *contexts_[context_of(route)]; }
  std::size_t context_of(Route route) const;
  int process_of(int rank) const { return setup_.processes[static_cast<std::size_t>(rank)]; }

  const Setup setup_;
  std::vector<std::byte> address_;
  std::string network_;
  std::vector<Traffic> traffic_;
  std::unique_ptr<ofi::AddressBook> book_;
  ofi::Timer timer_;
  std::vector<std::unique_ptr<ofi::EndpointContext>> contexts_;
  std::unique_ptr<ofi::NetworkThread> thread_;  // declared last, so that it ends first
};

}  // namespace clump::net
