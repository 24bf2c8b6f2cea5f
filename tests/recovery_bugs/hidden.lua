-- Programs with seeded bugs that failing one request, or one and all after it, need not show, and
-- what they look like when they are right. The line above each says the verdict that a sweep would
-- have to come to, and the bug; where none does, "Not found:" says why.

local p = require("programs")
local programs = {}

local function work(i, d) return (ohm.full({16}, i, {device = d}) * 2):sum():item() end

-- swallowed: two tries that fail are the end of it, with nothing said
programs.second_failure_swallowed = function(d)
  local sum
  if not p.try(function() sum = work(1, d) end) then
    p.try(function() sum = work(1, d) end)
  end
  return {sum = sum or 0}
end

-- swallowed: the third of three failures is not told
programs.third_failure_swallowed = function(d)
  local sum
  for _ = 1, 3 do
    if not sum then p.try(function() sum = work(1, d) end) end
  end
  return {sum = sum or 0}
end

-- recovered_different: failures in two batches are counted as one
-- Not found by default: it takes two failures, as --depth 2 brings them
programs.two_batches_fail = function(d)
  local failures, total = 0, 0
  for i = 1, 4 do
    local sum
    if not p.try(function() sum = work(i, d) end) then
      failures = failures + 1
      sum = work(failures == 2 and 1 or i, d)
    end
    total = total + sum
  end
  return {total = total}
end

-- swallowed: the eleventh of thirty batches is not repeated
-- Not found by default: the first, the middle and the last pass are others
programs.eleventh_batch = function(d)
  local total = 0
  for i = 1, 30 do
    local sum = 0
    if not p.try(function() sum = work(i, d) end) and i ~= 11 then sum = work(i, d) end
    total = total + sum
  end
  return {total = total}
end

-- recovered_different: rounds to half precision what half precision holds exactly
-- Not found by default: with these numbers the result is the same to the bit; where there are no
-- values, the requests tell
programs.exact_in_half = function(d)
  local y
  local x = ohm.ones(16, {device = d})
  if not p.try(function() y = x * 3 end) then y = (x:half() * 3):float() end
  return {y = y}
end

-- recovered_different: the loss that is reported is not that of the second try
-- Not found: nothing of it is returned
programs.wrong_report = function(d)
  local reported
  p.again(function()
    reported = reported or work(1, d)
    work(2, d)
  end)
end

-- corrupt: the tenth failure is one too many
-- Not found: no sweep brings ten failures that pass
do
  local failures = 0
  programs.tenth_failure = function(d)
    local ok, result = pcall(work, 1, d)
    if ok then return {sum = result} end
    failures = failures + 1
    if failures >= 10 then error("the tenth failure") end
    error(result, 0)
  end
end

-- good: gives up after two tries with the error of the second
programs.second_failure_raised = function(d)
  local sum
  p.again(function() sum = work(1, d) end)
  return {sum = sum}
end

-- good: any batch may fail, any number of times
programs.every_batch_repeated = function(d)
  local total = 0
  for i = 1, 6 do
    local tries = 0
    local sum
    while not sum do
      tries = tries + 1
      local ok, result = pcall(work, i, d)
      if ok then sum = result end
      if not ok and tries == 5 then error(result, 0) end
      result = nil
    end
    total = total + sum
  end
  return {total = total}
end

return p.scenario("hidden", "What one failure need not show", programs)
