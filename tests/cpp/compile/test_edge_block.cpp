// Blocks give back the entries they were made of: as they came, and by cell.
#include <random>

#include "check.hpp"
#include "entry_source.hpp"
#include "graphmount/compile/edges/edge_block.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

Entries random_entries(std::uint64_t seed, std::size_t count, std::uint64_t first_owner,
                       std::uint64_t num_owners, std::uint64_t first_row) {
  std::mt19937_64 random(seed);
  Entries entries;
  for (std::size_t i = 0; i < count; ++i)
    entries.push_back({first_owner + random() % num_owners, random() % 1000,
                       first_row + i * (1 + seed % 3), static_cast<float>(random() % 8),
                       static_cast<std::int64_t>(random())});
  return entries;
}

// Before and after a partition.
void check_block(const Entries& entries, const Cells& cells) {
  for (const EntryParts parts : all_parts()) {
    const Entries expected = with_parts(entries, parts);
    EdgeBlock block(EntrySource{entries}, 0, entries.size(), parts);
    CHECK_EQUAL(block.size(), entries.size());
    Entries found;
    append_entries(block.piece(), found);
    CHECK(are_equal(found, expected));
    std::uint64_t owner = 0, neighbor = 0;
    for (const ListEntry& entry : entries) {
      owner = std::max(owner, entry.owner);
      neighbor = std::max(neighbor, entry.neighbor);
    }
    CHECK_EQUAL(block.largest_owner(), owner);
    CHECK_EQUAL(block.largest_neighbor(), neighbor);
    CHECK_EQUAL(block.is_wide(), std::max(owner, neighbor) > UINT32_MAX);
    for (int round = 0; round < 2; ++round) {
      block.partition(cells);
      CHECK_EQUAL(block.cell_begin(cells.count), entries.size());
      found.clear();
      for (std::size_t cell = 0; cell < cells.count; ++cell) {
        Entries of_cell;
        append_entries(block.piece(cell, cell + 1), of_cell);
        for (const ListEntry& entry : of_cell) CHECK_EQUAL(cells.of(entry.owner), cell);
        found.insert(found.end(), of_cell.begin(), of_cell.end());
      }
      Entries sorted = expected;
      std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
        return cells.of(a.owner) < cells.of(b.owner);
      });
      CHECK(are_equal(found, sorted));
    }
    CHECK(block.bytes() >= entries.size() * sizeof(NarrowPair));
  }
}

}  // namespace

TEST(gives_back_what_it_was_made_of) {
  check_block({}, {0, 0, 1});
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    check_block(random_entries(seed, 1 + seed * 50, 0, 100, 5),
                {0, static_cast<int>(seed % 4), 100});
  check_block(random_entries(1, 5000, 700, 64, 0), {700, 3, 8});
}

TEST(ids_beyond_32_bits) {
  const std::uint64_t base = (std::uint64_t{1} << 40) - 32;
  check_block(random_entries(1, 5000, base, 64, 0), {base, 2, 16});
  check_block(random_entries(1, 5000, UINT32_MAX - 63, 64, 0), {UINT32_MAX - 63, 2, 16});
  check_block(random_entries(1, 5000, UINT32_MAX - 62, 64, 0), {UINT32_MAX - 62, 2, 16});
  Entries entries = random_entries(1, 500, 0, 64, 0);
  entries.back().neighbor = std::uint64_t{1} << 32;
  check_block(entries, {0, 2, 16});
}

TEST(rows_beyond_32_bits) {
  check_block(random_entries(1, 500, 0, 64, std::uint64_t{1} << 40), {0, 2, 16});
  check_block(random_entries(1, 500, 0, 64, UINT32_MAX - 100), {0, 2, 16});
  Entries entries = random_entries(1, 500, 0, 64, 0);
  for (std::size_t i = 250; i < 500; ++i) entries[i].row += std::uint64_t{1} << 33;
  check_block(entries, {0, 2, 16});
}

TEST(rows_in_any_order) {  // as they are where entries have been in cells before
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Entries entries = random_entries(1, 20, 0, 64, 0);
    for (ListEntry& entry : entries)
      entry.row = round % 2 == 0 ? random() % 1000 : random() % (std::uint64_t{1} << 34);
    check_block(entries, {0, 2, 16});
  }
}

TEST(a_part_of_a_source) {
  const Entries entries = random_entries(1, 500, 0, 64, 0);
  const EdgeBlock block(EntrySource{entries}, 100, 300, {true, true, true});
  Entries found;
  append_entries(block.piece(), found);
  CHECK(are_equal(found, {entries.begin() + 100, entries.begin() + 300}));
}
