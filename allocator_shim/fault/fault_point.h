// Unique points: a place in a program at which memory is asked for, with a name that stays.
//
// A point is a hash of the level, the op and the program's call stack, without anything that
// changes from run to run: no address, no ordinal. `ohm:3f9c@2` is the second time that the point
// whose hash begins with 3f9c is passed in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ohm {

struct FaultPoint {
  std::uint64_t prefix = 0;      ///< the leading digits of the hash
  int digits = 0;                ///< how many, of 16
  std::uint64_t occurrence = 0;  ///< from 1; 0: every one

  bool is_of(std::uint64_t hash) const {
    return hash >> static_cast<unsigned>(64 - 4 * digits) == prefix;
  }
};

/// nullopt for anything but `ohm:HEX` and `ohm:HEX@K`, with 4 to 16 digits.
std::optional<FaultPoint> parse_fault_point(std::string_view text);

/// "ohm:3f9c22d1@2", with the eight leading digits; an occurrence of 0 is left out.
std::string fault_point_text(std::uint64_t hash, std::uint64_t occurrence);

/// FNV-1a, with a last mix so that the leading digits are good.
class PointHash {
 public:
  PointHash& add(std::string_view text) {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
    add_byte(0);
    return *this;
  }
  PointHash& add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8U) add_byte(static_cast<unsigned char>(number));
    return *this;
  }
  std::uint64_t value() const {
    std::uint64_t bits = (bits_ ^ (bits_ >> 32U)) * 0xd6e8feb86659fd93U;
    bits = (bits ^ (bits >> 32U)) * 0xd6e8feb86659fd93U;
    return bits ^ (bits >> 32U);
  }

 private:
  void add_byte(unsigned char byte) { bits_ = (bits_ ^ byte) * 0x100000001b3U; }

  std::uint64_t bits_ = 0xcbf29ce484222325U;
};

}  // namespace ohm
