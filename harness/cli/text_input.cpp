#include "harness/cli/text_input.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "harness/cli/command.h"

namespace ohm::cli {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;

std::string read_all(std::istream& stream, const std::string& option) {
  std::string text;
  std::string piece(std::size_t{64} << 10U, '\0');
  while (text.size() <= kMaxBytes && stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
  }
  if (text.size() > kMaxBytes) {
    throw UsageError(option + ": this is more than 16 MiB; paste the lines around the error");
  }
  return text;
}

}  // namespace

bool is_stdin(const std::string& path) { return path.empty() || path == "-"; }

std::string read_text_input(const std::string& path, const std::string& option) {
  if (is_stdin(path)) return read_all(std::cin, option);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(option + ": " + path + " is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::error_code reason(errno, std::generic_category());
    throw UsageError(option + ": cannot read " + path + ": " + reason.message());
  }
  return read_all(file, option);
}

}  // namespace ohm::cli
