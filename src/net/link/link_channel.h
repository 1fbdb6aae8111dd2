// The `link` channel: to ranks of other jobs. On one host over stream sockets in Linux's abstract namespace,
// between hosts over TCP, where both sides prove first that they know the job (proof.h).
//
//   rank --try_send(), send()--> Peer (a process of another job): its socket, or its backlog
//   link thread: accepts, reads and delivers to sinks, writes backlogs; it starts with the first use
//
// A rank of another job gets a number of this process in the room for ranks that join (a *place*), so routes,
// groups and matchers treat it as any rank. Each process numbers them by itself: what crosses processes is a
// PeerName. A place lives as long as something holds it here (HeldPlace: a communicator, a question at a
// port), or the other process holds places of this one (Peer::is_here). With its last held place of a process
// this one says so (kBye), and the connection stays for the next time. lost() is called for a process that
// ends without that. A place that has ended keeps its number and its name as long as something means this
// rank by it (KeptNumber: a group).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/channel.h"
#include "net/link/held_place.h"
#include "net/link/peer.h"
#include "net/link/peer_name.h"

namespace clump::net {

class LinkChannel final : public Channel {
 public:
  struct Setup {
    link::JobName job;
    int process = 0;
    std::uint32_t checks = 0;         ///< what --check asks for
    int first_place = 0, places = 0;  ///< numbers for ranks of other jobs, given from the last one down
    /// The numeric address of this host at which processes of other hosts connect; empty: none do, unless
    /// listen_to_hosts() names one.
    std::string interface;
    /// In this context, and the collective one beside it, a message's source is the sender's number in its
    /// job: here the place takes its place.
    std::uint32_t job_context = 0;
    std::function<int(int rank)> process_of;    ///< of a rank of this job
    std::function<Sink*(int rank)> find_sink;   ///< null: it is no rank of this process
    std::function<void(int place)> take_place;  ///< before a place is used
    /// A process that has ended without a word, though places of its ranks are held. `why`: what is known of
    /// it.
    std::function<void(int place, const link::PeerName& name, const std::string& why)> lost;
    /// The process of this place has ended, or has left a place that nothing here holds.
    std::function<void(int place)> gone;
  };
  explicit LinkChannel(Setup setup);
  ~LinkChannel() override;

  /// Lets processes that know this job's name connect. Once is enough; any thread.
  base::Status listen();
  /// Lets those of other hosts connect, at this numeric address of this host. The first call counts; any
  /// thread. MPI_ERR_OTHER: it cannot listen there.
  base::Status listen_to_hosts(const std::string& address);
  /// Where this process is.
  link::Location where() const;
  /// Another process of this job is there: name_of() says so from now on.
  void note_location(int process, const link::Location& where);
  /// Whether name_of() knows where this process of this job is.
  bool knows_location(int process) const;
  /// Connects to the process of a rank, and waits until it has let this one in. MPI_ERR_PORT: it has not, or
  /// not until `limit`.
  base::Status connect(const link::PeerName& name, std::chrono::steady_clock::time_point limit =
                                                       std::chrono::steady_clock::time_point::max());

  /// The place of a rank of another job, which is held from now on; or the number of one of this job, which
  /// needs none. -1: there is no room, or no such rank.
  [[nodiscard]] HeldPlace hold_place_of(const link::PeerName& name, int& number);
  /// Holds a place that is there. False (of what is returned): it is not, any more.
  [[nodiscard]] HeldPlace hold(int number);
  /// Keeps the number of a rank of another job, whether or not it has a place still. False (of what is
  /// returned): it is not such a number. Any thread.
  [[nodiscard]] KeptNumber keep(int number);
  link::PeerName name_of(int rank) const;
  /// Whether there has ever been a place.
  bool has_places() const { return any_.load(std::memory_order_relaxed); }
  bool is_place(int rank) const;
  /// Whether nothing reaches the process of this place any more.
  bool has_ended(int place) const;
  /// How many times something waits for other jobs (open ports ...), which is then no deadlock. `change`: 1
  /// or -1.
  void expect(int change);
  /// Whether something of another job may wake ranks of this process.
  bool is_expecting() const { return expecting_.load(std::memory_order_acquire) > 0; }
  /// Whether all that was sent has been given to the system.
  bool is_flushed() const { return unflushed_.load(std::memory_order_acquire) == 0; }
  /// Publishes a name for all jobs of this user on this machine (link::find_public_name()). MPI_ERR_SERVICE:
  /// another one has, or another user has taken the name's socket.
  base::Status publish(std::string_view name, std::string_view value);
  void unpublish(std::string_view name);
  /// A context that no process of this user on this machine gives to another communicator. Fails if there is
  /// none.
  base::Status new_context(std::uint32_t& context);

