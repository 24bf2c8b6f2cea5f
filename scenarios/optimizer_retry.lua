-- Symptom: "we catch the out-of-memory error and try the step again: KeyError: 'exp_avg_sq'."
--
-- Adam makes its state in the first step, entry by entry, and treats a state with any entry as
-- complete. An out-of-memory error between two entries leaves it incomplete: from then on every
-- step ends with a KeyError, and a loop that skips what fails skips the whole training. Neither
-- empty_cache() nor a smaller batch helps. What to do: drop the state before the first step is
-- tried again, or make the optimizer anew; or make the state before the training, in a step
-- without gradients. A fused step allocates only its state; in other forms the update may fail
-- halfway, and the weights must be restored, too.
--
-- Chapter: faults
-- PyTorch:
--     try:
--         train_step(batch)
--         failed = False
--     except torch.OutOfMemoryError:
--         failed = True
--     if failed:
--         if steps_done == 0:
--             optimizer.state.clear()    # incomplete, and nothing in it yet
--         train_step(batch)

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

local DEPTH, WIDTH, BATCH, STEPS = 2, 64, 32, 3
local P = nets.deep_bytes(DEPTH, WIDTH)
local PARAMETERS = 2 * (DEPTH + 1) -- a weight and a bias each
-- Two copies of the parameters, and a counter for each.
local STATE = 2 * P + PARAMETERS * bytes.scalar

local function new_optimizer(net)
  return ohm.optim.AdamW(net:parameters(), {lr = 1e-2, eps = 1e-4, fused = true})
end

-- `recover(t)` does `t.step(parts)`, the batch in so many parts, as it sees fit, and says whether
-- it was done; `prepare(t)` comes before the training.
local function train(device, recover, prepare)
  local net = nets.deep(DEPTH, WIDTH, device)
  local t = {net = net, optimizer = new_optimizer(net), steps_done = 0}
  local change, loss_seen = nets.change_of(net[#net].bias), 0
  if prepare then prepare(t) end
  for _ = 1, STEPS do
    local x, y = nets.batch(BATCH, WIDTH, device)
    function t.step(parts)
      local rows = BATCH // parts
      t.optimizer:zero_grad()
      loss_seen = 0
      for first = 0, BATCH - rows, rows do
        local out = net(x:narrow(0, first, rows))
        local loss = F.cross_entropy(out, y:narrow(0, first, rows)) / parts
        loss:backward()
        loss_seen = loss_seen + loss:item()
      end
      t.optimizer:step()
    end
    if recover(t) then
      t.steps_done = t.steps_done + 1
      ohm.step()
    end
  end
  return {weight = net[1].weight:detach():cpu(), change = change(), loss = loss_seen}
end

local function uncaught(t)
  t.step(1)
  return true
end

-- Tries a step once more, in so many parts, after what `before(t)` does.
local function again(before, parts)
  return function(t)
    if pcall(t.step, 1) then return true end
    before(t)
    t.step(parts)
    return true
  end
end

-- Skips a batch that fails for whatever reason.
local function skipping(recover)
  return function(t) return (pcall(recover, t)) end
end

local function do_nothing() end
local function clear_the_state(t)
  if t.steps_done == 0 then t.optimizer.state = {} end
end
local function make_the_optimizer_anew(t)
  if t.steps_done == 0 then t.optimizer = new_optimizer(t.net) end
end

-- Gradients and a learning rate of 0: no weight changes.
local function make_the_state(t)
  local rate = t.optimizer.lr
  for _, parameter in ipairs(t.net:parameters()) do
    parameter.grad = ohm.zeros_like(parameter)
  end
  t.optimizer.lr = 0
  t.optimizer:step()
  t.optimizer.lr = rate
end

-- After 31 requests of the batch, forward and backward, and those of the first parameter's step
-- and exp_avg: its exp_avg_sq.
local FAULT = "nth(34)"

local function faulty(recover, options)
  options = options or {}
  return {
    fault = FAULT, trades = options.trades, must_agree = options.must_agree, waive = options.waive,
    raises = options.raises, run = function(d) return train(d, recover, options.prepare) end,
  }
end
local ROUNDED = {{
  verdict = "recovered_different",
  reason = "the gradients of two halves add up to the batch's but for the rounding",
}}

return ohm.scenario {
  name = "optimizer_retry",
  summary = "An out-of-memory error in Adam's first step leaves its state incomplete",
  gpu = {profile = "tiny-64m", values = true},
  limits = {"steps == " .. STEPS, bytes.exactly("peak_optimizer_state_bytes", STATE)},
  reference = "undisturbed",

  problems = {retry = faulty(skipping(again(do_nothing, 1)))},
  mitigations = {
    state_cleared = faulty(again(clear_the_state, 1)),
    new_optimizer = faulty(again(make_the_optimizer_anew, 1)),
    cleared_and_halved = faulty(again(clear_the_state, 2), {waive = ROUNDED}),
    state_made_before = faulty(again(do_nothing, 1), {
      prepare = make_the_state, trades = "the count of steps, which begins at 1",
      must_agree = {"steps", "finite"},
    }),
  },
  non_fixes = {
    empty_cache = faulty(skipping(again(ohm.cuda.empty_cache, 1))),
    half_the_batch = faulty(skipping(again(do_nothing, 2))),
  },
  checks = {key_error = faulty(again(do_nothing, 1), {raises = "KeyError: 'exp_avg_sq'"})},
  references = {undisturbed = function(d) return train(d, uncaught) end},
}
