-- Symptom: "one batch in a thousand is too large, and it ends the whole training."
--
-- An out-of-memory error can be caught. But the error holds the frames that it came through, and
-- they hold every tensor of the failed step: a retry inside the handler, while the error is alive,
-- runs out of memory again. What to do: leave the handler, drop what the failed step made, then
-- continue: with the same batch in two halves whose gradients add up, or without that batch.
--
-- Chapter: faults
-- PyTorch:
--     try:
--         train_step(batch)
--         failed = False
--     except torch.cuda.OutOfMemoryError:
--         failed = True
--     if failed:    # outside the handler: the error holds the failed step's tensors
--         for half in batch.chunk(2):
--             train_step(half)

local nets = require("nets")
local F = ohm.nn.functional

-- 8 blocks of width 128, 64 KiB each. A batch of 256 makes 128 KiB for each block's result, a long
-- one of 1,024 makes 512 KiB: the forward pass of the long one takes 2 segments of 2 MiB where
-- there is room for one, its halves fit.
local DEPTH, WIDTH, USUAL, LONG = 8, 128, 256, 1024
local SIZES = {USUAL, USUAL, LONG, USUAL, USUAL}
local CARD = {capacity = "6 MiB"}

-- `step(parts)` trains on the batch in so many parts; `recover(step)` calls it as it sees fit.
local function train(device, recover)
  local net = nets.deep(DEPTH, WIDTH, device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.01})
  local change, seen, last = nets.change_of(net[#net].bias), 0, 0
  for _, size in ipairs(SIZES) do
    local x, y = nets.batch(size, WIDTH, device)
    recover(function(parts)
      local rows = size // parts
      optimizer:zero_grad()
      last = 0 -- of the whole batch, in however many parts
      for first = 0, size - rows, rows do
        local out = net(x:narrow(0, first, rows))
        local loss = F.cross_entropy(out, y:narrow(0, first, rows)) / parts
        loss:backward()
        last = last + loss:item()
      end
      optimizer:step()
      seen = seen + size
    end)
    ohm.step()
  end
  return {samples_seen = seen, weight = net[1].weight:detach():cpu(), change = change(),
          loss = last}
end

local function uncaught(step) step(1) end

local function halve(step)
  local fits = pcall(step, 1) -- the error is dropped here, and what it held with it
  if fits then return end
  ohm.cuda.empty_cache()
  step(2)
end

local function skip(step) pcall(step, 1) end

local function retry_in_the_handler(step)
  local fits, err = pcall(step, 1)
  if fits then return end
  ohm.cuda.empty_cache()
  step(2)
  print(err) -- the error is still needed: so is all that it holds
end

local function recovering(problem, recover, options)
  return {
    of = problem, gpu = options.gpu, fault = options.fault,
    trades = options.trades, must_agree = options.must_agree, waive = options.waive,
    run = function(d) return train(d, recover) end,
  }
end
local SKIPPED = "the batch that did not fit"
local WITHOUT_IT = {{verdict = "swallowed", reason = "it goes on without the batch on purpose"}}
-- The fault that the variant brings along then hits another batch.
local ANOTHER = {WITHOUT_IT[1], {verdict = "recovered_different", reason = "another is left out"}}
local ROUNDED = {{
  verdict = "recovered_different",
  reason = "the gradients of two halves add up to the batch's but for the rounding",
}}
-- The long batch is begun, runs out of memory and is halved, with or without another failure: one
-- that comes before leaves requests unmade that were of no use.
local ROUNDED_OR_SHORTER = {ROUNDED[1], {
  verdict = "swallowed", reason = "a batch that does not fit is given up earlier, not left out",
}}

-- The hundred-and-seventieth allocation is in the third step.
local FAULT = "nth(170)"

return ohm.scenario {
  name = "oom_recovery",
  summary = "A step that is out of memory can be done again, once its tensors are gone",
  gpu = {profile = "tiny-64m", values = true},
  -- Every step is done, and nothing of a failed one stays.
  limits = {"steps == " .. #SIZES, "allocated_at_end_bytes == 0"},

  problems = {
    injected = {fault = FAULT, run = function(d) return train(d, uncaught) end},
    long_batch = {gpu = CARD, run = function(d) return train(d, uncaught) end},
  },
  mitigations = {
    injected_halve = recovering("injected", halve, {fault = FAULT, waive = ROUNDED}),
    injected_skip = recovering("injected", skip, {
      fault = FAULT, trades = SKIPPED, must_agree = {"steps", "finite"}, waive = ANOTHER,
    }),
    halve_the_batch = recovering("long_batch", halve, {gpu = CARD, waive = ROUNDED_OR_SHORTER}),
    skip_the_batch = recovering("long_batch", skip, {
      gpu = CARD, trades = SKIPPED, must_agree = {"steps", "finite"}, waive = WITHOUT_IT,
    }),
  },
  non_fixes = {
    retry_in_the_handler = recovering("long_batch", retry_in_the_handler, {gpu = CARD}),
  },
}
