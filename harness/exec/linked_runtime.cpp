#include "harness/exec/linked_runtime.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace ohm::engine {

namespace {

/// The sections of a file, of which it reads as little as it is asked about.
class Sections {
 public:
  explicit Sections(const std::string& path) : stream_(path, std::ios::binary) {
    Elf64_Ehdr header = {};
    if (!read(0, &header, sizeof(header))) return;
    const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                        header.e_ident[EI_CLASS] == ELFCLASS64 &&
                        header.e_shentsize == sizeof(Elf64_Shdr);
    if (!is_elf) return;
    headers_.resize(header.e_shnum);
    if (!read(header.e_shoff, headers_.data(), headers_.size() * sizeof(Elf64_Shdr))) {
      headers_.clear();
    }
    if (header.e_shstrndx < headers_.size()) names_ = text_of(headers_[header.e_shstrndx]);
  }

  const Elf64_Shdr* find(std::string_view name) const {
    for (const Elf64_Shdr& header : headers_) {
      if (header.sh_name < names_.size() && name == names_.c_str() + header.sh_name) return &header;
    }
    return nullptr;
  }

  /// Empty: it is not in the file.
  std::string text_of(const Elf64_Shdr& header) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;
    std::string text(std::min(header.sh_size, kMostBytes), '\0');
    return read(header.sh_offset, text.data(), text.size()) ? text : std::string();
  }

 private:
  bool read(std::uint64_t offset, void* to, std::size_t bytes) {
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(
        stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  }

  std::ifstream stream_;
  std::vector<Elf64_Shdr> headers_;
  std::string names_;
};

}  // namespace

void check_linked_runtime(const std::string& path) {
  Sections sections(path);
  // What nvcc makes of kernels that the runtime registers.
  if (sections.find(".nvFatBinSegment") == nullptr || sections.find(".symtab") != nullptr) return;
  const Elf64_Shdr* const strings = sections.find(".dynstr");
  if (strings == nullptr) return;
  // Another library's runtime: it is needed, or its functions are.
  const std::string names = sections.text_of(*strings);
  if (names.find("libcudart.so") != std::string::npos ||
      names.find("__cudaRegisterFatBinary") != std::string::npos) {
    return;
  }
  throw std::invalid_argument(
      fmt::format("{} contains a CUDA runtime whose symbols are stripped, so it would see no "
                  "virtual GPU: build it with nvcc -cudart shared, or do not strip it",
                  path));
}

}  // namespace ohm::engine
