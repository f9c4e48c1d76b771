// Buffers keep what they should keep, whether their memory is small or made of pages.
#include <cstddef>
#include <cstdint>
#include <new>

#include "check.hpp"
#include "graphmount/system/memory/buffer.hpp"

using namespace graphmount;

namespace {

std::uint64_t value_at(std::size_t i) {
  return i * 0x9E37'79B9 + 1;
}

void fill(Buffer<std::uint64_t>& buffer, std::size_t from) {
  for (std::size_t i = from; i < buffer.size(); ++i) buffer[i] = value_at(i);
}

void check_filled(const Buffer<std::uint64_t>& buffer, std::size_t size) {
  CHECK_EQUAL(buffer.size(), size);
  for (std::size_t i = 0; i < size; ++i) CHECK_EQUAL(buffer[i], value_at(i));
}

}  // namespace

TEST(is_empty_at_first) {
  Buffer<int> buffer;
  CHECK(buffer.empty() && buffer.data() == nullptr && buffer.bytes() == 0);
  buffer.resize(0);
  buffer.grow(0);
  buffer.release();
  CHECK(buffer.span().empty());
  CHECK(Buffer<int>(0).empty());
}

TEST(growing_keeps_the_content) {
  Buffer<std::uint64_t> buffer;
  // From a few bytes over the first pages to large ones.
  for (const std::size_t size : {1, 2, 60, 70, 1000, 32'000, 33'000, 40'000, 300'000, 2'000'000}) {
    const std::size_t before = buffer.size();
    buffer.grow(size);
    fill(buffer, before);
    check_filled(buffer, size);
    CHECK(buffer.bytes() >= size * sizeof(std::uint64_t));
  }
}

TEST(growing_one_by_one_asks_for_memory_seldom) {
  Buffer<std::uint64_t> buffer;
  std::size_t times = 0;
  for (std::size_t i = 0; i < 200'000; ++i) {
    const std::size_t before = buffer.bytes();
    buffer.grow(i + 1);
    buffer[i] = value_at(i);
    times += buffer.bytes() != before;
  }
  check_filled(buffer, 200'000);
  CHECK(times < 60);
  CHECK(buffer.bytes() < 200'000 * sizeof(std::uint64_t) * 3 / 2);
}

TEST(shrinking_keeps_the_rest) {
  Buffer<std::uint64_t> buffer(100'000);
  fill(buffer, 0);
  const std::size_t bytes = buffer.bytes();
  buffer.shrink(10);
  check_filled(buffer, 10);
  buffer.grow(100'000);  // there is room for it
  CHECK_EQUAL(buffer.bytes(), bytes);
  check_filled(buffer, 100'000);
  buffer.shrink(0);
  CHECK(buffer.empty());
}

TEST(resizing_takes_what_there_is) {
  Buffer<std::uint64_t> buffer;
  for (const std::size_t size : {100, 10, 100'000, 5, 0, 3'000'000, 70}) {
    buffer.resize(size);
    fill(buffer, 0);
    check_filled(buffer, size);
  }
  CHECK_EQUAL(buffer.bytes(), 3'000'000 * sizeof(std::uint64_t));
  buffer.release();
  CHECK(buffer.empty() && buffer.bytes() == 0);
}

TEST(moves) {
  for (const std::size_t size : {5, 100'000}) {
    Buffer<std::uint64_t> first(size);
    fill(first, 0);
    Buffer<std::uint64_t> second(std::move(first));
    check_filled(second, size);
    CHECK(first.empty() && first.data() == nullptr);
    Buffer<std::uint64_t> third(3);
    third = std::move(second);
    check_filled(third, size);
  }
}

TEST(too_much_is_an_error_that_changes_nothing) {
  Buffer<std::uint64_t> buffer(100'000);
  fill(buffer, 0);
  CHECK_THROWS(buffer.grow(std::size_t{1} << 58), std::bad_alloc);
  check_filled(buffer, 100'000);
  CHECK_THROWS(buffer.resize(std::size_t{1} << 58), std::bad_alloc);
  CHECK(buffer.empty());
  buffer.resize(10);
  fill(buffer, 0);
  check_filled(buffer, 10);
}

TEST(memory_that_is_not_there_is_named) {
  CHECK_THROWS_WITH(Buffer<std::byte>(std::size_t{1} << 62), std::bad_alloc,
                    "no further 4611686018427387904 bytes");
}

TEST(a_size_that_does_not_fit_into_bytes_is_refused) {
  Buffer<std::uint64_t> buffer;
  const std::size_t size = SIZE_MAX / 8 + 2;  // times 8 is 8
  CHECK_THROWS(buffer.resize(size), std::bad_alloc);
  CHECK_THROWS(buffer.grow(size), std::bad_alloc);
  buffer.resize(1);
  buffer[0] = 5;
  CHECK_THROWS(buffer.grow(size), std::bad_alloc);
  CHECK_EQUAL(buffer[0], 5U);
}
