#include "harness/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "harness/checkpoint/quick_hash.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "ohm.checkpoint/1";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kChecksumDigits = 16;

std::string checksum(std::string_view text) { return fmt::format("{:016x}", quick_hash(text)); }

/// `fields` are words of any bytes; what is not UTF-8 is replaced, the same each time.
std::string line_of(const std::vector<std::string>& fields) {
  const std::string text = reports::json_line(Json(fields));
  return fmt::format("{} {}\n", checksum(text), text);
}

/// What follows the checksum; nullopt for a line that is torn or damaged. Without its end.
std::optional<std::string_view> undamaged_text(std::string_view line) {
  if (line.size() <= kChecksumDigits || line[kChecksumDigits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kChecksumDigits + 1);
  if (line.substr(0, kChecksumDigits) != checksum(text)) return std::nullopt;
  return text;
}

/// nullopt for a line that is torn or damaged. Without its end.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
  const std::optional<std::string_view> text = undamaged_text(line);
  if (!text) return std::nullopt;
  const Json json = reports::json_or_discarded(*text);
  if (!json.is_array()) return std::nullopt;
  std::vector<std::string> fields;
  for (const Json& field : json) {
    if (!field.is_string()) return std::nullopt;
    fields.push_back(field);
  }
  return fields;
}

/// A piece of work, and the digits of its record.
using Record = std::pair<std::string, std::string_view>;

/// Of the text of two fields, without reading it as JSON: nullopt where it has to be.
std::optional<Record> plain_record_of(std::string_view text) {
  constexpr std::string_view kBegin = "[\"";
  constexpr std::string_view kBetween = "\",\"";
  constexpr std::string_view kEnd = "\"]";
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd)) return std::nullopt;
  const std::size_t end = text.find(kBetween);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view piece = text.substr(kBegin.size(), end - kBegin.size());
  const std::size_t digits = end + kBetween.size();
  if (piece.find('\\') != std::string_view::npos || digits + kEnd.size() > text.size()) {
    return std::nullopt;
  }
  return Record(piece, text.substr(digits, text.size() - kEnd.size() - digits));
}

/// nullopt for a line that is torn or damaged.
std::optional<Record> record_of(std::string_view line) {
  const std::optional<std::string_view> text = undamaged_text(line);
  if (!text) return std::nullopt;
  if (std::optional<Record> plain = plain_record_of(*text)) return plain;
  const std::optional<std::vector<std::string>> fields = fields_of(line);
  if (!fields || fields->size() != 2) return std::nullopt;
  // Digits are no more in JSON than they are.
  constexpr std::size_t kAfterTheDigits = 2;
  const std::size_t count = fields->back().size();
  if (count + kAfterTheDigits > text->size()) return std::nullopt;
  return Record(fields->front(), text->substr(text->size() - kAfterTheDigits - count, count));
}

std::string in_hex(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    digits += kHexDigits[value >> 4U];
    digits += kHexDigits[value & 15U];
  }
  return digits;
}

/// Pre-condition: in_hex() wrote it.
std::string from_hex(std::string_view digits) {
  static constexpr std::array<unsigned char, 256> kValues = [] {
    std::array<unsigned char, 256> values = {};
    for (std::size_t i = 0; i < kHexDigits.size(); ++i) {
      values.at(static_cast<unsigned char>(kHexDigits[i])) = static_cast<unsigned char>(i);
    }
    return values;
  }();
  const auto value_of = [](char digit) { return kValues[static_cast<unsigned char>(digit)]; };
  std::string bytes(digits.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(value_of(digits[2 * i]) << 4U | value_of(digits[2 * i + 1]));
  }
  return bytes;
}

/// Without their ends; what follows the last end is torn, and not among them.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::invalid_argument(fmt::format("{}: {}", path, why));
}

/// Of a file that begins otherwise: in what.
[[noreturn]] void refuse_other_work(const std::string& path, std::string_view content,
                                    const CheckpointedWork& work) {
  constexpr const char* kRemedy = "give another path, or remove the file to start again";
  std::map<std::string, std::string> files(work.files.begin(), work.files.end());
  const std::vector<std::string_view> lines = lines_of(content);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto fields = fields_of(lines[i]);
    if (!fields || fields->size() != 3) break;
    const auto& [kind, name, value] = std::tie((*fields)[0], (*fields)[1], (*fields)[2]);
    if (kind == "program" && value != work.program) {
      refuse(path,
             fmt::format("ohm {} wrote it, and this is {}: {}", value, work.program, kRemedy));
    }
    if (kind == "setting") {
      const auto own = work.settings.find(name);
      const std::string expected = own == work.settings.end() ? "not there" : own->second;
      if (expected == value) continue;
      refuse(path, fmt::format("of other work: its {} is \"{}\", not \"{}\": {}", name, value,
                               expected, kRemedy));
    }
    const auto own = files.find(name);
    if (kind == "file" && own == files.end()) {
      refuse(path, fmt::format("of other work, with {}: {}", name, kRemedy));
    }
    if (kind == "file" && own->second != value) {
      refuse(path, fmt::format("{} was edited since it was written: {}", name, kRemedy));
    }
  }
  refuse(path, fmt::format("of other work, or damaged in its first lines: {}", kRemedy));
}

}  // namespace

