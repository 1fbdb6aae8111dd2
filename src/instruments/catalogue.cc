#include "instruments/catalogue.h"

#include <algorithm>
#include <cctype>

#include "coll/select/select.h"
#include "net/channel.h"

namespace clump::instruments {

namespace {

// What a name gets in front of it where it is bound to a communicator, and what its description gets.
constexpr const char* kOfComm = "comm_";
constexpr const char* kInComm = "; of one communicator";
constexpr const char* kInProcess = "; of the whole process, which may hold many ranks";

constexpr int kCollectives = static_cast<int>(coll::Collective::kScan) + 1;
constexpr int kAutomatic = 0;  // an algorithm's value is one more than its number

std::string name_of(int collective) { return coll::name_of(static_cast<coll::Collective>(collective)); }
std::string name_of_algorithm(int algorithm) {
  return as_name(coll::name_of(static_cast<coll::Algorithm>(algorithm)));
}

/// The algorithms that there are for a collective.
Enumeration algorithms_of(int collective) {
  Enumeration all{name_of(collective) + "_algorithm", {{kAutomatic, "automatic"}}};
  for (const coll::Rule& rule : coll::shipped_rules()) {
    const int value = static_cast<int>(rule.algorithm) + 1;
    const bool known =
        std::ranges::any_of(all.items, [&](const Enumeration::Item& item) { return item.value == value; });
    if (static_cast<int>(rule.collective) == collective && !known)
      all.items.push_back({value, name_of_algorithm(value - 1)});
  }
  if (coll::has_two_stages(static_cast<coll::Collective>(collective))) {
    const int flat = static_cast<int>(coll::kFlat);
    all.items.push_back({flat + 1, name_of_algorithm(flat)});
  }
  return all;
}

// Indexes of enumerations(); those of collectives' algorithms follow kFirstAlgorithms.
enum : std::size_t {
  kScheduler,
  kCrowding,
  kWorkerStates,
  kChannelNames,
  kCollectiveNames,
  kAlgorithmNames,
  kMessageElements,
  kCollectiveElements,
  kMoveElements,
  kReductions,
  kChecks,
  kFirstAlgorithms,
};

Enumeration numbered(const char* name, std::initializer_list<const char*> items) {
  Enumeration made{name, {}};
  for (const char* item : items) made.items.push_back({static_cast<int>(made.items.size()), item});
  return made;
}

std::vector<Enumeration> make_enumerations() {
  std::vector<Enumeration> all;
  all.push_back(numbered("scheduler", {"threads", "fibers"}));
  all.push_back(numbered("crowding", {"room", "crowded"}));
  all.push_back(numbered("worker_states", {"awake", "asleep"}));
  all.push_back({"channels", {}});
  for (const net::ChannelInfo& channel : net::kChannels)
    all.back().items.push_back({static_cast<int>(all.back().items.size()), channel.name});
  all.push_back({"collectives", {}});
  for (int i = 0; i < kCollectives; ++i) all.back().items.push_back({i, name_of(i)});
  all.push_back({"algorithms", {}});
  for (int i = 0; i < coll::kAlgorithms; ++i) all.back().items.push_back({i, name_of_algorithm(i)});
  all.push_back(numbered("message_elements", {"source", "tag", "bytes"}));
  all.push_back(numbered("collective_elements", {"collective", "algorithm", "bytes"}));
  all.push_back(numbered("move_elements", {"worker"}));
  all.push_back(numbered("reductions", {"fast", "reproducible"}));
  all.push_back(numbered("check", {"off", "on", "error"}));
  for (int i = 0; i < kCollectives; ++i) all.push_back(algorithms_of(i));
  return all;
}

class Meters {
 public:
  std::vector<Meter> made;

  Meters() {
    add_queues();
    add_traffic();
    add_channels();
    add_collectives();
    add_scheduler();
    add_objects();
    add_accesses();
  }

