#include "harness/checkpoint/program_fingerprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "harness/checkpoint/quick_hash.h"

namespace ohm::engine {
namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), output.get()) != nullptr) text += part.data();
  return text;
}

/// Of this program, as bytes: what readelf says in hexadecimal digits. Empty where it has none.
std::string build_id() {
  const std::string told = output_of(fmt::format("readelf -n /proc/{}/exe", ::getpid()));
  const std::string name = "Build ID: ";
  const std::size_t found = told.find(name);
  if (found == std::string::npos) return {};
  const std::size_t begin = found + name.size();
  std::string bytes;
  for (std::size_t i = begin; i + 1 < told.find('\n', begin); i += 2) {
    bytes += static_cast<char>(std::stoi(told.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

TEST(ProgramFingerprint, IsOfTheLinkersBuildId) {
  const std::string id = build_id();
  if (id.empty()) GTEST_SKIP() << "this program was linked without a build ID";
  const std::string hash = fmt::format(" {:016x}", quick_hash(id));
  EXPECT_TRUE(program_fingerprint().ends_with(hash)) << program_fingerprint() << hash;
}

}  // namespace
}  // namespace ohm::engine
