// Integers beyond 2^53, which doubles round and int64 holds: each value is what PyTorch 2.15 has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

struct WholeNumber {
  const char* expression;  ///< of `t`, which makes tensors, and `n`, which is 2^60 + 1
  const char* value;
};

constexpr WholeNumber kWholeNumbers[] = {
    {"t({1,2}):fill_(n)", "{1152921504606846977 1152921504606846977}"},
    {"t({n-1,n,n+1,n+2}):clamp(n,n+1)",
     "{1152921504606846977 1152921504606846977 1152921504606846978 1152921504606846978}"},
    {"t({n-1,n,0}):clamp({min=n})",
     "{1152921504606846977 1152921504606846977 1152921504606846977}"},
    {"t({n-1,n,n+1}):clamp({max=n})",
     "{1152921504606846976 1152921504606846977 1152921504606846977}"},
    {"t({5,n}):clamp(n+1,n)", "{1152921504606846977 1152921504606846977}"},
    {"t({-n-1,n+3,-n}):clamp(-n,n-1)",
     "{-1152921504606846977 1152921504606846976 -1152921504606846977}"},
    {"t({0,n+5}):clamp_(n,n+2)", "{1152921504606846977 1152921504606846979}"},
    {"t({1,2}):masked_fill(t({true,false}),n)", "{1152921504606846977 2}"},
    {"t({1,2}):masked_fill_(t({true,false}),n)", "{1152921504606846977 2}"},
    {"t({1,2,3}):scatter(0,t({2,0}),n)", "{1152921504606846977 2 1152921504606846977}"},
    {"t({1,2,3}):scatter_(0,t({2}),-n)", "{1 2 -1152921504606846977}"},
    {"t({1,2}):add(t({1,3}),{alpha=n})", "{1152921504606846978 3458764513820540933}"},
    {"t({1,2}):sub(t({1,3}),{alpha=n})", "{-1152921504606846976 -3458764513820540929}"},
    {"ohm.rsub(t({1,2}),t({1,3}),{alpha=n})", "{-1152921504606846976 -2305843009213693951}"},
    {"ohm.rsub(t({1,2}),5,{alpha=n})", "{-1152921504606846972 -2305843009213693949}"},
    {"(function() local x=t({1,3}) x:add_(x,{alpha=n}) return x end)()",
     "{1152921504606846978 3458764513820540934}"},
    {"(function() local x=t({1,3}) x:sub_(x,{alpha=n}) return x end)()",
     "{-1152921504606846976 -3458764513820540928}"},
    {"t({1,3}):copy_(n)", "{1152921504606846977 1152921504606846977}"},
    {"t({1,2,3}):index_fill(0,t({1}),n)", "{1 1152921504606846977 3}"},
    {"t({1,2,3}):index_fill_(0,t({1}),n)", "{1 1152921504606846977 3}"},
    {"F.pad(t({1,2}),{1,2},{value=n})",
     "{1152921504606846976 1 2 1152921504606846976 1152921504606846976}"},
    {"(function() local x=t({1,2}) x[t({true,false})]=n return x end)()",
     "{1152921504606846977 2}"},
    {"(function() local x=t({1,2}) x[t({1})]=n return x end)()", "{1 1152921504606846977}"},
    {"(function() local x=t({1,2}) x[t(1)]=n return x end)()", "{1 1152921504606846977}"},
    {"t({n-1,n,n-2}):amax()", "1152921504606846977"},
    {"t({{n-1,n},{-n,-n-1}}):amax(1)", "{1152921504606846977 -1152921504606846977}"},
    {"t({{n-1,n},{-n,-n-1}}):amin(0)", "{-1152921504606846977 -1152921504606846978}"},
    {"t({1,2}):index_add(0,t({1}),t({3}),{alpha=n})", "{1 3458764513820540933}"},
    {"t({1}):addcmul(t({1}),t({1}),{value=n})", "{1152921504606846978}"},
    {"(t({n-1,n,n-2}):cummax(0))", "{1152921504606846976 1152921504606846977 1152921504606846977}"},
    {"(t({n+1,n,n-1}):sort())", "{1152921504606846976 1152921504606846977 1152921504606846978}"},
    {"(t({n-1,n,n-2}):topk(1))", "{1152921504606846977}"},
    {"t({n-1,n,n-2}):median()", "1152921504606846976"},
    {"(t({n-1,n,n-2}):kthvalue(2))", "1152921504606846976"},
    {"t({n-1,n,n-2}):argmax()", "1"},
    {"(ohm.unique(t({n-1,n,n})))", "{1152921504606846976 1152921504606846977}"},
    {"ohm.arange(n,n+3)", "{1152921504606846977 1152921504606846978 1152921504606846979}"},
    {"t({n+3}):clip({max=n})", "{1152921504606846977}"},
};

class WholeNumbers : public ScriptTest, public testing::WithParamInterface<WholeNumber> {};

TEST_P(WholeNumbers, AreThoseOfPyTorch) {
  for (const char* device : {"cpu", "cuda"}) {
    EXPECT_EQ(text(fmt::format("local n, F = (1 << 60) + 1, ohm.nn.functional\n"
                               "local function t(v) return ohm.tensor(v, {{device = '{}'}}) end\n"
                               "local function show(v)\n"
                               "  if type(v) ~= 'table' then return tostring(v) end\n"
                               "  local parts = {{}}\n"
                               "  for i, e in ipairs(v) do parts[i] = show(e) end\n"
                               "  return '{{' .. table.concat(parts, ' ') .. '}}'\n"
                               "end\n"
                               "return show(({}):tolist())",
                               device, GetParam().expression)),
              GetParam().value)
        << device << ": " << GetParam().expression;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WholeNumbers, testing::ValuesIn(kWholeNumbers),
                         [](const testing::TestParamInfo<WholeNumber>& info) {
                           return std::to_string(info.index);
                         });

}  // namespace
}  // namespace ohm::test
