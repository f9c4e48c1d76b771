#include "graphmount/text/lines/wanted_fields.hpp"

#include <algorithm>
#include <cstring>

namespace graphmount {
namespace {

bool is_next_float(const WantedField& wanted, const WantedField& next) {
  const bool is_float = wanted.type == TextType::kFloat32 || wanted.type == TextType::kFloat64;
  return is_float && next.output == wanted.output && next.field == wanted.field + 1 &&
         next.offset == wanted.offset + item_bytes(wanted.type);
}

}  // namespace

std::vector<WantedField> list_wanted_fields(const TextLayout& layout) {
  std::vector<WantedField> wanted;
  for (std::size_t i = 0; i < layout.outputs.size(); ++i) {
    const TextOutput& output = layout.outputs[i];
    const std::size_t bytes = item_bytes(output.type);
    for (std::size_t k = 0; k < output.fields.size(); ++k)
      wanted.push_back({output.fields[k], output.type, i, output.fields.size() * bytes, k * bytes,
                        output.may_be_empty});
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const WantedField& a, const WantedField& b) { return a.field < b.field; });
  for (std::size_t i = wanted.size(); i-- > 1;)
    if (is_next_float(wanted[i - 1], wanted[i])) wanted[i - 1].run = wanted[i].run + 1;
  return wanted;
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
