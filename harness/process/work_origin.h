// Pieces of work that begin alike: their beginning is done once, in a process of its own, and each
// of them goes on in a copy of that process.
//
// The copies are as separate as workers are. They are not children of the process that asks for
// them: their origin tells how they ended.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/process/interrupt.h"
#include "harness/process/worker_child.h"
#include "harness/process/worker_process.h"

namespace ohm::engine {

class WorkOrigin {
 public:
  /// Runs in the origin, once; of one that throws there are no copies.
  using Begin = std::function<void()>;
  /// Runs in a copy, after `begin`; what it returns is the message. The origin knows what the
  /// process that made it knew then; the rest is in the request, of some dozens of bytes.
  using GoOn = std::function<std::string(const std::string& request)>;

  WorkOrigin(Begin begin, GoOn go_on);
  /// An origin that is a copy of another one: it begins with what that does for this request, and
  /// goes on as its copies would.
  WorkOrigin(std::shared_ptr<WorkOrigin> parent, std::string request);
  /// Ends the process, and copies that still run with it.
  ~WorkOrigin();
  WorkOrigin(const WorkOrigin&) = delete;
  WorkOrigin& operator=(const WorkOrigin&) = delete;

  /// Forks. It ends, as a piece of work, with an empty message when the beginning is done.
  StartedProcess start(const Outlets& outlets, const InterruptGuard& interrupts);
  /// The end of that piece of work: what the beginning printed is what each copy begins with.
  void take_beginning(const WorkResult& result);
  /// Whether copies can be made.
  bool has_begun() const { return has_begun_; }

  /// Pre-condition: has_begun(). A copy of a process that has ended since ends as that did.
  StartedProcess copy(const Outlets& outlets, const std::string& request);

 private:
  struct Packet;

  StartedProcess fork_origin(const Outlets& outlets, int socket, const InterruptGuard& interrupts);
  StartedProcess make_copy(const Outlets& outlets, const std::string& request, int socket);
  [[noreturn]] void begin_and_serve(int messages) noexcept;
  [[noreturn]] void serve() noexcept;
  void answer(const Packet& packet);
  [[noreturn]] void be_copy(const Packet& packet) noexcept;
  int wait_until_begun();
  int wait_for(pid_t copy);
  int wait_for_end();

  static bool send_packet(int socket, const Packet& packet);
  static std::optional<Packet> receive_packet(int socket);

  Begin begin_;
  GoOn go_on_;
  std::shared_ptr<WorkOrigin> parent_;
  std::string request_;
  bool has_begun_ = false;
  std::string printed_;
  StartedProcess process_;
  std::optional<int> status_;  ///< that it ended with, once that is known
  int socket_ = -1;            ///< the caller's end; in the origin its own
};

}  // namespace ohm::engine
