#include "graphmount/compile/edges/edge_block.hpp"

#include "graphmount/base/digit_sort.hpp"

namespace graphmount {

std::size_t EdgeBlock::bytes() const {
  std::size_t sum = begins_.capacity() * sizeof(begins_[0]);
  for (const auto& part : parts_) sum += part.bytes();
  return sum;
}

// Rows of a block mostly lie near each other, though not always in order.
void EdgeBlock::narrow_rows() {
  if (item_bytes_[EntryPart::kRows] == 0 || count_ == 0) return;
  const auto* const rows = items<std::uint64_t>(EntryPart::kRows);
  const auto [first, last] = std::minmax_element(rows, rows + count_);
  first_row_ = *first;
  largest_row_ = *last;
  if (largest_row_ - first_row_ > UINT32_MAX) return;
  item_bytes_[EntryPart::kRows] = sizeof(std::uint32_t);
  Buffer<std::byte> narrow(count_ * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < count_; ++i)
    reinterpret_cast<std::uint32_t*>(narrow.data())[i] =
        static_cast<std::uint32_t>(rows[i] - first_row_);
  std::swap(parts_[EntryPart::kRows], narrow);
}

template <class CellOf>
void EdgeBlock::move_to_cells(std::size_t num_cells, const CellOf& cell_of_owner) {
  // Memory is exchanged between blocks and these buffers, so that it is not allocated each time.
  thread_local ForParts<Buffer<std::byte>> moved;
  thread_local std::vector<std::uint32_t> next;
  const auto run = [&](const auto* pairs) {
    const auto cell_of = [pairs, cell_of_owner](std::size_t i) {
      return cell_of_owner(pairs[i].owner);
    };
    count_digits(count_, num_cells, begins_, cell_of);
    for (std::size_t part = 0; part < EntryPart::kCount; ++part) {
      if (item_bytes_[part] == 0) continue;
      moved[part].resize(count_ * item_bytes_[part]);
      next = begins_;
      const auto move = [cell_of, count = count_, places = next.data(), from = parts_[part].data(),
                         to = moved[part].data()](auto bytes) {
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(to + bytes() * places[cell_of(i)]++, from + i * bytes(), bytes());
      };
      // By constants, which copy by a register.
      if (item_bytes_[part] == 16)
        move(std::integral_constant<std::size_t, 16>());
      else if (item_bytes_[part] == 8)
        move(std::integral_constant<std::size_t, 8>());
      else
        move(std::integral_constant<std::size_t, 4>());
    }
  };
  if (is_wide())
    run(items<WidePair>(EntryPart::kPairs));
  else
    run(items<NarrowPair>(EntryPart::kPairs));
  for (std::size_t part = 0; part < EntryPart::kCount; ++part)
    if (item_bytes_[part] != 0) std::swap(parts_[part], moved[part]);
}

void EdgeBlock::partition(const Cells& cells) {
  move_to_cells(cells.count, [cells](std::uint64_t owner) { return cells.of(owner); });
}

void EdgeBlock::partition(std::span<const std::uint64_t> ends) {
  move_to_cells(ends.size(), [ends](std::uint64_t owner) {
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), owner) -
                                    ends.begin());
  });
}

EdgePiece EdgeBlock::make_piece(std::size_t begin, std::size_t end) const {
  EdgePiece piece{.count = end - begin, .first_row = first_row_, .item_bytes = item_bytes_};
  for (std::size_t part = 0; part < EntryPart::kCount; ++part)
    if (item_bytes_[part] != 0) piece.data[part] = parts_[part].data() + begin * item_bytes_[part];
  return piece;
}

}  // namespace graphmount
