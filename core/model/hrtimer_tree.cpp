// SPDX-License-Identifier: GPL-3.0-or-later
// The red-black tree of one clock base on Boost.Intrusive's algorithms, with links that survive copying.
#include "core/model/hrtimer_tree.h"

#include <algorithm>
#include <boost/intrusive/rbtree_algorithms.hpp>

namespace tickscope {

/// How Boost.Intrusive reaches the links of a node.
struct TreeLinks {
  using node = HrtimerTree::Node;
  using node_ptr = node*;
  using const_node_ptr = const node*;
  using color = bool;

  static node_ptr follow(const_node_ptr from, s32 link) {
    return link == HrtimerTree::nowhere ? nullptr : const_cast<node_ptr>(from) + link;
  }
  static s32 linkTo(const_node_ptr from, const_node_ptr to) {
    return to == nullptr ? HrtimerTree::nowhere : static_cast<s32>(to - from);
  }
  static node_ptr get_parent(const_node_ptr n) { return follow(n, n->parent); }
  static void set_parent(node_ptr n, node_ptr parent) { n->parent = linkTo(n, parent); }
  static node_ptr get_left(const_node_ptr n) { return follow(n, n->left); }
  static void set_left(node_ptr n, node_ptr left) { n->left = linkTo(n, left); }
  static node_ptr get_right(const_node_ptr n) { return follow(n, n->right); }
  static void set_right(node_ptr n, node_ptr right) { n->right = linkTo(n, right); }
  static color get_color(const_node_ptr n) { return n->red; }
  static void set_color(node_ptr n, color c) { n->red = c; }
  static color black() { return false; }
  static color red() { return true; }
};

namespace {
using Algorithms = boost::intrusive::rbtree_algorithms<TreeLinks>;
}  // namespace

void HrtimerTree::clear() {
  pool_.resize(1);
  Algorithms::init_header(pool_.data());
  free_ = nowhere;
  size_ = 0;
}

TreeNode HrtimerTree::insert(SpanId span, MonoTime x, BaseTime expires) {
  s32 place = free_;
  if (place == nowhere) {
    place = static_cast<s32>(pool_.size());
    pool_.emplace_back();
  } else {
    free_ = pool_[static_cast<std::size_t>(place)].parent;
  }
  Node& node = pool_[static_cast<std::size_t>(place)];
  node.timer = {span, x, expires};
  if (x.value > 0) offset_ = Ns{(expires - BaseTime{x.value}).value};
  Algorithms::insert_equal_upper_bound(pool_.data(), &node, [](const Node* a, const Node* b) {
    return a->timer.expires < b->timer.expires;
  });
  ++size_;
  return static_cast<TreeNode>(place);
}

void HrtimerTree::erase(TreeNode at) {
  Node& node = pool_[number(at)];
  Algorithms::erase(pool_.data(), &node);
  node.parent = free_;
  free_ = static_cast<s32>(number(at));
  --size_;
}

Known<TreeNode> HrtimerTree::at(const Node* node) const {
  if (node == nullptr || node == pool_.data()) return {};
  return static_cast<TreeNode>(node - pool_.data());
}

Known<TreeNode> HrtimerTree::next(TreeNode after) const {
  return at(Algorithms::next_node(const_cast<Node*>(&pool_[number(after)])));
}

Known<TreeNode> HrtimerTree::root() const { return at(TreeLinks::get_parent(pool_.data())); }

HrtimerTree::Shape HrtimerTree::shape(TreeNode of) const {
  const Node& node = pool_[number(of)];
  return {at(TreeLinks::get_left(&node)), at(TreeLinks::get_right(&node)), node.red};
}

void HrtimerTree::shift(Ns change) {
  if (offset_) offset_ = Ns{offset_->value + change.value};
  for (Known<TreeNode> node = first(); node; node = next(*node)) {
    Timer& timer = pool_[number(*node)].timer;
    // A timer clamped to 0 lost its distance; the offset, which any timer of the base tells, restores it.
    const s64 x =
        offset_ ? (timer.expires - BaseTime{offset_->value}).value : timer.x.value - change.value;
    timer.x = MonoTime{std::max<s64>(0, x)};
  }
}

}  // namespace tickscope
