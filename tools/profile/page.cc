// The page is page.html with the files that it names, and the JSON file, in it.
#include "profile.h"

namespace clump::tools::profile {

namespace {

void replace(std::string& page, std::string_view place, std::string_view what) {
  if (const std::size_t at = page.find(place); at != page.npos) page.replace(at, place.size(), what);
}

}  // namespace

// Files as they lie in the tree become part of the program: name_begin and name_end.
#define CLUMP_EMBED(name, file)                                                                             \
  extern "C" const char name##_begin[], name##_end[];                                                       \
  asm(".pushsection .rodata\n"                                                                              \
      ".global " #name "_begin\n.hidden " #name "_begin\n" #name "_begin:\n.incbin \"" CLUMP_PROFILE_FOLDER \
      "/" file "\"\n.global " #name "_end\n.hidden " #name "_end\n" #name "_end:\n.popsection\n")

CLUMP_EMBED(clump_profile_page, "page.html");
CLUMP_EMBED(clump_profile_style, "page.css");
CLUMP_EMBED(clump_profile_script, "page.js");

std::string as_page(const Profile& profile) {
  const auto text = [](const char* begin, const char* end) { return std::string(begin, end); };
  std::string page = text(clump_profile_page_begin, clump_profile_page_end);
  replace(page, R"(<link rel="stylesheet" href="page.css">)",
          "<style>\n" + text(clump_profile_style_begin, clump_profile_style_end) + "</style>");
  replace(page, R"(<script src="page.js"></script>)",
          "<script>\n" + text(clump_profile_script_begin, clump_profile_script_end) + "</script>");
  replace(page, "/*PROFILE*/", as_json(profile));
  return page;
}

}  // namespace clump::tools::profile
