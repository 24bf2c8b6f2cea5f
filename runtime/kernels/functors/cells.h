// Cells of recurrent networks: functors of rows, as in rows.h. A row is an element of the
// state; what was computed with it are kept gates, side by side in rows of a workspace.
#pragma once

#include <cmath>

#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// Steps between the rows of a matrix and within one.
struct MatrixSteps {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// What a cell reads: gates of the input and of the hidden state, the state, biases or none. Gate g
/// of an element of the state stands `g` widths behind the element's column.
struct CellLayout {
  std::int64_t width;
  MatrixSteps input_gates;
  MatrixSteps hidden_gates;
  MatrixSteps state;
  std::int64_t input_bias;  ///< steps
  std::int64_t hidden_bias;

  /// Both parts of one element's gates; `first` is the operand with the input's.
  template <class Team>
  struct Gates {
    const Team& team;
    const RowLaunch& launch;
    const CellLayout& layout;
    std::int64_t row;
    std::int64_t column;
    int first;

    constexpr double load(int operand, std::int64_t offset) const {
      return team.template load<double>(launch.operands[operand], offset);
    }
    constexpr double input(int gate) const {
      const std::int64_t at = gate * layout.width + column;
      const double part =
          load(first, row * layout.input_gates.row + at * layout.input_gates.column);
      if (launch.operands[first + 3].address == 0) return part;
      return part + load(first + 3, at * layout.input_bias);
    }
    constexpr double hidden(int gate) const {
      const std::int64_t at = gate * layout.width + column;
      const double part =
          load(first + 1, row * layout.hidden_gates.row + at * layout.hidden_gates.column);
      if (launch.operands[first + 4].address == 0) return part;
      return part + load(first + 4, at * layout.hidden_bias);
    }
    constexpr double state() const {
      return load(first + 2, row * layout.state.row + column * layout.state.column);
    }
    constexpr double opened(int gate) const {
      return 1.0 / (1.0 + static_cast<double>(std::exp(-(input(gate) + hidden(gate)))));
    }
  };
};

/// Operands: the workspace of four gates, the new hidden state and the new cell, row-major; input
/// gates, hidden gates, cell, biases.
struct LstmCell {
  static constexpr const char* kKernel = "lstm_cell";
  CellLayout layout;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t row = number / layout.width;
    const std::int64_t column = number % layout.width;
    const CellLayout::Gates<Team> gates{team, launch, layout, row, column, 3};
    const double let_in = gates.opened(0);
    const double forget = gates.opened(1);
    const double fresh = static_cast<double>(std::tanh(gates.input(2) + gates.hidden(2)));
    const double let_out = gates.opened(3);
    const double next = forget * gates.state() + let_in * fresh;
    team.once([&] {
      const std::int64_t kept = row * 4 * layout.width + column;
      team.store(launch.operands[0], kept, let_in);
      team.store(launch.operands[0], kept + layout.width, forget);
      team.store(launch.operands[0], kept + 2 * layout.width, fresh);
      team.store(launch.operands[0], kept + 3 * layout.width, let_out);
      team.store(launch.operands[1], number, let_out * static_cast<double>(std::tanh(next)));
      team.store(launch.operands[2], number, next);
    });
  }
};

