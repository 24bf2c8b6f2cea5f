-- What every twin starts with: PyTorch's short names, and what Lua lacks of Python's own functions.
local nn, F = ohm.nn, ohm.nn.functional

-- Lets go what the program has dropped, at once: every function of the library does, before all
-- else. Cycles stay until the program is over.
local sweep = ohm.is_grad_enabled
local note_mark = mark
local function mark(label)
  if label == "globals deleted" then ohm.gc.collect() end
  note_mark(label)
end

-- Python lets the elements of a dying list go from the last to the first.
local function clear(list)
  for i = #(list or {}), 1, -1 do
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

-- [make(i) for i in range(count)]
local function collect(count, make)
  local list = {}
  for i = 1, count do list[i] = make(i - 1) end
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


-- x[first:last:step] along a dimension; without `last` up to the end. Both count from the end where
-- they are negative. A full slice is a node, where the version of PyTorch makes it one; one whose
-- end is written is not.
local function slice(x, dim, first, last, step)
  local size = x:size(dim)
  if first == 0 and not last and not step then return x:slice(dim) end
  if first == 0 and last == size and (step or 1) == 1 then return x end
  last = last or size
  if first < 0 then first = math.max(first + size, 0) end
  last = math.min(last < 0 and last + size or last, size)
  if step then return x:slice(dim, first, last, step) end
  return x:narrow(dim, first, last - first)
end

-- x[…] = values, where tensors are among the indices: dimensions of size 1 that values begin with do
-- not count.
local function set_at(x, indices, values, dims)
  if ohm.is_tensor(values) then
    local sizes = {}
    for _, size in ipairs(values.shape) do
      if size ~= 1 or #sizes > 0 then sizes[#sizes + 1] = size end
    end
    if #sizes < values.ndim then values = values:view(sizes) end
  end
  x:index_put_(indices, values, false, dims)
end

-- ---- whole models -------------------------------------------------------------------------------

-- out, h = gru(x): recurrent modules return a list.
local several = table.unpack

-- [f(x) for x in list], [f(a, b) for a, b in zip(as, bs)]
local function map(f, list, others)
  local results = {}
  for i, x in ipairs(list) do results[i] = f(x, others and others[i]) end
  return results
end

-- [p for name, p in model.named_parameters() if is_wanted(name, p)]
local function filter_named(parameters, is_wanted)
  local kept = {}
  for name, p in parameters do
    if is_wanted(name, p) then kept[#kept + 1] = p end
  end
  return kept
end

-- as + bs, of lists
local function joined(as, bs)
  local list = {}
  for _, a in ipairs(as) do list[#list + 1] = a end
  for _, b in ipairs(bs) do list[#list + 1] = b end
  return list
end

-- any(is_wanted(x) for x in list)
local function any(list, is_wanted)
  for _, x in ipairs(list) do
    if is_wanted(x) then return true end
  end
  return false
end

-- x.max(1)[1]: the values go before the indices are taken.
local function second(_, x) return x end

-- x.repeat(…), whose name is a word of Lua's.
local function repeated(x, ...) return x["repeat"](x, ...) end

-- isinstance(module, nn.Kind)
local function is_a(module, kind) return tostring(module):match("^%w+") == kind end

-- ---- worked examples ----------------------------------------------------------------------------

local function expect_equal(what, actual, expected)
  if actual ~= expected then
    error(what .. ": " .. tostring(actual) .. " instead of " .. tostring(expected))
  end
end

-- Figures of ohm.cuda by their names.
local function expect(what, figures)
  for name, bytes in pairs(figures) do
    expect_equal(name .. " after " .. what, ohm.cuda[name](), bytes)
  end
end

local function two_layers()
  return nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
end

local function two_layer_batch(criterion)
  local x = ohm.randn(32, 1000, {device = "cuda"})
  if criterion == "MSELoss" then return x, ohm.randn(32, 10, {device = "cuda"}) end
  return x, ohm.randint(0, 10, {32}, {device = "cuda"})
end

local function two_layers_with_workspaces(figures)
  local net = two_layers()
  local x, y = two_layer_batch("CrossEntropyLoss")
  ohm.cuda.reset_peak_memory_stats()
  local out = net(x)
  expect("forward",
         {memory_allocated = figures.forward, max_memory_allocated = figures.forward_peak})
  local loss = F.cross_entropy(out, y)
  expect("the loss", {memory_allocated = figures.loss})
  ohm.cuda.reset_peak_memory_stats()
  loss:backward()
  expect("backward",
         {memory_allocated = figures.backward, max_memory_allocated = figures.backward_peak,
          memory_reserved = figures.reserved})
end

-- 25 images through two convolutions, their outputs kept in a list or only the last.
local function convolutions(case)
  ohm.backends.cuda.workspaces = false
  ohm.backends.cudnn.enabled = true
  local net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(),
                            nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(),
                            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
  local images = collect(25, function() return ohm.randn(1, 3, 300, 300) end)
  local outputs, out = {}, nil
  local grad_mode <close> = ohm.set_grad_enabled(case.grad ~= false)
  for i, image in ipairs(images) do
    out = net(image:cuda())
    if case.outputs == "list" then outputs[i] = out end
  end
  expect("25 images", {memory_allocated = case.allocated, max_memory_allocated = case.peak})
end
