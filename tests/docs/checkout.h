// A checkout of ohm in a scratch folder: where the commands of a document are run by a shell, with
// the program that the tests were built with.
#pragma once

#include <string>

#include "tests/docs/checker.h"
#include "tests/support/temp_folder.h"

namespace ohm::docs {

/// Has `./ohm`, a copy of scenarios/ and a link to tests/. A real card is never used: CUDA's driver
/// and libraries are the tests' stand-ins. Where $OHM_TORCH_PYTHON is a Python with PyTorch, that
/// is what it provides, as `python`.
class Checkout : public Workplace {
 public:
  Checkout();

  /// By bash, with `ohm` in its path. What is left of the scratch folder's name is ".".
  CommandResult run(const std::string& command) override;
  std::string provides() const override;
  void write(const std::string& file, const std::string& bytes) override;

 private:
  test::TempFolder folder_;
  test::TempFolder streams_;  ///< what a command prints, and the command itself
};

}  // namespace ohm::docs