 private:
  Meter& add(Category category, int var_class, Reading reading, const std::string& name,
             const std::string& description) {
    Meter meter;
    meter.name = name;
    meter.description = description;
    meter.category = category;
    meter.var_class = var_class;
    meter.reading = reading;
    return made.emplace_back(std::move(meter));
  }

  void add_queues() {
    const auto queue = [this](Reading reading, const std::string& name, const std::string& description) {
      add(Category::kMessages, MPI_T_PVAR_CLASS_LEVEL, reading, name, description);
      add(Category::kMessages, MPI_T_PVAR_CLASS_LEVEL, reading, kOfComm + name, description + kInComm)
          .of_comm = true;
    };
    queue(Reading::kPosted, "posted_receives", "receives that wait for their message");
    queue(Reading::kUnexpected, "unexpected_messages",
          "messages that have arrived and wait for their receive");
    queue(Reading::kUnexpectedBytes, "unexpected_bytes", "bytes of the messages that wait for their receive");
    add(Category::kMessages, MPI_T_PVAR_CLASS_HIGHWATERMARK, Reading::kMostUnexpected,
        "most_unexpected_messages", "the most messages that waited for their receive at a time");
    add(Category::kMessages, MPI_T_PVAR_CLASS_STATE, Reading::kCrowded, "crowding",
        "whether so much waits for receives that senders have to wait")
        .enumeration = &enumerations()[kCrowding];
  }

  void add_traffic() {
    static constexpr const char* kWays[] = {"direct", "lane", "reference"};
    static constexpr const char* kHow[] = {
        "shown to the receiver's matcher directly",
        "copied into a lane to the receiver's worker",
        "left in the send buffer until there was a receive",
    };
    for (int way = 0; way < 3; ++way) {
      const std::string how = std::string(" that were sent: ") + kHow[way];
      add(Category::kMessages, MPI_T_PVAR_CLASS_COUNTER, Reading::kSent,
          std::string("messages_sent_") + kWays[way], "messages" + how)
          .which = way;
      add(Category::kMessages, MPI_T_PVAR_CLASS_AGGREGATE, Reading::kSentBytes,
          std::string("bytes_sent_") + kWays[way], "bytes of messages" + how)
          .which = way;
    }
    for (int kind = 0; kind < static_cast<int>(std::size(net::kChannels)); ++kind) {
      const auto& [name, reach] = net::kChannels[kind];
      add(Category::kMessages, MPI_T_PVAR_CLASS_COUNTER, Reading::kSentBy,
          std::string("messages_sent_by_") + name, std::string("messages that were sent to ") + reach)
          .which = kind;
      add(Category::kMessages, MPI_T_PVAR_CLASS_AGGREGATE, Reading::kSentByBytes,
          std::string("bytes_sent_by_") + name, std::string("bytes of messages that were sent to ") + reach)
          .which = kind;
    }
    add(Category::kMessages, MPI_T_PVAR_CLASS_COUNTER, Reading::kRefused, "lane_refusals",
        "times that a lane had no room for a message");
    static constexpr const char* kLuck[] = {"expected", "unexpected"};
    static constexpr const char* kWhen[] = {"after their receive was posted",
                                            "before their receive was posted"};
    for (int luck = 0; luck < 2; ++luck) {
      const std::string when = std::string(" that came ") + kWhen[luck];
      add(Category::kMessages, MPI_T_PVAR_CLASS_COUNTER, Reading::kReceived,
          std::string("messages_received_") + kLuck[luck], "messages" + when)
          .which = luck;
      add(Category::kMessages, MPI_T_PVAR_CLASS_AGGREGATE, Reading::kReceivedBytes,
          std::string("bytes_received_") + kLuck[luck], "bytes of messages" + when)
          .which = luck;
    }
  }

  void add_channels() {
    std::string known;
    for (const net::ChannelInfo& channel : net::kChannels)
      known += (known.empty() ? "" : ", ") + std::string(channel.name) + " (to " + channel.reach + ")";
    Meter& meter =
        add(Category::kMessages, MPI_T_PVAR_CLASS_STATE, Reading::kChannel, "comm_channels",
            "what messages take to get to each rank of a communicator, or of its remote group: " + known);
    meter.enumeration = &enumerations()[kChannelNames];
    meter.of_comm = meter.per_peer = true;
  }

