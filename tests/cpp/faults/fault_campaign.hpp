// Does the same work again and again, each time with another call that fails, and checks what comes
// of it: the very same result or the right error; nothing left behind; the old file intact; no
// descriptor lost; no waiting for ever; and the work succeeds right after.
//
// With GRAPHMOUNT_LONG=1 each call of the work fails once; otherwise some of each kind do.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faults.hpp"
#include "forged_file.hpp"

namespace graphmount::testing {

struct Work {
  std::string name;
  /// Does it, and gives all that came of it but for the output. The same each time.
  std::function<Bytes()> run;
  /// Where it leaves nothing but its output, whether it succeeds or not.
  std::filesystem::path folder;
  /// A file that it replaces: an older one is there before, and after an error still.
  std::optional<std::filesystem::path> output = std::nullopt;
};

/// What has to come of a fault.
enum class Effect {
  kNone,    // nobody notices
  kError,   // the error is thrown, with its number
  kEither,  // where the call was but an offer, or there is another way, nobody notices
  kMemory,  // as kEither, but what is thrown says that there is no memory
  kEnd,     // as kEither, but what is thrown may be any error about the file: it ends too early
};

struct FaultKind {
  Call call;
  int code;
  Effect effect;
  bool goes_on = false;
};

/// Every fault that fits a call.
extern const std::vector<FaultKind> kFaultKinds;

/// Does each work with each kind of fault at each of the calls it makes.
void run_campaigns(const std::vector<Work>& works,
                   const std::vector<FaultKind>& kinds = kFaultKinds);

}  // namespace graphmount::testing
