// The release of CUDA that a program was built with, and what goes with it: programs compare the
// versions that libraries tell with those that they were compiled for.
#pragma once

#include <optional>

namespace ohm::interpose {

struct ToolkitVersion {
  int cuda;      ///< 1000 * major + 10 * minor, as the runtime and the driver tell it
  int cublas;    ///< 10000 * major + 100 * minor
  int cudnn;     ///< the same
  int nccl;      ///< the same
  int cusparse;  ///< 1000 * major + 100 * minor
  int cusolver;  ///< 1000 * major + 100 * minor + patch
  int cufft;     ///< the same
  int cupti;     ///< CUPTI_API_VERSION
};

inline constexpr ToolkitVersion kToolkit12 = {12'090, 120'900, 92'600, 22'705,
                                              12'500, 11'705,  11'401, 28};
inline constexpr ToolkitVersion kToolkit13 = {13'020, 130'200, 92'600, 23'007,
                                              12'600, 12'100,  12'200, 130'202};

/// That of the kernels which the program registered first; CUDA 13 before there are any.
const ToolkitVersion& toolkit_of_process();
/// As libraries tell it: part 0 is the major version, 1 the minor one, 2 the patch, of 1000 * major
/// + 100 * minor + patch. Nothing: there is no such part.
std::optional<int> part_of_version(int version, int part);
void set_toolkit_of_process(const ToolkitVersion& toolkit);

}  // namespace ohm::interpose
