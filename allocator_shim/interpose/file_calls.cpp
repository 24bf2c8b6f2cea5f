// Calls that ask whether a file is there, for programs that look for the driver's files before they
// use CUDA, as JAX does. Only files that are not there are looked at, and nothing can be opened.
//
// It is a part of the library that is preloaded, which comes before the C library; that one takes
// no other library along, so nothing of C++'s is used here.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "allocator_shim/interpose/exported.h"

extern "C" int ohm_minor_of_device_file(const char* path);

namespace {

constexpr unsigned kMajor = 195;  // of NVIDIA's driver
constexpr mode_t kMode = S_IFCHR | 0666;

/// Whether the call has failed because there is no such file, where there is to be one.
bool is_device(int result, const char* path, int& minor) {
  constexpr char kPrefix[] = "/dev/nvidia";
  const bool may_be = result != 0 && errno == ENOENT && path != nullptr &&
                      std::strncmp(path, kPrefix, sizeof(kPrefix) - 1) == 0;
  if (!may_be) return false;
  minor = ohm_minor_of_device_file(path);
  errno = ENOENT;
  return minor >= 0;
}

template <typename Status>
int with_device(int result, const char* path, Status* status) {
  int minor = 0;
  if (!is_device(result, path, minor)) return result;
  *status = {};
  status->st_mode = kMode;
  status->st_nlink = 1;
  status->st_rdev = makedev(kMajor, static_cast<unsigned>(minor));
  return 0;
}

/// The C library's function.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

OHM_EXPORTED int stat(const char* path, struct stat* status) noexcept {
  auto* const real = next<int(const char*, struct stat*)>("stat");
  return with_device(real(path, status), path, status);
}

OHM_EXPORTED int stat64(const char* path, struct stat64* status) noexcept {
  auto* const real = next<int(const char*, struct stat64*)>("stat64");
  return with_device(real(path, status), path, status);
}

// What programs call that were linked with a glibc before 2.33.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
OHM_EXPORTED int __xstat(int version, const char* path, struct stat* status) noexcept {
  auto* const real = next<int(int, const char*, struct stat*)>("__xstat");
  return with_device(real(version, path, status), path, status);
}

OHM_EXPORTED int __xstat64(int version, const char* path, struct stat64* status) noexcept {
  auto* const real = next<int(int, const char*, struct stat64*)>("__xstat64");
  return with_device(real(version, path, status), path, status);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

OHM_EXPORTED int access(const char* path, int mode) noexcept {
  auto* const real = next<int(const char*, int)>("access");
  const int result = real(path, mode);
  int minor = 0;
  return is_device(result, path, minor) && (mode & X_OK) == 0 ? 0 : result;
}
