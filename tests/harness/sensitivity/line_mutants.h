// Mutants that change lines of a scenario's code.
#pragma once

#include <string_view>
#include <vector>

#include "tests/harness/sensitivity/source_mutants.h"

namespace ohm::test {

/// Of a source that ends as a scenario does, in this order:
///
///   removed step       a line that is a call of step() or backward() is left out
///   removed statement  a line that is another call, or that sets variables to nil, is left out
///   no learning        `lr = 0.1` is 0
///   one turn           a loop that counts turns once
///   other dtype        float16 is bfloat16, bfloat16 float16, float32 float16; half() is float(),
///                      float() half()
///   constant result    a line `return {...}` in a function returns {loss = 0}
///   constant results   all such lines of the file do
///   empty result       such a line returns {}
///   no result          such a line returns nothing
std::vector<SourceMutant> line_mutants(std::string_view source);

}  // namespace ohm::test
