// exec: --gpu tiny-64m --shared-gpu
// Two processes on one card: the second runs out of memory until the first is killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "check.h"

namespace {

/// 60 % of the card, until it is killed.
int hold() {
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 38 * kMiB));
  CHECK(write(STDOUT_FILENO, "1", 1) == 1);
  for (;;) pause();
}

pid_t start_holder(const char* program) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t holder = fork();
  if (holder == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(program, program, "hold", nullptr);
    std::exit(1);
  }
  close(ends[1]);
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 1);
  return holder;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "hold") == 0) return hold();
  const pid_t holder = start_holder(argv[0]);
  CHECK(free_bytes() == 26 * kMiB);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 38 * kMiB) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(kill(holder, SIGKILL) == 0);
  CHECK(waitpid(holder, nullptr, 0) == holder);
  CHECK(free_bytes() == 64 * kMiB);
  OK(cudaMalloc(&memory, 38 * kMiB));
  OK(cudaFree(memory));
  return 0;
}
