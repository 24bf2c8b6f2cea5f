#include "harness/exec/record_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "harness/process/current_folder.h"

namespace ohm::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "ohm-record-";

fs::path temporary_folder() {
  std::error_code none;  // mkdtemp() says it better
  const fs::path temporary = fs::temp_directory_path(none);
  return none ? fs::path("/tmp") : temporary;
}

/// -1: another program has it.
int locked(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  close(descriptor);
  return -1;
}

bool is_own(const std::string& folder) {
  struct stat status = {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid();
}

/// Those of programs that were killed.
void remove_abandoned(const fs::path& temporary) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(temporary, gone)) {
    const std::string path = entry.path();
    if (!entry.path().filename().string().starts_with(kPrefix) || !is_own(path)) continue;
    const int lock = locked(path);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(path, ignored);
    close(lock);
  }
}

/// It gets its name once it is locked: until then it is nobody's.
std::pair<std::string, int> new_folder(const fs::path& temporary) {
  std::string unnamed = temporary / ".ohm-new-XXXXXX";
  if (mkdtemp(unnamed.data()) == nullptr) {
    throw std::invalid_argument(
        fmt::format("cannot create a folder for records in {}: {}; set TMPDIR to another place",
                    temporary.string(), std::strerror(errno)));
  }
  const int lock = locked(unnamed);
  std::string path = temporary / (kPrefix + unnamed.substr(unnamed.size() - 6));
  if (rename(unnamed.c_str(), path.c_str()) != 0) path = unnamed;
  return {path, lock};
}

/// Who may become another user has to be able to write to it as that one; its name is not to be
/// found out.
void let_others_write(const std::string& path) {
  constexpr mode_t kWriteUnseen = 0733;
  if (geteuid() == 0) chmod(path.c_str(), kWriteUnseen);
}

[[noreturn]] void remove_when_it_ends(int pipe_end, const std::string& path) {
  setsid();
  // Pipes of this program, and its terminal, end with it.
  const auto kept = static_cast<unsigned>(pipe_end);
  if (kept > 0) close_range(0, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  char byte = 0;
  while (read(pipe_end, &byte, 1) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  fs::remove_all(path, ignored);
  _exit(0);
}

}  // namespace

RecordFolder::RecordFolder() {
  const fs::path temporary = temporary_folder();
  remove_abandoned(temporary);
  std::tie(path_, lock_) = new_folder(temporary);
  let_others_write(path_);
  guard();
}

RecordFolder::RecordFolder(std::string path) : path_(std::move(path)), is_kept_(true) {
  std::error_code error;
  const bool is_new = fs::create_directories(path_, error);
  const bool is_ready = !error && fs::is_empty(path_, error);
  if (error) throw std::invalid_argument(fmt::format("{}: {}", path_, error.message()));
  if (!is_ready) throw std::invalid_argument(fmt::format("{} is not an empty folder", path_));
  // The command may go to another folder.
  if (!fs::path(path_).is_absolute()) path_ = fs::path(current_folder()) / path_;
  if (is_new) let_others_write(path_);
}

RecordFolder::~RecordFolder() {
  std::error_code ignored;
  if (is_kept_) {
    constexpr mode_t kUsual = 0755;
    if (geteuid() == 0) chmod(path_.c_str(), kUsual);
  } else {
    fs::remove_all(path_, ignored);
  }
  for (const int descriptor : {lock_, guarded_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

/// By a process that is nobody's child and outlives this one, should it be killed.
void RecordFolder::guard() {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const pid_t between = fork();
  if (between == 0) {
    close(ends[1]);
    if (lock_ >= 0) close(lock_);
    if (fork() != 0) _exit(0);
    remove_when_it_ends(ends[0], path_);
  }
  close(ends[0]);
  guarded_ = ends[1];
  if (between > 0) waitpid(between, nullptr, 0);
}

}  // namespace ohm::engine
