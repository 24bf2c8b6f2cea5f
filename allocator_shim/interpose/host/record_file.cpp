#include "allocator_shim/interpose/host/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace ohm::interpose::host {

RecordName::RecordName(std::string_view ending) {
  constexpr std::string_view kStart = "host-";
  constexpr std::size_t kMostDigits = 11;
  std::memcpy(text_.data(), kStart.data(), kStart.size());
  char* const number = text_.data() + kStart.size();
  const auto end = std::to_chars(number, number + kMostDigits, getpid());
  std::memcpy(end.ptr, ending.data(), ending.size());
}

void RecordFile::write(const RecordPlace& place) {
  const UnlimitedFiles unlimited;
  const RecordName name(".json");
  if (write_to(place.file(name.text()))) return;
  place.remove(name.text());
  // A name takes no room on a disk that is full.
  std::array<char, 24> ending = {".unwritten-"};
  constexpr std::size_t kBefore = 11;
  std::to_chars(ending.data() + kBefore, ending.data() + ending.size() - 1, error_);
  close(place.file(RecordName(ending.data()).text()));
}

void RecordFile::write(const FixedPath& path) {
  const UnlimitedFiles unlimited;
  write_to(open(path.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

bool RecordFile::write_to(int file) {
  file_ = file;
  error_ = file < 0 ? errno : 0;
  if (file < 0) return false;
  text("{");
  write_process();
  write_failure();
  write_modules();
  write_sites();
  text("}\n");
  flush();
  if (close(file_) != 0 && error_ == 0) error_ = errno;
  return error_ == 0;
}

void RecordFile::write_process() {
  std::array<char, 4096> bytes = {};
  const ssize_t length = readlink("/proc/self/exe", bytes.data(), bytes.size());
  text("\"program\":");
  quoted({bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))});
  text(",\"arguments\":[");
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t got = read(file, bytes.data(), bytes.size());
  close(file);
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
  text(process_.has_ended ? ",\"ended\":true" : ",\"ended\":false");
  member("requests", static_cast<std::int64_t>(process_.requests));
  member("failed", static_cast<std::int64_t>(process_.failed));
  member("live_bytes", process_.live_bytes);
  member("peak_bytes", process_.peak_bytes);
}

void RecordFile::write_failure() {
  const Failure& failure = process_.failure;
  if (failure.why == Refusal::none) return;
  text(",\"failure\":{\"is_limit\":");
  text(failure.why == Refusal::limit ? "true" : "false");
  member("request", static_cast<std::int64_t>(failure.request));
  member("bytes", static_cast<std::int64_t>(failure.bytes));
  member("live_bytes", failure.live_bytes);
  text(",\"frames\":[");
  bool is_first = true;
  for (const Frame& frame : process_.sites.frames_of(process_.sites[failure.site])) {
    if (!is_first) text(",");
    is_first = false;
    number(frame.module);
    text(",");
    number(static_cast<std::int64_t>(frame.address));
  }
  text("]}");
}

void RecordFile::write_modules() {
  text(",\"modules\":[");
  bool is_first = true;
  for (const Module& module : process_.sites.modules()) {
    if (!is_first) text(",");
    is_first = false;
    quoted(module.path.data());
  }
  text("]");
}

void RecordFile::write_sites() {
  text(",\"sites\":[");
  bool is_first = true;
  for (Site& site : process_.sites.sites()) {
    const SiteBytes at_peak = site.peak_number == process_.peak_number ? site.at_peak : site.live;
    if (which_sites_ == RecordedSites::holders && at_peak.bytes <= 0 && site.at_failure.bytes <= 0)
      continue;
    if (!is_first) text(",\n");
    is_first = false;
    Site shown = site;
    shown.at_peak = at_peak;
    write_site(shown);
  }
  text("]");
}

void RecordFile::write_site(const Site& site) {
  text("{\"point\":");
  // As text: JSON's numbers have 53 bits.
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), site.point, 16);
  quoted({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
  member("requests", static_cast<std::int64_t>(site.requests));
  member("peak_bytes", site.at_peak.bytes);
  member("peak_blocks", site.at_peak.blocks);
  member("failure_bytes", site.at_failure.bytes);
  member("failure_blocks", site.at_failure.blocks);
  text(",\"frames\":[");
  bool is_first = true;
  for (const Frame& frame : process_.sites.frames_of(site)) {
    if (!is_first) text(",");
    is_first = false;
    number(frame.module);
    text(",");
    number(static_cast<std::int64_t>(frame.address));
  }
  text("]}");
}

void RecordFile::text(std::string_view text) {
  while (!text.empty()) {
    if (used_ == buffer_.size()) flush();
    const std::size_t part = std::min(text.size(), buffer_.size() - used_);
    std::memcpy(buffer_.data() + used_, text.data(), part);
    used_ += part;
    text.remove_prefix(part);
  }
}

void RecordFile::quoted(std::string_view value) {
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

void RecordFile::number(std::int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

void RecordFile::member(std::string_view name, std::int64_t value) {
  text(",\"");
  text(name);
  text("\":");
  number(value);
}

void RecordFile::flush() {
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
