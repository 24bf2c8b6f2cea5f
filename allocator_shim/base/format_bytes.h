// Bytes as people read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ohm {

/// As PyTorch's out-of-memory message prints them: "512 bytes", "1024.00 KiB", "5.59 GiB". The
/// limits are inclusive, so exactly 1 MiB reads "1024.00 KiB"; nothing goes beyond GiB.
std::string pytorch_bytes(std::uint64_t bytes);

/// "512 B", "1.00 MiB", "1.50 GiB": the largest unit that gives at least one.
std::string human_bytes(std::uint64_t bytes);

/// "1.50 GiB (1,610,612,736 bytes)"; below 1 KiB "512 bytes".
std::string human_and_exact_bytes(std::uint64_t bytes);

/// Reads `NUMBER UNIT` with the units B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB
/// (powers of 1024), in this spelling; blanks between are allowed and a bare whole number is bytes.
/// A fraction of a byte is dropped. Throws std::invalid_argument with a sentence that says what is
/// wrong with `text`.
std::uint64_t parse_bytes(std::string_view text);

}  // namespace ohm
