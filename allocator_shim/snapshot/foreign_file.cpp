#include "allocator_shim/snapshot/foreign_file.h"

namespace ohm {

namespace {

struct ForeignFile {
  std::string_view begin;
  std::string_view what;
};
constexpr ForeignFile kForeignFiles[] = {
    {"PK\x03\x04", "a zip archive (torch.save writes such files)"},
    {"\x1F\x8B", "compressed with gzip: unpack it first"},
    {"\x28\xB5\x2F\xFD", "compressed with zstd: unpack it first"},
    {"\xFD"
     "7zXZ",
     "compressed with xz: unpack it first"},
    {"\x93NUMPY", "a NumPy array"},
    {"\x7F"
     "ELF",
     "a program"},
    {"{", "text, perhaps JSON"},
    {"# ", "text"},
};

}  // namespace

std::string_view foreign_file_at(ByteWindow& begin) {
  for (const ForeignFile& file : kForeignFiles) {
    if (!begin.has(file.begin.size())) continue;
    if (std::string_view(begin.front(), file.begin.size()) == file.begin) return file.what;
  }
  return {};
}

}  // namespace ohm
