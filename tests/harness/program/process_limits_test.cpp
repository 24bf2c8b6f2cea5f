// What the system allows a process: with little of it the program works, or says what it lacks.
#include <sys/resource.h>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;

class ProcessLimits : public test::ProgramTest {
 protected:
  /// A program that hangs is ended by the alarm.
  ProgramResult with_limit(int resource, rlim_t bytes,
                           const std::vector<std::string>& arguments) const {
    return test::run_program(folder_.path().string(), arguments, [&] {
      const rlimit limit{bytes, bytes};
      ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
      ::alarm(30);
    });
  }
};

TEST_F(ProcessLimits, LittleAddressSpaceIsEnoughForWhatRunsNothing) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes the whole address space";
#endif
  for (const rlim_t mebibytes : {60UL, 100UL, 150UL}) {
    const ProgramResult ran = with_limit(RLIMIT_AS, mebibytes << 20U, {"--version"});
    EXPECT_EQ(ran.code, 0) << mebibytes << " MiB: " << ran.err;
    EXPECT_TRUE(ran.out.starts_with("ohm ")) << ran.out;
  }
}

TEST_F(ProcessLimits, ProductsThatGetNoMemoryForTheirBufferSaySo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes the whole address space";
#endif
  folder_.write("product.lua",
                test::scenario_with_check("  ohm.ones(64, 64):matmul(ohm.ones(64, 64))",
                                          "this call needs more memory than the host has"));
  const ProgramResult ran = with_limit(RLIMIT_DATA, 100 << 20U, {"run", "product.lua"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(ProcessLimits, ASmallStackIsRefusedInWords) {
  const ProgramResult ran = with_limit(RLIMIT_STACK, 64 << 10U, {"run", "good.lua"});
  EXPECT_EQ(ran.code, 6) << ran.out;
  EXPECT_EQ(ran.err,
            "ohm: the stack may have 64 KiB, and scenarios need 1024 KiB: ulimit -s 1024\n");
}

TEST_F(ProcessLimits, TheSmallestStackThatIsTakenIsEnough) {
  folder_.write("deep.lua",
                test::scenario_with_check("  local function f(n)\n"
                                          "    local ok, e = pcall(ohm.no_grad, function()\n"
                                          "      return f(n + 1) end)\n"
                                          "    error(e, 0)\n"
                                          "  end\n"
                                          "  f(1)",
                                          "C stack overflow"));
  const ProgramResult ran = with_limit(RLIMIT_STACK, 1 << 20U, {"run", "good.lua", "deep.lua"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

}  // namespace
}  // namespace ohm
