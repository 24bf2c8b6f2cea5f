#include "runtime/tensor/traceback.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include "allocator_shim/observe/out_of_memory.h"

namespace ohm {
namespace {

using Variables = std::vector<Tensor>;

thread_local std::weak_ptr<Variables> of_script_error;

void add_defined(Variables& kept, const Variables& variables) {
  std::copy_if(variables.begin(), variables.end(), std::back_inserter(kept),
               [](const Tensor& variable) { return variable.defined(); });
}

}  // namespace

void hold_variables(const std::vector<Tensor>& variables) {
  try {
    throw;
  } catch (OutOfMemory& error) {
    const auto kept = std::make_shared<Variables>();
    add_defined(*kept, variables);
    error.hold(kept);
  } catch (const std::exception&) {  // its text is all that a script sees of it
  } catch (...) {                    // what Lua throws
    if (const std::shared_ptr<Variables> kept = of_script_error.lock()) {
      add_defined(*kept, variables);
    }
  }
}

std::shared_ptr<const void> variables_of_script_error() {
  const auto kept = std::make_shared<Variables>();
  of_script_error = kept;
  return kept;
}

}  // namespace ohm
