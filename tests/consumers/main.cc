// What an embedder writes first; README.md shows these lines.
#include <mmcpp/mmcpp.h>

int main() {
  const auto tensor = mmcpp::Tensor::Allocate(mmcpp::DType::kF32, {2, 3});
  return tensor.ok() && tensor->byte_count() == 24 ? 0 : 1;
}
