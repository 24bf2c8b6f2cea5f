// Paths where no memory may be asked for.
#pragma once

#include <array>

namespace ohm::interpose::host {

/// A path, without memory of its own.
class FixedPath {
 public:
  FixedPath() = default;
  /// Empty where it would be too long.
  FixedPath(const char* folder, const char* name);

  const char* text() const { return text_.data(); }
  bool is_empty() const { return text_[0] == '\0'; }

 private:
  std::array<char, 4096> text_ = {};
};

}  // namespace ohm::interpose::host
