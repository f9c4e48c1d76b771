// Spools give back every entry once, in its bucket, those of an owner in the order in which they
// came: against a stable sort, from memory and from disk.
#include <atomic>
#include <random>

#include "check.hpp"
#include "entry_source.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/edges/edge_spool.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kEverything = UINT64_MAX;
constexpr EntryParts kAllParts{true, true, true};

struct Plan {
  EntryParts parts = kAllParts;
  std::uint64_t memory = kEverything;
  std::size_t batch = SIZE_MAX;
  std::uint64_t first_owner = 0, end_node = 0;
  std::uint64_t most_entries = 500, most_nodes = 1000;
};

// Owners are skewed: half of them are among the first few.
Entries random_entries(std::uint64_t seed, std::size_t count, std::uint64_t first_owner,
                       std::uint64_t num_owners) {
  std::mt19937_64 random(seed);
  Entries entries;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t most = random() % 2 == 0 ? num_owners : num_owners / 50 + 1;
    entries.push_back({first_owner + random() % most, random() % num_owners, i,
                       static_cast<float>(random() % 8), static_cast<std::int64_t>(random())});
  }
  return entries;
}

void add(EdgeSpool& spool, const Entries& entries, const Plan& plan) {
  for (std::size_t first = 0; first < entries.size();) {
    const std::size_t count = std::min(plan.batch, entries.size() - first);
    spool.add(EntrySource{std::span(entries).subspan(first, count)});
    CHECK(spool.memory_bytes() <= plan.memory);
    first += count;
  }
}

void check_buckets(const EdgeSpool& spool, const std::vector<EdgeSpool::Bucket>& buckets,
                   const Plan& plan) {
  std::uint64_t node = plan.first_owner, entries = 0;
  for (const EdgeSpool::Bucket& bucket : buckets) {
    CHECK_EQUAL(bucket.first_node, node);
    CHECK(bucket.end_node > node);
    CHECK(bucket.end_cell - bucket.first_cell <= 1 || bucket.entries <= plan.most_entries);
    CHECK(bucket.end_cell - bucket.first_cell == 1 || bucket.end_node - node <= plan.most_nodes);
    node = bucket.end_node;
    entries += bucket.entries;
  }
  CHECK_EQUAL(node, plan.end_node);
  CHECK_EQUAL(entries, spool.size());
}

void check_entry_sum(const EdgeSpool& spool, const Entries& expected) {
  const auto mixed = [](const ListEntry& entry) {
    return (entry.owner * 31 + entry.neighbor * 7 + entry.row) * 0x9E37'79B9'7F4A'7C15 +
           static_cast<std::uint64_t>(entry.time) + static_cast<std::uint64_t>(entry.weight);
  };
  std::atomic<std::uint64_t> sum = 0, count = 0;
  std::uint64_t told = 0;
  spool.for_each_entry(
      [&](const ListEntry& entry) {
        sum += mixed(entry);
        ++count;
      },
      [&](std::uint64_t used) { told += used; });
  CHECK_EQUAL(told, spool.size());
  std::uint64_t expected_sum = 0;
  for (const ListEntry& entry : expected) expected_sum += mixed(entry);
  CHECK_EQUAL(count.load(), expected.size());
  CHECK_EQUAL(sum.load(), expected_sum);
}

// All ways to get entries back. Returns what was spilled.
std::uint64_t check_spool(const Entries& entries, const Plan& plan) {
  const TemporaryFolder folder;
  const Entries expected = with_parts(entries, plan.parts);
  const Entries by_owner = sorted_by_owner(expected);
  EdgeSpool spool(plan.parts, plan.memory, folder.path(), plan.first_owner);
  CHECK_EQUAL(spool.end_owner(), 0U);
  CHECK_EQUAL(spool.end_neighbor(), 0U);
  add(spool, entries, plan);
  CHECK_EQUAL(spool.size(), entries.size());
  std::uint64_t largest = 0;
  for (const ListEntry& entry : entries) largest = std::max({largest, entry.owner, entry.neighbor});
  if (!entries.empty()) CHECK_EQUAL(std::max(spool.end_owner(), spool.end_neighbor()), largest + 1);
  check_entry_sum(spool, expected);

  spool.make_buckets(plan.end_node, 1, plan.most_nodes);  // buckets may be made again
  const auto buckets = spool.make_buckets(plan.end_node, plan.most_entries, plan.most_nodes);
  check_buckets(spool, buckets, plan);
  Entries loaded, in_portions;
  EdgeSpool::Loaded in_memory;
  for (const EdgeSpool::Bucket& bucket : buckets) {
    const std::size_t before = loaded.size();
    spool.prefetch(bucket);
    spool.load(bucket, in_memory);
    for (const EdgePiece& piece : in_memory.pieces) append_entries(piece, loaded);
    CHECK_EQUAL(loaded.size() - before, bucket.entries);
    for (std::size_t i = before; i < loaded.size(); ++i)
      CHECK(loaded[i].owner >= bucket.first_node && loaded[i].owner < bucket.end_node);
    spool.for_each_portion(bucket,
                           [&](const EdgePiece& piece) { append_entries(piece, in_portions); });
  }
  CHECK(are_equal(sorted_by_owner(loaded), by_owner));
  CHECK(are_equal(in_portions, loaded));

  EdgeSpool second(plan.parts, plan.memory, folder.path(), plan.first_owner);
  add(second, entries, plan);
  Entries drained;
  second.drain([&](const EdgePiece& piece) { append_entries(piece, drained); });
  CHECK(are_equal(sorted_by_owner(drained), by_owner));
  CHECK_EQUAL(second.memory_bytes(), 0U);
  second.drain([&](const EdgePiece& piece) { CHECK_EQUAL(piece.count, 0U); });
  CHECK(std::filesystem::is_empty(folder.path()));
  return spool.spilled_bytes();
}

