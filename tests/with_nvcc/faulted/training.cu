// A loop of steps on a GPU, with a checkpoint after each, by the way that the command line names:
// how it treats an error is right, or has a bug that `ohm sweep --faults device` finds.
//
//   training WAY
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSteps = 4;
constexpr int kCount = 64;
constexpr const char* kCheckpoint = "checkpoint.txt";

std::string way;
bool is(const char* name) { return way == name; }

__global__ void touch(float* data) { data[threadIdx.x] += 1; }

[[noreturn]] void give_up(const char* what, cudaError_t status) {
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

void check(const char* what, cudaError_t status) {
  if (status != cudaSuccess) give_up(what, status);
}

struct State {
  int step = 0;
  float sum = 0;
};

void save(const State& state) {
  std::FILE* const file = std::fopen("checkpoint.part", "w");
  std::fprintf(file, "%d %f\n", state.step, state.sum);
  std::fclose(file);
  std::rename("checkpoint.part", kCheckpoint);
}

State loaded() {
  State state;
  std::FILE* const file = std::fopen(kCheckpoint, "r");
  if (file == nullptr) return state;
  if (std::fscanf(file, "%d %f", &state.step, &state.sum) != 2) {
    std::fprintf(stderr, "error: %s is damaged\n", kCheckpoint);
    std::exit(2);
  }
  std::fclose(file);
  std::printf("resumed at step %d\n", state.step);
  return state;
}

struct Buffers {
  float* device = nullptr;
  float* host = nullptr;
};

Buffers allocated() {
  Buffers buffers;
  cudaError_t status = cudaMalloc(&buffers.device, kCount * sizeof(float));
  if (status == cudaErrorMemoryAllocation && is("retries_memory")) {
    cudaGetLastError();
    status = cudaMalloc(&buffers.device, kCount * sizeof(float));
  }
  if (!is("swallows")) check("cudaMalloc", status);
  status = cudaHostAlloc(&buffers.host, kCount * sizeof(float), cudaHostAllocDefault);
  // What is not checked is null.
  if (!is("crashes")) check("cudaHostAlloc", status);
  return buffers;
}

/// The copies are the work: kernels compute nothing on a virtual GPU.
cudaError_t computed(const Buffers& buffers, int step, float* sum) {
  for (int i = 0; i < kCount; ++i) buffers.host[i] = static_cast<float>(step + 1);
  const std::size_t bytes = kCount * sizeof(float);
  cudaError_t status = cudaMemcpy(buffers.device, buffers.host, bytes, cudaMemcpyHostToDevice);
  if (status != cudaSuccess) return status;
  for (int i = 0; i < 3; ++i) touch<<<1, kCount>>>(buffers.device + i * 0);
  status = cudaDeviceSynchronize();
  if (status != cudaSuccess) return status;
  std::memset(buffers.host, 0, bytes);
  status = cudaMemcpy(buffers.host, buffers.device, bytes, cudaMemcpyDeviceToHost);
  if (status != cudaSuccess) return status;
  for (int i = 0; i < kCount; ++i) *sum += buffers.host[i];
  return cudaSuccess;
}

void wait_for(cudaEvent_t event) {
  for (;;) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaSuccess) return;
    // An error that stays is not "not ready".
    if (status != cudaErrorNotReady && !is("hangs")) give_up("cudaEventQuery", status);
    usleep(1000);
  }
}

void run_polled(const Buffers& buffers) {
  cudaEvent_t event = nullptr;
  check("cudaEventCreate", cudaEventCreate(&event));
  for (int i = 0; i < kSteps; ++i) {
    touch<<<1, kCount>>>(buffers.device);
    const cudaError_t recorded = cudaEventRecord(event);
    if (!is("hangs")) check("cudaEventRecord", recorded);
    wait_for(event);
  }
  std::printf("polled %d events\n", kSteps);
}

