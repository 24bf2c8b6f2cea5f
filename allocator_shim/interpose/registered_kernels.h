// Kernels that a program registers with CUDA's runtime, and the fat binaries that they are in:
// nvcc's code registers both when a library is loaded, before any other call.
//
// Nothing is run. What is read of a fat binary is for which architectures it was compiled: programs
// ask for that of a kernel to choose how to launch it (cub's sorts and scans do).
#pragma once

#include <optional>

namespace ohm::interpose {

/// The handle of a fat binary, for what is registered of it. `wrapper` is what nvcc hands over.
void** register_image(const void* wrapper);

/// `function` stands for a kernel of `image`, from any thread. It is cheap: PyTorch has tens of
/// thousands.
void register_kernel(void** image, const void* function, const char* name);

/// Whether it stands for one.
bool is_registered(const void* function);

/// As the device calls it; nullptr: nobody registered it.
const char* name_of_kernel(const void* function);

/// Shared memory that a launch may ask for: kSharedBytes, unless a program allows more.
void allow_shared_bytes(const void* function, int bytes);
int allowed_shared_bytes(const void* function);

/// An architecture as 10 × major + minor.
struct KernelArchitectures {
  int ptx = 0;     ///< that it was compiled for
  int binary = 0;  ///< of the machine code that the card runs
};

/// What a card of this architecture runs of a kernel: machine code of its generation, the newest
/// that it can, or else PTX that the driver compiles. nullopt: the function is not known, or
/// nothing of its fat binary is for such a card.
std::optional<KernelArchitectures> architectures_of(const void* function, int card);

}  // namespace ohm::interpose
