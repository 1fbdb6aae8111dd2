#include "trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace clump::tools::profile {

namespace {

constexpr int kThreadStep = 1 << 24;  // numbers of a rank's further threads are so far apart

/// A side of a message: the call that has sent or received it.
struct End {
  std::int64_t bytes;
  double begin, end;
  int pid, tid;
};
/// Messages of one stream do not overtake one another (MPI-5.0 section 3.5), so the first that is sent is the
/// first that is received.
struct Stream {
  std::vector<End> sent, received;

  /// By time: they come from one thread of a rank after the other.
  void sort() {
    std::ranges::stable_sort(sent, {}, &End::begin);
    std::ranges::stable_sort(received, {}, &End::begin);
  }
  /// Whether one can tell which belongs to which; after sort().
  bool is_whole() const {
    return sent.size() == received.size() &&
           std::ranges::equal(sent, received, {}, &End::bytes, &End::bytes) && has_order(sent) &&
           has_order(received);
  }

 private:
  /// Of two threads that are in such calls at the same time either may have been the first.
  static bool has_order(const std::vector<End>& side) {
    return std::ranges::adjacent_find(side, [](const End& one, const End& next) {
             return one.tid != next.tid && next.begin < one.end;
           }) == side.end();
  }
};

class Writer {
 public:
  Writer(std::FILE* file, const Profile& profile, Traced& traced)
      : file_(file), profile_(profile), traced_(traced) {}

  void write(std::span<const Source> sources, const pmi::Job& job) {
    std::int64_t zero = sources.empty() ? 0 : sources.front().start.nanoseconds;
    for (const Source& source : sources) zero = std::min(zero, source.start.nanoseconds);
    put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (const Source& source : sources) {
      name_process(source);
      for (int rank = 0; rank < job.ranks(); ++rank)
        if (job.node_of(rank) == source.host) write_rank(source, rank, zero);
    }
    for (auto& [key, stream] : streams_)
      if (!sends_more_.contains(std::get<1>(key))) draw(stream);
    put("\n],\"otherData\":{");
    put(fmt::format("\"program\":{},\"command\":{},\"started\":{},\"events\":\"{}\",\"dropped\":\"{}\"",
                    json_quoted(profile_.program), json_quoted(profile_.command),
                    json_quoted(profile_.started), traced_.events, traced_.dropped));
    for (const Source& source : sources)
      if (source.uncertainty > 0)
        put(fmt::format(",{}:\"its clock is that of the others to {}\"",
                        json_quoted(profile_.hosts[static_cast<std::size_t>(source.host)]),
                        human_seconds(source.uncertainty)));
    put("}}\n");
  }

 private:
  void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), file_); }

  void event(const std::string& fields) {
    put(is_first_ ? "\n{" : ",\n{");
    is_first_ = false;
    put(fields);
    put("}");
  }

  void name_process(const Source& source) {
    event(fmt::format(R"("ph":"M","name":"process_name","pid":{},"args":{{"name":{}}})", source.host,
                      json_quoted(profile_.hosts[static_cast<std::size_t>(source.host)])));
  }

  void write_rank(const Source& source, int rank, std::int64_t zero) {
    std::vector<record::ThreadRecord*> threads;
    for (auto* thread = source.region.at<record::ThreadRecord>(source.region.rank(rank).threads.load());
         thread != nullptr; thread = source.region.at<record::ThreadRecord>(thread->next.load()))
      threads.push_back(thread);
    std::ranges::reverse(threads);  // the youngest one was the first
    for (std::size_t number = 0; number < threads.size(); ++number) {
      const int tid = rank + static_cast<int>(number) * kThreadStep;
      const std::string name =
          number == 0 ? fmt::format("rank {}", rank) : fmt::format("rank {}, thread {}", rank, number);
      event(fmt::format(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}})",
                        source.host, tid, name));
      event(fmt::format(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})",
                        source.host, tid, rank));
      write_thread(source, *threads[number], rank, tid, zero);
      // What one thread has dropped is the end of what it has done; the others may have gone on.
      if (threads.size() > 1 && threads[number]->events_dropped.value() != 0) sends_more_.insert(rank);
    }
  }

  void write_thread(const Source& source, const record::ThreadRecord& thread, int rank, int tid,
                    std::int64_t zero) {
    traced_.dropped += thread.events_dropped.value();
    for (const auto* chunk = source.region.at<record::EventChunk>(thread.first_chunk.load());
         chunk != nullptr; chunk = source.region.at<record::EventChunk>(chunk->next.load())) {
      const std::size_t used = std::min<std::size_t>(chunk->used.value(), record::kEventsInChunk);
      for (std::size_t i = 0; i < used; ++i) write_event(source, chunk->events[i], rank, tid, zero);
    }
  }

  void write_event(const Source& source, const record::Event& one, int rank, int tid, std::int64_t zero) {
    const double begin = source.time(one.begin, zero), end = source.time(one.end, zero);
    std::string arguments;
    const auto add = [&](const char* name, auto value) {
      arguments += fmt::format("{}\"{}\":{}", arguments.empty() ? "" : ",", name, value);
    };
    if (one.to >= 0) {
      add("to", one.to);
      add("sent_bytes", one.sent);
      add("send_tag", one.send_tag);
      streams_[{one.context, rank, one.to, one.send_tag}].sent.push_back(
          {one.sent, begin, end, source.host, tid});
    }
    if (one.to == record::kSeveral) sends_more_.insert(rank);
    if (one.from >= 0) {
      add("from", one.from);
      add("received_bytes", one.received);
      add("receive_tag", one.receive_tag);
      streams_[{one.context, one.from, rank, one.receive_tag}].received.push_back(
          {one.received, begin, end, source.host, tid});
    }
    if (one.waited != 0) add("waiting_us", fmt::format("{:.3f}", source.seconds(one.waited) * 1e6));
    event(fmt::format(
        R"("ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}})",
        name_of_call(one.call), name_of(kind_of_call(one.call)), source.host, tid, begin * 1e6,
        (end - begin) * 1e6, arguments));
    ++traced_.events;
  }

  /// Only where both sides of all messages are known can one tell which belongs to which. Of a rank whose
  /// every send is known, as many receives as sends are all receives: those by MPI_Irecv are not known, and
  /// missing.
  void draw(Stream& stream) {
    stream.sort();
    if (!stream.is_whole()) return;
    for (std::size_t i = 0; i < stream.sent.size(); ++i) {
      const End &from = stream.sent[i], &to = stream.received[i];
      ++traced_.arrows;
      event(fmt::format(R"("ph":"s","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{:.3f})",
                        traced_.arrows, from.pid, from.tid, from.begin * 1e6));
      // In the middle of nothing it would not be drawn: just before the receive has come back.
      event(fmt::format(
          R"("ph":"f","bp":"e","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{:.3f})",
          traced_.arrows, to.pid, to.tid, to.end * 1e6 - 0.001));
    }
  }

  std::FILE* const file_;
  const Profile& profile_;
  Traced& traced_;
  bool is_first_ = true;
  std::map<std::tuple<std::uint32_t, int, int, int>, Stream> streams_;  // context, from, to, tag
  std::set<int> sends_more_;  // ranks whose sends are not all in the streams
};

}  // namespace

void write_trace(std::FILE* file, std::span<const Source> sources, const pmi::Job& job,
                 const Profile& profile, Traced& traced) {
  Writer(file, profile, traced).write(sources, job);
}

}  // namespace clump::tools::profile
