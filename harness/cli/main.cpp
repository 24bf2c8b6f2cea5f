#include <malloc.h>

#include "harness/cli/application.h"
#include "harness/lua/scenario_loader.h"

int main(int argc, char** argv) {
  // Kernels take the same large scratch again and again: giving it back to the system each time
  // would cost more than the arithmetic.
  constexpr int kNever = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kNever);
  mallopt(M_TRIM_THRESHOLD, kNever);
  return ohm::cli::run_application(argc, argv, {ohm::lua::load_scenario});
}
