// Alias tables: the probabilities they imply are those of the weights.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "graphmount/graph/alias_table.hpp"

using namespace graphmount;

namespace {

std::vector<std::uint64_t> table_of(const std::vector<float>& weights) {
  static AliasScratch scratch;  // reused, as the writer does
  std::vector<std::uint64_t> table(weights.size(), 0x1234567812345678);
  build_alias(weights, table, scratch);
  return table;
}

// The probability of each entry, by going through all places and thresholds.
std::vector<double> implied(const std::vector<std::uint64_t>& table) {
  const auto length = static_cast<double>(table.size());
  std::vector<double> probability(table.size(), 0.0);
  for (std::size_t i = 0; i < table.size(); ++i) {
    CHECK(alias_of(table[i]) < table.size());
    const double kept = alias_threshold(table[i]) / 4294967296.0;
    probability[i] += kept / length;
    probability[alias_of(table[i])] += (1.0 - kept) / length;
  }
  return probability;
}

void check_table(const std::vector<float>& weights) {
  const auto table = table_of(weights);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum == 0.0) {
    for (const std::uint64_t entry : table) CHECK_EQUAL(entry, kNoPick);
    return;
  }
  const auto probability = implied(table);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0F) CHECK_EQUAL(probability[i], 0.0);
    const double error = std::abs(probability[i] - static_cast<double>(weights[i]) / sum);
    CHECK(error <= std::ldexp(1.0, -30));
  }
}

}  // namespace

TEST(packs_threshold_and_alias) {
  const std::uint64_t entry = pack_alias(0xDEADBEEF, 0x01020304);
  CHECK_EQUAL(alias_threshold(entry), 0xDEADBEEF);
  CHECK_EQUAL(alias_of(entry), 0x01020304U);
}

TEST(empty_and_single) {
  CHECK(table_of({}).empty());
  check_table({1.0F});
  check_table({1e-40F});
  check_table({0.0F});
  check_table({std::numeric_limits<float>::max()});
}

TEST(without_positive_weight_nothing_can_be_picked) {
  check_table({0.0F, 0.0F, 0.0F});
  check_table({-0.0F, 0.0F});
}

TEST(equal_weights_keep_their_places) {
  for (const std::size_t length : {2UL, 3UL, 7UL, 1000UL}) {
    const auto table = table_of(std::vector<float>(length, 0.1F));
    for (std::size_t i = 0; i < length; ++i)
      CHECK(alias_of(table[i]) == i || alias_threshold(table[i]) >= UINT32_MAX - 1);
    check_table(std::vector<float>(length, 0.1F));
  }
}

TEST(zero_weights_are_never_picked) {
  check_table({0.0F, 1.0F, 0.0F, 2.0F, 0.0F});
  std::vector<float> one_of_many(10'000, 0.0F);
  one_of_many[4321] = 1e-30F;
  check_table(one_of_many);
}

TEST(huge_ratios) {
  const float largest = std::numeric_limits<float>::max();
  const float smallest = std::numeric_limits<float>::denorm_min();
  check_table({largest, smallest});
  check_table({smallest, largest, smallest, 0.0F});
  check_table(std::vector<float>(100, largest));
  check_table(std::vector<float>(100, smallest));
  check_table({1.0F, 1e-7F, 1e7F, 3.0F, 1e30F, 1e-30F});
}

TEST(random_lists) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::size_t> length(1, 24);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  std::normal_distribution<float> exponent(0.0F, 20.0F);
  for (int list = 0; list < 100'000; ++list) {
    std::vector<float> weights(list % 10'000 == 0 ? 5000 : length(random));
    for (float& weight : weights) {
      const float kind = uniform(random);
      weight = kind < 0.2F                    ? 0.0F
               : kind < 0.6F || list % 2 == 0 ? uniform(random)
                                              : std::exp2(exponent(random));
    }
    check_table(weights);
  }
}
