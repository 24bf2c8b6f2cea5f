#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr const char* kBlas = "libcublas.so.12";
constexpr const char* kNvml = "libnvidia-ml.so.1";

TEST(VirtualCudaLibraries, CublasKeepsTheStateOfAHandle) {
  void* handle = nullptr;
  ASSERT_EQ(function<int(void**)>(kBlas, "cublasCreate_v2")(&handle), kSuccess);
  constexpr int kTensorFloat = 3;
  EXPECT_EQ((function<int(void*, int)>(kBlas, "cublasSetMathMode")(handle, kTensorFloat)),
            kSuccess);
  int mode = 0;
  EXPECT_EQ((function<int(void*, int*)>(kBlas, "cublasGetMathMode")(handle, &mode)), kSuccess);
  EXPECT_EQ(mode, kTensorFloat);
  EXPECT_EQ(function<int(void*)>(kBlas, "cublasDestroy_v2")(handle), kSuccess);
}

TEST(VirtualCudaLibraries, CublasLtFindsOneAlgorithmWithoutWorkspace) {
  struct Result {
    std::array<std::uint64_t, 8> algorithm;
    std::size_t workspace_bytes = 1;
    int status = 1;
    float waves = 0;
    std::array<int, 4> reserved;
  };
  std::array<Result, 2> results;
  int count = 0;
  auto* const find =
      function<int(void*, void*, void*, void*, void*, void*, void*, int, Result*, int*)>(
          "libcublasLt.so.13", "cublasLtMatmulAlgoGetHeuristic");
  int descriptor = 0;  // any, of memory of the program's
  const auto find_for = [&](void* product, int wanted) {
    return find(nullptr, product, &descriptor, &descriptor, &descriptor, &descriptor, nullptr,
                wanted, results.data(), &count);
  };
  constexpr int kInvalidValue = 7;
  EXPECT_EQ(find_for(nullptr, 2), kInvalidValue);
  EXPECT_EQ(find_for(&descriptor, 0), kInvalidValue);
  EXPECT_EQ(find_for(&descriptor, 2), kSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(results[0].status, kSuccess);
  EXPECT_EQ(results[0].workspace_bytes, 0U);
  EXPECT_EQ(results[1].workspace_bytes, 1U) << "one result is all that was found";
}

TEST(VirtualCudaLibraries, CusolverAsksForNoWorkspace) {
  constexpr const char* kSolver = "libcusolver.so.11";
  constexpr int kNoHandle = 1;
  auto* const ask =
      function<int(void*, int, int, float*, int, int*)>(kSolver, "cusolverDnSgetrf_bufferSize");
  int elements = -1;
  EXPECT_EQ(ask(nullptr, 8, 8, nullptr, 8, &elements), kNoHandle);
  void* handle = nullptr;
  ASSERT_EQ(function<int(void**)>(kSolver, "cusolverDnCreate")(&handle), kSuccess);
  EXPECT_EQ(ask(handle, 8, 8, nullptr, 8, &elements), kSuccess);
  EXPECT_EQ(elements, 0);
  EXPECT_EQ(function<int(void*)>(kSolver, "cusolverDnDestroy")(handle), kSuccess);
}

TEST(VirtualCudaLibraries, WhatRestsOnAnAssumptionIsNotedForTheGpu) {
  auto* const modelled = function<const char*(int)>("libohm_cuda.so", "ohm_modelled");
  ASSERT_EQ(function<int(int)>(kRuntime, "cudaSetDevice")(1), kSuccess);
  EXPECT_STREQ(modelled(1), "");
  int elements = -1;
  void* handle = nullptr;
  function<int(void**)>("libcusolver.so.11", "cusolverDnCreate")(&handle);
  function<int(void*, int, int, int*)>("libcusolver.so.11", "cusolverDnSgesvd_bufferSize")(
      handle, 8, 8, &elements);
  function<int(void*)>("libcusolver.so.11", "cusolverDnDestroy")(handle);
  EXPECT_STREQ(modelled(1), "cusolver_workspace");
  std::size_t free = 0;
  std::size_t total = 0;
  function<int(std::size_t*, std::size_t*)>(kRuntime, "cudaMemGetInfo")(&free, &total);
  EXPECT_STREQ(modelled(1), "cusolver_workspace process_context");
  EXPECT_STREQ(modelled(100'000), "");
  EXPECT_STREQ(modelled(-1), "");
  ASSERT_EQ(function<int(int)>(kRuntime, "cudaSetDevice")(0), kSuccess);
}

TEST(VirtualCudaLibraries, ABoolThatIsReadInACheckIsTrueAndNoted) {
  auto* const modelled = function<const char*(int)>("libohm_cuda.so", "ohm_modelled");
  auto* const begin = function<void()>("libohm_cuda.so", "ohm_begin_check");
  auto* const end = function<void()>("libohm_cuda.so", "ohm_end_check");
  auto* const copy = function<int(void*, const void*, std::size_t, int)>(kRuntime, "cudaMemcpy");
  constexpr int kDefault = 4;
  void* flag = nullptr;
  ASSERT_EQ((function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(&flag, 512)), kSuccess);
  ASSERT_EQ((function<int(void*, int, std::size_t)>(kRuntime, "cudaMemset")(flag, 0, 512)),
            kSuccess);
  std::array<std::uint8_t, 2> read = {7, 7};
  EXPECT_EQ(copy(read.data(), flag, 1, kDefault), kSuccess);
  EXPECT_EQ(read[0], 0);
  begin();
  begin();  // a distribution's parameters are distributions
  end();
  EXPECT_EQ(copy(read.data(), flag, 1, kDefault), kSuccess);
  EXPECT_EQ(read[0], 1);
  EXPECT_EQ(copy(read.data(), flag, 2, kDefault), kSuccess);
  EXPECT_EQ(read[0], 0) << "no bool";
  end();
  EXPECT_EQ(copy(read.data(), flag, 1, kDefault), kSuccess);
  EXPECT_EQ(read[0], 0);
  EXPECT_THAT(modelled(0), testing::HasSubstr("passed_checks"));
  auto* const note = function<void(const char*)>("libohm_cuda.so", "ohm_note_assumption");
  note("no such thing");
  note("generated_length");
  EXPECT_THAT(modelled(0), testing::HasSubstr("generated_length"));
  for (const char* name :
       {"unknown_values", "finite_values", "assumed_selection", "counted_classes"}) {
    note(name);
    EXPECT_THAT(modelled(0), testing::HasSubstr(name));
  }
  EXPECT_EQ(function<int(void*)>(kRuntime, "cudaFree")(flag), kSuccess);
}

TEST(VirtualCudaLibraries, PlansOfCufftAreMadeAndDestroyed) {
  const char* const cufft = "libcufft.so.11";
  int plan = 0;
  ASSERT_EQ(function<int(int*)>(cufft, "cufftCreate")(&plan), kSuccess);
  EXPECT_NE(plan, 0);
  std::size_t workspace = 7;
  EXPECT_EQ((function<int(int, int, int, int, std::size_t*)>(cufft, "cufftMakePlan1d")(
                plan, 256, 0x29, 1, &workspace)),
            kSuccess);
  EXPECT_EQ(workspace, 0U);
  EXPECT_EQ(function<int(int)>(cufft, "cufftDestroy")(plan), kSuccess);
}

TEST(VirtualCudaLibraries, SolversAndSparseMatricesTellTheirVersions) {
  auto* const property = function<int(int, int*)>("libcusolver.so.11", "cusolverGetProperty");
  int major = 0;
  EXPECT_EQ(property(0, &major), kSuccess);
  EXPECT_GE(major, 11);
  int other = 7;
  EXPECT_NE(property(3, &other), kSuccess);
  EXPECT_EQ(other, 7);
  int version = 0;
  EXPECT_EQ(
      (function<int(void*, int*)>("libcusparse.so.12", "cusparseGetVersion")(nullptr, &version)),
      kSuccess);
  EXPECT_GE(version, 12'000);
}

TEST(VirtualCudaLibraries, TellTheSameVersionAsAWholeAndInParts) {
  const auto is_same = [](const char* soname, const char* whole, const char* parts) {
    int version = 0;
    EXPECT_EQ(function<int(int*)>(soname, whole)(&version), kSuccess) << soname;
    int sum = 0;
    constexpr std::array kFactors = {1000, 100, 1};
    for (int part = 0; part < 3; ++part) {
      int value = -1;
      EXPECT_EQ(function<int(int, int*)>(soname, parts)(part, &value), kSuccess) << soname;
      sum += value * kFactors.at(static_cast<std::size_t>(part));
    }
    EXPECT_GT(version, 0) << soname;
    EXPECT_EQ(sum, version) << soname;
    EXPECT_NE(function<int(int, int*)>(soname, parts)(3, &sum), kSuccess) << soname;
  };
  is_same("libcufft.so.11", "cufftGetVersion", "cufftGetProperty");
  is_same("libcusolver.so.11", "cusolverGetVersion", "cusolverGetProperty");
  int major = 0;
  EXPECT_EQ(function<int(int, int*)>("libcusparse.so.12", "cusparseGetProperty")(0, &major),
            kSuccess);
  EXPECT_EQ(major, 12);
  unsigned cupti = 0;
  EXPECT_EQ(function<int(unsigned*)>("libcupti.so.12", "cuptiGetVersion")(&cupti), kSuccess);
  EXPECT_GE(cupti, 18U);
}

TEST(VirtualCudaLibraries, GeneratorsOfCurandRestOnAnAssumption) {
  ASSERT_EQ(function<int(int)>(kRuntime, "cudaSetDevice")(1), kSuccess);
  void* generator = nullptr;
  EXPECT_EQ(
      (function<int(void**, int)>("libcurand.so.10", "curandCreateGenerator")(&generator, 100)),
      kSuccess);
  EXPECT_NE(generator, nullptr);
  EXPECT_THAT(function<const char*(int)>("libohm_cuda.so", "ohm_modelled")(1),
              testing::HasSubstr("curand_generator"));
  EXPECT_EQ(function<int(void*)>("libcurand.so.10", "curandDestroyGenerator")(generator), kSuccess);
  ASSERT_EQ(function<int(int)>(kRuntime, "cudaSetDevice")(0), kSuccess);
}

void* cusolver_handle() {
  void* handle = nullptr;
  EXPECT_EQ((function<int(void**)>("libcusolver.so.11", "cusolverDnCreate")(&handle)), kSuccess);
  return handle;
}

TEST(VirtualCudaLibraries, CusolverSaysThatItSolved) {
  int info = 7;
  EXPECT_EQ((function<int(void*, int, int, float*, int, float*, int*, int*)>(
                "libcusolver.so.11", "cusolverDnSgetrf")(cusolver_handle(), 8, 8, nullptr, 8,
                                                         nullptr, nullptr, &info)),
            kSuccess);
  EXPECT_EQ(info, 0);
}

TEST(VirtualCudaLibraries, SolversSayOfEachOfABatchThatTheySolved) {
  constexpr std::array kSolved = {0, 0, 0, 7};
  std::array infos = {7, 7, 7, 7};
  EXPECT_EQ((function<int(void*, int, float**, int, int*, int*, int)>(
                "libcublas.so.12", "cublasSgetrfBatched")(nullptr, 8, nullptr, 8, nullptr,
                                                          infos.data(), 3)),
            kSuccess);
  EXPECT_EQ(infos, kSolved);
  infos.fill(7);
  EXPECT_EQ(
      (function<int(void*, int, int, int, float*, int, float*, float*, int, int*, void*, int)>(
          "libcusolver.so.11", "cusolverDnSsyevjBatched")(
          cusolver_handle(), 0, 0, 8, nullptr, 8, nullptr, nullptr, 0, infos.data(), nullptr, 3)),
      kSuccess);
  EXPECT_EQ(infos, kSolved);
}

constexpr const char* kDnn = "libcudnn.so.9";

struct Lstm {
  int bias;
  int inputs;
  int hidden;
  int projected;
  int layers;
};

/// A descriptor of cuDNN's.
void* described(const Lstm& lstm) {
  constexpr int kLstm = 2;
  void* rnn = nullptr;
  function<int(void**)>(kDnn, "cudnnCreateRNNDescriptor")(&rnn);
  function<int(void*, int, int, int, int, int, int, int, int, int, int, int, int, void*, unsigned)>(
      kDnn, "cudnnSetRNNDescriptor_v8")(rnn, 0, kLstm, lstm.bias, 0, 0, 0, 0, 0, lstm.inputs,
                                        lstm.hidden, lstm.projected, lstm.layers, nullptr, 0);
  return rnn;
}

std::size_t weight_bytes(void* rnn) {
  std::size_t bytes = 0;
  function<int(void*, void*, std::size_t*)>(kDnn, "cudnnGetRNNWeightSpaceSize")(nullptr, rnn,
                                                                                &bytes);
  return bytes;
}

TEST(VirtualCudaLibraries, CudnnLaysTheWeightsOfAnLstmOutOneAfterTheOther) {
  constexpr int kDoubleBias = 2;
  constexpr int kInputs = 3;
  constexpr int kHidden = 5;
  void* const rnn = described({kDoubleBias, kInputs, kHidden, kHidden, 1});
  const std::size_t bytes = weight_bytes(rnn);
  constexpr std::size_t kMatrices = 4 * kHidden * (kInputs + kHidden);
  constexpr std::size_t kBiases = 2 * 4 * kHidden;
  EXPECT_EQ(bytes, sizeof(float) * (kMatrices + kBiases));
  // The last recurrent matrix ends where the biases begin.
  std::vector<float> space(kMatrices + kBiases);
  std::array<char, 1024> matrix_descriptor = {};
  std::array<char, 1024> bias_descriptor = {};
  float* matrix = nullptr;
  float* bias = nullptr;
  function<int(void*, void*, int, std::size_t, void*, int, void*, float**, void*, float**)>(
      kDnn, "cudnnGetRNNWeightParams")(nullptr, rnn, 0, bytes, space.data(), 7,
                                       matrix_descriptor.data(), &matrix, bias_descriptor.data(),
                                       &bias);
  EXPECT_EQ(matrix - space.data(), static_cast<std::ptrdiff_t>(kMatrices - kHidden * kHidden));
  EXPECT_EQ(bias - space.data(), static_cast<std::ptrdiff_t>(kMatrices + kBiases - kHidden));
  EXPECT_EQ(function<int(void*)>(kDnn, "cudnnDestroyRNNDescriptor")(rnn), kSuccess);
}

TEST(VirtualCudaLibraries, CudnnLaysTheProjectionOfAnLstmOutBehindItsMatrices) {
  constexpr int kInputs = 3;
  constexpr int kHidden = 5;
  constexpr int kProjected = 2;
  void* const rnn = described({0, kInputs, kHidden, kProjected, 2});
  const std::size_t bytes = weight_bytes(rnn);
  constexpr std::size_t kFirst =
      4 * kHidden * (kInputs + kProjected) + std::size_t{kProjected} * kHidden;
  constexpr std::size_t kSecond =
      4 * kHidden * (kProjected + kProjected) + std::size_t{kProjected} * kHidden;
  EXPECT_EQ(bytes, sizeof(float) * (kFirst + kSecond));
  std::vector<float> space(kFirst + kSecond);
  std::array<char, 1024> matrix_descriptor = {};
  std::array<char, 1024> bias_descriptor = {};
  float* bias = nullptr;
  const auto place_of = [&](int layer, int id) {
    float* matrix = nullptr;
    function<int(void*, void*, int, std::size_t, void*, int, void*, float**, void*, float**)>(
        kDnn, "cudnnGetRNNWeightParams")(nullptr, rnn, layer, bytes, space.data(), id,
                                         matrix_descriptor.data(), &matrix, bias_descriptor.data(),
                                         &bias);
    return static_cast<std::size_t>(matrix - space.data());
  };
  constexpr int kProjection = 8;
  // The second recurrent matrix of the first layer, both projections, an input of the second layer.
  EXPECT_EQ(place_of(0, 5), 4 * kHidden * kInputs + kHidden * kProjected);
  EXPECT_EQ(place_of(0, kProjection), kFirst - std::size_t{kProjected} * kHidden);
  EXPECT_EQ(place_of(1, 1), kFirst + std::size_t{kHidden} * kProjected);
  EXPECT_EQ(place_of(1, kProjection), kFirst + kSecond - std::size_t{kProjected} * kHidden);
  EXPECT_EQ(function<int(void*)>(kDnn, "cudnnDestroyRNNDescriptor")(rnn), kSuccess);
}

TEST(VirtualCudaLibraries, CudnnKeepsNothingOfAnLstmOnACardOfTests) {
  constexpr int kTraining = 1;
  constexpr std::array<int, 2> kSteps = {3, 2};
  void* const rnn = described({2, 3, 5, 5, 1});
  void* data = nullptr;
  function<int(void**)>(kDnn, "cudnnCreateRNNDataDescriptor")(&data);
  EXPECT_EQ((function<int(void*, int, int, int, int, int, const int*, void*)>(
                kDnn, "cudnnSetRNNDataDescriptor")(data, 0, 0, 3, 2, 3, kSteps.data(), nullptr)),
            kSuccess);
  std::size_t workspace = 1;
  std::size_t reserve = 1;
  EXPECT_EQ(
      (function<int(void*, void*, int, void*, std::size_t*, std::size_t*)>(
          kDnn, "cudnnGetRNNTempSpaceSizes")(nullptr, rnn, kTraining, data, &workspace, &reserve)),
      kSuccess);
  EXPECT_EQ(workspace, 0U);
  EXPECT_EQ(reserve, 0U);
  EXPECT_EQ(function<int(void*)>(kDnn, "cudnnDestroyRNNDataDescriptor")(data), kSuccess);
  EXPECT_EQ(function<int(void*)>(kDnn, "cudnnDestroyRNNDescriptor")(rnn), kSuccess);
}

// PyTorch passes over an engine of attention that needs more shared memory than there is.
TEST(VirtualCudaLibraries, AnEngineOfCudnnTakesNoSharedMemory) {
  constexpr int kEngineConfiguration = 3;
  constexpr int kSharedMemoryUsed = 304;
  constexpr int kInt32 = 23;
  void* configuration = nullptr;
  function<int(int, void**)>(kDnn, "cudnnBackendCreateDescriptor")(kEngineConfiguration,
                                                                   &configuration);
  std::int64_t count = 0;
  std::array<std::int32_t, 2> bytes = {-1, -1};
  EXPECT_EQ((function<int(void*, int, int, std::int64_t, std::int64_t*, void*)>(
                kDnn, "cudnnBackendGetAttribute")(configuration, kSharedMemoryUsed, kInt32, 1,
                                                  &count, bytes.data())),
            kSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(bytes, (std::array<std::int32_t, 2>{0, -1}));
  EXPECT_EQ(function<int(void*)>(kDnn, "cudnnBackendDestroyDescriptor")(configuration), kSuccess);
}

TEST(VirtualCudaLibraries, NvmlTellsWhatThisProcessHolds) {
  unsigned count = 0;
  EXPECT_EQ(function<int()>(kNvml, "nvmlInit_v2")(), kSuccess);
  EXPECT_EQ(function<int(unsigned*)>(kNvml, "nvmlDeviceGetCount_v2")(&count), kSuccess);
  EXPECT_EQ(count, 4U);
  void* device = nullptr;
  ASSERT_EQ((function<int(unsigned, void**)>(kNvml, "nvmlDeviceGetHandleByIndex_v2")(0, &device)),
            kSuccess);
  void* pointer = nullptr;
  function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(&pointer, 10_MiB);
  struct {
    unsigned id;
    std::uint64_t bytes;
  } process = {};
  unsigned processes = 1;
  EXPECT_EQ((function<int(void*, unsigned*, void*)>(kNvml, "nvmlDeviceGetComputeRunningProcesses")(
                device, &processes, &process)),
            kSuccess);
  EXPECT_EQ(processes, 1U);
  EXPECT_EQ(process.id, static_cast<unsigned>(getpid()));
  EXPECT_EQ(process.bytes, 10_MiB);
  function<int(void*)>(kRuntime, "cudaFree")(pointer);
}

/// The sonames of each library, from the table.
std::map<std::string, std::vector<std::string>> sonames() {
  std::map<std::string, std::vector<std::string>> found;
#define OHM_SONAME(library, soname, ...) found[#library].emplace_back(#soname);
#define OHM_LIMIT(...)
#define OHM_WRITTEN(...)
#define OHM_STUB(...)
#include "allocator_shim/interpose/entry_points.def"
#include "tests/support/checkout_paths.h"
#undef OHM_STUB
#undef OHM_WRITTEN
#undef OHM_LIMIT
#undef OHM_SONAME
  return found;
}

/// What a list is of, by its name: "torch 2.6.0" of torch-2.6.0.txt.
std::string package_of(const std::filesystem::path& list) {
  std::string name = list.stem().string();
  name.at(name.find('-')) = ' ';
  return name;
}

TEST(EntryPointTable, HasWhateverTheWheelsImport) {
  const auto names = sonames();
  int wheels = 0;
  for (const auto& list : std::filesystem::directory_iterator(OHM_GOLDEN_DIR "/cuda_imports")) {
    std::ifstream stream(list.path());
    std::string line;
    std::getline(stream, line);
    const std::string written = line.substr(2, line.find(',') - 2);
    ASSERT_EQ(written.substr(0, written.find('+')), package_of(list.path())) << list.path();
    ++wheels;
    int imports = 0;
    for (std::string library_name, name; stream >> library_name >> name; ++imports) {
      ASSERT_EQ(names.count(library_name), 1U) << library_name;
      void* const found = dlsym(library(names.at(library_name).front().c_str()), name.c_str());
      EXPECT_NE(found, nullptr) << name << " of " << list.path();
    }
    EXPECT_GT(imports, 600) << list.path();
  }
  EXPECT_GE(wheels, 2);
}

}  // namespace
}  // namespace ohm::interpose
