-- Programs with and without seeded bugs whose results are right, and those of the next run are not. The
-- line above each says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local nn = ohm.nn
local programs = {}

local function work(i, d) return (ohm.full({16}, i, {device = d}) * 2):sum():item() end

-- corrupt: a failure makes the rate of all later runs smaller
do
  local failures = 0
  programs.slower_ever_after = function(d)
    local rate, sum = 1 / (1 + failures), 0
    for i = 1, 3 do
      if not p.try(function() sum = sum + rate * work(i, d) end) then
        failures = failures + 1
        sum = sum + rate * work(i, d)
      end
    end
    return {sum = sum}
  end
end

-- corrupt: a network that only evaluates is left in training mode
do
  local net
  programs.evaluation_ended = function(d)
    if not net then
      ohm.manual_seed(1)
      net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 4)):to(d):eval()
    end
    local sum
    local function evaluate()
      sum = ohm.no_grad(function() return net(p.batch(1, d)):sum():item() end)
    end
    if not p.try(evaluate) then
      evaluate()
      net:train()
    end
    return {sum = sum}
  end
end

-- corrupt: the mean that the next run begins with has the batch of a failed try twice
do
  local mean = 0
  programs.mean_with_a_failed_batch = function(d)
    local begun, loss = mean, nil
    p.again(function()
      mean = 0.5 * mean + 0.5 * 3
      loss = work(1, d)
    end)
    return {loss = loss, begun = begun}
  end
end

-- corrupt: the next run begins a batch later
do
  local first = 0
  programs.batch_passed_over = function(d)
    local begun = first
    p.again(function()
      first = first + 1
      work(1, d)
    end)
    return {begun = begun}
  end
end

-- corrupt: the rate that a second try is made with stays
do
  local rate = 1
  programs.rate_of_the_second_try = function(d)
    local used = rate
    if not p.try(work, 1, d) then
      rate = rate / 2
      work(1, d)
    end
    return {used = used}
  end
end

-- good: failures of this run count, and no others
programs.slower_in_this_run = function(d)
  local failures, sum = 0, 0
  for i = 1, 3 do
    if not p.try(function() sum = sum + work(i, d) end) then
      failures = failures + 1
      sum = sum + work(i, d)
    end
  end
  return {sum = sum, rate = failures < 4 and 1 or 0}
end

-- good: a network is in training mode for a second try alone
do
  local net
  programs.evaluation_goes_on = function(d)
    if not net then
      ohm.manual_seed(1)
      net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 4)):to(d):eval()
    end
    local sum
    local function evaluate()
      sum = ohm.no_grad(function() return net(p.batch(1, d)):sum():item() end)
    end
    if not p.try(evaluate) then
      net:train()
      net:eval()
      evaluate()
    end
    return {sum = sum}
  end
end

-- good: the mean moves on when the batch is done
do
  local mean = 0
  programs.mean_of_whole_batches = function(d)
    local begun, loss = mean, nil
    p.again(function()
      loss = work(1, d)
      mean = 0.5 * mean + 0.5 * 3
    end)
    return {loss = loss, begun = begun}
  end
end

-- good: every run begins a batch later, whatever fails
do
  local first = 0
  programs.batch_by_batch = function(d)
    local begun = first
    p.again(function() work(1, d) end)
    first = first + 1
    return {begun = begun}
  end
end

-- good: random numbers that a failed try has drawn, and a seed before each batch
do
  programs.seeded_after_a_failure = function(d)
    local sum
    p.again(function()
      ohm.manual_seed(3)
      sum = ohm.randn(16, {device = d}):sum():item()
    end)
    return {sum = sum}
  end
end

return p.scenario("next_run", "What a failure leaves for the next run", programs)
