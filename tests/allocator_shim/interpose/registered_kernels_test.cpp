// For which architectures kernels were compiled, as programs ask for it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kMachineCode = 2;

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// A fat binary as nvcc writes it: pieces of `code_bytes` of this kind, for these architectures.
class FatBinary {
 public:
  using Piece = std::pair<std::uint16_t, std::uint32_t>;

  explicit FatBinary(const std::vector<Piece>& pieces, std::uint64_t told_bytes = kCodeBytes) {
    std::vector<std::byte> entries;
    for (const auto& [kind, architecture] : pieces)
      append_entry(entries, kind, architecture, told_bytes);
    append(bytes_, std::uint32_t{0xba55ed50});
    append(bytes_, std::uint16_t{1});
    append(bytes_, std::uint16_t{16});
    append(bytes_, std::uint64_t{entries.size()});
    bytes_.insert(bytes_.end(), entries.begin(), entries.end());
    wrapper_.data = bytes_.data();
  }

  const void* wrapper() const { return &wrapper_; }

 private:
  static constexpr std::uint64_t kCodeBytes = 24;

  struct Wrapper {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const std::byte* data = nullptr;
    void* unused = nullptr;
  };

  static void append_entry(std::vector<std::byte>& to, std::uint16_t kind,
                           std::uint32_t architecture, std::uint64_t told_bytes) {
    append(to, kind);
    append(to, std::uint16_t{0x101});
    append(to, std::uint32_t{64});
    append(to, told_bytes);
    append(to, std::uint64_t{0});
    append(to, std::uint32_t{0});
    append(to, architecture);
    to.resize(to.size() + 32 + kCodeBytes);
  }

  std::vector<std::byte> bytes_;
  Wrapper wrapper_;
};

struct Attributes {
  std::array<std::size_t, 3> bytes;
  int max_threads, registers, ptx_version, binary_version;
  std::array<int, 32> rest;
};

int ask_for_attributes(Attributes& attributes, const void* kernel) {
  return function<int(Attributes*, const void*)>(kRuntime, "cudaFuncGetAttributes")(&attributes,
                                                                                    kernel);
}

Attributes attributes_of(const void* kernel) {
  Attributes attributes = {};
  EXPECT_EQ(ask_for_attributes(attributes, kernel), 0);
  return attributes;
}

void register_kernel(const FatBinary& binary, const char* kernel) {
  void** const image = function<void**(const void*)>(kRuntime, "__cudaRegisterFatBinary",
                                                     kRuntime)(binary.wrapper());
  ASSERT_NE(image, nullptr);
  function<void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*)>(
      kRuntime, "__cudaRegisterFunction")(image, kernel, nullptr, "kernel", -1, nullptr, nullptr,
                                          nullptr, nullptr, nullptr);
}

// The card of these tests has compute capability 8.0.
TEST(RegisteredKernels, RunTheNewestMachineCodeThatTheCardCan) {
  static constexpr std::array<char, 2> kKernels = {};
  const FatBinary binary(
      {{kMachineCode, 75}, {kMachineCode, 80}, {kMachineCode, 86}, {kMachineCode, 90}, {kPtx, 90}});
  register_kernel(binary, &kKernels[0]);
  EXPECT_EQ(attributes_of(&kKernels[0]).binary_version, 80);
  EXPECT_EQ(attributes_of(&kKernels[0]).ptx_version, 80);
  Attributes none = {};
  constexpr int kInvalidDeviceFunction = 98;
  EXPECT_EQ(ask_for_attributes(none, &kKernels[1]), kInvalidDeviceFunction) << "nobody knows it";
}

TEST(RegisteredKernels, AreCompiledFromPtxWhereThereIsNoMachineCodeOfTheGeneration) {
  static constexpr char kKernel = 0;
  const FatBinary binary({{kMachineCode, 75}, {kPtx, 60}, {kPtx, 70}, {kMachineCode, 90}});
  register_kernel(binary, &kKernel);
  EXPECT_EQ(attributes_of(&kKernel).ptx_version, 70);
  EXPECT_EQ(attributes_of(&kKernel).binary_version, 80);
}

TEST(RegisteredKernels, MayBeInBinariesThatAreCutShort) {
  static constexpr char kKernel = 0;
  const FatBinary binary({{kMachineCode, 75}, {kMachineCode, 80}}, /*told_bytes=*/1U << 20U);
  register_kernel(binary, &kKernel);
  EXPECT_EQ(attributes_of(&kKernel).ptx_version, 80) << "the card's own";
}

}  // namespace
}  // namespace ohm::interpose
