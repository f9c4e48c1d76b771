// Makes calls of the core to the system fail, at will: the n-th call of a kind, or all from there
// on, with an error or by moving less than was asked for.
//
// An executable with faulty_system_calls.cpp has its own definitions of what system_calls.hpp
// declares, so that those of the core are not linked in. Without a fault they do what these do, and
// count.
#pragma once

#include <cstdint>
#include <string>

namespace graphmount::testing {

enum class Call {
  kOpen,
  kClose,
  kDuplicate,
  kMakeTemporary,
  kAccess,
  kPread,
  kPwrite,
  kStat,
  kFstat,
  kFtruncate,
  kFsync,
  kLink,
  kRename,
  kUnlink,
  kAdviseFile,
  kMapFile,
  kMapMemory,
  kAdviseMemory,
  kFallocate,
  kSyncFileRange,
  kStatx,
  kPreadv2,
  kCachestat,
  kRemap,
  kMakeSharedMemory,
  kAddSeals,
  kSealsOf,
  kUringSetup,
  kUringEnter,
  kUringRegister,
  kUringRead,    // how much a read by a ring asks for
  kUringResult,  // what its completion says
  kAllocate,     // operator new, in executables with faulty_allocations.cpp
};
inline constexpr int kNumCalls = static_cast<int>(Call::kAllocate) + 1;

const char* name_of(Call call);

/// What happens in place of an error number.
inline constexpr int kHalf = 0;      // a transfer moves half of the bytes, but at least one
inline constexpr int kNothing = -1;  // it moves none, as at the end of a file

struct Fault {
  Call call;
  int code;  // an errno, or one of the above
  std::uint64_t at = 1;
  bool goes_on = false;  // with every call from there on
};

/// Calls are counted, and fail as planned, as long as it lives. One at a time.
class FaultyCalls {
 public:
  FaultyCalls();
  explicit FaultyCalls(const Fault& fault);
  ~FaultyCalls();
  FaultyCalls(const FaultyCalls&) = delete;
  FaultyCalls& operator=(const FaultyCalls&) = delete;

  std::uint64_t num_calls(Call call) const;
  /// How many calls failed.
  std::uint64_t num_strikes() const;
};

/// No file without a name can be made as long as it lives, as on file systems that have none.
class OnlyNamedFiles {
 public:
  OnlyNamedFiles();
  ~OnlyNamedFiles();
  OnlyNamedFiles(const OnlyNamedFiles&) = delete;
  OnlyNamedFiles& operator=(const OnlyNamedFiles&) = delete;
};

/// For those who define calls: counts this one, and says which fault it has. An errno, kHalf,
/// kNothing, or kNoFault.
inline constexpr int kNoFault = -2;
int fault_of(Call call) noexcept;

}  // namespace graphmount::testing
