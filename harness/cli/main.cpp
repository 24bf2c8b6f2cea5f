#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "harness/cli/application.h"
#include "harness/lua/scenario_loader.h"

namespace {

// Files that are opened later must not take the places of the standard ones.
void open_missing_standard_files() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor >= 0) close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_standard_files();
  // Kernels take the same large scratch again and again: giving it back to the system each time
  // would cost more than the arithmetic.
  constexpr int kNever = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kNever);
  mallopt(M_TRIM_THRESHOLD, kNever);
  return ohm::cli::run_application(argc, argv, {ohm::lua::load_scenario});
}
