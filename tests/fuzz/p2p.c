/* Part p2p: each step is a message, sent and received in one of all ways, with sizes around the limits of the
   protocols. A class is all messages to one rank in one communicator; its receives name source and tag, or
   one of them, or neither, and one thread posts them. Threads take the messages in one order, so that nothing
   can deadlock; a send to a class with wildcards never blocks. */
#include "comms.h"
#include "data.h"

enum {
  kSend,
  kSsend,
  kBsend,
  kIsend,
  kIssend,
  kIbsend,
  kSendInit,
  kRsend,
  kPartitioned,
  kCancelled,
  kExchange,
  kSendModes
};
enum { kRecv, kIrecv, kRecvInit, kProbe, kIprobe, kMprobe, kImprobe, kCancelledFirst, kReceiveModes };
enum { kNamed, kAnySource, kAnyTag, kAnyBoth };
static const char* const kSendNames[] = {"Send",    "Ssend",     "Bsend", "Isend",      "Issend",
                                         "Ibsend",  "Send_init", "Rsend", "Psend_init", "a cancelled send",
                                         "Sendrecv"};
static const char* const kReceiveNames[] = {"Recv",   "Irecv",  "Recv_init", "Probe",
                                            "Iprobe", "Mprobe", "Improbe",   "a cancelled receive"};

typedef struct {
  int comm, source, target, tag; /* ranks of the world */
  int from, to;                  /* ranks as the other side names them */
  int sends, receives, style, repeats, room, rounds, sender, receiver; /* sender, receiver: threads */
  Pattern pattern;
} Message;
typedef struct {
  MPI_Request request;
  MPI_Status status;
  Side side;
  const Message* message;
  int receiving, done;
} Pending;
static Message messages[kMostSteps];
static Known comms[kMostComms];
static MPI_Comm control; /* a copy of the world: what the two sides of a step tell each other */
static int threads, message_count;
static struct {
  Pending list[2 * kMostSteps];
  int count;
  Random own;
} state[kMostThreads];

static int number_of(const Message* m) { return (int)(m - messages); }
static uint64_t data_of(const Message* m, int round) {
  return hash(hash(fuzz.seed, 3000 + (uint64_t)number_of(m)), (uint64_t)round);
}
static long elements_of(const Message* m) { return (long)m->repeats * m->pattern.count; }
static MPI_Comm comm_of(const Message* m) { return comms[m->comm].comm; }
static const char* name_of(const Message* m) {
  static _Thread_local char text[300];
  snprintf(text, sizeof text,
           "%d -> %d on communicator %d (%s), tag %d, %d x %d bytes, %s, %s, wildcards %d, rounds %d, "
           "threads %d -> %d",
           m->source, m->target, m->comm, comms[m->comm].kind, m->tag, m->repeats, m->pattern.bytes,
           kSendNames[m->sends], kReceiveNames[m->receives], m->style, m->rounds, m->sender, m->receiver);
  return text;
}

