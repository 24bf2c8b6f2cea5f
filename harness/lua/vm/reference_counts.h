// Reference counts of a script's values, kept from what changed; for what lies in cycles a way to
// something that is alive for sure is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "harness/lua/vm/raw_values.h"

namespace ohm::lua {

/// Note [Counts and witnesses]
/// A value that no value refers to and that is not on the stack is dead, and with it what only dead
/// values refer to: counts show that at once. They do not show the death of a cycle. So a value
/// that loses a reference and still has others is looked at: each value has a witness, one of those
/// that refer to it, and where the way from witness to witness ends on the stack, or at a root, it
/// is alive. Where it does not, nobody knows, and the collector is asked. Values are often handed
/// on, from what goes to what has just been made: so the last that came to refer is known as well.
/// Of a class that stays in cycles no value dies while a way leads round through it: it is kept,
/// and so is what it leads to, until it loses a reference. A value under a weak key is the key's as
/// long as the table is alive, too: a way through such a reference needs one of the table's own,
/// which leads through nothing that is to be proven by it.
class ReferenceCounts {
 public:
  struct Node;

  /// What refers to a node.
  struct Reference {
    Node* from = nullptr;
    Node* table = nullptr;  ///< where `from` is a weak key: the table that has the node under it

    friend bool operator==(const Reference&, const Reference&) = default;
  };

  struct Node {
    RawValue value;
    std::size_t references = 0;  ///< from other nodes
    std::size_t on_stack = 0;
    Reference witness;      ///< none: nothing, or nobody knows
    Reference spare;        ///< the last that came to refer to it, for when the witness does not
    Node* proof = nullptr;  ///< the end of the way, found when `losses_` was `proven_at`
    std::uint64_t proven_at = 0;
    std::uint64_t proven_in = 0;  ///< the number of the settle() that found a way, whatever way
    bool is_root = false;
    bool is_leaf = false;          ///< refers to nothing: in no cycle
    bool is_suspect = false;       ///< lost a reference since settle()
    bool stays_in_cycles = false;  ///< of a class of which cycles are no garbage
    bool is_kept = false;          ///< one that was found to be in a cycle
    bool has_weak_keys = false;    ///< a table that does not keep its keys alive
    bool has_weak_values = false;
    bool is_held_weakly = false;  ///< is or was in such a table
    std::uint64_t passed_at = 0;  ///< the number of the last way that led through it
  };

  Node* find(const void* content);
  /// Pre-condition: it is not there.
  Node& add(RawValue value);
  std::size_t size() const { return nodes_.size(); }
  void clear();

  static void refer(Reference from, Node& to);
  void drop_reference(Reference from, Node& to);
  void enter_stack(Node& node) { ++node.on_stack; }
  void leave_stack(Node& node);
  /// For one that nothing may refer to: settle() looks at it.
  void suspect(Node& node);

  /// Calls on_death(node) for each that died since the last call: it drops the references that the
  /// node has. Then it is forgotten. False where something may have died, or not.
  bool settle(const std::function<void(Node&)>& on_death);

  /// How many nodes were visited to settle, in all.
  std::uint64_t steps() const { return steps_; }

 private:
  static bool is_safe(const Node& node) {
    return node.is_root || node.on_stack > 0 || node.is_kept;
  }
  static bool is_near(const Reference& reference);
  static Node* kept_in_circle(Node& start);
  Node* lasting_end(Node& node) const;
  bool is_proven(Node& node);
  bool finds_way(Node& node, std::uint64_t first_way);

  std::unordered_map<const void*, Node> nodes_;
  std::vector<Node*> suspects_;
  std::vector<Node*> way_;
  std::uint64_t losses_ = 1;  ///< how many witnesses were lost on ways that were found
  std::uint64_t ways_ = 0;    ///< how many were gone
  std::uint64_t settles_ = 0;
  std::uint64_t steps_ = 0;
  int tables_in_proof_ = 0;  ///< that are being proven, each for a way of the one before
};

}  // namespace ohm::lua
