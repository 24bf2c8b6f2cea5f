-- Twins of programs that tests/comparisons/translate_programs.py does not translate: they catch
-- errors, take lists apart, or run on several ranks.

--== cache_sizes
local keep = {}
local function allocate(label, n)
  keep[#keep + 1] = ohm.empty(n, {dtype = ohm.uint8, device = "cuda"})
  mark(label .. n)
end
for _, n in ipairs {1, 511, 512, 513, 1000, 4096, 100000, 1 << 20, (1 << 20) + 1, 3 << 20, 5000000,
                    10 << 20, (10 << 20) + 1, 12345678, 19 << 20, 20 << 20, 21000001, 100000000} do
  allocate("", n)
end
keep[#keep + 1] = ohm.empty(0, {device = "cuda"})
mark("0")
do
  -- keep = keep[::2]: the old list lets go the others from the last to the first.
  local kept = {}
  for i = 1, #keep, 2 do kept[#kept + 1] = keep[i] end
  clear(keep)
  keep = kept
end
mark("every second freed")
for _, n in ipairs {600, 700000, 2 << 20, 4000000, 9 << 20, 11 << 20, 50000000} do
  allocate("again ", n)
end
ohm.cuda.empty_cache()
mark("empty_cache")
keep = clear(keep)
mark("all freed")
ohm.cuda.empty_cache()
mark("empty_cache 2")
mark("end of program (globals alive)")
mark("globals deleted")

--== ddp_2ranks gpus=2
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing.
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  mark("init")
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  model = nn.parallel.DistributedDataParallel(model, {device_ids = {rank}})
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  mark("end of program (globals alive)")
  model = nil; sweep()
  opt = nil; sweep()
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== ddp_2ranks_adam gpus=2
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing.
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  mark("init")
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  model = nn.parallel.DistributedDataParallel(model, {device_ids = {rank}})
  opt = ohm.optim.Adam(model:parameters())
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  mark("end of program (globals alive)")
  model = nil; sweep()
  opt = nil; sweep()
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== ddp_2ranks_bucket_view gpus=2
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing.
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  mark("init")
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  model = nn.parallel.DistributedDataParallel(model, {device_ids = {rank}, gradient_as_bucket_view = true})
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  mark("end of program (globals alive)")
  model = nil; sweep()
  opt = nil; sweep()
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== ddp_2ranks_static_graph gpus=2
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing.
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  mark("init")
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  model = nn.parallel.DistributedDataParallel(model, {device_ids = {rank}, static_graph = true})
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  mark("end of program (globals alive)")
  model = nil; sweep()
  opt = nil; sweep()
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== memory_fraction capacity_bytes=8589934592
ohm.cuda.set_per_process_memory_fraction(0.5)
local t = {}
pcall(function()
  for i = 1, 8 do t[i] = ohm.empty(1 << 30, {dtype = ohm.uint8, device = "cuda"}) end
end)
t = clear(t) -- the comprehension ended with an error: its list is gone
mark("oom")
mark("end of program (globals alive)")
mark("globals deleted")

--== oom capacity_bytes=8589934592
local tensors, t = {}, nil
mark("start")
pcall(function()
  while true do
    tensors[#tensors + 1] = ohm.empty(1000000000, {dtype = ohm.uint8, device = "cuda"})
  end
end)
mark("oom")
for i = #tensors, 6, -1 do
  tensors[i] = nil
  sweep()
end
mark("freed some")
t = ohm.empty(2000000000, {dtype = ohm.uint8, device = "cuda"})
mark("recovered by flushing the cache")
mark("end of program (globals alive)")
tensors = clear(tensors)
t = nil; sweep()
mark("globals deleted")

--== oom_fragmentation capacity_bytes=1073741824
local function empty(bytes) return ohm.empty(bytes, {dtype = ohm.uint8, device = "cuda"}) end
local a, b, ok
a = collect(15, function() return empty(64 << 20) end)
mark("15 x 64 MiB")
a = drop_every_second(a)
mark("every second freed")
ok, b = pcall(empty, 256 << 20)
mark(ok and "256 MiB" or "oom")
mark("end of program (globals alive)")
a = clear(a)
b = nil; sweep()
mark("globals deleted")

--== oom_one_segment_fragmentation capacity_bytes=1073741824
local function empty(bytes) return ohm.empty(bytes, {dtype = ohm.uint8, device = "cuda"}) end
local big, a, b, ok
big = empty(960 << 20)
mark("960 MiB")
big = nil; sweep()
mark("freed")
a = collect(15, function() return empty(64 << 20) end)
mark("15 x 64 MiB out of the cache")
a = drop_every_second(a)
mark("every second freed")
ok, b = pcall(empty, 256 << 20)
mark(ok and "256 MiB" or "oom")
mark("end of program (globals alive)")
a = clear(a)
b = nil; sweep()
mark("globals deleted")

--== oom_one_segment_fragmentation_expandable capacity_bytes=1073741824 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
local function empty(bytes) return ohm.empty(bytes, {dtype = ohm.uint8, device = "cuda"}) end
local big, a, b, ok
big = empty(960 << 20)
mark("960 MiB")
big = nil; sweep()
mark("freed")
a = collect(15, function() return empty(64 << 20) end)
mark("15 x 64 MiB out of the cache")
a = drop_every_second(a)
mark("every second freed")
ok, b = pcall(empty, 256 << 20)
mark(ok and "256 MiB" or "oom")
mark("end of program (globals alive)")
a = clear(a)
b = nil; sweep()
mark("globals deleted")

--== oom_training capacity_bytes=8589934592
local model, batch, x, ok, e
model = nn.Sequential(collect(8, function()
  return nn.Sequential(nn.Linear(4096, 4096), nn.ReLU())
end)):cuda()
mark("model")
batch = 1024
while true do
  ok, e = pcall(function()
    x = ohm.randn(batch, 4096, {device = "cuda"})
    model(x):pow(2):mean():backward()
    mark("batch " .. batch .. " fits")
  end)
  if not ok then
    mark("batch " .. batch .. " oom")
    break
  end
  batch = batch * 2
end
e = nil; sweep()
x = nil; sweep()
model:zero_grad()
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil; sweep()
mark("globals deleted")

--== oom_training_expandable capacity_bytes=8589934592 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
local model, batch, x, ok, e
model = nn.Sequential(collect(8, function()
  return nn.Sequential(nn.Linear(4096, 4096), nn.ReLU())
end)):cuda()
mark("model")
batch = 1024
while true do
  ok, e = pcall(function()
    x = ohm.randn(batch, 4096, {device = "cuda"})
    model(x):pow(2):mean():backward()
    mark("batch " .. batch .. " fits")
  end)
  if not ok then
    mark("batch " .. batch .. " oom")
    break
  end
  batch = batch * 2
end
e = nil; sweep()
x = nil; sweep()
model:zero_grad()
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil; sweep()
mark("globals deleted")

--== op_chunk_sum_small
local N, x, out, g
-- sum(c * 1.0 for c in chunks[:2]): Python's sum begins with 0 + the first.
local function sum_of_two(first, second)
  local total, item
  item = first * 1.0
  total = 0 + item
  item = nil
  item = second * 1.0
  return total + item
end
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = sum_of_two(x:chunk(3, {dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil; sweep()
mark("del g")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== pinned_loader
-- The batches of a DataLoader with pinned memory; the host's memory is not compared.
local x, y
local images, labels = ohm.randn(256, 1000), ohm.randint(0, 10, {256})
mark("start")
for k = 0, 3 do
  x = images:narrow(0, 64 * k, 64)
  y = labels:narrow(0, 64 * k, 64)
  x = x:cuda()
  y = y:cuda()
  mark("batch " .. k)
end
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")