/* --- the plan --- */
static void draw_ranks(Random* random, Message* m, const Known* k) {
  const int turned = below(random, 2);
  const Members *sources = &k->side[k->inter && turned], *targets = &k->side[k->inter && !turned];
  m->from = below(random, sources->count);
  m->to = below(random, targets->count);
  m->source = sources->ranks[m->from];
  m->target = targets->ranks[m->to];
}
static Message message_of(int i, int comm_count) {
  Random random = plan_of(i, 0);
  Message m = {.comm = below(&random, comm_count), .rounds = 1};
  draw_ranks(&random, &m, &comms[m.comm]);
  Random of_class = plan_of(-2, 1000 + m.comm * kMostRanks + m.target);
  m.style = chance(&of_class, 55) ? kNamed : between(&of_class, kAnySource, kAnyBoth);
  m.receiver = below(&of_class, threads);
  m.sender = (int)(hash((uint64_t)m.source * 64 + (uint64_t)m.target, fuzz.seed + (uint64_t)m.comm) %
                   (uint64_t)threads);
  m.pattern = pattern_of(m.style == kNamed ? &random : &of_class);
  m.tag = chance(&random, 80) ? below(&random, 3) : between(&random, 4, 19000);
  m.repeats = bytes_of(&random, 3200000) / m.pattern.bytes;
  m.sends = below(&random, kSendModes);
  m.receives = below(&random, kReceiveModes);
  const int alone = m.source == m.target && m.sender == m.receiver;
  if ((m.style != kNamed && (m.sends < kBsend || m.sends > kSendInit)) ||
      (alone && m.sends > kSendInit && m.sends < kExchange))
    m.sends = kIsend;
  if (m.style != kNamed && m.receives == kCancelledFirst) m.receives = kIrecv;
  if (alone && m.style == kNamed) m.receives = kIrecv;
  if (m.sends == kRsend) m.receives = kIrecv;
  if (m.sends == kSendInit && m.style == kNamed && m.source != m.target) m.rounds = between(&random, 1, 4);
  if (m.sends == kPartitioned) m.rounds = between(&random, 1, 3);
  if (m.sends == kPartitioned) m.repeats /= 12;
  if (m.sends >= kPartitioned) m.tag = 20000 + i; /* of its own */
  if (m.sends == kExchange) m.receiver = m.sender;
  m.room = m.repeats;
  return m;
}
static long draw_messages(int steps, int comm_count) {
  long buffered = 0;
  for (int i = 0; i < steps; i++) {
    Message* m = &messages[i];
    *m = message_of(i, comm_count);
    for (int j = 0; j < i && m->style != kNamed; j++) {
      Message* other = &messages[j];
      if (other->comm != m->comm || other->target != m->target) continue;
      if (other->room < m->room) other->room = m->room;
      m->room = other->room;
    }
    if (m->source == fuzz.rank && (m->sends == kBsend || m->sends == kIbsend))
      buffered += (long)m->repeats * m->pattern.bytes + MPI_BSEND_OVERHEAD + 512;
  }
  for (int i = steps - 1; i >= 0; i--) /* earlier ones of a class have the room of the largest, too */
    for (int j = 0; j < i && messages[i].style != kNamed; j++)
      if (messages[j].comm == messages[i].comm && messages[j].target == messages[i].target)
        messages[j].room = messages[i].room > messages[j].room ? messages[i].room : messages[j].room;
  return buffered;
}

/* --- what has come --- */
static void check_status(const Message* m, const MPI_Status* status, const Type* type) {
  int elements = 0, count = 0, cancelled = 0;
  const long wanted = elements_of(m);
  MPI_Get_elements(status, type->type, &elements);
  MPI_Get_count(status, type->type, &count);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(status->MPI_SOURCE == m->from && status->MPI_TAG == m->tag && !cancelled,
        "%s: source %d, tag %d, cancelled %d", name_of(m), status->MPI_SOURCE, status->MPI_TAG, cancelled);
  CHECK(elements == wanted, "%s: %d elements, not %ld", name_of(m), elements, wanted);
  CHECK(count == (wanted % type->count ? MPI_UNDEFINED : (int)(wanted / type->count)),
        "%s: count %d of a type of %d elements", name_of(m), count, type->count);
}
static Side send_side(Random* own, const Message* m) {
  Side side = side_of(own, &m->pattern, m->repeats);
  put_elements(&side.type, side.buffer.base, 0, elements_of(m), data_of(m, 0), 0);
  return side;
}
static Side receive_side(Random* own, const Message* m) {
  return side_of(own, &m->pattern, m->room + (chance(own, 25) ? between(own, 1, 5) : 0));
}
static void check_side(const Message* m, int round, Side* side) {
  check_elements(&side->type, &side->buffer, elements_of(m), data_of(m, round), name_of(m));
  drop_side(side);
}
static void finish(Pending* p) {
  p->done = 1;
  if (p->receiving && p->message->style != kNamed) return; /* check_wildcards() looks at it */
  if (p->receiving) check_status(p->message, &p->status, &p->side.type);
  check_side(p->message, 0, &p->side);
}
static void add(int thread, const Message* m, Side side, MPI_Request request, const MPI_Status* status) {
  Pending* p = &state[thread].list[state[thread].count++];
  *p = (Pending){.request = request, .side = side, .message = m, .receiving = status != NULL};
  if (request != MPI_REQUEST_NULL) return;
  if (status) p->status = *status;
  finish(p);
}
/* Completes some of what is pending, or all. Before the end, what may block takes no sends to classes with
 * wildcards. */