/// Operands: gradients of the gates and of the old cell, row-major; gradients of the hidden state
/// and of the new cell, either of which may be left out, the old cell, the new one, the workspace.
struct LstmCellBackward {
  static constexpr const char* kKernel = "lstm_cell_backward";
  std::int64_t width;
  MatrixSteps hidden_grad;
  MatrixSteps cell_grad;
  MatrixSteps old_cell;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t row = number / width;
    const std::int64_t column = number % width;
    const std::int64_t gate = row * 4 * width + column;
    const auto at = [&](int operand, std::int64_t offset) {
      return team.template load<double>(launch.operands[operand], offset);
    };
    const auto in = [&](int operand, const MatrixSteps& steps) {
      if (launch.operands[operand].address == 0) return 0.0;
      return at(operand, row * steps.row + column * steps.column);
    };
    const double let_in = at(6, gate);
    const double forget = at(6, gate + width);
    const double fresh = at(6, gate + 2 * width);
    const double let_out = at(6, gate + 3 * width);
    const double squashed = static_cast<double>(std::tanh(at(5, number)));
    const double to_hidden = in(2, hidden_grad);
    const double to_cell = to_hidden * let_out * (1.0 - squashed * squashed) + in(3, cell_grad);
    team.once([&] {
      team.store(launch.operands[0], gate, to_cell * fresh * (1.0 - let_in) * let_in);
      team.store(launch.operands[0], gate + width,
                 to_cell * in(4, old_cell) * (1.0 - forget) * forget);
      team.store(launch.operands[0], gate + 2 * width, to_cell * let_in * (1.0 - fresh * fresh));
      team.store(launch.operands[0], gate + 3 * width,
                 to_hidden * squashed * (1.0 - let_out) * let_out);
      team.store(launch.operands[1], number, to_cell * forget);
    });
  }
};

/// Operands: the workspace, the new state, row-major; input gates, hidden gates, state, biases. The
/// workspace keeps the gates, the old state and what the hidden part adds to the new one.
struct GruCell {
  static constexpr const char* kKernel = "gru_cell";
  CellLayout layout;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t row = number / layout.width;
    const std::int64_t column = number % layout.width;
    const CellLayout::Gates<Team> gates{team, launch, layout, row, column, 2};
    const double reset = gates.opened(0);
    const double update = gates.opened(1);
    const double hidden = gates.hidden(2);
    const double fresh = static_cast<double>(std::tanh(gates.input(2) + reset * hidden));
    const double old = gates.state();
    team.once([&] {
      const std::int64_t kept = row * 5 * layout.width + column;
      team.store(launch.operands[0], kept, reset);
      team.store(launch.operands[0], kept + layout.width, update);
      team.store(launch.operands[0], kept + 2 * layout.width, fresh);
      team.store(launch.operands[0], kept + 3 * layout.width, old);
      team.store(launch.operands[0], kept + 4 * layout.width, hidden);
      team.store(launch.operands[1], number, fresh + update * (old - fresh));
    });
  }
};

/// Operands: gradients of the input's and the hidden state's gates and of the old state, row-major;
/// the gradient of the new state, the workspace.
struct GruCellBackward {
  static constexpr const char* kKernel = "gru_cell_backward";
  std::int64_t width;
  MatrixSteps grad;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t row = number / width;
    const std::int64_t column = number % width;
    const auto kept = [&](int part) {
      return team.template load<double>(launch.operands[4], (row * 5 + part) * width + column);
    };
    const double reset = kept(0);
    const double update = kept(1);
    const double fresh = kept(2);
    const double g =
        team.template load<double>(launch.operands[3], row * grad.row + column * grad.column);
    const double to_fresh = g * (1.0 - update) * (1.0 - fresh * fresh);
    const double to_update = g * (kept(3) - fresh) * (1.0 - update) * update;
    const double to_reset = to_fresh * kept(4) * (1.0 - reset) * reset;
    team.once([&] {
      const std::int64_t gate = row * 3 * width + column;
      for (int side = 0; side < 2; ++side) {
        team.store(launch.operands[side], gate, to_reset);
        team.store(launch.operands[side], gate + width, to_update);
        team.store(launch.operands[side], gate + 2 * width,
                   side == 0 ? to_fresh : to_fresh * reset);
      }
      team.store(launch.operands[2], number, g * update);
    });
  }
};

// To verify kernels with.
inline constexpr CellLayout kVerifiedCell{5, {20, 1}, {20, 1}, {5, 1}, 1, 1};

}  // namespace ohm::functors
