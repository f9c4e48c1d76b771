#include "graphmount/text/numbers/time.hpp"

#include <chrono>
#include <cstddef>

namespace graphmount {
namespace {

// Takes things off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char front() const { return text_.empty() ? '\0' : text_.front(); }
  bool skip(char c) {
    if (front() != c || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Exactly `count` digits; -1 if there are fewer.
  int number(std::size_t count) {
    if (text_.size() < count) return -1;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return -1;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  bool skip_digits() {
    const std::size_t before = text_.size();
    while (front() >= '0' && front() <= '9') text_.remove_prefix(1);
    return text_.size() < before;
  }

 private:
  std::string_view text_;
};

bool is_between(int value, int least, int most) {
  return value >= least && value <= most;
}

// Z, +02:00, +0200, +02, or nothing at all; in seconds.
std::optional<int> parse_offset(Scanner& scanner) {
  if (scanner.at_end() || scanner.skip('Z') || scanner.skip('z')) return 0;
  const bool is_west = scanner.front() == '-';
  if (!scanner.skip('+') && !scanner.skip('-')) return std::nullopt;
  const int hours = scanner.number(2);
  int minutes = 0;
  if (scanner.skip(':') || !scanner.at_end()) minutes = scanner.number(2);
  if (!is_between(hours, 0, 23) || !is_between(minutes, 0, 59)) return std::nullopt;
  const int seconds = hours * 3600 + minutes * 60;
  return is_west ? -seconds : seconds;
}

// The time of a day in seconds, with its offset from UTC taken off.
std::optional<int> parse_time_of_day(Scanner& scanner) {
  const int hour = scanner.number(2);
  if (!scanner.skip(':')) return std::nullopt;
  const int minute = scanner.number(2);
  int second = 0;
  if (scanner.skip(':')) {
    second = scanner.number(2);
    if ((scanner.skip('.') || scanner.skip(',')) && !scanner.skip_digits()) return std::nullopt;
  }
  if (!is_between(hour, 0, 23) || !is_between(minute, 0, 59) || !is_between(second, 0, 59))
    return std::nullopt;
  const std::optional<int> offset = parse_offset(scanner);
  if (!offset) return std::nullopt;
  return hour * 3600 + minute * 60 + second - *offset;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  Scanner scanner(text);
  const int year = scanner.number(4);
  if (year < 0 || !scanner.skip('-')) return std::nullopt;
  const int month = scanner.number(2);
  if (!scanner.skip('-')) return std::nullopt;
  const int day = scanner.number(2);
  if (!is_between(month, 1, 12) || !is_between(day, 1, 31)) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  if (scanner.at_end()) return days * 86400;
  if (!scanner.skip('T') && !scanner.skip('t') && !scanner.skip(' ')) return std::nullopt;
  const std::optional<int> seconds = parse_time_of_day(scanner);
  if (!seconds || !scanner.at_end()) return std::nullopt;
  return days * 86400 + *seconds;
}

}  // namespace graphmount
