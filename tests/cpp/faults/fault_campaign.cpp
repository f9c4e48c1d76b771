#include "fault_campaign.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "check.hpp"
#include "graphmount/base/error.hpp"

namespace graphmount::testing {

const std::vector<FaultKind> kFaultKinds = {
    {Call::kOpen, EINTR, Effect::kNone},
    {Call::kOpen, EIO, Effect::kEither},
    {Call::kOpen, EMFILE, Effect::kEither},
    {Call::kOpen, EMFILE, Effect::kEither, true},
    {Call::kClose, EIO, Effect::kNone},
    {Call::kClose, EINTR, Effect::kNone},
    {Call::kDuplicate, EMFILE, Effect::kEither},
    {Call::kMakeTemporary, ENOSPC, Effect::kError},
    {Call::kAccess, EACCES, Effect::kNone},
    {Call::kPread, EINTR, Effect::kNone},
    {Call::kPread, kHalf, Effect::kNone},
    {Call::kPread, kHalf, Effect::kNone, true},
    {Call::kPread, EIO, Effect::kEither},  // a reader may find another way while it is made
    {Call::kPread, EIO, Effect::kEither, true},
    {Call::kPread, EAGAIN, Effect::kEither, true},
    {Call::kPread, kNothing, Effect::kEnd},
    {Call::kPwrite, EINTR, Effect::kNone},
    {Call::kPwrite, kHalf, Effect::kNone},
    {Call::kPwrite, kHalf, Effect::kNone, true},
    {Call::kPwrite, EIO, Effect::kError},
    {Call::kPwrite, ENOSPC, Effect::kError},
    {Call::kPwrite, ENOSPC, Effect::kError, true},
    {Call::kPwrite, EDQUOT, Effect::kError},
    {Call::kPwrite, EAGAIN, Effect::kError, true},
    {Call::kPwrite, kNothing, Effect::kEnd},
    {Call::kStat, EIO, Effect::kEither},
    {Call::kFstat, EIO, Effect::kEither},
    {Call::kFtruncate, EINTR, Effect::kNone},
    {Call::kFtruncate, EIO, Effect::kError},
    {Call::kFsync, EINTR, Effect::kNone},
    {Call::kFsync, EIO, Effect::kEither},  // that of the folder is but an offer
    {Call::kFsync, ENOSPC, Effect::kEither, true},
    {Call::kLink, EIO, Effect::kError},
    {Call::kRename, EIO, Effect::kError},
    {Call::kRename, ENOSPC, Effect::kError},
    {Call::kAdviseFile, EIO, Effect::kNone},
    {Call::kMapFile, ENOMEM, Effect::kEither},
    {Call::kMapFile, ENOMEM, Effect::kEither, true},
    {Call::kMapMemory, ENOMEM, Effect::kMemory},
    {Call::kMapMemory, ENOMEM, Effect::kMemory, true},
    {Call::kRemap, ENOMEM, Effect::kMemory},
    {Call::kMakeSharedMemory, ENOSYS, Effect::kError},
    {Call::kAddSeals, EBUSY, Effect::kError},
    {Call::kSealsOf, EINVAL, Effect::kError},
    {Call::kAdviseMemory, EAGAIN, Effect::kEither},
    {Call::kAdviseMemory, EINVAL, Effect::kEither, true},
    {Call::kFallocate, EINTR, Effect::kNone},
    {Call::kFallocate, EOPNOTSUPP, Effect::kNone, true},
    {Call::kFallocate, ENOSPC, Effect::kEither},
    {Call::kFallocate, EIO, Effect::kEither},
    {Call::kFallocate, ENOSPC, Effect::kEither, true},
    {Call::kSyncFileRange, EIO, Effect::kNone},
    {Call::kStatx, ENOSYS, Effect::kNone, true},
    {Call::kPreadv2, EOPNOTSUPP, Effect::kNone, true},
    {Call::kCachestat, ENOSYS, Effect::kNone, true},
    {Call::kUringSetup, EPERM, Effect::kEither},
    {Call::kUringSetup, ENOMEM, Effect::kEither},
    {Call::kUringSetup, EMFILE, Effect::kEither, true},
    {Call::kUringEnter, EINTR, Effect::kNone},
    {Call::kUringEnter, EAGAIN, Effect::kNone},
    {Call::kUringEnter, EBUSY, Effect::kNone},
    {Call::kUringEnter, EPERM, Effect::kEither},
    {Call::kUringEnter, EPERM, Effect::kEither, true},
    {Call::kUringEnter, EIO, Effect::kEither},
    {Call::kUringRegister, EPERM, Effect::kEither},
    {Call::kUringRegister, ENOMEM, Effect::kEither},
    {Call::kUringRead, kHalf, Effect::kNone},
    {Call::kUringRead, kHalf, Effect::kNone, true},
    {Call::kUringResult, EINTR, Effect::kNone},
    {Call::kUringResult, EAGAIN, Effect::kNone, true},
    {Call::kUringResult, kNothing, Effect::kNone},
    {Call::kUringResult, EIO, Effect::kError},
    {Call::kUringResult, EINVAL, Effect::kError},
    {Call::kUringResult, EIO, Effect::kError, true},
};

namespace {

constexpr std::uint64_t kSampled = 3;        // calls of a kind that fail in a short campaign,
constexpr std::uint64_t kMostPlaces = 1000;  // and in a long one
constexpr unsigned kPatience = 60;           // seconds until a piece of work counts as stuck
constexpr const char* kOldText = "an older file, which somebody may need";

char g_current[200];  // what is being done, for the handler

void say_what_was_done(int number) {
  const char* const parts[] = {number == SIGALRM ? "stuck: " : "dead: ", g_current, "\n"};
  for (const char* part : parts) static_cast<void>(!write(STDERR_FILENO, part, strlen(part)));
  signal(number, SIG_DFL);
  raise(number);
}

bool is_long_campaign() {
  const char* const value = std::getenv("GRAPHMOUNT_LONG");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

std::size_t num_open_files() {
  return names_in("/proc/self/fd").size();
}

std::string describe(int code) {
  if (code == kHalf) return "half a transfer";
  if (code == kNothing) return "an empty transfer";
  return std::strerror(code);
}

// What came of one piece of work.
struct Outcome {
  std::optional<Bytes> result;
  std::string message;  // of what was thrown
  int code = 0;         // its number, if it was an IoError
  bool is_file_error = false, is_memory_error = false;
  bool has_struck = false;  // whether the fault came at all
};

Outcome outcome_of(const Work& work) {
  Outcome outcome;
  try {
    outcome.result = work.run();
  } catch (const FileError& error) {
    outcome.message = error.what();
    outcome.is_file_error = !error.path().empty();
    if (const auto* io = dynamic_cast<const IoError*>(&error)) outcome.code = io->code();
  } catch (const BudgetError& error) {
    outcome.message = error.what();
    outcome.is_memory_error = true;
  } catch (const std::bad_alloc& error) {
    outcome.message = error.what();
    outcome.is_memory_error = true;
  } catch (const ThreadError& error) {
    outcome.message = error.what();
    outcome.is_memory_error = error.code() == ENOMEM;
  } catch (const std::exception& error) {
    outcome.message = error.what();
  }
  return outcome;
}

bool is_right(const Outcome& outcome, const FaultKind& kind) {
  if (outcome.result) return !outcome.has_struck || kind.effect != Effect::kError;
  switch (kind.effect) {
    case Effect::kNone:
      return false;
    case Effect::kError:
    case Effect::kEither:
      return outcome.is_file_error && outcome.code == kind.code;
    case Effect::kMemory:
      return outcome.is_memory_error || (outcome.is_file_error && outcome.code == kind.code);
    case Effect::kEnd:
      return outcome.is_file_error;
  }
  return false;
}

class Campaign {
 public:
  explicit Campaign(const Work& work) : work_(work) {
    struct sigaction action{};
    action.sa_handler = say_what_was_done;
    for (const int number : {SIGALRM, SIGABRT, SIGSEGV}) sigaction(number, &action, nullptr);
    expected_ = work_.run();  // threads are started, and caches filled
    if (work_.output) expected_ = read_bytes(*work_.output);
    num_open_ = num_open_files();
    place_old_file();
    names_ = names_in(work_.folder);
    set_current("without faults");
    CHECK(do_work(std::nullopt).result == expected_);
  }

  /// How many times that was.
  std::uint64_t run(const FaultKind& kind) {
    const std::uint64_t count = counts_[static_cast<int>(kind.call)];
    std::set<std::uint64_t> places;
    // All, or the first, the last, and some between.
    const std::uint64_t most = is_long_campaign() ? kMostPlaces : kSampled;
    for (std::uint64_t i = 0; i < most; ++i)
      if (count > 0) places.insert(1 + i * (count - 1) / std::max<std::uint64_t>(most - 1, 1));
    for (const std::uint64_t at : places) strike(kind, at);
    return places.size();
  }

 private:
  void set_current(const std::string& what) {
    std::snprintf(g_current, sizeof g_current, "%s, %s", work_.name.c_str(), what.c_str());
  }

  void place_old_file() const {
    if (work_.output) write_text(*work_.output, kOldText);
  }

  // With a watch on it, and on what it leaves behind. Faults end with the work.
  Outcome do_work(const std::optional<Fault>& fault) {
    Outcome outcome;
    alarm(kPatience);
    {
      std::optional<FaultyCalls> calls;
      if (fault)
        calls.emplace(*fault);
      else
        calls.emplace();
      outcome = outcome_of(work_);
      outcome.has_struck = calls->num_strikes() > 0;
      if (!fault)
        for (int i = 0; i < kNumCalls; ++i) counts_[i] = calls->num_calls(static_cast<Call>(i));
    }
    alarm(0);
    if (outcome.result && work_.output) outcome.result = read_bytes(*work_.output);
    const std::string said = "\n  after: " + outcome.message;
    if (outcome.result && *outcome.result != expected_) fail("another result");
    if (num_open_files() > num_open_) fail("descriptors stay open" + said);
    if (names_in(work_.folder) != names_) fail("something is left behind" + said);
    if (work_.output && !outcome.result) {
      const Bytes bytes = read_bytes(*work_.output);
      const auto old = std::as_bytes(std::span(kOldText, std::strlen(kOldText)));
      if (!std::equal(bytes.begin(), bytes.end(), old.begin(), old.end()))
        fail("the old file is gone" + said);
    }
    return outcome;
  }

  void strike(const FaultKind& kind, std::uint64_t at) {
    set_current(std::string(name_of(kind.call)) + " number " + std::to_string(at) +
                (kind.goes_on ? " and all that follow: " : ": ") + describe(kind.code));
    place_old_file();
    const Outcome outcome = do_work(Fault{kind.call, kind.code, at, kind.goes_on});
    if (!is_right(outcome, kind))
      fail(outcome.result ? "nobody was told" : "says: " + outcome.message);
    if (outcome.result) return;
    place_old_file();
    const Outcome next = do_work(std::nullopt);
    if (!next.result) fail("does not work afterwards: " + next.message);
  }

  [[noreturn]] static void fail(const std::string& problem) {
    FAIL(std::string(g_current) + ": " + problem);
  }

  const Work& work_;
  Bytes expected_;
  std::set<std::string> names_;
  std::size_t num_open_ = 0;  // files, with those that handles keep open between two calls
  std::uint64_t counts_[kNumCalls] = {};
};

}  // namespace

void run_campaigns(const std::vector<Work>& works, const std::vector<FaultKind>& kinds) {
  std::uint64_t num_runs = 0;
  std::string problems;
  for (const Work& work : works) {
    Campaign campaign(work);
    // All are tried: what one finds says little of the others.
    for (const FaultKind& kind : kinds) {
      try {
        num_runs += campaign.run(kind);
      } catch (const Failure& failure) {
        problems += std::string("\n") + failure.what();
      }
    }
  }
  if (!problems.empty()) FAIL(problems);
  CHECK(num_runs >= works.size());
  std::printf("      %llu runs with a fault\n", static_cast<unsigned long long>(num_runs));
}

}  // namespace graphmount::testing
