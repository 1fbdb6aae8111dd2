#include "net/ofi/ofi_channel.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/ofi/provider.h"
#include "net/ofi/strangers.h"

namespace clump::net {

OfiChannel::OfiChannel(Setup setup)
    : Channel(ChannelKind::kOfi), setup_(std::move(setup)), traffic_(setup_.sinks.size()) {
  set_lane_limit(kPieceLimit);
}

OfiChannel::~OfiChannel() = default;

base::Status OfiChannel::open(Setup setup, std::unique_ptr<OfiChannel>& channel) {
  ofi::allow_more_descriptors();
  const ofi::Libfabric* library = nullptr;
  CLUMP_TRY(ofi::load_libfabric(library));
  if (setup.keep_calls) setup.keep_calls(reinterpret_cast<const void*>(library->getinfo));
  std::vector<ofi::FabricInfo> found;
  CLUMP_TRY(ofi::find_providers(*library, {setup.provider, setup.interface_address}, found));
  std::unique_ptr<OfiChannel> made(new OfiChannel(std::move(setup)));
  std::string tried;
  for (const ofi::FabricInfo& info : found) {
    const base::Status opened = made->open_contexts(*library, *info);
    if (opened.ok()) {
      made->thread_ = std::make_unique<ofi::NetworkThread>(made->contexts_, made->timer_);
      CLUMP_TRY(made->thread_->start());
      channel = std::move(made);
      return {};
    }
    tried += fmt::format("\n  {}: {}", ofi::describe(*info), base::message_of(opened.code()));
  }
  return base::fail(
      MPI_ERR_OTHER,
      "no network can be opened; tried:{}\nmpiexec --net or CLUMP_OFI_PROVIDER chooses another one", tried);
}

base::Status OfiChannel::open_contexts(const ofi::Libfabric& library, fi_info& info) {
  contexts_.clear();
  std::uint64_t token_and_salt[2];
  if (::getrandom(token_and_salt, sizeof token_and_salt, 0) != sizeof token_and_salt)
    return base::fail(MPI_ERR_OTHER, "getrandom: {}", std::strerror(errno));
  const auto [token, salt] = token_and_salt;
  ofi::PublishedAddress own{.provider = info.fabric_attr->prov_name, .token = token, .endpoints = {}};
  book_ = std::make_unique<ofi::AddressBook>(setup_, own.provider);
  const ofi::SharedContext shared{setup_, *book_, traffic_, timer_, token, salt};
  for (int i = 0; i < setup_.endpoints; ++i) {
    std::unique_ptr<ofi::Endpoint> endpoint;
    CLUMP_TRY(ofi::Endpoint::open(library, info, endpoint));
    CLUMP_TRY(endpoint->name(own.endpoints.emplace_back()));
    contexts_.push_back(
        std::make_unique<ofi::EndpointContext>(shared, static_cast<std::size_t>(i), std::move(endpoint)));
    own.expects_greetings = contexts_.back()->expects_greetings();
    CLUMP_TRY(contexts_.back()->begin());
  }
  set_least_eager(contexts_.front()->short_limit());
  address_ = own.packed();
  network_ = ofi::describe(info);
  return {};
}

/// The number of a route's endpoint context: the same at both ends.
std::size_t OfiChannel::context_of(Route route) const {
  return static_cast<std::size_t>(route.source + route.destination) % contexts_.size();
}

bool OfiChannel::try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  if (bytes > lane_limit()) return false;
  return context(route).try_send(route, ofi::wire::Address::of(envelope, route.destination), bytes, payload);
}

void OfiChannel::send(Route route, SendRequest& message) {
  context(route).post({.kind = ofi::PendingSend::Kind::kMessage,
                       .process = process_of(route.destination),
                       .source = route.source,
                       .may_be_short = message.bytes <= std::max(lane_limit(), least_eager()),
                       .message = &message,
                       .address = ofi::wire::Address::of(message.envelope, route.destination)});
}

bool OfiChannel::retract(Route route, SendRequest& message) {
  return context(route).retract({.kind = ofi::PendingSend::Kind::kCancel,
                                 .process = process_of(route.destination),
                                 .message = &message,
                                 .address = ofi::wire::Address::of(message.envelope, route.destination)});
}

void OfiChannel::poll(int rank) {
  if (setup_.sinks[static_cast<std::size_t>(rank)] == nullptr) return;
  for (const auto& context : contexts_) context->progress(ofi::EndpointContext::Look::kReal);
}

bool OfiChannel::drain(int worker) {
  bool moved = false;
  // Different workers begin at different contexts.
  const std::size_t n = contexts_.size();
  for (std::size_t i = 0; i < n; ++i)
    moved = contexts_[(static_cast<std::size_t>(worker) + i) % n]->progress(
                ofi::EndpointContext::Look::kGlance) ||
            moved;
  return moved;
}

// The network thread finishes what it has taken out of an endpoint context before it sleeps.
bool OfiChannel::rests(Passed& passed) {
  const std::uint64_t turns = thread_->turns();
  if (turns % 2 != 0) return false;
  for (const auto& context : contexts_)
    if (!context->rests(passed)) return false;
  return thread_->turns() == turns;
}

std::uint64_t OfiChannel::refused() const {
  std::uint64_t sum = 0;
  for (const auto& context : contexts_) sum += context->refused();
  return sum;
}

bool OfiChannel::holds_back() const {
  return std::ranges::any_of(contexts_, [](const auto& context) { return context->holds_back(); });
}

}  // namespace clump::net
