// Which files can be imaged. The files are made here, of headers only: nothing runs them.
#include "inspect/inspect.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "inspect/allocators.h"
#include "inspect/arch.h"
#include "inspect/elf_file.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

/// The shape of an ELF file: what of it matters to inspect().
struct Shape {
  std::uint16_t type = ET_DYN;
  std::uint16_t machine = arch::kMachine;
  bool interpreter = true;
  std::vector<std::string> needed;
  std::string run_path;
  std::vector<std::string> imports;
  bool text_relocations = false;
  std::uint64_t tls_bytes = 0;
};

std::string bytes_of(const Shape& shape) {
  struct File {
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[4];
    ElfW(Dyn) dynamic[16];
    ElfW(Sym) symbols[4];
    ElfW(Rela) relocations[4];
    char strings[1024];
  } file{};
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_ident[EI_VERSION] = EV_CURRENT;
  file.header.e_type = shape.type;
  file.header.e_machine = shape.machine;
  file.header.e_version = EV_CURRENT;
  file.header.e_phoff = offsetof(File, segments);
  file.header.e_ehsize = sizeof(ElfW(Ehdr));
  file.header.e_phentsize = sizeof(ElfW(Phdr));

  std::size_t segments = 0;
  const auto add_segment = [&](std::uint32_t type, std::uint64_t offset, std::uint64_t bytes) {
    file.segments[segments++] = {type, PF_R, offset, offset, offset, bytes, bytes, 8};
  };
  add_segment(PT_LOAD, 0, sizeof file);
  if (shape.interpreter) add_segment(PT_INTERP, offsetof(File, strings), 1);
  if (shape.interpreter) add_segment(PT_DYNAMIC, offsetof(File, dynamic), sizeof file.dynamic);
  if (shape.tls_bytes > 0) add_segment(PT_TLS, 0, shape.tls_bytes);
  file.header.e_phnum = static_cast<ElfW(Half)>(segments);

  std::size_t entries = 0;
  std::size_t used = 1;
  const auto add_entry = [&](ElfW(Sxword) tag, std::uint64_t value) {
    file.dynamic[entries].d_tag = tag;
    file.dynamic[entries++].d_un.d_val = value;
  };
  const auto add_string = [&](ElfW(Sxword) tag, const std::string& text) {
    add_entry(tag, used);
    std::memcpy(file.strings + used, text.c_str(), text.size() + 1);
    used += text.size() + 1;
  };
  for (const std::string& name : shape.needed) add_string(DT_NEEDED, name);
  if (!shape.run_path.empty()) add_string(DT_RUNPATH, shape.run_path);
  std::uint32_t symbols = 1;
  for (const std::string& name : shape.imports) {
    file.symbols[symbols].st_name = static_cast<std::uint32_t>(used);
    file.relocations[symbols - 1].r_info = ELF64_R_INFO(symbols, 0U);
    std::memcpy(file.strings + used, name.c_str(), name.size() + 1);
    used += name.size() + 1;
    ++symbols;
  }
  add_entry(DT_SYMTAB, offsetof(File, symbols));
  add_entry(DT_JMPREL, offsetof(File, relocations));
  add_entry(DT_PLTRELSZ, (symbols - 1) * sizeof(ElfW(Rela)));
  if (shape.text_relocations) add_entry(DT_TEXTREL, 0);
  add_entry(DT_STRTAB, offsetof(File, strings));
  add_entry(DT_STRSZ, sizeof file.strings);
  return {reinterpret_cast<const char*>(&file), sizeof file};
}

class Inspect : public testing::Test {
 protected:
  Inspect() {
    std::string pattern = testing::TempDir() + "inspectXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Inspect() override {
    for (const std::string& path : made_) remove(path.c_str());
    remove(folder_.c_str());
  }

  std::string make(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    chmod(path.c_str(), mode);
    made_.push_back(path);
    return path;
  }
  std::string make(const std::string& name, Shape shape) {
    if (shape.run_path.empty()) shape.run_path = folder_;
    return make(name, bytes_of(shape));
  }
  static void refuses(const std::string& path, const std::string& why) {
    const Verdict verdict = inspect(path, "");
    EXPECT_FALSE(verdict.imageable());
    EXPECT_NE(verdict.why_not.find(why), std::string::npos) << verdict.why_not;
  }

  std::string folder_;
  std::vector<std::string> made_;
};

TEST_F(Inspect, AcceptsProgramsOfTheStandardAbi) {
  make("liba.so", Shape{.needed = {"libmpi_abi.so.1"}});
  const std::string program = make("program", Shape{.needed = {"liba.so"}, .tls_bytes = 13});
  const Verdict verdict = inspect(program, "");
  EXPECT_TRUE(verdict.imageable()) << verdict.why_not;
  EXPECT_EQ(verdict.mpi, MpiKind::kStandardAbi);
  EXPECT_EQ(verdict.mpi_needed_by, folder_ + "/liba.so");
  EXPECT_EQ(verdict.tls_bytes, 16U);
}

TEST_F(Inspect, RefusesOtherAbis) {
  make("libmpi.so.20", Shape{});
  make("libb.so", Shape{.needed = {"libmpi.so.20"}});
  refuses(make("program", Shape{.needed = {"libmpi_abi.so.1", "libb.so"}}), "needs libmpi.so.20 by way of");
}

TEST_F(Inspect, RefusesWhatCannotBeLoadedAnywhere) {
  refuses(make("static", Shape{.type = ET_EXEC, .interpreter = false}), "is statically linked");
  refuses(make("fixed", Shape{.type = ET_EXEC}), "one address only");
}