  const Traffic& traffic(int rank) const override { return traffic_[static_cast<std::size_t>(rank)]; }
  bool try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) override;
  void send(Route route, SendRequest& message) override;
  bool retract(Route route, SendRequest& message) override;
  void poll(int) override {}
  void submit(int, ProgressTask& task) override { run_here(&task); }
  bool drain(int) override { return false; }

 private:
  friend class HeldPlace;
  friend class KeptNumber;
  friend class link::Connection;
  friend class link::LinkRendezvous;
  using PeerRef = std::shared_ptr<link::Peer>;
  struct Place {
    PeerRef peer;  ///< null: it is no place; its number is free if it is not kept
    link::PeerName name;
    int holds = 0, keeps = 0;
    bool has_number() const { return peer != nullptr || keeps > 0; }
  };

  Place& place_at(int number) { return places_[static_cast<std::size_t>(number - setup_.first_place)]; }
  const Place& place_at(int number) const {
    return places_[static_cast<std::size_t>(number - setup_.first_place)];
  }
  base::Status start();
  base::Status listen_here();
  static void* begin_thread(void* self);
  void run();
  struct Listener {
    int socket = -1;
    bool accepts_later = false;  // there was no descriptor; of the thread
  };
  void accept_all(Listener& listener);
  void retry_all();
  void handle(link::Connection& connection, std::uint32_t events);

  PeerRef peer_of(const link::JobName& job, int process, const link::Location& where);
  int place_of(const link::PeerName& name);
  int place_of_sender(const PeerRef& peer, int rank);
  bool add_hold(Place& place);
  void release(int number);
  void forget(int number);
  void free_place(Place& place);
  void free_unheld(const PeerRef& peer);

  void say_here(link::Peer& peer);
  void post(link::Peer& peer, link::PendingFrame what);
  bool post_locked(link::Peer& peer, link::PendingFrame what);
  bool begin_connecting(link::Peer& peer, std::string& why);
  bool begin_connecting_to_host(link::Peer& peer, std::string& why);
  void retry_later(link::Peer& peer, std::chrono::seconds patience);
  void begin_talking(link::Peer& peer, link::Connection& connection);
  bool is_elsewhere(const link::Peer& peer) const;
  void admit(link::Connection& connection);
  void prove(link::Connection& connection);
  void look_after_strangers();
  void close_stranger(link::Connection& connection, std::string why);
  void flush(link::Peer& peer);
  void close(link::Connection& connection);
  void end_peer(const PeerRef& peer, std::string why);
  void watch(link::Connection& connection, bool writing);
  void note_backlog(link::Peer& peer);
  SendRequest* settle(link::Peer& peer, std::uint64_t message);
  PeerRef find(int number, int& rank) const;
  static link::Frame frame_of(link::Kind kind, Route route, int destination, const Envelope& envelope,
                              Count bytes);

  // For link::Connection: what has come.
  bool greet(link::Connection& connection, std::span<const std::byte> bytes);
  std::string_view deliver(const PeerRef& peer, const link::Frame& frame, std::span<const std::byte> bytes);
  std::string_view stream(link::Peer& peer, const link::Frame& asked);
  std::string_view take_back(link::Peer& peer, const link::Frame& frame);
  void tell_crowded(link::Peer& peer, int rank, bool crowded);

  const Setup setup_;
  const std::string address_;
  std::vector<Traffic> traffic_;
  std::atomic<bool> any_{false};
  std::atomic<int> expecting_{0}, unflushed_{0};

  mutable std::mutex mutex_;  // guards what follows; before a Peer's
  bool started_ = false;
  bool listens_ = false;
  std::list<link::PublicName> names_;
  std::vector<Place> places_;
  std::map<link::PeerName, int> numbers_;
  std::map<std::pair<link::JobName, int>, PeerRef> peers_;
  std::map<int, link::Location> locations_;  // of other processes of this job
  std::uint32_t context_ = 0;
  int context_number_ = -1, context_socket_ = -1;

  std::mutex retry_mutex_;  // guards the next; after a Peer's
  std::vector<PeerRef> retrying_;
  std::vector<link::Connection*> strangers_;  // in the order in which they came

  /// Null: no process of another host can connect. Never freed: pairs release of listen_to_hosts() with
  /// acquire.
  std::atomic<const link::Location*> listens_at_{nullptr};
  int events_ = -1, wake_ = -1;
  Listener here_, for_hosts_;
  // Of the thread.
  std::vector<std::byte> read_buffer_;
  std::vector<link::Watched*> later_;  // those for which there was no descriptor
};

}  // namespace clump::net
