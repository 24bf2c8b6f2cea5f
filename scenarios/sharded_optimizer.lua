-- Symptom: "four GPUs with DistributedDataParallel, and each of them holds all of Adam's state."
--
-- Every rank keeps the same parameters, gradients and optimizer state: with Psi parameters trained
-- in mixed precision 16 Psi bytes on each of N ranks. Sharding gives each rank a part: of the state
-- (ZeRO-1: 4 Psi + 12 Psi / N), of the gradients too (ZeRO-2: 2 Psi + 14 Psi / N), of the
-- parameters too (ZeRO-3, FSDP: 16 Psi / N and the layers in flight). More ranks without sharding
-- save nothing.

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- 8 layers of width 256, 257 KiB each, and a head; four ranks, and 16 samples for each of them.
local RANKS, DEPTH, WIDTH, ROWS = 4, 8, 256, 16
local P = nets.deep_bytes(DEPTH, WIDTH)
local LAYER, HEAD = bytes.linear(WIDTH, WIDTH), bytes.linear(WIDTH, 10)
-- What a step holds beside: the batch, all results, two gradients, the head's tensors.
local STEP = (1 + DEPTH + 2) * bytes.float32(ROWS, WIDTH) + 4 * bytes.float32(ROWS, 10)
  + bytes.int64(ROWS) + 4 * bytes.scalar
-- In float32 parameters and gradients are 2 P, Adam's two states and its temporary 3 P. Rank 0 has
-- two of the eight layers and the head.
local SHARE = 2 * LAYER + HEAD
local ZERO_1 = 2 * P + 3 * SHARE + STEP

-- The rank that keeps the state of parameter i: two parameters a layer, layers in turn.
local function owner(i) return (i - 1) // 2 % RANKS end

local function average(parameters, world_size)
  for _, p in ipairs(parameters) do
    ohm.distributed.all_reduce(p.grad)
    p.grad:div_(world_size)
  end
end

-- `share(i, rank)` tells whether a rank updates parameter i; others get it from the one that does.
local function train(ranks, share)
  local losses = ohm.distributed.spawn(ranks, function(rank, world_size)
    local device = "cuda:" .. rank
    local net = nets.deep(DEPTH, WIDTH, "cpu"):to(device)
    local parameters, mine = net:parameters(), {}
    for i, p in ipairs(parameters) do
      if share(i, rank) then mine[#mine + 1] = p end
    end
    local optimizer = ohm.optim.Adam(mine, {lr = 1e-3})
    local x, y = nets.batch(RANKS * ROWS, WIDTH, "cpu")
    local rows = RANKS * ROWS // world_size
    x, y = x:narrow(0, rank * rows, rows):to(device), y:narrow(0, rank * rows, rows):to(device)
    local loss
    for _ = 1, 3 do
      net:zero_grad()
      loss = F.cross_entropy(net(x), y)
      loss:backward()
      average(parameters, world_size)
      optimizer:step()
      if #mine < #parameters then
        for i, p in ipairs(parameters) do ohm.distributed.broadcast(p:detach(), owner(i)) end
      end
      ohm.step()
    end
    return loss:item()
  end)
  local sum = 0
  for _, of_rank in ipairs(losses) do sum = sum + of_rank[1] end
  return {loss = sum / ranks}
end

local function everything() return true end
local function owned(i, rank) return owner(i) == rank end

-- Bytes of a rank by the formulas of the ZeRO paper, in units of Psi.
local function zero(stage, n)
  return ({16, 4 + 12 / n, 2 + 14 / n, 16 / n})[stage + 1]
end

return ohm.scenario {
  name = "sharded_optimizer",
  summary = "Each rank can keep a part of the optimizer's state instead of all of it",
  gpu = {profile = "tiny-64m", count = RANKS, values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ZERO_1)},

  problems = {replicated = function() return train(RANKS, everything) end},
  mitigations = {zero_1 = function() return train(RANKS, owned) end},
  -- Half of the ranks, or as many again: each keeps as much.
  non_fixes = {
    two_ranks = function() return train(2, everything) end,
  },
  checks = {
    formulas_for_7b_on_64_gpus = { -- in GB of 10^9 bytes, rounded, for 7.5 billion parameters
      returns = {replicated = 120, zero_1 = 31, zero_2 = 17, zero_3 = 2},
      run = function()
        local function gigabytes(stage) return math.floor(7.5 * zero(stage, 64) + 0.5) end
        return {replicated = gigabytes(0), zero_1 = gigabytes(1), zero_2 = gigabytes(2),
                zero_3 = gigabytes(3)}
      end,
    },
    -- In float32 without master weights: 2 P, and state with temporary 3 P / N, by layers.
    measured_beside_the_formula = {
      limits = {
        ("peak_parameter_bytes == %d"):format(P),
        ("peak_gradient_bytes == %d"):format(P),
        ("peak_optimizer_state_bytes == %d"):format(3 * SHARE),
      },
      run = function() return train(RANKS, owned) end,
    },
  },
}
