// A mounted file of either kind: its checked header, the guarded mapping the core reads through,
// and the mappings that users' views are made of. Mounting reads the header and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "graphmount/base/progress.hpp"
#include "graphmount/format/format.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {

class Mount {
 public:
  Mount(std::shared_ptr<MappedFile> file, FileKind kind);

  const MappedFile& file() const { return *file_; }
  const Header& header() const { return header_; }

  /// First byte of a section in the guarded mapping, for use within `file().read_guarded`.
  template <class Item>
  const Item* data(const Section& section) const {
    return reinterpret_cast<const Item*>(file_->data() + section.offset);
  }

  /// What use(items) gives for those of a section of integers, which are int32 or int64.
  template <class Use>
  auto with_integers(const Section& section, const Use& use) const {
    return section.dtype == DType::kInt32 ? use(data<std::int32_t>(section))
                                          : use(data<std::int64_t>(section));
  }

  /// A mapping for views to keep alive. Private views that are alive at the same time share one, so
  /// what is written through one is seen in the others, and forgotten when the last of them is
  /// gone.
  std::shared_ptr<const MappedFile> map_for_view(MapMode mode) const;

  /// Normal, random and sequential hold for all mappings of this mount, also later ones; willneed
  /// and populate are done once.
  /// Progress is told of populating, in bytes.
  void advise(Advice advice, const Progress& progress = {}) const;

  /// The lasting advice that holds now.
  Advice advice() const;

  std::optional<std::uint64_t> resident_bytes() const;

  /// Throws the FormatError for damage, and says how to find all of it.
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  std::shared_ptr<MappedFile> file_;
  Header header_;
  mutable std::shared_ptr<const MappedFile> shared_view_;
  mutable std::weak_ptr<const MappedFile> private_view_;
  mutable Advice lasting_advice_ = Advice::kNormal;
};

}  // namespace graphmount
