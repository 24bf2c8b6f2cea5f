#include "reports/text/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ohm::reports {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

/// The file to replace: a link is followed, so that it stays a link.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string out = real;
  std::free(real);
  return out;
}

ReportFile* first_unfinished = nullptr;

mode_t permissions_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

}  // namespace

ReportFile::ReportFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) throw std::runtime_error("cannot write a report: its path is empty");
  struct stat status = {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path_, EISDIR);
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail(path_, errno);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, errno);
    return;
  }
  temporary_path_ = resolved(path_) + ".XXXXXX";
  descriptor_ = ::mkostemp(temporary_path_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, errno);
  ::fchmod(descriptor_, exists ? status.st_mode & 07777U : permissions_of_new_files());
  link();
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::exchange(other.temporary_path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  link();
}

ReportFile::~ReportFile() {
  unlink_from_list();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void ReportFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ReportFile::commit() {
  // Some file systems report a full disk only when the data has to leave.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
  if (temporary_path_.empty()) return;
  if (std::rename(temporary_path_.c_str(), resolved(path_).c_str()) != 0) fail(path_, errno);
  temporary_path_.clear();
}

void ReportFile::link() noexcept {
  process_ = ::getpid();
  next_ = std::exchange(first_unfinished, this);
}

void ReportFile::unlink_from_list() noexcept {
  for (ReportFile** place = &first_unfinished; *place != nullptr; place = &(*place)->next_) {
    if (*place != this) continue;
    *place = next_;
    return;
  }
}

void ReportFile::remove_unfinished() noexcept {
  for (const ReportFile* file = first_unfinished; file != nullptr; file = file->next_) {
    const bool is_there = !file->temporary_path_.empty() && file->process_ == ::getpid();
    if (is_there) ::unlink(file->temporary_path_.c_str());
  }
}

}  // namespace ohm::reports