static void progress(int thread, int all) {
  MPI_Request requests[2 * kMostSteps];
  MPI_Status statuses[2 * kMostSteps];
  int at[2 * kMostSteps], indices[2 * kMostSteps], count = 0, done = 0, flag = 0;
  Random* own = &state[thread].own;
  const int most = all ? 2 * kMostSteps : between(own, 1, 8), waits = all || chance(own, 40);
  for (int i = 0; i < state[thread].count && count < most; i++) {
    Pending* p = &state[thread].list[i];
    if (p->done || (waits && !all && !p->receiving && p->message->style != kNamed) ||
        (!all && chance(own, 50)))
      continue;
    at[count] = i;
    requests[count++] = p->request;
  }
  if (count == 0) return;
  const int way = below(own, 4), one = below(own, count);
  if (way == 0 && waits) MPI_Waitsome(count, requests, &done, indices, statuses);
  if (way == 0 && !waits) MPI_Testsome(count, requests, &done, indices, statuses);
  if (way == 1 && waits) MPI_Waitany(count, requests, indices, statuses);
  if (way == 1 && !waits) MPI_Testany(count, requests, indices, &flag, statuses);
  if (way == 1) done = waits || flag;
  if (way == 2) {
    if (waits) complete(own, &requests[one], statuses);
    if (!waits) MPI_Test(&requests[one], &flag, statuses);
    indices[0] = one;
    done = waits || flag;
  }
  if (way == 3) {
    if (waits) MPI_Waitall(count, requests, statuses);
    if (!waits) MPI_Testall(count, requests, &flag, statuses);
    for (int i = 0; i < count; i++) indices[i] = i;
    done = waits || flag ? count : 0;
  }
  for (int i = 0; i < done; i++) {
    Pending* p = &state[thread].list[at[indices[i]]];
    CHECK(requests[indices[i]] == MPI_REQUEST_NULL, "%s: a completed request is not null",
          name_of(p->message));
    p->status = statuses[i];
    finish(p);
  }
  if (all) progress(thread, 1);
}
/* Receives with wildcards: from one source with one tag, the messages have come in the order of sending. */
static void check_wildcards(void) {
  char taken[kMostSteps] = {0};
  for (int thread = 0; thread < threads; thread++)
    for (int i = 0; i < state[thread].count; i++) {
      Pending* p = &state[thread].list[i];
      int j = 0;
      if (!p->receiving || p->message->style == kNamed) continue;
      while (j < message_count &&
             (taken[j] || fuzz.left_out[j] || messages[j].comm != p->message->comm ||
              messages[j].target != fuzz.rank || messages[j].from != p->status.MPI_SOURCE ||
              messages[j].tag != p->status.MPI_TAG))
        j++;
      CHECK(j < message_count, "%s: a message from %d with tag %d, which no rank sends", name_of(p->message),
            p->status.MPI_SOURCE, p->status.MPI_TAG);
      taken[j] = 1;
      check_status(&messages[j], &p->status, &p->side.type);
      check_side(&messages[j], 0, &p->side);
    }
}