  void add_collectives() {
    for (int i = 0; i < kCollectives; ++i)
      add(Category::kCollectives, MPI_T_PVAR_CLASS_COUNTER, Reading::kCollective, "collective_" + name_of(i),
          "operations of kind " + name_of(i) + ", in whatever form, also as parts of others")
          .which = i;
    for (int i = 0; i < coll::kAlgorithms; ++i)
      add(Category::kCollectives, MPI_T_PVAR_CLASS_COUNTER, Reading::kAlgorithm,
          "algorithm_" + name_of_algorithm(i),
          std::string("collective operations that used the algorithm '") +
              coll::name_of(static_cast<coll::Algorithm>(i)) + "'")
          .which = i;
  }

  void add_scheduler() {
    const auto worker = [this](int var_class, Reading reading, const char* name,
                               const std::string& text) -> Meter& {
      Meter& meter = add(Category::kScheduler, var_class, reading, name,
                         text + "; a value for each worker" + kInProcess);
      meter.per_worker = true;
      return meter;
    };
    const auto process = [this](int var_class, Reading reading, const char* name, const std::string& text) {
      add(Category::kScheduler, var_class, reading, name, text + kInProcess);
    };
    worker(MPI_T_PVAR_CLASS_COUNTER, Reading::kSwitches, "worker_switches", "switches from rank to rank");
    worker(MPI_T_PVAR_CLASS_COUNTER, Reading::kTaken, "worker_steals",
           "ranks that it has taken from busy workers, to run them until they wait");
    worker(MPI_T_PVAR_CLASS_LEVEL, Reading::kRunnable, "worker_runnable", "ranks that wait for their turn");
    worker(MPI_T_PVAR_CLASS_STATE, Reading::kWorkerState, "worker_state", "whether it sleeps").enumeration =
        &enumerations()[kWorkerStates];
    process(MPI_T_PVAR_CLASS_SIZE, Reading::kWorkers, "worker_count",
            "workers, or 0 where each rank is a kernel thread");
    process(MPI_T_PVAR_CLASS_LEVEL, Reading::kWorkerThreads, "worker_threads",
            "kernel threads that were made to run ranks");
    process(MPI_T_PVAR_CLASS_COUNTER, Reading::kStuck, "stuck_workers",
            "times that a worker was taken away from a rank that kept it busy while others waited");
    process(MPI_T_PVAR_CLASS_COUNTER, Reading::kPartsOffered, "parts_offered",
            "parts of work, such as long copies, in which those who wait may help");
    process(MPI_T_PVAR_CLASS_COUNTER, Reading::kPartsHelped, "parts_helped",
            "of the parts offered, those that somebody else did");
    add(Category::kScheduler, MPI_T_PVAR_CLASS_COUNTER, Reading::kRankTaken, "rank_taken",
        "times that an idle worker has taken this rank to run it until it waits");
    add(Category::kScheduler, MPI_T_PVAR_CLASS_COUNTER, Reading::kRankStuck, "rank_stuck",
        "times that this rank has kept its worker busy while others waited, and lost it");
  }

  void add_objects() {
    static constexpr const char* kObjects[] = {"communicators", "groups",  "datatypes",   "operations",
                                               "requests",      "infos",   "errhandlers", "keyvals",
                                               "messages",      "windows", "files"};
    int which = 0;
    for (const char* object : kObjects)
      add(Category::kObjects, MPI_T_PVAR_CLASS_LEVEL, Reading::kHandles, std::string("handles_") + object,
          std::string(object) + " that the program has made and not freed yet")
          .which = which++;
  }

