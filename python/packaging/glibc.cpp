// Replaces the functions that glibc added or changed after version 2.28 by those of 2.28, so that a
// build of OHM_PORTABLE runs with any newer glibc. Each is hidden in the file that it is linked
// into, and left out where nothing calls it. Covers what a build with Debian 12 (2.36) needs;
// `auditwheel` shows what is missing with another one.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#ifdef __aarch64__
#define OHM_FIRST_VERSION "GLIBC_2.17"
#define OHM_AFFINITY_VERSION "GLIBC_2.17"
#define OHM_DLADDR1_VERSION "GLIBC_2.17"
#define OHM_ROBUST_VERSION "GLIBC_2.17"
#else
#define OHM_FIRST_VERSION "GLIBC_2.2.5"
#define OHM_AFFINITY_VERSION "GLIBC_2.3.4"
#define OHM_DLADDR1_VERSION "GLIBC_2.3.3"
#define OHM_ROBUST_VERSION "GLIBC_2.12"
#endif

// Defines NAME as a call of its first version in glibc.
#define OHM_OLD_VERSION(version, result, name, parameters, arguments) \
  __asm__(".symver old_" #name "," #name "@" version);                \
  result old_##name parameters;                                       \
  result name parameters { return old_##name arguments; }
#define OHM_OLD(result, name, parameters, arguments) \
  OHM_OLD_VERSION(OHM_FIRST_VERSION, result, name, parameters, arguments)

// NOLINTBEGIN(readability-identifier-naming): glibc's names
// The headers say which never throw and which arguments are not null.
#pragma GCC diagnostic ignored "-Wnonnull-compare"
#pragma GCC diagnostic ignored "-Wredundant-decls"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

extern "C" {

// ---- mathematics -------------------------------------------------------------------------------
OHM_OLD(double, exp, (double x), (x))
OHM_OLD(double, exp2, (double x), (x))
OHM_OLD(double, log, (double x), (x))
OHM_OLD(double, log2, (double x), (x))
OHM_OLD(double, pow, (double x, double y), (x, y))
OHM_OLD(double, hypot, (double x, double y), (x, y))
OHM_OLD(float, hypotf, (float x, float y), (x, y))

// ---- the loader and threads: libraries of their own before 2.34 --------------------------------
OHM_OLD(void*, dlopen, (const char* path, int mode), (path, mode))
OHM_OLD(void*, dlsym, (void* library, const char* name), (library, name))
OHM_OLD(int, dlclose, (void* library), (library))
OHM_OLD(char*, dlerror, (), ())
OHM_OLD(int, dladdr, (const void* address, Dl_info* info), (address, info))
OHM_OLD_VERSION(OHM_DLADDR1_VERSION, int, dladdr1,
                (const void* address, Dl_info* info, void** extra, int flags),
                (address, info, extra, flags))
OHM_OLD(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*),
         void* argument),
        (thread, attributes, body, argument))
OHM_OLD(int, pthread_join, (pthread_t thread, void** result), (thread, result))
OHM_OLD(int, pthread_detach, (pthread_t thread), (thread))
OHM_OLD(int, pthread_once, (pthread_once_t * once, void (*body)()), (once, body))
OHM_OLD(int, pthread_key_create, (pthread_key_t * key, void (*end)(void*)), (key, end))
OHM_OLD(int, pthread_key_delete, (pthread_key_t key), (key))
OHM_OLD(void*, pthread_getspecific, (pthread_key_t key), (key))
OHM_OLD(int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))
OHM_OLD(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
OHM_OLD(int, pthread_mutexattr_init, (pthread_mutexattr_t * attributes), (attributes))
OHM_OLD(int, pthread_mutexattr_destroy, (pthread_mutexattr_t * attributes), (attributes))
OHM_OLD(int, pthread_mutexattr_setpshared, (pthread_mutexattr_t * attributes, int is_shared),
        (attributes, is_shared))
OHM_OLD_VERSION(OHM_ROBUST_VERSION, int, pthread_mutexattr_setrobust,
                (pthread_mutexattr_t * attributes, int is_robust), (attributes, is_robust))
OHM_OLD_VERSION(OHM_ROBUST_VERSION, int, pthread_mutex_consistent, (pthread_mutex_t * mutex),
                (mutex))
OHM_OLD(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
OHM_OLD(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
OHM_OLD(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
OHM_OLD_VERSION(OHM_AFFINITY_VERSION, int, pthread_getaffinity_np,
                (pthread_t thread, std::size_t bytes, cpu_set_t* set), (thread, bytes, set))
OHM_OLD_VERSION(OHM_AFFINITY_VERSION, int, pthread_setaffinity_np,
                (pthread_t thread, std::size_t bytes, const cpu_set_t* set), (thread, bytes, set))

// libgcc asks with this name whether threads are linked.
int __pthread_key_create(pthread_key_t* key, void (*end)(void*)) {
  return old_pthread_key_create(key, end);
}

// 0: libstdc++ always counts references with atomic instructions.
char __libc_single_threaded = 0;

// ---- files -------------------------------------------------------------------------------------
int fstatat(int folder, const char* path, struct stat* status, int flags) {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, status, flags));
}
int stat(const char* path, struct stat* status) { return fstatat(AT_FDCWD, path, status, 0); }
int lstat(const char* path, struct stat* status) {
  return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* status) {
  return static_cast<int>(syscall(SYS_fstat, file, status));
}
// Both structures are one where addresses have 64 bits.
static_assert(sizeof(struct stat) == sizeof(struct stat64));
int stat64(const char* path, struct stat64* status) {
  return stat(path, reinterpret_cast<struct stat*>(status));
}
int lstat64(const char* path, struct stat64* status) {
  return lstat(path, reinterpret_cast<struct stat*>(status));
}
int fstat64(int file, struct stat64* status) {
  return fstat(file, reinterpret_cast<struct stat*>(status));
}

#ifndef OHM_DEFINES_CLOSE_RANGE  // a library that has one of its own
// Kernels before 5.9 do not have it, those before 5.11 not with flags.
int close_range(unsigned first, unsigned last, int flags) noexcept {
  constexpr unsigned kCloseOnExec = 1U << 2U;
  if (syscall(SYS_close_range, first, last, flags) == 0) return 0;
  if (errno != ENOSYS && errno != EINVAL) return -1;
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  for (std::uint64_t file = first; file <= last && file < limit.rlim_cur; ++file) {
    const int descriptor = static_cast<int>(file);
    if ((static_cast<unsigned>(flags) & kCloseOnExec) == 0) {
      close(descriptor);
    } else if (const int before = fcntl(descriptor, F_GETFD); before >= 0) {
      fcntl(descriptor, F_SETFD, before | FD_CLOEXEC);
    }
  }
  return 0;
}
#endif

// ---- the rest ----------------------------------------------------------------------------------
pid_t gettid() { return static_cast<pid_t>(syscall(SYS_gettid)); }
int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return sigprocmask(how, set, before) == 0 ? 0 : errno;
}

std::uint32_t arc4random() {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

const char* sigabbrev_np(int signal) {
  static constexpr std::array<const char*, 32> kNames = {
      nullptr, "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
      "SEGV",  "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
      "TTOU",  "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};
  return signal > 0 && signal < 32 ? kNames[static_cast<std::size_t>(signal)] : nullptr;
}
const char* sigdescr_np(int signal) {
  return sigabbrev_np(signal) == nullptr ? nullptr : strsignal(signal);
}

}  // extern "C"

// ---- the unwinder ------------------------------------------------------------------------------
namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

int search_module(dl_phdr_info* module, std::size_t /*bytes*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::uintptr_t frames = 0;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const std::uintptr_t start = module->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = start;
    if (part.p_type != PT_LOAD) continue;
    if (start < begin) begin = start;
    if (start + part.p_memsz > end) end = start + part.p_memsz;
  }
  if (search.address < begin || search.address >= end) return 0;
  search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.found->dlfo_map_end = reinterpret_cast<void*>(end);
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(frames);
  for (link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (map->l_addr == module->dlpi_addr) search.found->dlfo_link_map = map;
  }
  return 1;
}

using FindObject = int (*)(void*, dl_find_object*);
// Looked up when the file is loaded: an exception may be thrown while the loader's lock is held.
FindObject next_find_object = nullptr;
__attribute__((constructor(101))) void look_for_next() {
  next_find_object = reinterpret_cast<FindObject>(old_dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

}  // namespace

extern "C" int _dl_find_object(void* address, dl_find_object* found) {
  if (next_find_object != nullptr) return next_find_object(address, found);
  *found = {};
  Search search{reinterpret_cast<std::uintptr_t>(address), found};
  return dl_iterate_phdr(search_module, &search) == 1 && found->dlfo_eh_frame != nullptr ? 0 : -1;
}
// NOLINTEND(readability-identifier-naming)
