// Starts the tests again with the library preloaded, as ohm exec starts a program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (std::getenv("LD_PRELOAD") == nullptr) {
    setenv("LD_PRELOAD", OHM_PRELOAD, 1);
    setenv("OHM_GPU", "tiny-64m,count=2", 0);
    // A sanitizer in this program comes after what is preloaded, and says so.
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 0);
    execv("/proc/self/exe", argv);
    std::perror("exec");
    return EXIT_FAILURE;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
