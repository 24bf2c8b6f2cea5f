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

void ReferenceCounts::refer(Reference from, Node& to) {
  ++to.references;
  (to.witness.from == nullptr ? to.witness : to.spare) = from;
}

void ReferenceCounts::drop_reference(Reference from, Node& to) {
  OHM_ASSERT(to.references > 0, "a reference that was not counted");
  --to.references;
  // One of them: a table may refer to the same value twice.
  if (to.spare == from) {
    to.spare = {};
  } else if (to.witness == from) {
    to.witness = std::exchange(to.spare, {});
    // Only ways that were found lead through it.
    if (to.proven_at == losses_) ++losses_;
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
/// What coroutines and weak keys hold is in no cycle for those who keep objects.
ReferenceCounts::Node* ReferenceCounts::kept_in_circle(Node& start) {
  Node* kept = nullptr;
  Node* at = &start;
  do {
    if (at->value.tag == raw::kThread || at->witness.table != nullptr) return nullptr;
    if (at->stays_in_cycles) kept = at;
    at = at->witness.from;
  } while (at != &start);
  if (kept != nullptr) kept->is_kept = true;
  return kept;
}

/// Of the way from `node`, as far as is known; null: none, or it needs others.
ReferenceCounts::Node* ReferenceCounts::lasting_end(Node& node) const {
  if (is_safe(node)) return &node;
  return node.proven_at == losses_ && is_safe(*node.proof) ? node.proof : nullptr;
}

/// What was handed on is held by what is at hand: a few steps may do where the way from witness to
/// witness is long.
bool ReferenceCounts::is_near(const Reference& reference) {
  constexpr int kFewSteps = 4;
  const Reference* at = &reference;
  for (int step = 0; step < kFewSteps; ++step) {
    if (at->from == nullptr || at->table != nullptr) return false;
    if (is_safe(*at->from)) return true;
    at = &at->from->witness;
  }
  return false;
}

bool ReferenceCounts::is_proven(Node& node) {
  if (is_near(node.spare)) {
    node.proven_in = settles_;
    return true;
  }
  way_.clear();
  tables_in_proof_ = 0;
  return finds_way(node, ways_ + 1);
}

/// Ways from `first_way` on are those that this one is to complete: what they lead through is not
/// proven yet.
bool ReferenceCounts::finds_way(Node& node, std::uint64_t first_way) {
  constexpr int kMostTables = 16;
  const std::uint64_t number = ++ways_;
  const std::size_t begin = way_.size();
  bool is_plain = true;
  Node* at = &node;
  while (at->proven_in != settles_ && lasting_end(*at) == nullptr) {
    if (at->passed_at == number) {
      at = kept_in_circle(*at);
      if (at == nullptr) return false;
      break;
    }
    if (at->passed_at >= first_way || at->witness.from == nullptr) return false;
    at->passed_at = number;
    ++steps_;
    way_.push_back(at);
    if (Node* const table = at->witness.table) {
      is_plain = false;
      if (tables_in_proof_ == kMostTables) return false;
      ++tables_in_proof_;
      if (!finds_way(*table, first_way)) return false;
      --tables_in_proof_;
    }
    at = at->witness.from;
  }
  // For later ones, too, where its end is all that it depends on.
  Node* const end = is_plain ? lasting_end(*at) : nullptr;
  for (; way_.size() > begin; way_.pop_back()) {
    Node& passed = *way_.back();
    passed.proven_in = settles_;
    if (end == nullptr) continue;
    passed.proof = end;
    passed.proven_at = losses_;
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
  ++settles_;
  for (const void* content : doubtful) {
    Node* const node = find(content);
    if (node != nullptr && !is_proven(*node)) return false;
  }
  return true;
}

}  // namespace ohm::lua
