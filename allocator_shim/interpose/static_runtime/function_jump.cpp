#include "allocator_shim/interpose/static_runtime/function_jump.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace ohm::interpose {
namespace {

#if defined(__aarch64__)

constexpr std::size_t kInstructionBytes = 4;

/// nop, udf #0
std::size_t padding_at(const std::byte* at) {
  std::uint32_t instruction = 0;
  std::memcpy(&instruction, at, sizeof(instruction));
  return instruction == 0xd503201f || instruction == 0 ? kInstructionBytes : 0;
}

/// ldr x16, .+8; br x16; the address
void encode(std::byte* to, std::uintptr_t target) {
  constexpr std::uint32_t kCode[] = {0x58000050, 0xd61f0200};
  std::memcpy(to, kCode, sizeof(kCode));
  std::memcpy(to + sizeof(kCode), &target, sizeof(target));
}

#else

/// Of a nop with an address, by its ModRM byte: how many bytes it and what follows take.
std::size_t operand_bytes(unsigned char mod_rm) {
  switch (mod_rm) {
    case 0x00:
      return 1;
    case 0x40:
      return 2;
    case 0x44:
      return 3;
    case 0x80:
      return 5;
    case 0x84:
      return 6;
    default:
      return 0;
  }
}

/// The bytes of one nop or int3, as compilers align functions with; 0: it is neither.
std::size_t padding_at(const std::byte* at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[i]); };
  std::size_t bytes = 0;
  while (byte(bytes) == 0x66 || byte(bytes) == 0x2e) ++bytes;
  if (byte(bytes) == 0x90 || byte(bytes) == 0xcc) return bytes + 1;
  if (byte(bytes) != 0x0f || byte(bytes + 1) != 0x1f) return 0;
  const std::size_t operand = operand_bytes(byte(bytes + 2));
  return operand == 0 ? 0 : bytes + 2 + operand;
}

/// jmp *0(%rip); the address
void encode(std::byte* to, std::uintptr_t target) {
  constexpr unsigned char kCode[] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(to, kCode, sizeof(kCode));
  std::memcpy(to + sizeof(kCode), &target, sizeof(target));
}

#endif

}  // namespace

bool has_room_for_jump(const std::byte* function, std::size_t bytes) {
  while (bytes < kJumpBytes) {
    const std::size_t padding = padding_at(function + bytes);
    if (padding == 0) return false;
    bytes += padding;
  }
  return true;
}

void write_jump(std::byte* function, std::uintptr_t target) {
  encode(function, target);
  __builtin___clear_cache(reinterpret_cast<char*>(function),
                          reinterpret_cast<char*>(function + kJumpBytes));
}

bool write_jump_into_code(std::byte* function, std::uintptr_t target) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(function) / page_bytes * page_bytes;
  const std::size_t bytes = reinterpret_cast<std::uintptr_t>(function) + kJumpBytes - begin;
  void* const page = reinterpret_cast<void*>(begin);
  // Others may be in the same page.
  if (mprotect(page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  write_jump(function, target);
  mprotect(page, bytes, PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace ohm::interpose