  void add_accesses() {
    struct Names {
      const char *name, *calls;
    };
    static constexpr Names kNames[] = {
        {"window_puts", "MPI_Put, MPI_Rput"},
        {"window_gets", "MPI_Get, MPI_Rget"},
        {"window_accumulates",
         "MPI_Accumulate and its family, MPI_Fetch_and_op and MPI_Compare_and_swap included"},
        {"file_reads", "reads of files, in whatever form"},
        {"file_writes", "writes to files, in whatever form"},
    };
    int which = 0;
    for (const auto& [name, calls] : kNames) {
      add(Category::kAccesses, MPI_T_PVAR_CLASS_COUNTER, Reading::kAccess, name,
          std::string("calls that move data: ") + calls)
          .which = which;
      add(Category::kAccesses, MPI_T_PVAR_CLASS_AGGREGATE, Reading::kAccessBytes,
          std::string(name) + "_bytes", std::string("bytes of these calls: ") + calls)
          .which = which++;
    }
    add(Category::kAccesses, MPI_T_PVAR_CLASS_COUNTER, Reading::kLockWaits, "window_lock_waits",
        "locks of windows that this rank had to wait for, because another rank held them");
  }
};

class Controls {
 public:
  std::vector<Control> made;

  Controls() {
    add(Category::kAll, Setting::kVersion, "version", "the version of the library", MPI_CHAR,
        MPI_T_SCOPE_CONSTANT)
        .verbosity = MPI_T_VERBOSITY_USER_BASIC;
    add(Category::kAll, Setting::kCheck, "check",
        "whether ranks compare what collective operations they call, and with what, before they do them; all "
        "ranks of a communicator have to say the same. From the start (mpiexec --check, CLUMP_CHECK), "
        "messages, "
        "their buffers, and what is left at MPI_Finalize are looked at, too",
        MPI_INT, MPI_T_SCOPE_ALL_EQ)
        .enumeration = &enumerations()[kChecks];
    add(Category::kScheduler, Setting::kScheduler, "scheduler",
        "what runs the ranks (mpiexec --scheduler, or CLUMP_SCHEDULER)", MPI_INT, MPI_T_SCOPE_CONSTANT)
        .enumeration = &enumerations()[kScheduler];
    add(Category::kScheduler, Setting::kWorkers, "workers",
        "workers of the process (mpiexec --workers, --cores); 0: the scheduler is 'threads'", MPI_INT,
        MPI_T_SCOPE_CONSTANT);
    add(Category::kScheduler, Setting::kHome, "home", "the worker that this rank is mapped to", MPI_INT,
        MPI_T_SCOPE_CONSTANT);
    size(Setting::kEagerLimit, "eager_limit",
         "bytes of the longest message that is copied to wait for its receive; a longer one waits with its "
         "sender. To another process up to 64 KB are always copied, to another worker up to lane_limit",
         1 << 20);
    // Less than the steps in which parts of a matcher count their memory would not be noticed.
    size(Setting::kUnexpectedLimit, "unexpected_limit",
         "bytes of messages that may wait at this rank before their senders have to wait", MPI_Count{1} << 40)
        .least = 1 << 20;
    size(Setting::kLaneLimit, "lane_limit",
         std::string("bytes of the longest message that is copied on its way") + kInProcess,
         net::kMostStaged);
    add(Category::kCollectives, Setting::kReductions, "reductions",
        "whether collectives that combine operands give the same bits wherever the ranks are (mpiexec "
        "--reproducible); all ranks of a communicator have to say the same",
        MPI_INT, MPI_T_SCOPE_ALL_EQ)
        .enumeration = &enumerations()[kReductions];
    for (int i = 0; i < kCollectives; ++i) {
      Control& control =
          add(Category::kCollectives, Setting::kAlgorithm, name_of(i) + "_algorithm",
              "what " + name_of(i) +
                  " uses where it is possible; all ranks of a communicator have to say the same",
              MPI_INT, MPI_T_SCOPE_ALL_EQ);
      control.which = i;
      control.enumeration = &enumerations()[kFirstAlgorithms + static_cast<std::size_t>(i)];
    }
  }

