// The page is page.html with the JSON file in it.
#include "profile.h"

namespace clump::tools::profile {

extern "C" const char clump_profile_page[], clump_profile_page_end[];
// The file as it lies in the tree becomes part of the program.
asm(R"(
  .pushsection .rodata
  .global clump_profile_page
  .hidden clump_profile_page
  .global clump_profile_page_end
  .hidden clump_profile_page_end
clump_profile_page:
  .incbin ")" CLUMP_PROFILE_PAGE R"("
clump_profile_page_end:
  .popsection
)");

std::string as_page(const Profile& profile) {
  static constexpr std::string_view kPlace = "/*PROFILE*/";
  std::string page(clump_profile_page, clump_profile_page_end);
  if (const std::size_t at = page.find(kPlace); at != page.npos)
    page.replace(at, kPlace.size(), as_json(profile));
  return page;
}

}  // namespace clump::tools::profile
