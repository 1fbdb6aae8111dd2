// The job of Slurm in which this process runs, by the variables that Slurm sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clump::tools {

/// The hosts of a job; of a heterogeneous one, those of one component.
struct SlurmComponent {
  std::vector<std::string> names;
  std::vector<int> slots;  ///< one for each name, or none: Slurm does not tell
};

/// More than one: the job is heterogeneous. None: there is no job.
std::vector<SlurmComponent> slurm_components();

/// Slurm's lists: "a[01-03,7]-b,c" are five names, and "4(x2),3" the numbers 4, 4 and 3. None: it is no list.
std::vector<std::string> names_of_list(std::string_view list);
std::vector<int> numbers_of_list(std::string_view list);

}  // namespace clump::tools
