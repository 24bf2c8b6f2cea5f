#include "allocator_shim/device/gpu_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm {

struct GpuTable::Row {
  pid_t process = 0;  ///< 0: nobody's
  std::uint64_t started = 0;
  std::array<std::size_t, kMaxGpuCount> bytes = {};  ///< of each GPU
};

/// The whole file. Rows that nobody has taken yet are holes in it.
struct GpuTable::Table {
  static constexpr std::size_t kMostProcesses = 4096;
  static constexpr std::uint64_t kFormat = 0x6f686d0000000001;

  std::uint64_t format = 0;
  pthread_mutex_t lock = {};
  std::size_t rows_used = 0;  ///< those behind were never taken
  std::array<Row, kMostProcesses> rows;

  Row* begin() { return rows.data(); }
  Row* end() { return rows.data() + rows_used; }
};

class GpuTable::Lock {
 public:
  /// Who died with it may have left a row half done, which is dropped with the process.
  explicit Lock(Table& table) : lock_(table.lock) {
    if (pthread_mutex_lock(&lock_) == EOWNERDEAD) pthread_mutex_consistent(&lock_);
  }
  ~Lock() { pthread_mutex_unlock(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& lock_;
};

namespace {

/// A file that is open as long as this.
class OpenFile {
 public:
  OpenFile(const char* path, int flags, mode_t mode = 0)
      : descriptor_(::open(path, flags | O_CLOEXEC, mode)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void refuse(const std::string& path) {
  throw std::invalid_argument(
      fmt::format("cannot share GPUs through {}: {}", path, std::strerror(errno)));
}

/// nullptr, with errno.
void* mapped(int descriptor, std::size_t bytes) {
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return place == MAP_FAILED ? nullptr : place;
}

void make_lock(pthread_mutex_t& lock) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

struct ProcessState {
  bool has_ended = false;
  std::uint64_t started = 0;  ///< since the machine was
};

/// As proc(5) has it; nullopt: it does not tell.
std::optional<ProcessState> state_of(pid_t process) {
  const OpenFile file(fmt::format("/proc/{}/stat", process).c_str(), O_RDONLY);
  std::array<char, 1024> text = {};
  if (read(file.descriptor(), text.data(), text.size() - 1) <= 0) return std::nullopt;
  // The name of the program stands in brackets, and may have some itself.
  const char* const name_end = std::strrchr(text.data(), ')');
  char state = 0;
  long threads = 0;
  unsigned long long started = 0;
  if (name_end == nullptr ||
      std::sscanf(name_end + 1,
                  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d "
                  "%llu",
                  &state, &threads, &started) != 3) {
    return std::nullopt;
  }
  // One that is not waited for yet has ended, unless only its first thread has.
  const bool is_zombie = state == 'Z' && threads <= 1;
  return ProcessState{is_zombie || state == 'X', started};
}

bool is_there(pid_t process, std::uint64_t started) {
  const std::optional<ProcessState> state = state_of(process);
  if (!state) return kill(process, 0) == 0 || errno != ESRCH;
  return !state->has_ended && (started == 0 || state->started == started);
}

}  // namespace

void GpuTable::create(const std::string& path) {
  // A command may change its user, and share on.
  constexpr mode_t kEverybody = 0666;
  constexpr mode_t kOwner = 0600;
  const mode_t mode = geteuid() == 0 ? kEverybody : kOwner;
  const OpenFile file(path.c_str(), O_RDWR | O_CREAT | O_EXCL, mode);
  const bool is_made = file.descriptor() >= 0 && fchmod(file.descriptor(), mode) == 0 &&
                       ftruncate(file.descriptor(), sizeof(Table)) == 0;
  auto* const table =
      is_made ? static_cast<Table*>(mapped(file.descriptor(), sizeof(Table))) : nullptr;
  if (table == nullptr) refuse(path);
  make_lock(table->lock);
  table->format = Table::kFormat;
  munmap(table, sizeof(Table));
}

GpuTable::GpuTable(const std::string& path) {
  const OpenFile file(path.c_str(), O_RDWR);
  struct stat status = {};
  if (file.descriptor() < 0 || fstat(file.descriptor(), &status) != 0) refuse(path);
  const bool is_table = static_cast<std::size_t>(status.st_size) == sizeof(Table);
  table_ = is_table ? static_cast<Table*>(mapped(file.descriptor(), sizeof(Table))) : nullptr;
  if (is_table && table_ == nullptr) refuse(path);
  if (is_table && table_->format == Table::kFormat) return;
  if (is_table) munmap(table_, sizeof(Table));
  throw std::invalid_argument(
      fmt::format("{} is not a table of shared GPUs of this version of ohm", path));
}

GpuTable::~GpuTable() { munmap(table_, sizeof(Table)); }

/// nullptr: there is no free one. The lock is held.
GpuTable::Row* GpuTable::own_row() {
  const pid_t process = getpid();
  const auto of = [&](pid_t owner) {
    return std::find_if(table_->begin(), table_->end(),
                        [&](const Row& row) { return row.process == owner; });
  };
  if (process_ != process) {
    const std::optional<ProcessState> state = state_of(process);
    started_ = state ? state->started : 0;
    process_ = process;
  }
  Row* row = of(process);
  if (row != table_->end() && row->started == started_) return row;
  if (row == table_->end()) row = of(0);
  if (row == table_->end()) {
    if (table_->rows_used == Table::kMostProcesses) drop_dead();
    row = of(0);
  }
  if (row == table_->end()) {
    if (table_->rows_used == Table::kMostProcesses) return nullptr;
    ++table_->rows_used;
  }
  *row = {process, started_, {}};
  return row;
}

void GpuTable::drop_dead() {
  for (Row& row : *table_) {
    if (row.process != 0 && !is_there(row.process, row.started)) row = {};
  }
}

std::size_t GpuTable::used_bytes(std::size_t device) const {
  return std::accumulate(
      table_->begin(), table_->end(), std::size_t{0},
      [&](std::size_t sum, const Row& row) { return sum + row.bytes.at(device); });
}

void GpuTable::forget_this_process() {
  const Lock lock(*table_);
  for (Row& row : *table_) {
    if (row.process == getpid()) row = {};
  }
}

bool GpuTable::take(int device, std::size_t capacity_bytes, std::size_t bytes) {
  const auto index = static_cast<std::size_t>(device);
  const auto fits = [&] {
    const std::size_t used = used_bytes(index);
    return used <= capacity_bytes && bytes <= capacity_bytes - used;
  };
  const Lock lock(*table_);
  Row* const own = own_row();
  if (own == nullptr) return false;
  if (!fits()) drop_dead();
  if (!fits()) return false;
  own->bytes.at(index) += bytes;
  return true;
}

void GpuTable::give_back(int device, std::size_t bytes) {
  const Lock lock(*table_);
  Row* const own = own_row();
  if (own == nullptr) return;
  std::size_t& held = own->bytes.at(static_cast<std::size_t>(device));
  held -= std::min(held, bytes);
}

std::vector<SharedGpuMemory::Process> GpuTable::processes(int device) {
  const Lock lock(*table_);
  drop_dead();
  std::vector<SharedGpuMemory::Process> found;
  for (const Row& row : *table_) {
    const std::size_t bytes = row.bytes.at(static_cast<std::size_t>(device));
    if (bytes == 0) continue;
    const auto id = static_cast<std::uint32_t>(row.process);
    found.push_back({id, bytes, id});
  }
  return found;
}

std::size_t TabledGpuMemory::used_bytes() const {
  const std::vector<Process> all = processes();
  return std::accumulate(all.begin(), all.end(), std::size_t{0},
                         [](std::size_t sum, const Process& one) { return sum + one.bytes; });
}

}  // namespace ohm
