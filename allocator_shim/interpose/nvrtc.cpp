// NVRTC: programs are accepted without being compiled; their images are eight zeros.
#include <algorithm>
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr std::size_t kImageBytes = 8;

constexpr std::array kCompiledFor = {50, 60, 61, 70, 75, 80, 86, 87, 89, 90, 100, 103, 120, 121};

int write_image(char* image) {
  std::fill_n(image, kImageBytes, '\0');
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int nvrtcVersion(int* major, int* minor) {
  const int version = toolkit_of_process().cuda;
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(kCompiledFor.size());
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetSupportedArchs(int* architectures) {
  std::copy(kCompiledFor.begin(), kCompiledFor.end(), architectures);
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcDestroyProgram(void** program) {
  destroy_object(*program);
  *program = nullptr;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetLoweredName(void* /*program*/, const char* expression, const char** name) {
  *name = expression;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetCUBINSize(void* /*program*/, std::size_t* bytes) {
  *bytes = kImageBytes;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetPTXSize(void* /*program*/, std::size_t* bytes) {
  *bytes = kImageBytes;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetCUBIN(void* /*program*/, char* image) { return write_image(image); }
OHM_EXPORTED int nvrtcGetPTX(void* /*program*/, char* image) { return write_image(image); }

OHM_EXPORTED int nvrtcGetProgramLogSize(void* /*program*/, std::size_t* bytes) {
  *bytes = 1;
  return kLibrarySuccess;
}

OHM_EXPORTED int nvrtcGetProgramLog(void* /*program*/, char* log) {
  *log = '\0';
  return kLibrarySuccess;
}
