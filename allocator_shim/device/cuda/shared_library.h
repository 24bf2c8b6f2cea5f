// A library that is opened while the program runs, because it may not be there.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ohm {

/// Thrown where something that a real GPU needs is not there: a library, a function of it, a
/// device. The text says what, in a sentence.
class GpuUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SharedLibrary {
 public:
  /// `what` it is, for people. Throws GpuUnavailable with the loader's reason.
  SharedLibrary(std::string path, std::string_view what);
  /// Stays open: what it started (threads, handlers at exit) may still run.
  ~SharedLibrary() = default;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  const std::string& path() const { return path_; }

  /// Throws GpuUnavailable when the library has no such symbol: it is too old.
  template <class Function>
  void find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }

 private:
  void* address_of(const char* symbol) const;

  std::string path_;
  void* handle_;
};

}  // namespace ohm