std::string checkpoint_beginning(const CheckpointedWork& work) {
  std::string text = fmt::format("{}\n", kFormat);
  text += line_of({"program", "ohm", work.program});
  for (const auto& [name, value] : work.settings) text += line_of({"setting", name, value});
  for (const auto& [file, hash] : work.files) text += line_of({"file", file, hash});
  return text + line_of({"records"});
}

Checkpoint::Checkpoint(std::string path, const CheckpointedWork& work, CheckpointUse use)
    : path_(std::move(path)) {
  void* const shared =
      ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  system_error_ = static_cast<int*>(shared);
  try {
    open(use);
    if (use == CheckpointUse::keeps) lock();
    read(work, use);
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::munmap(shared, sizeof(int));
    throw;
  }
}

Checkpoint::~Checkpoint() {
  sync();
  ::close(descriptor_);
  ::munmap(system_error_, sizeof(int));
}

void Checkpoint::open(CheckpointUse use) {
  constexpr mode_t kPermissions = 0666;
  const bool keeps = use == CheckpointUse::keeps;
  const int flags = keeps ? O_RDWR | O_CREAT | O_APPEND : O_RDONLY;
  descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, kPermissions);
  if (descriptor_ >= 0) return;
  refuse(path_, fmt::format("cannot be {}: {}", keeps ? "written" : "read", std::strerror(errno)));
}

/// A program that was killed holds it until its last child is gone, which is a matter of moments.
/// Some file systems have no locks: there it is the user's to start one of them.
void Checkpoint::lock() const {
  constexpr int kTries = 100;
  constexpr int kWaitMilliseconds = 50;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::poll(nullptr, 0, kWaitMilliseconds);
  }
  refuse(path_, "another ohm is using it");
}

void Checkpoint::read(const CheckpointedWork& work, CheckpointUse use) {
  const bool keeps = use == CheckpointUse::keeps;
  const std::string beginning = checkpoint_beginning(work);
  try {
    content_.emplace(descriptor_);
  } catch (const std::system_error& error) {
    refuse(path_, fmt::format("cannot be read: {}", error.code().message()));
  }
  const std::string_view content = content_->text();
  // Killed before the beginning was whole.
  if (keeps && content.size() < beginning.size() && beginning.starts_with(content)) {
    cut_at(0);
    if (!append(beginning)) refuse(path_, lack());
    return sync();
  }
  if (!content.starts_with(fmt::format("{}\n", kFormat))) {
    refuse(path_, "not a progress file of ohm: give another path");
  }
  if (!content.starts_with(beginning)) refuse_other_work(path_, content, work);
  const std::string_view records = content.substr(beginning.size());
  for (const std::string_view line : lines_of(records)) read_record(line);
  const std::size_t end = content.rfind('\n') + 1;
  if (keeps && end != content.size()) cut_at(end);
}

void Checkpoint::read_record(std::string_view line) {
  const std::optional<Record> record = record_of(line);
  if (!record) {
    ++damaged_lines_;
    return;
  }
  records_[record->first] = record->second;
}

void Checkpoint::cut_at(std::size_t bytes) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0) return;
  refuse(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
}

std::optional<std::string> Checkpoint::find(const std::string& piece) const {
  const auto found = records_.find(piece);
  return found == records_.end() ? std::nullopt : std::optional(from_hex(found->second));
}

void Checkpoint::add(const std::string& piece, std::string_view record) {
  constexpr double kSecondsBetweenSyncs = 1;
  if (*system_error_ != 0 || !append(line_of({piece, in_hex(record)}))) return;
  if (since_sync_.seconds() >= kSecondsBetweenSyncs) sync();
}

/// In one call, so that lines of several processes do not mix.
bool Checkpoint::append(std::string_view text) {
  const ssize_t written = ::write(descriptor_, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return true;
  // A part of it was written: the disk has just become full.
  *system_error_ = written < 0 ? errno : ENOSPC;
  return false;
}

void Checkpoint::sync() {
  since_sync_ = Stopwatch();
  const bool is_done = ::fdatasync(descriptor_) == 0 || errno == EINVAL || errno == EROFS;
  if (!is_done && *system_error_ == 0) *system_error_ = errno;
}

std::string Checkpoint::lack() const {
  if (*system_error_ == 0) return {};
  return fmt::format("cannot write {}: {}", path_, std::strerror(*system_error_));
}

}  // namespace ohm::engine
