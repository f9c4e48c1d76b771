#include "graphmount/text_steps.hpp"

#include <algorithm>
#include <cstring>

namespace graphmount {

std::vector<TextStep> make_steps(const TextLayout& layout) {
  std::vector<TextStep> steps;
  for (std::size_t i = 0; i < layout.outputs.size(); ++i) {
    const TextOutput& output = layout.outputs[i];
    const std::size_t bytes = item_bytes(output.type);
    for (std::size_t k = 0; k < output.fields.size(); ++k)
      steps.push_back({output.fields[k], output.type, i, output.fields.size() * bytes, k * bytes});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const TextStep& a, const TextStep& b) { return a.field < b.field; });
  return steps;
}

void drop_text(std::vector<TextTarget>& targets, std::size_t row) {
  for (const TextTarget& target : targets) {
    if (target.text == nullptr) continue;
    std::int64_t end = 0;
    if (row > 0) std::memcpy(&end, target.items + (row - 1) * sizeof end, sizeof end);
    target.text->resize(static_cast<std::size_t>(end));
  }
}

void add_text(const TextTarget& target, std::size_t row, std::string_view text) {
  target.text->append(text);
  const auto end = static_cast<std::int64_t>(target.text->size());
  std::memcpy(target.items + row * sizeof end, &end, sizeof end);
}

}  // namespace graphmount
