// Macros that declare the functions which the stand-in exports. Names and arguments are NVIDIA's.
#pragma once

/// Seen by the programs that call it.
#define OHM_EXPORTED extern "C" __attribute__((visibility("default")))

/// Two versions of CUDA gave one name to different functions: this one is the name's in `soname`.
/// To be followed by the definition of `function`. OHM_DEFAULT_VERSION: who names no version, too.
#define OHM_VERSION(function, name, soname)            \
  __asm__(".symver " #function ", " #name "@" soname); \
  OHM_EXPORTED __attribute__((used))
#define OHM_DEFAULT_VERSION(function, name, soname)     \
  __asm__(".symver " #function ", " #name "@@" soname); \
  OHM_EXPORTED __attribute__((used))