 private:
  Control& add(Category category, Setting setting, const std::string& name, const std::string& description,
               MPI_Datatype type, int scope) {
    Control control;
    control.name = name;
    control.description = description;
    control.category = category;
    control.type = type;
    control.scope = scope;
    control.setting = setting;
    return made.emplace_back(std::move(control));
  }

  Control& size(Setting setting, const std::string& name, const std::string& description, MPI_Count most) {
    Control& control = add(Category::kMessages, setting, name, description, MPI_COUNT, MPI_T_SCOPE_LOCAL);
    control.most = most;
    return control;
  }
};

class EventKinds {
 public:
  std::vector<EventKind> made;

  EventKinds() {
    add(Happening::kUnexpected, Source::kRank, Category::kMessages, "unexpected_message",
        "a message has arrived for which there is no receive yet", kMessageElements);
    add(Happening::kCollective, Source::kRank, Category::kCollectives, "collective",
        "a collective operation has chosen its algorithm", kCollectiveElements);
    add(Happening::kTaken, Source::kScheduler, Category::kScheduler, "rank_taken",
        "an idle worker runs this rank, whose own is busy with another one", kMoveElements);
    add(Happening::kStuck, Source::kScheduler, Category::kScheduler, "rank_stuck",
        "this rank has kept its worker busy while others waited, and lost it", kMoveElements);
  }

 private:
  void add(Happening happening, Source source, Category category, const std::string& name,
           const std::string& description, std::size_t elements) {
    EventKind kind;
    kind.name = name;
    kind.description = description;
    kind.category = category;
    kind.enumeration = &enumerations()[elements];
    kind.happening = happening;
    kind.source = source;
    MPI_Aint place = 0;
    for (const Enumeration::Item& element : kind.enumeration->items) {
      const bool wide = element.name == "bytes";
      const MPI_Aint size = wide ? sizeof(MPI_Count) : sizeof(int);
      place = (place + size - 1) / size * size;
      kind.types.push_back(wide ? MPI_COUNT : MPI_INT);
      kind.displacements.push_back(place);
      place += size;
    }
    made.push_back(kind);
    if (source != Source::kRank) return;
    kind.name = kOfComm + name;
    kind.description += kInComm;
    kind.of_comm = true;
    made.push_back(kind);
  }
};

}  // namespace

std::string as_name(const std::string& words) {
  std::string name;
  for (const char c : words) {
    if (c == ' ' || c == '-')
      name += '_';
    else
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

const Enumeration::Item* Enumeration::find(std::string_view text) const {
  const auto found = std::ranges::find(items, text, &Item::name);
  return found != items.end() ? &*found : nullptr;
}

std::string Control::environment() const {
  std::string variable = "CLUMP_" + name;
  for (char& c : variable) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

const std::vector<Enumeration>& enumerations() {
  static const auto& all = *new std::vector<Enumeration>(make_enumerations());
  return all;
}

const std::vector<CategoryInfo>& categories() {
  static const auto& all = *new std::vector<CategoryInfo>{
      {"clump", "everything that Clump tells and lets be set"},
      {"messages", "point-to-point messages, those inside collective operations included"},
      {"collectives", "collective operations and their algorithms"},
      {"scheduler", "workers, and the ranks that they run"},
      {"objects", "handles that the program holds"},
      {"accesses", "one-sided communication and files"},
  };
  return all;
}

const std::vector<SourceInfo>& sources() {
  static const auto& all = *new std::vector<SourceInfo>{
      {"rank", "what this rank does and what arrives at it"},
      {"scheduler", "what the workers do with this rank"},
  };
  return all;
}

const std::vector<Meter>& meters() {
  static const auto& all = *new std::vector<Meter>(Meters().made);
  return all;
}

const std::vector<Control>& controls() {
  static const auto& all = *new std::vector<Control>(Controls().made);
  return all;
}

const std::vector<EventKind>& event_kinds() {
  static const auto& all = *new std::vector<EventKind>(EventKinds().made);
  return all;
}

}  // namespace clump::instruments
