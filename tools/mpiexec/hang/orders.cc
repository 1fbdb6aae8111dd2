#include "hang/orders.h"

#include "pmi/wire.h"

namespace clump::mpiexec {

std::string encode(const Order& order) {
  pmi::Writer out;
  out.number(order.kind);
  out.number(order.number);
  return out.take();
}

bool decode(const std::string& bytes, Order& order) {
  pmi::Reader in(bytes);
  order.kind = in.number<Order::Kind>();
  order.number = in.number<std::uint32_t>();
  return in.finished() && order.kind <= Order::Kind::kSignal;
}

std::string encode(const Report& report) {
  pmi::Writer out;
  out.number(report.kind);
  out.number(report.number);
  out.number(report.holds);
  for (const std::uint64_t sum : {report.waiting, report.wakes, report.sent, report.taken, report.progress})
    out.number(sum);
  out.text(report.bytes);
  return out.take();
}

bool decode(const std::string& bytes, Report& report) {
  pmi::Reader in(bytes);
  report.kind = in.number<Report::Kind>();
  report.number = in.number<std::uint32_t>();
  report.holds = in.number<bool>();
  for (std::uint64_t* sum : {&report.waiting, &report.wakes, &report.sent, &report.taken, &report.progress})
    *sum = in.number<std::uint64_t>();
  report.bytes = in.text();
  return in.finished() && report.kind <= Report::Kind::kOver;
}

}  // namespace clump::mpiexec
