#include "harness/lua/vm/reference_counts.h"

#include <utility>

#include "allocator_shim/base/assert.h"

namespace ohm::lua {

ReferenceCounts::Node* ReferenceCounts::find(const void* content) {
  const auto known = nodes_.find(content);
  return known == nodes_.end() ? nullptr : &known->second;
}

ReferenceCounts::Node& ReferenceCounts::add(RawValue value) {
  Node& node = nodes_[value.content];
  node.value = value;
  return node;
}

void ReferenceCounts::clear() {
  nodes_.clear();
  suspects_.clear();
}

void ReferenceCounts::refer(Node& from, Node& to) {
  ++to.references;
  (to.witness == nullptr ? to.witness : to.spare) = &from;
}

void ReferenceCounts::drop_reference(Node& from, Node& to) {
  OHM_ASSERT(to.references > 0, "a reference that was not counted");
  --to.references;
  // One of them: a table may refer to the same value twice.
  if (to.spare == &from) {
    to.spare = nullptr;
  } else if (to.witness == &from) {
    to.witness = std::exchange(to.spare, nullptr);
    ++losses_;
  }
  suspect(to);
}

void ReferenceCounts::leave_stack(Node& node) {
  OHM_ASSERT(node.on_stack > 0, "a value that was not on the stack");
  --node.on_stack;
  suspect(node);
}

void ReferenceCounts::suspect(Node& node) {
  node.is_kept = false;
  if (node.is_suspect) return;
  node.is_suspect = true;
  suspects_.push_back(&node);
}

/// The way from witness to witness leads back to `start`: what is kept in that circle, or null.
/// What coroutines hold is in no cycle for those who keep objects.
ReferenceCounts::Node* ReferenceCounts::kept_in_circle(Node& start) {
  Node* kept = nullptr;
  Node* at = &start;
  do {
    if (at->value.tag == raw::kThread) return nullptr;
    if (at->stays_in_cycles) kept = at;
    at = at->witness;
  } while (at != &start);
  if (kept != nullptr) kept->is_kept = true;
  return kept;
}

bool ReferenceCounts::is_proven(Node& node) {
  way_.clear();
  ++ways_;
  Node* at = &node;
  while (!is_safe(*at)) {
    if (at->proven_at == losses_ && is_safe(*at->proof)) {
      at = at->proof;
      break;
    }
    if (at->passed_at == ways_) {
      at = kept_in_circle(*at);
      if (at == nullptr) return false;
      break;
    }
    at->passed_at = ways_;
    way_.push_back(at);
    if (at->witness == nullptr) return false;
    at = at->witness;
  }
  for (Node* passed : way_) {
    passed->proof = at;
    passed->proven_at = losses_;
  }
  return true;
}

bool ReferenceCounts::settle(const std::function<void(Node&)>& on_death) {
  std::vector<const void*> doubtful;
  // Deaths first: they take references from what is doubtful, or kill it, too.
  while (!suspects_.empty()) {
    Node* const node = suspects_.back();
    suspects_.pop_back();
    node->is_suspect = false;
    if (is_safe(*node) || (node->references > 0 && node->is_leaf)) continue;
    if (node->references > 0) {
      doubtful.push_back(node->value.content);
      continue;
    }
    on_death(*node);
    nodes_.erase(node->value.content);
  }
  for (const void* content : doubtful) {
    Node* const node = find(content);
    if (node != nullptr && !is_proven(*node)) return false;
  }
  return true;
}

}  // namespace ohm::lua