/* --- ways to send and receive that complete within their step --- */
/* Partitions of both sides differ; `count` elements of a type are one partition of this side. */
static void partitioned(Random* own, const Message* m, int receiving) {
  Random random = plan_of(number_of(m), 1);
  const int parts_sent = between(&random, 1, 6), parts_received = between(&random, 1, 6),
            parts = receiving ? parts_received : parts_sent;
  const int repeats = m->repeats * (receiving ? parts_sent : parts_received), share = share_of(own, repeats);
  Type type = type_of(own, &m->pattern, share);
  const int count = repeats / share;
  const long each = (long)count * type.count, all = each * parts;
  Buffer buffer = buffer_of(&type, parts * count, draw(own));
  MPI_Request request;
  int order[6], flag = 0;
  if (receiving)
    MPI_Precv_init(buffer.base, parts, count, type.type, m->from, m->tag, comm_of(m), MPI_INFO_NULL,
                   &request);
  else
    MPI_Psend_init(buffer.base, parts, count, type.type, m->to, m->tag, comm_of(m), MPI_INFO_NULL, &request);
  for (int round = 0; round < m->rounds; round++) {
    if (receiving) fill(buffer.memory, buffer.bytes, buffer.background);
    MPI_Start(&request);
    permute(own, order, parts);
    for (int i = 0; i < parts; i++) {
      const long first = order[i] * each;
      if (!receiving) put_elements(&type, buffer.base, first, each, data_of(m, round), first);
      if (!receiving) MPI_Pready(order[i], request);
      for (flag = !receiving || chance(own, 50); !flag; sched_yield()) MPI_Parrived(request, order[i], &flag);
    }
    complete(own, &request, MPI_STATUS_IGNORE);
    check_elements(&type, &buffer, all, data_of(m, round), name_of(m));
  }
  MPI_Request_free(&request);
  free(buffer.memory);
  drop_type(&type);
}
static void cancelled_send(Random* own, const Message* m) {
  Side side = send_side(own, m);
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  if (chance(own, 50))
    MPI_Isend(side.buffer.base, side.count, side.type.type, m->to, m->tag, comm_of(m), &request);
  else
    MPI_Issend(side.buffer.base, side.count, side.type.type, m->to, m->tag, comm_of(m), &request);
  if (chance(own, 30)) sched_yield();
  MPI_Cancel(&request);
  complete(own, &request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  MPI_Send(&cancelled, 1, MPI_INT, m->target, number_of(m), control);
  check_side(m, 0, &side);
}
static void receive_cancelled(Random* own, const Message* m) {
  Side side = receive_side(own, m);
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0, flag = 0;
  MPI_Irecv(side.buffer.base, side.count, side.type.type, m->from, m->tag, comm_of(m), &request);
  MPI_Recv(&cancelled, 1, MPI_INT, m->source, number_of(m), control, MPI_STATUS_IGNORE);
  if (cancelled) MPI_Cancel(&request);
  complete(own, &request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag == cancelled, "%s: the send was%s cancelled, the receive was%s", name_of(m),
        cancelled ? "" : " not", flag ? "" : " not");
  if (!cancelled) check_status(m, &status, &side.type);
  if (!cancelled) check_side(m, 0, &side);
  if (cancelled) compare(&side.buffer, background_of(&side.buffer), "the buffer of a cancelled receive");
  if (cancelled) drop_side(&side);
}

/* Both ranks send and receive, in one call. */
static void exchange(Random* own, const Message* m) {
  const int peer = m->source == fuzz.rank ? m->target : m->source, tag = number_of(m),
            first = m->source == fuzz.rank, way = below(own, 3);
  Side out = send_side(own, m), in = receive_side(own, m);
  MPI_Request request;
  MPI_Status status;
  const int given = m->source == m->target ? 0 : !first, taken = m->source == m->target ? 0 : first;
  put_elements(&out.type, out.buffer.base, 0, elements_of(m), data_of(m, given), 0);
  if (way == 0)
    MPI_Sendrecv_replace(out.buffer.base, out.count, out.type.type, peer, tag, peer, tag, control, &status);
  if (way == 1)
    MPI_Sendrecv(out.buffer.base, out.count, out.type.type, peer, tag, in.buffer.base, in.count, in.type.type,
                 peer, tag, control, &status);
  if (way == 2) {
    MPI_Isendrecv(out.buffer.base, out.count, out.type.type, peer, tag, in.buffer.base, in.count,
                  in.type.type, peer, tag, control, &request);
    complete(own, &request, &status);
  }
  CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == tag, "%s: source %d, tag %d", name_of(m),
        status.MPI_SOURCE, status.MPI_TAG);
  check_side(m, way == 0 ? taken : given, &out);
  if (way > 0) check_side(m, taken, &in);
  if (way == 0) drop_side(&in);
}

