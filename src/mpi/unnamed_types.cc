#include "mpi/unnamed_types.h"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "core/rank.h"

namespace clump::mpi {

namespace {

using core::Rank;
using datatype::Datatype;
using datatype::Recipe;

/// What was asked for: the combiner, and numbers or the handles of predefined types.
using Question = std::pair<int, std::vector<Count>>;

Question question_of(const Recipe& recipe) {
  Question question{recipe.combiner, recipe.arguments};
  for (const datatype::Ref& component : recipe.components)
    question.second.push_back(component->handle_value());
  return question;
}

/// Each rank has handles of its own. They end with the rank's use of MPI (Rank::forget_all): what a rank asks
/// for in a later session is made anew.
class Handles {
 public:
  template <typename Make>
  MPI_Datatype get(Rank& self, const Question& question, const Make& make) {
    const std::lock_guard lock(mutex_);
    Made& made = all_[{self.number, question}];
    if (made.type && self.datatype(made.handle) == made.type.get()) return made.handle;
    made.type = make();
    return made.handle = self.add(made.type);
  }

 private:
  struct Made {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    datatype::Ref type;  // so that no other type has its address
  };
  std::mutex mutex_;
  std::map<std::pair<int, Question>, Made> all_;
};

Handles& handles() {
  static auto& instance = *new Handles;
  return instance;
}

}  // namespace

MPI_Datatype unnamed_type(Rank& self, const Datatype& like, Recipe recipe) {
  const Question question = question_of(recipe);
  return handles().get(self, question, [&] { return datatype::make_unnamed(like, std::move(recipe)); });
}

MPI_Datatype unnamed_pair(Rank& self, const Datatype& value, const Datatype& index) {
  const Question question{MPI_COMBINER_VALUE_INDEX, {value.handle_value(), index.handle_value()}};
  return handles().get(self, question, [&] { return datatype::make_pair(value, index); });
}

MPI_Datatype handle_of_unnamed(Rank& self, const Datatype& type) {
  return handles().get(self, question_of(type.recipe()), [&] { return datatype::Ref(&type); });
}

}  // namespace clump::mpi
