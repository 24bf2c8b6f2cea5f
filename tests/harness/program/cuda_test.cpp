// Real GPUs through the real program, on the stand-in driver; and on a card where there is one.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/harness/program/cuda_program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;
using testing::HasSubstr;

class OnCuda : public test::CudaProgramTest {};

TEST_F(OnCuda, SaysThatThereIsNoDriver) {
  ::setenv("OHM_CUDA_DRIVER", "libno-driver.so.1", 1);
  for (const std::string command : {"run", "verify-device"}) {
    const bool is_run = command == "run";
    const ProgramResult result =
        is_run ? ohm({"run", "good.lua", "--gpu", "cuda"}) : ohm({"verify-device", "good.lua"});
    EXPECT_EQ(6, result.code);
    EXPECT_EQ("", result.out);
    EXPECT_THAT(result.err, HasSubstr("ohm: --gpu cuda: NVIDIA's driver is not here: "
                                      "libno-driver.so.1: cannot open shared object file"));
  }
}

TEST_F(OnCuda, SaysThatThereIsNoCardOrAnOldDriver) {
  machine_is("devices=0");
  const ProgramResult no_card = ohm({"run", "good.lua", "--gpu", "cuda"});
  EXPECT_EQ(6, no_card.code);
  EXPECT_THAT(no_card.err, HasSubstr("--gpu cuda: the driver finds no CUDA device"));
  machine_is("version=11080");
  const ProgramResult old = ohm({"run", "good.lua", "--gpu", "cuda"});
  EXPECT_EQ(6, old.code);
  EXPECT_THAT(old.err, HasSubstr("the driver is for CUDA 11.8: ohm needs one for 12.0 or newer"));
}

TEST_F(OnCuda, FindsTheSameAsOnVirtualGpus) {
  const ProgramResult on_cuda = ohm({"run", "segments.lua", "good.lua", "--gpu", "cuda", "--json"});
  EXPECT_EQ(0, on_cuda.code) << on_cuda.out << on_cuda.err;
  EXPECT_THAT(on_cuda.err,
              HasSubstr("ohm: running on Stand-in 1 (128.00 MiB, driver for CUDA 13.0)"));
  const ProgramResult on_virtual = ohm({"run", "segments.lua", "good.lua", "--json"});
  const auto variants_of = [](const ProgramResult& result) {
    nlohmann::json json = nlohmann::json::parse(result.out);
    for (nlohmann::json& scenario : json["scenarios"]) {
      for (nlohmann::json& variant : scenario["variants"]) {
        variant.erase("rerun");
        for (nlohmann::json& device : variant["devices"]) device.erase("card");
      }
    }
    return json["scenarios"];
  };
  EXPECT_EQ(variants_of(on_virtual).dump(2), variants_of(on_cuda).dump(2));
}

TEST_F(OnCuda, ComputesReferencesInALargerShareOfTheCard) {
  folder_.write("compared.lua", R"lua(
local function ones(count)
  return function(device) return {sum = ohm.ones(count, {device = device}):sum()} end
end
return ohm.scenario {
  name = "compared", summary = "A problem beside a reference", reference = "right",
  gpu = {profile = "tiny-64m", capacity = "32MiB"}, limits = {"error_vs_reference == 0"},
  problems = {wrong = ones(7)}, references = {right = ones(8)},
}
)lua");
  const auto device_of_reference = [&](const std::string& machine) {
    machine_is(machine);
    const ProgramResult result = ohm({"run", "compared.lua", "--gpu", "cuda", "--json"});
    EXPECT_EQ(0, result.code) << result.out << result.err;
    return nlohmann::json::parse(result.out)["scenarios"][0]["references"][0]["devices"][0];
  };
  const nlohmann::json on_card = device_of_reference("capacity=134217728");
  EXPECT_EQ("Stand-in 0, driver for CUDA 13.0", on_card["card"]);
  EXPECT_EQ(134217728, on_card["capacity_bytes"]);
  const nlohmann::json on_virtual = device_of_reference("capacity=33554432");
  EXPECT_FALSE(on_virtual.contains("card"));
  EXPECT_EQ(536870912, on_virtual["capacity_bytes"]);
}