/* --- a step --- */
static void send(int thread, const Message* m) {
  Random* own = &state[thread].own;
  if (m->sends == kPartitioned) return partitioned(own, m, 0);
  if (m->sends == kCancelled) return cancelled_send(own, m);
  Side side = send_side(own, m);
  void* base = side.buffer.base;
  MPI_Datatype type = side.type.type;
  const MPI_Comm comm = comm_of(m);
  const int to = m->to, tag = m->tag, absolute = m->sends < kSendInit && chance(own, 15);
  int count = side.count;
  if (absolute) { /* one element of a type that has the address */
    MPI_Aint at = 0;
    MPI_Get_address(base, &at);
    MPI_Type_create_hindexed(1, &count, &at, side.type.type, &type);
    MPI_Type_commit(&type);
    base = MPI_BOTTOM;
    count = 1;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (m->sends == kSend) MPI_Send(base, count, type, to, tag, comm);
  if (m->sends == kSsend) MPI_Ssend(base, count, type, to, tag, comm);
  if (m->sends == kBsend) MPI_Bsend(base, count, type, to, tag, comm);
  if (m->sends == kIsend) MPI_Isend(base, count, type, to, tag, comm, &request);
  if (m->sends == kIssend) MPI_Issend(base, count, type, to, tag, comm, &request);
  if (m->sends == kIbsend) MPI_Ibsend(base, count, type, to, tag, comm, &request);
  if (m->sends == kRsend) {
    MPI_Recv(NULL, 0, MPI_BYTE, m->target, number_of(m), control, MPI_STATUS_IGNORE);
    MPI_Rsend(base, count, type, to, tag, comm);
  }
  if (m->sends == kSendInit && m->style == kNamed && m->source != m->target) {
    MPI_Ssend_init(base, count, type, to, tag, comm, &request);
    for (int round = 0; round < m->rounds; round++) {
      put_elements(&side.type, base, 0, elements_of(m), data_of(m, round), 0);
      MPI_Start(&request);
      complete(own, &request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    return check_side(m, m->rounds - 1, &side);
  }
  if (m->sends == kSendInit) MPI_Isend(base, count, type, to, tag, comm, &request);
  if (absolute) MPI_Type_free(&type);
  add(thread, m, side, request, NULL);
}
static void receive_round(int thread, const Message* m, int round, int way) {
  Random* own = &state[thread].own;
  const int source = m->style == kNamed || m->style == kAnyTag ? m->from : MPI_ANY_SOURCE,
            tag = m->style == kNamed || m->style == kAnySource ? m->tag : MPI_ANY_TAG;
  const MPI_Comm comm = comm_of(m);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Message found;
  int flag = 0;
  Side side = receive_side(own, m);
  void* base = side.buffer.base;
  const MPI_Datatype type = side.type.type;
  if (way == kProbe) MPI_Probe(source, tag, comm, &status);
  for (flag = way != kIprobe; !flag; sched_yield()) MPI_Iprobe(source, tag, comm, &flag, &status);
  if (way == kMprobe) MPI_Mprobe(source, tag, comm, &found, &status);
  for (flag = way != kImprobe; !flag; sched_yield()) MPI_Improbe(source, tag, comm, &flag, &found, &status);
  if (way == kProbe || way == kIprobe)
    MPI_Recv(base, side.count, type, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
  if (way == kMprobe) MPI_Mrecv(base, side.count, type, &found, &status);
  if (way == kImprobe) MPI_Imrecv(base, side.count, type, &found, &request);
  if (way == kRecv) MPI_Recv(base, side.count, type, source, tag, comm, &status);
  if (way == kIrecv || way == kCancelledFirst) MPI_Irecv(base, side.count, type, source, tag, comm, &request);
  if (way == kRecvInit) {
    MPI_Recv_init(base, side.count, type, source, tag, comm, &request);
    MPI_Start(&request);
    complete(own, &request, &status);
    MPI_Request_free(&request);
  }
  if (way == kCancelledFirst) {
    MPI_Cancel(&request);
    complete(own, &request, &status);
    MPI_Test_cancelled(&status, &flag);
    if (flag) MPI_Recv(base, side.count, type, source, tag, comm, &status);
  }
  if (m->sends == kRsend) MPI_Send(NULL, 0, MPI_BYTE, m->source, number_of(m), control);
  if (m->rounds == 1) return add(thread, m, side, request, &status);
  if (request != MPI_REQUEST_NULL) complete(own, &request, &status);
  check_status(m, &status, &side.type);
  check_side(m, round, &side);
}
static void receive(int thread, const Message* m) {
  if (m->sends == kPartitioned) return partitioned(&state[thread].own, m, 1);
  if (m->sends == kCancelled) return receive_cancelled(&state[thread].own, m);
  for (int round = 0; round < m->rounds; round++) receive_round(thread, m, round, m->receives);
}
static void walk(int thread, void* data) {
  (void)data;
  for (int i = 0; i < message_count; i++) {
    const Message* m = &messages[i];
    if (!step_begins(i)) continue;
    if (m->sends == kExchange) {
      if ((m->source == fuzz.rank || m->target == fuzz.rank) && m->sender == thread)
        exchange(&state[thread].own, m);
      continue;
    }
    const int sends = m->source == fuzz.rank && m->sender == thread,
              receives = m->target == fuzz.rank && m->receiver == thread;
    const int first = sends && receives && m->style == kNamed;
    if (first) receive(thread, m);
    if (sends) send(thread, m);
    if (receives && !first) receive(thread, m);
    if ((sends || receives) && chance(&state[thread].own, 40)) progress(thread, 0);
  }
  progress(thread, 1);
}

static void plan(int steps) {
  Random random = plan_of(-2, 0);
  void *space = NULL, *detached = NULL;
  int bytes = 0;
  const int comm_count = make_comms(&random, comms, 6, 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  threads = chance(&random, 60) ? 1 : threads_of(&random, kMostThreads);
  message_count = steps;
  const long buffered = draw_messages(steps, comm_count);
  for (int i = 0; i < steps; i++)
    if (step_begins(i)) note("%s", name_of(&messages[i]));
  if (buffered) space = malloc((size_t)buffered);
  if (buffered) MPI_Buffer_attach(space, (int)buffered);
  for (int i = 0; i < threads; i++) {
    state[i].count = 0;
    state[i].own = own_of(-2, 10 + i);
  }
  in_threads(threads, walk, NULL);
  check_wildcards();
  if (buffered) MPI_Buffer_detach(&detached, &bytes);
  CHECK(detached == space, "another buffer is detached than was attached");
  free(space);
  MPI_Comm_free(&control);
  free_comms(&random, comms, comm_count);
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "p2p");
  run_seeds(80, plan);
  MPI_Finalize();
  return 0;
}
