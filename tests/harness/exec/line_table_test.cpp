// Line tables of files that no compiler wrote: what is wrong in them is left out.
#include "harness/exec/line_table.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

using namespace std::string_literals;

std::string bytes_of(const auto& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

/// A file whose only section is .debug_line.
std::string elf_with_lines(const std::string& lines) {
  const std::string names = "\0.debug_line\0"s;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  Elf64_Shdr texts = {};
  texts.sh_offset = sizeof(header) + 2 * sizeof(Elf64_Shdr);
  texts.sh_size = names.size();
  Elf64_Shdr table = {};
  table.sh_name = 1;
  table.sh_type = SHT_PROGBITS;
  table.sh_offset = texts.sh_offset + names.size();
  table.sh_size = lines.size();
  return bytes_of(header) + bytes_of(texts) + bytes_of(table) + names + lines;
}

/// A unit of DWARF 5 with these tables of folders and files behind the fields of its header.
std::string unit_with(const std::string& tables) {
  const std::string header = "\x01\x01\x01\xfb\x0e\x01"s + tables;
  const std::string unit =
      "\x05\x00\x08\x00"s + bytes_of(static_cast<std::uint32_t>(header.size())) + header;
  return bytes_of(static_cast<std::uint32_t>(unit.size())) + unit;
}

TEST(LineTable, LeavesOutEntriesWithoutEnd) {
  const test::TempFolder folder;
  const std::string most = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
  const std::string no_formats = "\x00"s + most;
  const std::string unknown_form = "\x01\x01\x1a"s + most;
  for (const std::string& table : {no_formats, unknown_form}) {
    folder.write("program", elf_with_lines(unit_with(table + table)));
    EXPECT_TRUE(LineTable(folder.file("program")).at(0x1000).file.empty());
  }
}

}  // namespace
}  // namespace ohm::engine
