#include "reports/text/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/ending_signals.h"

namespace ohm::reports {

namespace {

std::string why(const std::string& path, int error) {
  return fmt::format("cannot write {}: {}", path, std::strerror(error));
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error(why(path, error));
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

/// Signals that ask to end wait as long as it lives: a file on the disk and the note of it change
/// together, or remove_unfinished() would miss one.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kEndingSignals) sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &previous_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &previous_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t previous_ = {};
};

mode_t permissions_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

}  // namespace

ReportFile::ReportFile(std::string path, UnreadPipe pipe) : path_(std::move(path)) {
  if (path_.empty()) throw std::runtime_error("cannot write a report: its path is empty");
  struct stat status = {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path_, EISDIR);
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail(path_, errno);
  if (exists && !S_ISREG(status.st_mode)) {
    open_direct(pipe);
    return;
  }
  is_new_ = !exists;
  const SignalsHeld held;
  target_path_ = resolved(path_);
  temporary_path_ = target_path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(temporary_path_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, errno);
  ::fchmod(descriptor_, exists ? status.st_mode & 07777U : permissions_of_new_files());
  link();
}

void ReportFile::open_direct(UnreadPipe pipe) {
  const int waiting = pipe == UnreadPipe::waits ? 0 : O_NONBLOCK;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | waiting);
  if (descriptor_ < 0 && waiting != 0 && errno == ENXIO) {
    throw std::runtime_error(fmt::format(
        "cannot write {}: no process reads this pipe; start the one that does first", path_));
  }
  if (descriptor_ < 0) fail(path_, errno);
  ::fcntl(descriptor_, F_SETFL, O_WRONLY);
  is_direct_ = true;
}

ReportFile::ReportFile(ReportFile&& other) noexcept {
  const SignalsHeld held;
  path_ = std::move(other.path_);
  target_path_ = std::move(other.target_path_);
  temporary_path_ = std::exchange(other.temporary_path_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  is_direct_ = other.is_direct_;
  state_ = other.state_;
  is_new_ = other.is_new_;
  link();
}

ReportFile::~ReportFile() {
  const SignalsHeld held;
  unlink_from_list();
  if (descriptor_ >= 0) ::close(descriptor_);
  remove_temporary();
}

void ReportFile::remove_temporary() noexcept {
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  temporary_path_.clear();
}

void ReportFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ReportFile::finish() {
  if (descriptor_ < 0) return;
  // Some file systems report a full disk only when the data has to leave.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
}

void ReportFile::commit() {
  finish();
  const SignalsHeld held;
  if (const int error = replace(/*keeps_old=*/false)) fail(path_, error);
}

void ReportFile::commit_all(std::span<ReportFile* const> files) {
  for (ReportFile* file : files) file->finish();
  const SignalsHeld held;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const int error = files[i]->replace(/*keeps_old=*/true);
    if (error == 0) continue;
    for (ReportFile* done : files.first(i)) done->put_back();
    std::string text = why(files[i]->path_, error);
    for (const ReportFile* done : files.first(i)) {
      const bool is_old = !done->is_direct_ && done->state_ == State::old_file;
      if (!is_old) text += fmt::format("; {} was written already", done->path_);
    }
    throw std::runtime_error(text);
  }
  for (ReportFile* file : files) file->remove_temporary();
}

/// The system's error, 0 for none.
int ReportFile::replace(bool keeps_old) noexcept {
  if (temporary_path_.empty()) return 0;
  const char* const temporary = temporary_path_.c_str();
  const char* const target = target_path_.c_str();
  // Not every file system can exchange two files; there the old one is gone.
  if (keeps_old && !is_new_ &&
      ::renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE) == 0) {
    state_ = State::exchanged;
    return 0;
  }
  if (std::rename(temporary, target) != 0) return errno;
  state_ = State::new_file;
  temporary_path_.clear();
  return 0;
}

void ReportFile::put_back() noexcept {
  const char* const target = target_path_.c_str();
  const bool is_done =
      state_ == State::exchanged
          ? ::renameat2(AT_FDCWD, temporary_path_.c_str(), AT_FDCWD, target, RENAME_EXCHANGE) == 0
          : is_new_ && ::unlink(target) == 0;
  if (is_done) state_ = State::old_file;
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
