// Functions that begin with a jump to another one: what calls them gets there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ohm::interpose {

/// As many bytes as such a jump takes.
#if defined(__aarch64__)
inline constexpr std::size_t kJumpBytes = 16;
#else
inline constexpr std::size_t kJumpBytes = 14;
#endif

/// Whether a function has room for a jump: its own `bytes`, and the padding behind it.
bool has_room_for_jump(const std::byte* function, std::size_t bytes);

/// Its memory has to be writable, and nobody may be in it.
void write_jump(std::byte* function, std::uintptr_t target);

/// The same where the memory is not writable; false: it cannot be made so.
bool write_jump_into_code(std::byte* function, std::uintptr_t target);

}  // namespace ohm::interpose