/// Each call goes on whatever the one before it has returned; the error is still there at the end.
void run_unchecked(const Buffers& buffers) {
  const std::size_t bytes = kCount * sizeof(float);
  for (int i = 0; i < kSteps; ++i) {
    cudaMemcpy(buffers.device, buffers.host, bytes, cudaMemcpyHostToDevice);
    touch<<<1, kCount>>>(buffers.device);
    cudaDeviceSynchronize();
  }
  for (int i = 0; i < kSteps; ++i) {
    cudaMemcpyAsync(buffers.host, buffers.device, bytes, cudaMemcpyDeviceToHost);
  }
  check("the steps", cudaDeviceSynchronize());
  std::printf("%d steps\n", kSteps);
}

/// Two threads with memory of their own; the first error of either ends the program.
void run_threads() {
  std::vector<cudaError_t> ends(2, cudaSuccess);
  std::vector<std::thread> threads;
  for (cudaError_t& end : ends) {
    threads.emplace_back([&end] {
      float* data = nullptr;
      end = cudaMalloc(&data, kCount * sizeof(float));
      for (int i = 0; i < kSteps && end == cudaSuccess; ++i) {
        touch<<<1, kCount>>>(data);
        end = cudaDeviceSynchronize();
      }
      cudaFree(data);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const cudaError_t end : ends) check("a thread", end);
  std::printf("%d threads\n", static_cast<int>(threads.size()));
}

/// Of a step that failed.
void handle(const Buffers& buffers, State& state, cudaError_t status) {
  if (is("logs_only")) {
    std::fprintf(stderr, "warning: step %d: %s\n", state.step, cudaGetErrorString(status));
    return;
  }
  if (is("retries_sticky")) {
    for (int attempt = 0; attempt < 2 && status != cudaSuccess; ++attempt) {
      status = computed(buffers, state.step, &state.sum);
    }
    if (status == cudaSuccess) return;
  }
  if (is("saves_failed_step")) save({state.step + 1, state.sum});
  if (is("breaks_checkpoint")) {
    std::FILE* const file = std::fopen(kCheckpoint, "w");
    std::fprintf(file, "failed\n");
    std::fclose(file);
  }
  if (is("falls_back")) {
    std::fprintf(stderr, "warning: the GPU failed; going on without it\n");
    for (; state.step < kSteps; ++state.step) {
      state.sum += static_cast<float>(kCount * (state.step + 1));
      std::printf("step %d: %f\n", state.step, state.sum);
    }
    std::printf("sum %f\n", state.sum);
    std::exit(0);
  }
  give_up("step", status);
}

void run_steps(const Buffers& buffers) {
  State state = is("starts_anew") ? State() : loaded();
  const int first = state.step;
  while (state.step < kSteps) {
    float sum = state.sum;
    const cudaError_t status = computed(buffers, state.step, &sum);
    if (status == cudaSuccess || is("uses_stale_sum")) {
      state.sum = sum;
    } else if (is("swallows")) {
      // Nothing.
    } else {
      handle(buffers, state, status);
    }
    if (!is("swallows")) std::printf("step %d: %f\n", state.step, state.sum);
    ++state.step;
    if (!is("starts_anew")) save(state);
  }
  if (is("counts_its_steps")) std::printf("%d steps in this run\n", kSteps - first);
  if (is("swallows")) {
    std::printf("done\n");
  } else {
    std::printf("sum %f\n", state.sum);
  }
}

int run() {
  const Buffers buffers = allocated();
  if (is("polls") || is("hangs")) {
    run_polled(buffers);
  } else if (is("checks_at_the_end")) {
    run_unchecked(buffers);
  } else if (is("has_threads")) {
    run_threads();
  } else {
    run_steps(buffers);
  }
  cudaFreeHost(buffers.host);
  cudaFree(buffers.device);
  return 0;
}

/// Each attempt is a process, which has a context of its own.
int supervised() {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const pid_t worker = fork();
    if (worker == 0) std::exit(run());
    int status = 0;
    waitpid(worker, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    std::fprintf(stderr, "worker %d failed\n", attempt);
    if (is("ignores_worker")) return 0;
  }
  return 1;
}

}  // namespace

int main(int count, char** words) {
  way = count > 1 ? words[1] : "";
  return is("supervised") || is("ignores_worker") ? supervised() : run();
}