TEST_F(Inspect, RefusesCodeThatIsChanged) {
  refuses(make("program", Shape{.text_relocations = true}), "program has relocations in its code");
  make("libc_like.so", Shape{.text_relocations = true});
  refuses(make("other", Shape{.needed = {"libc_like.so"}}), "libc_like.so has relocations in its code");
}

TEST_F(Inspect, RefusesOtherMachines) {
  const std::uint16_t other = arch::kMachine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
  const std::string path = make("program", Shape{.machine = other});
  EXPECT_EQ(inspect(path, "").kind, FileKind::kForeign);
  refuses(path, "another machine");
}

TEST_F(Inspect, WantsProcessesForWhatChangesTheProcess) {
  refuses(make("program", Shape{.imports = {"puts", "setuid"}}),
          "program calls setuid(), which changes the user");
  // Libraries import much that they hardly ever call.
  make("libuser.so", Shape{.imports = {"puts", "setuid"}});
  EXPECT_TRUE(inspect(make("sparing", Shape{.needed = {"libuser.so"}}), "").imageable());
  // These they call in their work.
  make("libwords.so", Shape{.imports = {"puts", "wordexp"}});
  refuses(make("expanding", Shape{.needed = {"libwords.so"}}), "libwords.so calls wordexp(), which looks at");
  make("libc.so.6", Shape{.imports = {"wordexp"}});
  EXPECT_TRUE(inspect(make("other", Shape{.needed = {"libc.so.6"}, .imports = {"puts"}}), "").imageable());
}

TEST_F(Inspect, NamesTheInterpreterOfAScript) {
  const std::string path = make("script", "#! /usr/bin/env python3\n");
  const Verdict verdict = inspect(path, "");
  EXPECT_EQ(verdict.kind, FileKind::kScript);
  EXPECT_EQ(verdict.interpreter, "/usr/bin/env");
  EXPECT_TRUE(verdict.runnable());
  EXPECT_FALSE(verdict.imageable());
  EXPECT_EQ(inspect(make("short", "#!"), "").kind, FileKind::kScript);
}

TEST_F(Inspect, RefusesWhatIsNoProgram) {
  EXPECT_EQ(inspect(folder_ + "/missing", "").kind, FileKind::kMissing);
  EXPECT_EQ(inspect(folder_, "").kind, FileKind::kNotRegular);
  EXPECT_EQ(inspect(make("text", "text\n"), "").kind, FileKind::kOther);
  EXPECT_EQ(inspect(make("empty", ""), "").kind, FileKind::kOther);
  EXPECT_EQ(inspect(make("data", bytes_of({}).substr(0, 80)), "").kind, FileKind::kForeign);
}

TEST_F(Inspect, RefusesSetUserId) { refuses(make("program", bytes_of({}), 04755), "changes its user"); }

TEST_F(Inspect, NamesMissingLibraries) {
  const std::string path = make("program", Shape{.needed = {"libnowhere.so.3"}});
  EXPECT_EQ(inspect(path, "").missing, std::vector<std::string>{"libnowhere.so.3"});
  refuses(path, "libnowhere.so.3, which is not found");
}

TEST(Allocators, AreKnownByWhatTheyDefine) {
  const std::string libc = find_library("libc.so.6", {}, {}, ""),
                    libm = find_library("libm.so.6", {}, {}, "");
  EXPECT_TRUE(defines_malloc(ElfFile(libc)));
  EXPECT_TRUE(ElfFile(libm).defines("cos"));
  EXPECT_FALSE(ElfFile(libm).defines("malloc"));  // it only uses it, if at all
  EXPECT_FALSE(ElfFile(libc).defines("no_such_function"));
  EXPECT_FALSE(defines_malloc(ElfFile("/")));
  EXPECT_EQ(allocator_among("", ""), "");
  EXPECT_EQ(allocator_among("libm.so.6", ""), "");
  EXPECT_EQ(allocator_among("libm.so.6:" + libc + " libm.so.6", ""), libc);
  EXPECT_TRUE(is_allocator_library("libjemalloc.so.2"));
  EXPECT_FALSE(is_allocator_library("libmalloc_of_somebody.so"));
  EXPECT_TRUE(is_of_libc_malloc("mallopt"));
  EXPECT_FALSE(is_of_libc_malloc("malloc"));
}

TEST_F(Inspect, NotesWhoSetsTheAllocatorOfTheCLibrary) {
  const Verdict verdict = inspect(make("program", Shape{.imports = {"puts", "mallopt"}}), "");
  EXPECT_TRUE(verdict.imageable());
  EXPECT_EQ(verdict.malloc_function, "mallopt");
  EXPECT_EQ(verdict.malloc_function_in, folder_ + "/program");
  EXPECT_EQ(verdict.allocator, "");
  EXPECT_EQ(verdict.own_malloc, "");
}

TEST_F(Inspect, ContextsWithMasksNeedProcesses) {
  EXPECT_TRUE(inspect(make("contexts", Shape{.imports = {"puts", "swapcontext"}}), "").imageable());
  EXPECT_TRUE(inspect(make("masks", Shape{.imports = {"puts", "pthread_sigmask"}}), "").imageable());
  const Verdict verdict = inspect(make("both", Shape{.imports = {"pthread_sigmask", "swapcontext"}}), "");
  EXPECT_FALSE(verdict.imageable());
  EXPECT_EQ(verdict.process_function, "swapcontext");
}

TEST_F(Inspect, LiburingNeedsProcesses) {
  const Verdict verdict = inspect(make("program", Shape{.imports = {"puts", "io_uring_queue_init"}}), "");
  EXPECT_FALSE(verdict.imageable());
  EXPECT_EQ(verdict.process_function, "io_uring_queue_init");
}

}  // namespace
}  // namespace clump::image