TEST_F(OnCuda, RunsOutOfMemoryAtTheLimit) {
  const ProgramResult result =
      ohm({"run", "segments.lua", "--gpu", "cuda", "--limit", "32MiB", "--case", "two", "-v"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("GPU 0 has a total capacity of 32.00 MiB"));
}

TEST_F(OnCuda, RunsOutOfMemoryWhereTheCardEnds) {
  machine_is("capacity=33554432");
  const ProgramResult result = ohm({"run", "segments.lua", "--gpu", "cuda", "--case", "two", "-v"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("out of memory"));
}

TEST_F(OnCuda, EndsTheVariantsProcessAloneWhenTheCardBreaks) {
  machine_is("capacity=134217728 fail=cuMemAlloc_v2:2:700");
  const ProgramResult result = ohm({"run", "segments.lua", "--gpu", "cuda"});
  EXPECT_EQ(4, result.code);
  EXPECT_THAT(result.out, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(result.out, HasSubstr("1 passed"));
  EXPECT_EQ(0, ohm({"run", "segments.lua", "--gpu", "cuda", "--case", "small"}).code);
}

TEST_F(OnCuda, TellsInTheDriversWordsWhatFailedInAVariant) {
  machine_is("devices=2 capacity=134217728 fail=cuModuleGetFunction:0:999");
  const ProgramResult result = ohm({"run", "segments.lua", "--gpu", "cuda"});
  EXPECT_EQ(3, result.code) << result.out;
  EXPECT_THAT(result.out, HasSubstr("cuModuleGetFunction: CUDA_ERROR_STAND_IN"));
  EXPECT_THAT(result.out, Not(HasSubstr("killed by")));
}

TEST_F(OnCuda, TellsInTheDriversWordsWhyAVariantCannotStart) {
  // The first call is of the process that asks what there is.
  machine_is("devices=1 capacity=134217728 fail=cuCtxSetCurrent:0:999");
  const ProgramResult found = ohm({"run", "segments.lua", "--gpu", "cuda"});
  EXPECT_NE(4, found.code) << found.out << found.err;
  EXPECT_THAT(found.out + found.err, HasSubstr("CUDA_ERROR_STAND_IN"));
}

TEST_F(OnCuda, CompilesKernelsOutsideOfAVariantsTimeLimit) {
  folder_.write("activation.lua", R"lua(
return ohm.scenario {
  name = "activation", summary = "A kernel of elementwise.cu",
  gpu = {profile = "tiny-64m"}, limits = {"peak_allocated_bytes <= 20 MiB"},
  problems = {two = function(device) ohm.zeros(8 * 1024 * 1024, {device = device}) end},
  controls = {one = {run = function(device)
    ohm.nn.functional.gelu(ohm.ones(4, {device = device}))
  end}},
}
)lua");
  const std::string kept = folder_.file("elementwise.kept");
  const auto run_on = [&](const std::string& capability) {  // there is machine code for 8.0
    machine_is("devices=1 capacity=134217728 capability=" + capability +
               " compiles=elementwise:2500:" + kept);
    return ohm({"run", "activation.lua", "--gpu", "cuda", "--case", "one", "--timeout", "2"});
  };
  const ProgramResult within = run_on("80");
  EXPECT_EQ(124, within.code) << "loading takes a variant's time where nothing was to be compiled";
  EXPECT_THAT(within.out, HasSubstr("--timeout SECONDS allows more"));
  ASSERT_FALSE(std::filesystem::exists(kept));
  const ProgramResult outside = run_on("90");
  EXPECT_EQ(0, outside.code) << outside.out << outside.err;
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST_F(OnCuda, ComputesOnTheHostWhereTheDriverIsTooOldForTheKernels) {
  machine_is("devices=1 capacity=134217728 version=12040 fail=cuModuleLoadData:0:222");
  const ProgramResult result = ohm({"run", "segments.lua", "--gpu", "cuda"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("the kernels of this build need a driver for CUDA 13.0 or newer; this one "
                        "is for CUDA 12.4: the host computes\n"));
  const ProgramResult verified = ohm({"verify-device", "segments.lua"});
  EXPECT_EQ(6, verified.code) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("kernels: the host computes instead: the kernels of "));
}

TEST_F(OnCuda, TakesExpandableSegmentsAndPinnedMemory) {
  folder_.write("pinned.lua", test::scenario_with_check(R"lua(
    local x = ohm.ones(3 * 1024 * 1024):pin_memory()
    local y = x:to(device, {non_blocking = true})
    error(y:sum():item() == 3 * 1024 * 1024 and "?" or "wrong"))lua"));
  const ProgramResult result =
      ohm({"run", "pinned.lua", "--gpu", "cuda", "--alloc-conf", "expandable_segments:True"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
}

TEST_F(OnCuda, VerifiesThatTheEventsAreTheSame) {
  const ProgramResult result = ohm({"verify-device", "segments.lua", "good.lua"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("same     segments.two: "));
  EXPECT_THAT(result.out, HasSubstr("5 of 5 variants have the same events and values on both\n"));
}

TEST_F(OnCuda, ListsTheEventsThatDiffer) {
  machine_is("capacity=33554432");
  const ProgramResult result = ohm({"verify-device", "segments.lua", "--case", "two"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("differs  segments.two: "));
  EXPECT_THAT(result.out, HasSubstr("only on the virtual GPU, event 2: segment_alloc cuda:0 "
                                    "16.00 MiB (16777216 bytes)"));
  EXPECT_THAT(result.out, HasSubstr("only on the card, event 2: oom cuda:0 16.00 MiB"));
  EXPECT_THAT(result.out, HasSubstr("0 of 1 variants"));
}

TEST_F(OnCuda, FindsAValueThatTheCardComputesOtherwise) {
  folder_.write("product.lua", test::scenario_with_problem(R"lua(
    local a = ohm.ones({2, 2}, {device = device})
    return {product = ohm.mm(a, a)})lua"));
  EXPECT_EQ(0, ohm({"verify-device", "product.lua"}).code);
  machine_is("capacity=134217728 wrong=cublasGemmEx");
  const ProgramResult result = ohm({"verify-device", "product.lua"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr(": values: product"));
  EXPECT_THAT(result.out, HasSubstr("0 of 1 variants have the same events and values on both\n"));
}

TEST_F(OnCuda, CountsWhatTheHostWasNeededFor) {
  folder_.write("summed.lua", test::scenario_with_check(R"lua(
    local x = ohm.ones({32, 32}, {device = device, dtype = "int32"}) * 2
    ohm.mm(x, x)
    error("?"))lua"));
  const ProgramResult result = ohm({"verify-device", "summed.lua"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("values copied from the card to the host: 1 times, 4.00 KiB\n  "
                                    "       mm: 1 times, 4.00 KiB\n"));
}

TEST_F(OnCuda, WritesWhatACardIs) {
  EXPECT_EQ(0, ohm({"verify-device", "good.lua", "--write-profile", "card.json"}).code);
  const nlohmann::json profile = nlohmann::json::parse(test::read_file(file("card.json")));
  EXPECT_EQ("Stand-in 0", profile["name"]);
  EXPECT_EQ(134217728, profile["capacity_bytes"]);
  EXPECT_EQ(4194304, profile["context_bytes"]);
  EXPECT_EQ(nlohmann::json({8, 0}), profile["compute_capability"]);
  EXPECT_EQ(8519680, profile["cublas_workspace_bytes"]);
  EXPECT_EQ(nlohmann::json::array(), profile["library_workspaces"]);
}

TEST_F(OnCuda, RunsOnAVirtualGpuLikeACard) {
  EXPECT_EQ(0, ohm({"verify-device", "good.lua", "--write-profile", "card.json"}).code);
  const ProgramResult result = ohm({"run", "segments.lua", "--gpu", "card.json", "--json"});
  EXPECT_EQ(0, result.code) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  const nlohmann::json& device = json["scenarios"][0]["variants"][0]["devices"][0];
  EXPECT_EQ("card.json", device["profile"]);
  EXPECT_EQ(134217728, device["capacity_bytes"]);
  EXPECT_EQ(0, ohm({"fit", "segments.lua", "--vary", "capacity", "--gpu", "card.json"}).code);
  EXPECT_THAT(ohm({"smi", "--gpu", "card.json,capacity=32MiB",
                   "--query-gpu=memory.total,memory.used", "--format=csv,noheader,nounits"})
                  .out,
              HasSubstr("32, 0"));
}

TEST_F(OnCuda, SaysWhatIsWrongWithAProfile) {
  const auto refusal = [&](const std::string& text) {
    folder_.write("wrong.json", text);
    const ProgramResult result = ohm({"run", "good.lua", "--gpu", "wrong.json"});
    EXPECT_EQ(2, result.code) << text;
    return result.err;
  };
  EXPECT_THAT(refusal("[1"), HasSubstr("--gpu: [gpu] wrong.json: not a JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("wrong.json: capacity_bytes is missing"));
  EXPECT_THAT(refusal(R"({"capacity_bytes": "much"})"),
              HasSubstr("capacity_bytes must be an integer from 0 to 281474976710656"));
  EXPECT_THAT(refusal(R"({"capacity_bytes": 1000000, "context_bytes": 2000000,
                          "compute_capability": [8, 0], "multiprocessors": 1,
                          "threads_per_multiprocessor": 1, "cublas_workspace_bytes": 0})"),
              HasSubstr("a context of 1.91 MiB leaves nothing of 976.56 KiB"));
  EXPECT_THAT(ohm({"run", "good.lua", "--gpu", "missing.json"}).err,
              HasSubstr("missing.json: No such file"));
}

/// A model of every library: its convolution needs a workspace where the library says so.
constexpr const char* kLibraryModel = R"lua(
return ohm.scenario {
  name = "libraries", summary = "One op of each library",
  gpu = {profile = "golden-sm80", capacity = "64MiB"},
  limits = {"peak_allocated_bytes <= 1 KiB"},
  problems = {all = function(device)
    local images = ohm.ones({1, 1, 4, 4}, {device = device, requires_grad = true})
    local filter = ohm.ones({1, 1, 3, 3}, {device = device, requires_grad = true})
    local features = ohm.nn.functional.conv2d(images, filter):reshape(1, 4)
    local weight = ohm.ones({3, 4}, {device = device, requires_grad = true})
    local loss = ohm.nn.functional.linear(features, weight, ohm.ones({3}, {device = device})):sum()
    loss:backward()
    assert(loss:item() == 111, loss:item())
    assert(images.grad:sum():item() == 108, images.grad:sum():item())
  end},
}
)lua";

TEST_F(OnCuda, NamesTheLibrariesAndWhatTheyTake) {
  folder_.write("libraries.lua", kLibraryModel);
  machine_is("devices=2 capacity=134217728 cudnn_workspace=524288");
  const ProgramResult result =
      ohm({"verify-device", "libraries.lua", "--write-profile", "card.json"});
  EXPECT_EQ(0, result.code) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("same     libraries.all: "));
  EXPECT_THAT(result.out, HasSubstr("library  conv2d: workspaces of up to 516.00 KiB "
                                    "(528384 bytes) on the card, "));
  for (const char* library : {"library  cuBLAS 13.0.1\n", "library  cuBLASLt 13.0.1\n",
                              "library  cuDNN 9.1.0\n", "library  NCCL 2.28.9\n"}) {
    EXPECT_THAT(result.out, HasSubstr(library));
  }
  const nlohmann::json profile = nlohmann::json::parse(test::read_file(file("card.json")));
  EXPECT_EQ("conv2d", profile["library_workspaces"][0]["op"]);
  EXPECT_EQ(528384, profile["library_workspaces"][0]["largest_bytes"]);
}

TEST_F(OnCuda, AVirtualGpuLikeTheCardTakesTheWorkspacesOfItsConvolutions) {
  folder_.write("libraries.lua", kLibraryModel);
  machine_is("devices=2 capacity=134217728 cudnn_workspace=524288");
  EXPECT_EQ(0, ohm({"verify-device", "libraries.lua", "--write-profile", "card.json"}).code);
  const nlohmann::json profile = nlohmann::json::parse(test::read_file(file("card.json")));
  ASSERT_EQ(3U, profile["convolution_workspaces"].size());
  EXPECT_EQ(
      "output, float32: [1, 1, 4, 4] by [1, 1, 3, 3], stride 1 1, padding 0 0, dilation 1 1, "
      "groups 1",
      profile["convolution_workspaces"][2]["convolution"]);
  const auto peak_on = [&](const std::string& gpu) {
    const ProgramResult result = ohm({"run", "libraries.lua", "--gpu", gpu, "--json"});
    const nlohmann::json json = nlohmann::json::parse(result.out);
    return json["scenarios"][0]["variants"][0]["devices"][0]["peak_allocated_bytes"]
        .get<std::int64_t>();
  };
  EXPECT_EQ(peak_on("cuda"), peak_on("card.json"));
  nlohmann::json broken = profile;
  broken["convolution_workspaces"][0] = {{"convolution", 7}};
  folder_.write("broken.json", broken.dump());
  EXPECT_THAT(ohm({"run", "libraries.lua", "--gpu", "broken.json"}).err,
              HasSubstr("convolution_workspaces must have a convolution and bytes in each"));
}

TEST_F(OnCuda, TellsWhereTheProgramWaitsWhatAKernelFoundWrong) {
  const std::string lookup = R"lua(
    local index = ohm.tensor({7}, {dtype = "int64", device = device})
    ohm.nn.functional.embedding(index, ohm.ones({4, 2}, {device = device}))
  )lua";
  folder_.write("ended.lua", test::scenario_with_problem(lookup));
  const ProgramResult ended = ohm({"run", "ended.lua", "--gpu", "cuda"});
  EXPECT_NE(0, ended.code);
  EXPECT_THAT(ended.out + ended.err,
              HasSubstr("[embedding] index 7 is out of bounds for a size of 4"));
  folder_.write("waited.lua", test::scenario_with_check(lookup + R"lua(
    local ok, told = pcall(ohm.cuda.synchronize)
    assert(not ok and tostring(told):find("index 7 is out of bounds"), told)
    ohm.cuda.synchronize()
    error("?"))lua"));
  EXPECT_EQ(0, ohm({"run", "waited.lua", "--gpu", "cuda"}).code);
}

TEST_F(OnCuda, ComputesTheSameWithAndWithoutLibraries) {
  folder_.write("libraries.lua", kLibraryModel);
  const auto expect_figures = [&] {
    const ProgramResult result = ohm({"run", "libraries.lua", "--gpu", "cuda", "--json"});
    EXPECT_EQ(0, result.code) << result.out << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    const nlohmann::json& variant = json["scenarios"][0]["variants"][0];
    EXPECT_EQ("Stand-in 0, driver for CUDA 13.0", variant["devices"][0]["card"]);
  };
  expect_figures();
  for (const char* library : {"OHM_CUBLAS", "OHM_CUBLASLT", "OHM_CUDNN"}) {
    ::setenv(library, "libthere-is-none.so.1", 1);
  }
  expect_figures();
  const ProgramResult verified = ohm({"verify-device", "libraries.lua"});
  EXPECT_EQ(6, verified.code);
  EXPECT_THAT(verified.out,
              HasSubstr("library  cuDNN: the host computes instead: cuDNN is not here: "
                        "libthere-is-none.so.1: cannot open"));
}

TEST_F(OnCuda, ALibrarysFailureIsTheScriptsError) {
  folder_.write("libraries.lua", kLibraryModel);
  machine_is("capacity=134217728 fail=cudnnConvolutionForward:0:5000");
  const ProgramResult result = ohm({"run", "libraries.lua", "--gpu", "cuda"});
  EXPECT_NE(0, result.code);
  EXPECT_THAT(result.out,
              HasSubstr("cuDNN: cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED"));
  machine_is("capacity=134217728 fail=cublasLtCreate:0:3");
  EXPECT_THAT(
      ohm({"run", "libraries.lua", "--gpu", "cuda", "-v"}).out,
      HasSubstr("CUDA out of memory. cuBLASLt: cublasLtCreate: CUBLAS_STATUS_ALLOC_FAILED"));
}

TEST_F(OnCuda, SweepsWithARunForEachFault) {
  const ProgramResult result =
      ohm({"sweep", "segments.lua", "--gpu", "cuda", "--case", "one", "--json"});
  const ProgramResult on_virtual =
      ohm({"sweep", "segments.lua", "--engine", "exec", "--case", "one", "--json"});
  EXPECT_EQ(on_virtual.code, result.code) << result.out << result.err;
  const auto points = [](const ProgramResult& swept) {
    return nlohmann::json::parse(swept.out)["scenarios"][0]["variants"][0]["points"].size();
  };
  EXPECT_EQ(points(on_virtual), points(result));
  const ProgramResult copies = ohm({"sweep", "segments.lua", "--gpu", "cuda", "--engine", "fork"});
  EXPECT_EQ(2, copies.code);
  EXPECT_THAT(copies.err, HasSubstr("a forked process cannot use the card's context"));
  EXPECT_EQ(2, ohm({"sweep", "segments.lua", "--gpu", "cuda", "--bytes"}).code);
}

TEST_F(OnCuda, FitsOnVirtualGpusAlone) {
  const ProgramResult result = ohm({"fit", "segments.lua", "--vary", "capacity", "--gpu", "cuda"});
  EXPECT_EQ(2, result.code);
  EXPECT_THAT(result.err, HasSubstr("--write-profile card.json"));
}

TEST_F(OnCuda, ShowsThemAsNvidiaSmiDoes) {
  EXPECT_EQ("0, Stand-in 0, 0, 128, 37\n1, Stand-in 1, 0, 128, 37\n",
            ohm({"smi", "--gpu", "cuda",
                 "--query-gpu=index,name,memory.used,memory.total,utilization.gpu",
                 "--format=csv,noheader,nounits"})
                .out);
  EXPECT_THAT(ohm({"smi", "--gpu", "cuda"}).out, HasSubstr("Stand-in 1"));
  ::setenv("OHM_NVML", "libno-nvml.so.1", 1);
  const ProgramResult missing = ohm({"smi", "--gpu", "cuda"});
  EXPECT_EQ(6, missing.code);
  EXPECT_THAT(missing.err, HasSubstr("NVML is not here: libno-nvml.so.1"));
}

TEST_F(OnCuda, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(2, ohm({"run", "good.lua", "--limit", "1GiB"}).code);
  EXPECT_EQ(2, ohm({"run", "good.lua", "--gpu", "cuda,count=2"}).code);
  EXPECT_EQ(2, ohm({"run", "good.lua", "--gpu", "cuda", "--limit", "much"}).code);
  EXPECT_EQ(2, ohm({"smi", "good.lua", "--gpu", "cuda"}).code);
  EXPECT_EQ(5, ohm({"verify-device", "good.lua", "--case", "mitigation", "--filter", "x"}).code);
}

TEST(OnRealGpu, HasTheSameEventsAsTheVirtualGpu) {
  const test::TempFolder folder;
  folder.write("good.lua", test::kGoodScenario);
  const ProgramResult result =
      test::run_program(folder.path().string(), {"verify-device", "good.lua"});
  if (result.code == 6) GTEST_SKIP() << result.err;
  EXPECT_EQ(0, result.code) << result.out << result.err;
}

}  // namespace
}  // namespace ohm
