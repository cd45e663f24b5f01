// SPDX-License-Identifier: GPL-3.0-or-later
// One clock base of one CPU: armed timers ordered by hard expiry, equal ones by insertion, in a red-black tree.
#pragma once

#include <vector>

#include "core/model/model_ids.h"

namespace tickscope {

/// A timer in a tree: its place in the tree's pool. Valid from insert to erase, also in copies of the tree.
enum class TreeNode : u32 {};

/// The order of lib/timerqueue.c: by hard expiry in the clock of the base; a timer goes behind its equals. Balancing
/// is Boost.Intrusive's; links are distances inside the pool, so that copying the pool copies the tree, and nothing
/// is allocated once the pool has grown to the largest number of timers seen.
class HrtimerTree {
 public:
  struct Timer {
    SpanId span{};
    MonoTime x;        ///< hard expiry on the monotonic axis: max(0, expires - offset)
    BaseTime expires;  ///< hard expiry in the clock of the base, the key
  };
  struct Shape {
    Known<TreeNode> left, right;
    bool red = false;
  };

  HrtimerTree() { clear(); }

  TreeNode insert(SpanId span, MonoTime x, BaseTime expires);
  void erase(TreeNode at);
  void clear();
  /// Makes room, so that so many timers need no allocation.
  void reserve(std::size_t timers) { pool_.reserve(timers + 1); }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Timer& operator[](TreeNode at) const { return pool_[number(at)].timer; }
  /// The leftmost timer, O(1); empty: none.
  [[nodiscard]] Known<TreeNode> first() const {
    // The header, which is place 0, keeps the leftmost node on its left, and itself when there is none.
    const s32 leftmost = pool_.front().left;
    return leftmost == 0 ? Known<TreeNode>{} : static_cast<TreeNode>(leftmost);
  }
  /// The next timer in order; empty behind the last one.
  [[nodiscard]] Known<TreeNode> next(TreeNode at) const;
  [[nodiscard]] bool isFirst(TreeNode at) const { return first() == at; }

  /// In order: visit(const Timer&).
  template <class Visit>
  void forEach(Visit visit) const {
    for (Known<TreeNode> at = first(); at; at = next(*at)) visit((*this)[*at]);
  }

  /// For drawing: the top of the tree, and what hangs below a node.
  [[nodiscard]] Known<TreeNode> root() const;
  [[nodiscard]] Shape shape(TreeNode at) const;
  /// Parents before children, left before right: visit(TreeNode, const Timer&, const Shape&, depth), the root at 0.
  template <class Visit>
  void forEachNode(Visit visit) const {
    if (const Known<TreeNode> top = root()) visitBelow(*top, 0, visit);
  }

  /// expires - x of the base, as far as a timer told it; empty: none did.
  [[nodiscard]] Known<Ns> offset() const { return offset_; }
  /// The offset of the base grew by `change`: every x is computed anew; the order stays, it goes by the base's clock.
  void shift(Ns change);

 private:
  friend struct TreeLinks;
  /// Links are counted in nodes from this one; `nowhere`: null.
  struct Node {
    s32 parent = nowhere, left = nowhere, right = nowhere;
    bool red = false;
    Timer timer;
  };
  static constexpr s32 nowhere = std::numeric_limits<s32>::min();

  [[nodiscard]] Known<TreeNode> at(const Node* node) const;
  template <class Visit>
  void visitBelow(TreeNode node, u32 depth, Visit& visit) const {
    const Shape below = shape(node);
    visit(node, (*this)[node], below, depth);
    if (below.left) visitBelow(*below.left, depth + 1, visit);
    if (below.right) visitBelow(*below.right, depth + 1, visit);
  }

  std::vector<Node> pool_;  ///< the header (root, first, last) first, then timers and free places
  s32 free_ = nowhere;      ///< first free place of pool_; the next one stands in its `parent`
  u32 size_ = 0;
  Known<Ns> offset_;
};

}  // namespace tickscope
