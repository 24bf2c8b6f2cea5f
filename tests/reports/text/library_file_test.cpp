#include "reports/text/library_file.h"

#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

TEST(LibraryFile, IsNamedFromWhereItWasInstalled) {
  EXPECT_EQ("timm/layers/mlp.py",
            installed_path("/venv/lib/python3.11/site-packages/timm/layers/mlp.py"));
  EXPECT_EQ("timm/layers/mlp.py",
            installed_path("C:\\venv\\Lib\\site-packages\\timm\\layers\\mlp.py"));
  EXPECT_EQ("contextlib.py", installed_path("/usr/lib/python3.11/contextlib.py"));
  EXPECT_EQ("torch/nn/functional.py", installed_path("/home/me/pytorch/torch/nn/functional.py"));
  EXPECT_EQ("module.py", installed_path("module.py"));
}

TEST(LibraryFile, PyTorchsOwnAreToldFromThoseOfPackages) {
  EXPECT_TRUE(is_pytorch_file("/venv/lib/python3.11/site-packages/torch/nn/functional.py"));
  EXPECT_TRUE(is_pytorch_file("/home/me/pytorch/torch/nn/functional.py"));
  EXPECT_TRUE(is_pytorch_file("module.py"));
  EXPECT_FALSE(is_pytorch_file("/torch/lib/python3.11/site-packages/timm/layers/mlp.py"));
  EXPECT_FALSE(is_pytorch_file("einops.py"));
  EXPECT_TRUE(is_library_file("einops.py"));
  EXPECT_FALSE(is_library_file("/home/me/my-packages/train.py"));
}

}  // namespace
}  // namespace ohm::reports
