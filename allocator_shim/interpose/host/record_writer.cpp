#include "allocator_shim/interpose/host/record_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace ohm::interpose::host {

RecordName::RecordName(std::string_view start, std::string_view ending) {
  constexpr std::size_t kMostDigits = 11;
  std::memcpy(text_.data(), start.data(), start.size());
  text_[start.size()] = '-';
  char* const number = text_.data() + start.size() + 1;
  const auto end = std::to_chars(number, number + kMostDigits, getpid());
  std::memcpy(end.ptr, ending.data(), ending.size());
}

void RecordWriter::open(int file) {
  file_ = file;
  error_ = file < 0 ? errno : 0;
}

bool RecordWriter::close() {
  if (file_ < 0) return false;
  flush();
  if (::close(file_) != 0 && error_ == 0) error_ = errno;
  return error_ == 0;
}

void RecordWriter::leave_error(const RecordPlace& place, std::string_view start) const {
  place.remove(RecordName(start, ".json").text());
  // A name takes no room on a disk that is full.
  std::array<char, 24> ending = {".unwritten-"};
  constexpr std::size_t kBefore = 11;
  std::to_chars(ending.data() + kBefore, ending.data() + ending.size() - 1, error_);
  ::close(place.file(RecordName(start, ending.data()).text()));
}

void RecordWriter::program() {
  std::array<char, 4096> bytes = {};
  const ssize_t length = readlink("/proc/self/exe", bytes.data(), bytes.size());
  text("\"program\":");
  quoted({bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))});
  text(",\"arguments\":[");
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t got = read(file, bytes.data(), bytes.size());
  ::close(file);
  std::string_view rest(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    if (!is_first) text(",");
    quoted(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  text("]");
  member("pid", getpid());
  member("parent", getppid());
}

void RecordWriter::modules(std::span<const Module> modules) {
  text(",\"modules\":[");
  bool is_first = true;
  for (const Module& module : modules) {
    if (!is_first) text(",");
    is_first = false;
    quoted(module.path.data());
  }
  text("]");
}

void RecordWriter::frames(std::span<const Frame> frames) {
  text("\"frames\":[");
  bool is_first = true;
  for (const Frame& frame : frames) {
    if (!is_first) text(",");
    is_first = false;
    number(frame.module);
    text(",");
    number(static_cast<std::int64_t>(frame.address));
  }
  text("]");
}

void RecordWriter::text(std::string_view text) {
  while (!text.empty()) {
    if (used_ == buffer_.size()) flush();
    const std::size_t part = std::min(text.size(), buffer_.size() - used_);
    std::memcpy(buffer_.data() + used_, text.data(), part);
    used_ += part;
    text.remove_prefix(part);
  }
}

void RecordWriter::quoted(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text("\"");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text("\\");
      text({&c, 1});
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Bytes that are not ASCII: the reader takes them for what they are one by one.
      text("\\u00");
      text({&kDigits[byte >> 4], 1});
      text({&kDigits[byte & 15], 1});
    } else {
      text({&c, 1});
    }
  }
  text("\"");
}

void RecordWriter::number(std::int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

void RecordWriter::member(std::string_view name, std::int64_t value) {
  text(",\"");
  text(name);
  text("\":");
  number(value);
}

void RecordWriter::flush() {
  std::size_t written = 0;
  while (written < used_) {
    const ssize_t part = ::write(file_, buffer_.data() + written, used_ - written);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) {
      if (error_ == 0) error_ = part < 0 ? errno : ENOSPC;
      break;
    }
    written += static_cast<std::size_t>(part);
  }
  used_ = 0;
}

}  // namespace ohm::interpose::host
