// Lists of folders in variables of the environment, as a shell writes them: PATH, LD_LIBRARY_PATH.
//
// An empty element of such a list is the working folder, from which then programs or libraries are taken.
// `LD_LIBRARY_PATH=/a/lib:$LD_LIBRARY_PATH` has one where the variable is not set.
#pragma once

#include <string>
#include <string_view>

namespace clump::tools {

/// For a shell: an assignment to `name` that puts `folder` in front of what the variable has, and leaves no
/// empty element.
std::string prepend_in_shell(std::string_view name, const std::string& folder);

}  // namespace clump::tools
