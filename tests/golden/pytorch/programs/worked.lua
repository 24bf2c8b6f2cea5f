-- Worked examples: programs that check their own figures, to the byte.

--== worked_two_layers_without_workspaces profile=golden-sm80
ohm.backends.cuda.workspaces = false
local cases = {
  {criterion = "CrossEntropyLoss", loss = 8477696, backward = 16308736, peak = 16565248},
  {criterion = "MSELoss", loss = 8477696, backward = 16310784, peak = 16567296},
}
for _, case in ipairs(cases) do
  local net = two_layers()
  expect("the model", {memory_allocated = 8089088})
  local criterion = nn[case.criterion]()
  local x, y = two_layer_batch(case.criterion)
  expect("the batch", {memory_allocated = case.criterion == "MSELoss" and 8218624 or 8217600})
  ohm.cuda.reset_peak_memory_stats()
  local out = net(x)
  if case.criterion == "CrossEntropyLoss" then
    expect("forward", {memory_allocated = 8475136, max_memory_allocated = 8729600})
  end
  local loss = criterion(out, y)
  expect("the loss", {memory_allocated = case.loss})
  ohm.cuda.reset_peak_memory_stats()
  loss:backward()
  expect("backward", {memory_allocated = case.backward, max_memory_allocated = case.peak,
                      memory_reserved = 23068672})
  net, x, y, out, loss = nil, nil, nil, nil, nil
  sweep()
  ohm.cuda.empty_cache()
end

--== worked_two_layers_with_workspaces profile=golden-sm80
two_layers_with_workspaces {
  forward = 16994816, forward_peak = 18043392, loss = 16997376, backward = 33348096,
  backward_peak = 33604608, reserved = 44040192,
}

--== worked_two_layers_with_workspaces_on_hopper profile=golden-sm90
two_layers_with_workspaces {
  forward = 42029568, forward_peak = 43078144, loss = 42032128, backward = 83417600,
  backward_peak = 83674112, reserved = 90177536,
}

--== worked_two_layers_mean_squared_error profile=golden-sm80
local net = two_layers()
local x, y = two_layer_batch("MSELoss")
local loss = F.mse_loss(net(x), y)
loss:backward()
expect("backward", {memory_allocated = 33350144 - 1536})  -- the output was not kept

--== worked_two_layers_mean_squared_error_on_hopper profile=golden-sm90
local net = two_layers()
local x, y = two_layer_batch("MSELoss")
local out = net(x)
local loss = F.mse_loss(out, y)
loss:backward()
expect("backward", {memory_allocated = 83419648, max_memory_allocated = 83676160})

--== worked_optimizers_without_workspaces profile=golden-sm80
ohm.backends.cuda.workspaces = false
local cases = {
  {name = "SGD", options = {lr = 0.1}, allocated = 16308736, peak = 16308736},
  {name = "SGD", options = {lr = 0.1, momentum = 0.9}, allocated = 24397824, peak = 24397824},
  {name = "Adam", options = {lr = 0.001}, allocated = 32486912, peak = 40576000},
}
for _, case in ipairs(cases) do
  local net = two_layers()
  local optimizer = ohm.optim[case.name](net:parameters(), case.options)
  local x, y = two_layer_batch("CrossEntropyLoss")
  local out = net(x)
  local loss = F.cross_entropy(out, y)
  loss:backward()
  ohm.cuda.reset_peak_memory_stats()
  optimizer:step()
  expect(case.name, {memory_allocated = case.allocated, max_memory_allocated = case.peak})
  net, optimizer, x, y, out, loss = nil, nil, nil, nil, nil, nil
  sweep()
  ohm.cuda.empty_cache()
end

--== worked_adam_with_workspaces profile=golden-sm80
local net = two_layers()
local optimizer = ohm.optim.Adam(net:parameters())
local x, y = two_layer_batch("CrossEntropyLoss")
local out = net(x)
local loss = F.cross_entropy(out, y)
loss:backward()
ohm.cuda.reset_peak_memory_stats()
optimizer:step()
expect("Adam", {memory_allocated = 49526272, max_memory_allocated = 57615360})

--== worked_zero_grad profile=golden-sm80
ohm.backends.cuda.workspaces = false
-- When the gradients are let go, and the peaks of a later iteration's forward and backward.
local cases = {
  {zero = "top", forward = 8731648, backward = 16565248},
  {zero = "before backward", forward = 16820736, backward = 16565248},
  {zero = "never", forward = 16820736, backward = 24573440},
}
for _, case in ipairs(cases) do
  local net = two_layers()
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local x, y = two_layer_batch("CrossEntropyLoss")
  local out, loss
  for iteration = 1, 3 do
    if case.zero == "top" then optimizer:zero_grad() end
    ohm.cuda.reset_peak_memory_stats()
    out = net(x)
    loss = F.cross_entropy(out, y)
    local forward_peak = ohm.cuda.max_memory_allocated()
    if case.zero == "before backward" then optimizer:zero_grad() end
    ohm.cuda.reset_peak_memory_stats()
    loss:backward()
    if iteration > 1 then
      expect_equal("the peak of forward, zero_grad " .. case.zero, forward_peak, case.forward)
      expect("backward, zero_grad " .. case.zero, {max_memory_allocated = case.backward})
    end
    optimizer:step()
  end
  net, optimizer, x, y, out, loss = nil, nil, nil, nil, nil, nil
  sweep()
  ohm.cuda.empty_cache()
