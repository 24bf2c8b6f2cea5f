// A lack of the host's memory, with what it was needed for.
#pragma once

#include <memory>
#include <new>
#include <string>

namespace ohm {

class NoMemory final : public std::bad_alloc {
 public:
  /// "to read r.json".
  explicit NoMemory(const std::string& purpose)
      : text_(std::make_shared<const std::string>("no memory is left " + purpose)) {}
  const char* what() const noexcept override { return text_->c_str(); }

 private:
  std::shared_ptr<const std::string> text_;  ///< copies take no memory
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
