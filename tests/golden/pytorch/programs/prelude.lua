-- What every twin starts with: PyTorch's short names, and what Lua lacks of Python's own functions.
local nn, F = ohm.nn, ohm.nn.functional

-- Lets go what the program has dropped, at once.
local sweep = ohm.gc.collect

-- Python lets the elements of a dying list go from the last to the first.
local function clear(list)
  for i = #list, 1, -1 do
    list[i] = nil
    sweep()
  end
end

-- del list[::2]: those that go, go from the first to the last.
local function drop_every_second(list)
  local kept = {}
  for i = 1, #list do
    if i % 2 == 0 then kept[#kept + 1] = list[i] end
  end
  for i = 1, #list do
    list[i] = nil
    sweep()
  end
  return kept
end

-- [make() for _ in range(count)]
local function collect(count, make)
  local list = {}
  for i = 1, count do list[i] = make() end
  return list
end

-- [x for x in list if is_wanted(x)]
local function filter(list, is_wanted)
  local kept = {}
  for _, x in ipairs(list) do
    if is_wanted(x) then kept[#kept + 1] = x end
  end
  return kept
end

-- Python's total += x writes into a tensor; a number plus a tensor is a new one.
local function iadd(total, x)
  if ohm.is_tensor(total) then return total:add_(x) end
  return total + x
end

