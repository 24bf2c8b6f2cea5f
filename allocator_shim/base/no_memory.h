// A lack of the host's memory, with what it was needed for.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace ohm {

class NoMemory final : public std::bad_alloc {
 public:
  /// "to read r.json".
  explicit NoMemory(const std::string& purpose) : text_("no memory is left " + purpose) {}
  const char* what() const noexcept override { return text_.what(); }

 private:
  std::runtime_error text_;  ///< whose copies take no memory
};

/// Calls `read`; where there is no memory for it, the error names the file.
template <class Read>
decltype(auto) reading(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw NoMemory("to read " + path);
  }
}

}  // namespace ohm
