#include "harness/process/program_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace ohm::engine {
namespace {

/// False also for what lies in a folder that this user may not search.
bool is_executable_file(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

bool gains_privileges(const std::string& path) {
  struct stat status = {};
  const bool has_status = stat(path.c_str(), &status) == 0;
  if (has_status && (status.st_mode & (S_ISUID | S_ISGID)) != 0) return true;
  return getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

template <typename Header>
bool read_header(std::ifstream& stream, std::size_t offset, Header& header) {
  stream.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(stream.read(reinterpret_cast<char*>(&header), sizeof(header)));
}

/// Whether the file asks for the dynamic loader.
bool has_loader(std::ifstream& stream, const Elf64_Ehdr& elf) {
  for (std::size_t i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr segment = {};
    if (!read_header(stream, elf.e_phoff + i * elf.e_phentsize, segment)) return false;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

/// The header of the program that does the checking.
const Elf64_Ehdr& own_header() {
  static const Elf64_Ehdr kHeader = [] {
    std::ifstream stream("/proc/self/exe", std::ios::binary);
    Elf64_Ehdr elf = {};
    read_header(stream, 0, elf);
    return elf;
  }();
  return kHeader;
}

/// The first word after "#!".
std::string interpreter_of(std::ifstream& stream) {
  std::string line;
  stream.seekg(2);
  std::getline(stream, line);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

}  // namespace

std::string find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    if (is_executable_file(name)) return name;
    struct stat status = {};
    if (stat(name.c_str(), &status) != 0) {
      const bool is_missing = errno == ENOENT || errno == ENOTDIR;
      throw std::invalid_argument(
          is_missing ? fmt::format("there is no file \"{}\"", name)
                     : fmt::format("\"{}\" cannot be started: {}", name, std::strerror(errno)));
    }
    throw std::invalid_argument(
        fmt::format("\"{}\" is not a program: it may not be executed", name));
  }
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const std::string folder = search_path.substr(begin, end - begin);
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (!name.empty() && is_executable_file(path)) return path;
    begin = end + 1;
  }
  throw std::invalid_argument(fmt::format("command not found: \"{}\"", name));
}

void check_preloadable(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Elf64_Ehdr elf = {};
  std::array<char, 2> magic = {};
  // What cannot be read may still be started; then the loader decides.
  if (!read_header(stream, 0, magic)) return;
  if (magic[0] == '#' && magic[1] == '!') {
    const std::string interpreter = interpreter_of(stream);
    // The kernel, too, takes privileges from the interpreter alone.
    if (!interpreter.empty() && interpreter != path) check_preloadable(interpreter);
    return;
  }
  if (!read_header(stream, 0, elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0) return;
  if (gains_privileges(path)) {
    throw std::invalid_argument(fmt::format(
        "{} gains privileges when it starts (setuid, setgid or capabilities), and no library can "
        "be preloaded into such a program",
        path));
  }
  if (elf.e_machine != own_header().e_machine ||
      elf.e_ident[EI_CLASS] != own_header().e_ident[EI_CLASS]) {
    throw std::invalid_argument(fmt::format("{} is for another processor than ohm", path));
  }
  if (!has_loader(stream, elf)) {
    throw std::invalid_argument(fmt::format(
        "{} is linked statically, and no library can be preloaded into such a program", path));
  }
}

}  // namespace ohm::engine