end

--== worked_sum_of_leaves profile=golden-sm80
local total, iteration_loss = 0, nil
for iteration = 1, 10 do
  iteration_loss = ohm.randn(3, 4, {device = "cuda"}):mean()
  iteration_loss.requires_grad = true
  total = iadd(total, iteration_loss)
  expect("iteration " .. iteration, {memory_allocated = 512 * (iteration + 1)})
end
expect("ten iterations", {memory_allocated = 5632, max_memory_allocated = 6144})
total, iteration_loss = nil, nil
sweep()
expect("nothing", {memory_allocated = 0})

--== worked_convolutions_in_a_list profile=golden-sm80
convolutions {outputs = "list", allocated = 460906496, peak = 472425472}

--== worked_convolutions_rebound profile=golden-sm80
convolutions {outputs = "last", allocated = 18384896, peak = 48265216}

--== worked_convolutions_without_gradients profile=golden-sm80
convolutions {outputs = "list", grad = false, allocated = 36352, peak = 24156160}

--== worked_ten_tensors profile=k80-12g
local list = {}
for i = 1, 10 do list[i] = ohm.randn(10000000, 10, {device = "cuda"}) end
expect("ten tensors", {memory_allocated = 4005560320, memory_reserved = 4005560320})
list = clear(list)
expect("del", {memory_allocated = 0, memory_reserved = 4005560320})
ohm.cuda.empty_cache()
expect("empty_cache", {memory_allocated = 0, memory_reserved = 0})

--== worked_eight_checkpointed_blocks profile=golden-sm80
-- What is kept after forward, in activations of a block's input: every other block of memory is not
-- cut and 0.048 larger; one or two of them more or less depend on what was there before. Backward
-- comes on top with the bytes that are asked for.
local checkpoint, sequential = ohm.utils.checkpoint.checkpoint, ohm.utils.checkpoint.checkpoint_sequential
local function each(reentrant)
  return function(model, x)
    for _, block in ipairs(model:children()) do
      x = checkpoint(block, x, {use_reentrant = reentrant})
    end
    return x
  end
end
local function in_segments(count)
  return function(model, x) return sequential(model, count, x, {use_reentrant = false}) end
end
local ways = {
  none = function(model, x) return model(x) end, each = each(false), each_reentrant = each(true),
  two = in_segments(2), four = in_segments(4), eight = in_segments(8),
}
local blocks = {
  relu = function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end,
  gelu = function()
    return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000))
  end,
}
local expected = {
  relu = {none = {8.19, 10.19}, each = {8.19, 10.19}, each_reentrant = {8.19, 11.19},
          two = {4.10, 7.10}, four = {4.10, 7.10}, eight = {7.14, 10.14}},
  gelu = {none = {33.77, 41.77}, each = {8.10, 20.10}, each_reentrant = {8.10, 21.10},
          two = {17.38, 25.38}, four = {11.29, 19.29}, eight = {11.19, 19.19}},
}
local activation = 2560 * 1000 * 4
local function requested_bytes(field)
  return ohm.cuda.memory_stats()["requested_bytes.all." .. field]
end
for kind, block in pairs(blocks) do
  for name, way in pairs(ways) do
    local model = nn.Sequential(collect(8, block)):cuda():requires_grad_(false)
    for step = 1, 2 do
      local x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
      local base = ohm.cuda.memory_allocated()
      local h = way(model, x)
      local kept = ohm.cuda.memory_allocated() - base
      ohm.cuda.reset_peak_memory_stats()
      local requested = requested_bytes("current")
      local loss = h:sum()
      loss:backward()
      if step == 2 then
        local peak = kept + requested_bytes("peak") - requested
        for i, bytes in ipairs {kept, peak} do
          local actual, wanted = bytes / activation, expected[kind][name][i]
          if math.abs(actual - wanted) > 0.1 then
            error(kind .. ", " .. name .. ": " .. actual .. " instead of " .. wanted)
          end
        end
      end
      h, loss, x = nil, nil, nil
      sweep()
    end
    model = nil
    sweep()
    ohm.cuda.empty_cache()
  end
end

--== worked_linear_no_grad profile=h100-80g
local layer, x, y
layer = nn.Linear(10000, 50000, {device = "cuda"})
for step = 1, 3 do
  x = ohm.randn(5000, 10000, {device = "cuda"})
  ohm.no_grad(function() y = layer(x) end)
end
sweep()
