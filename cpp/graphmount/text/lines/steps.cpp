#include "graphmount/text/lines/steps.hpp"

#include <algorithm>
#include <cstring>

namespace graphmount {
namespace {

bool is_next_float(const TextStep& step, const TextStep& next) {
  const bool is_float = step.type == TextType::kFloat32 || step.type == TextType::kFloat64;
  return is_float && next.output == step.output && next.field == step.field + 1 &&
         next.offset == step.offset + item_bytes(step.type);
}

}  // namespace

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
  for (std::size_t i = steps.size(); i-- > 1;)
    if (is_next_float(steps[i - 1], steps[i])) steps[i - 1].run = steps[i].run + 1;
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
