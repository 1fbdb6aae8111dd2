#include <utility>

#include "model.h"

namespace clump::models {

using Kind = Step::Kind;

Program& Program::add_step(Step step) {
  steps_.push_back(std::move(step));
  return *this;
}

Program& Program::load(Register into, Location at, std::memory_order order) {
  return add_step({.kind = Kind::kLoad, .at = at, .into = into, .order = order});
}
Program& Program::store(Location at, Operand value, std::memory_order order) {
  return add_step({.kind = Kind::kStore, .at = at, .operands = {value}, .order = order});
}
Program& Program::exchange(Register into, Location at, Operand value, std::memory_order order) {
  return add_step({.kind = Kind::kExchange, .at = at, .into = into, .operands = {value}, .order = order});
}
Program& Program::add(Register into, Location at, Operand value, std::memory_order order) {
  return add_step({.kind = Kind::kAdd, .at = at, .into = into, .operands = {value}, .order = order});
}
Program& Program::compare_exchange(Register into, Location at, Operand expected, Operand value,
                                   std::memory_order order) {
  return add_step({.kind = Kind::kCompareExchange,
                   .at = at,
                   .into = into,
                   .operands = {value, expected},
                   .order = order});
}
Program& Program::fence() { return add_step({.kind = Kind::kFence}); }
Program& Program::membarrier() { return add_step({.kind = Kind::kFenceOf, .number = -1}); }
Program& Program::futex_wait(Register into, Location at, Operand expected, bool timed) {
  return add_step(
      {.kind = Kind::kFutexWait, .at = at, .into = into, .operands = {expected}, .number = timed ? 1 : 0});
}
Program& Program::futex_wake(Location at, int most) {
  return add_step({.kind = Kind::kFutexWake, .at = at, .number = most});
}
Program& Program::pause() { return add_step({.kind = Kind::kPause}); }
Program& Program::label(const std::string& name) {
  labels_[name] = static_cast<int>(steps_.size());
  return *this;
}
Program& Program::jump(const std::string& label) { return add_step({.kind = Kind::kJump, .label = label}); }
Program& Program::jump_if(std::function<bool(const Registers&)> condition, const std::string& label) {
  return add_step({.kind = Kind::kJump, .label = label, .condition = std::move(condition)});
}
Program& Program::let(std::function<void(Registers&)> action) {
  return add_step({.kind = Kind::kLet, .action = std::move(action)});
}
Program& Program::check(std::function<bool(const Registers&)> condition, const std::string& text) {
  return add_step({.kind = Kind::kCheck, .label = text, .condition = std::move(condition)});
}
Program& Program::end() { return add_step({.kind = Kind::kEnd}); }

Location Model::location(const std::string& name, int value) {
  locations_.push_back(name);
  values_.push_back(value);
  return {static_cast<int>(locations_.size()) - 1};
}

Program& Model::thread(const std::string& name, int process) {
  Program& program = programs_.emplace_back();
  program.name_ = name;
  program.process_ = process;
  return program;
}

}  // namespace clump::models