// Nearly all entries have one owner.
struct Hub {
  std::uint64_t num_rows() const { return 2'400'000; }
  std::uint64_t entries_per_row() const { return 1; }
  void for_each(std::size_t begin, std::size_t end, const auto& add) const {
    for (std::size_t i = begin; i < end; ++i)
      add(ListEntry{i % 16 == 0 ? i % 5000 : 2077, (std::uint64_t{1} << 32) + i, 0, 0, 0});
  }
};

// Both halves of every edge.
struct Undirected {
  EntrySource rows;
  std::uint64_t num_rows() const { return rows.num_rows(); }
  std::uint64_t entries_per_row() const { return 2; }
  void for_each(std::size_t begin, std::size_t end, const auto& add) const {
    rows.for_each(begin, end, [&](ListEntry entry) {
      add(entry);
      if (entry.owner == entry.neighbor) return;
      std::swap(entry.owner, entry.neighbor);
      add(entry);
    });
  }
};

}  // namespace

TEST(stays_in_memory_where_that_does) {
  const Entries entries = random_entries(1, 20'000, 0, 5000);
  for (const EntryParts parts : all_parts()) {
    CHECK_EQUAL(check_spool(entries, {.parts = parts, .end_node = 5000}), 0U);
    check_spool(entries, {.parts = parts, .batch = 333, .end_node = 6500});
  }
}

TEST(spills_what_does_not_fit) {
  const Entries entries = random_entries(2, 20'000, 0, 5000);
  for (const EntryParts parts : all_parts()) {
    Plan plan{.parts = parts, .memory = 64 << 10, .batch = 700, .end_node = 5000};
    CHECK(check_spool(entries, plan) > 0);
    plan.batch = 5001;
    CHECK(check_spool(entries, plan) > 0);
    plan.memory = 0;  // every batch
    plan.batch = 900;
    CHECK_EQUAL(check_spool(entries, plan),
                entries.size() * (8U + (parts.rows ? 4U : 0U) + (parts.weights ? 4U : 0U) +
                                  (parts.times ? 8U : 0U)));
  }
}

TEST(runs_made_while_owners_were_smaller) {
  Entries entries;
  for (const std::uint64_t num_owners : {10, 3000, 40'000, 5'000'000, 100}) {
    for (ListEntry entry : random_entries(num_owners, 4000, 0, num_owners)) {
      entry.row = entries.size();
      entries.push_back(entry);
    }
  }
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{100'000}, kEverything})
    for (const std::size_t batch : {1000, 2900})
      check_spool(
          entries,
          {.memory = memory, .batch = batch, .end_node = 5'000'100, .most_nodes = 1'000'000});
}

TEST(many_tiny_batches) {
  const Entries entries = random_entries(3, 5000, 0, 3000);
  for (const std::uint64_t memory : {std::uint64_t{20'000}, kEverything})
    for (const std::size_t batch : {1, 7})
      check_spool(entries, {.memory = memory, .batch = batch, .end_node = 3000});
}

TEST(more_than_one_block) {
  const Entries entries = random_entries(4, 300'000, 0, 100'000);
  for (const std::uint64_t memory : {std::uint64_t{3 << 20}, kEverything})
    check_spool(
        entries,
        {.memory = memory, .end_node = 100'000, .most_entries = 50'000, .most_nodes = 20'000});
}

TEST(presorted_sources) {
  Entries entries = sorted_by_owner(random_entries(5, 20'000, 0, 5000));
  Entries reversed(entries.rbegin(), entries.rend());
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].row = reversed[i].row = i;
  for (const std::uint64_t memory : {std::uint64_t{100'000}, kEverything}) {
    check_spool(entries, {.memory = memory, .batch = 1000, .end_node = 5000});
    check_spool(reversed, {.memory = memory, .batch = 1000, .end_node = 5000});
  }
}

TEST(ids_beyond_32_bits) {
  const std::uint64_t base = std::uint64_t{1} << 33;
  Entries entries = random_entries(6, 3000, base, 2000);
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{50'000}, kEverything}) {
    // Counted from the first owner, and from 0 with narrow ones before and after them.
    check_spool(entries,
                {.memory = memory, .batch = 500, .first_owner = base, .end_node = base + 2000});
    Entries mixed = random_entries(7, 3000, 0, 2000);
    mixed.insert(mixed.end(), entries.begin(), entries.end());
    const Entries last = random_entries(8, 3000, 0, 2000);
    mixed.insert(mixed.end(), last.begin(), last.end());
    for (const std::size_t batch : {500, 1300})
      check_spool(mixed, {.memory = memory,
                          .batch = batch,
                          .end_node = base + 2000,
                          .most_nodes = std::uint64_t{1} << 32});
  }
  entries = random_entries(9, 3000, 0, 2000);
  for (std::size_t i = 0; i < entries.size(); i += 1000) entries[i].neighbor = base << 13;
  check_spool(entries, {.memory = 50'000, .batch = 300, .end_node = 2000});
}

TEST(rows_beyond_32_bits) {
  Entries entries = random_entries(10, 5000, 0, 2000);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].row = UINT32_MAX - 2500 + i;
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{50'000}, kEverything})
    check_spool(entries, {.memory = memory, .batch = 300, .end_node = 2000});
}

TEST(rows_in_any_order) {  // those of entries that come from another spool
  std::mt19937_64 random(11);
  Entries entries = random_entries(11, 5000, 0, 2000);
  for (const std::uint64_t most : {std::uint64_t{10'000}, std::uint64_t{1} << 34}) {
    for (ListEntry& entry : entries) entry.row = random() % most;
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{50'000}, kEverything})
      for (const std::size_t batch : {20, 300})
        check_spool(entries, {.memory = memory, .batch = batch, .end_node = 2000});
  }
}

// As where nodes are renumbered: what comes from disk is in the order of its cells.
TEST(entries_of_another_spool) {
  const TemporaryFolder folder;
  for (const std::uint64_t first_row : {std::uint64_t{0}, std::uint64_t{UINT32_MAX} - 2500}) {
    Entries entries = random_entries(14, 5000, 0, 2000);
    for (ListEntry& entry : entries) entry.row += first_row;
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{50'000}, kEverything}) {
      EdgeSpool first(kAllParts, 50'000, folder.path()), second(kAllParts, memory, folder.path());
      add(first, entries, {.memory = 50'000, .batch = 300});
      first.drain([&](const EdgePiece& piece) { second.add(piece); });
      Entries drained;
      second.drain([&](const EdgePiece& piece) { append_entries(piece, drained); });
      CHECK(are_equal(sorted_by_owner(drained), sorted_by_owner(entries)));
    }
  }
}

TEST(without_entries) {
  for (const std::uint64_t first_owner : {0, 100})
    check_spool({}, {.first_owner = first_owner, .end_node = 2500});
  EdgeSpool spool(kAllParts, 0, "/nowhere");
  CHECK(spool.make_buckets(0, 10, 10).empty());
}

TEST(a_list_longer_than_what_is_staged_at_once) {
  const TemporaryFolder folder;
  EdgeSpool spool({}, 37'000'000, folder.path());
  spool.add(Hub{});
  CHECK(spool.spilled_bytes() > 36'000'000);
  std::vector<std::uint64_t> last(5000, 0);
  std::uint64_t count = 0;
  for (const auto& bucket : spool.make_buckets(5000, 1000, 5000))
    spool.for_each_portion(bucket, [&](const EdgePiece& piece) {
      piece.for_each(0, piece.count, [&](const ListEntry& entry) {
        const std::uint64_t row = entry.neighbor & UINT32_MAX;
        CHECK(entry.owner == (row % 16 == 0 ? row % 5000 : 2077));
        CHECK(entry.neighbor > last[entry.owner]);
        last[entry.owner] = entry.neighbor;
        ++count;
      });
    });
  CHECK_EQUAL(count, Hub().num_rows());
}

TEST(rows_that_make_two_entries) {
  Entries rows = random_entries(12, 5000, 0, 3000);
  Entries expected;
  const Undirected source{{rows}};
  source.for_each(0, rows.size(), [&](const ListEntry& entry) { expected.push_back(entry); });
  const TemporaryFolder folder;
  for (const std::uint64_t memory : {std::uint64_t{50'000}, kEverything}) {
    EdgeSpool spool(kAllParts, memory, folder.path());
    for (std::size_t first = 0; first < rows.size(); first += 500)
      spool.add(Undirected{{std::span(rows).subspan(first, 500)}});
    CHECK_EQUAL(spool.size(), expected.size());
    Entries drained;
    spool.drain([&](const EdgePiece& piece) { append_entries(piece, drained); });
    CHECK(are_equal(sorted_by_owner(drained), sorted_by_owner(expected)));
  }
}

TEST(a_folder_that_is_not_there) {
  const Entries entries = random_entries(13, 5000, 0, 3000);
  EdgeSpool spool(kAllParts, 50'000, "/nowhere/at/all");
  CHECK_THROWS_WITH(spool.add(EntrySource{entries}), IoError, "pass tmp= for another folder");
}
