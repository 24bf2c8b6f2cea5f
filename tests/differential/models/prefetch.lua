local Clips, Prefetcher, model, optimizer, loader, prefetcher, x, y, i, out, loss
ohm.backends.cudnn.enabled = true
Clips = ohm.utils.data.Dataset:extend()
function Clips:__init(count) self.count = count end
function Clips:__len() return self.count end
function Clips:__getitem(i) return ohm.randn(3, 20, 20), i % 5 end
Prefetcher = {}
Prefetcher.__index = Prefetcher
local function new_prefetcher(batches)
  local self = setmetatable({}, Prefetcher)
  self.batches = {}
  for xs, ys in batches do self.batches[#self.batches + 1] = {xs, ys} end
  self.stream = ohm.cuda.Stream()
  self.mean = ohm.tensor({0.4, 0.5, 0.6}):cuda():view(1, 3, 1, 1)
  self.std = ohm.tensor({0.2, 0.2, 0.3}):cuda():view(1, 3, 1, 1)
  self:preload()
  return self
end
function Prefetcher:preload()
  local batch = table.remove(self.batches, 1)
  if not batch then
    self.next_input = nil
    self.next_target = nil
    return
  end
  self.next_input = batch[1]
  self.next_target = batch[2]
  do
    local mode1 <close> = ohm.cuda.stream(self.stream)
    self.next_input = self.next_input:cuda({non_blocking = true})
    self.next_target = self.next_target:cuda({non_blocking = true})
    self.next_input = self.next_input:sub_(self.mean):div_(self.std)
  end
end
function Prefetcher:next()
  local x, y
  ohm.cuda.current_stream():wait_stream(self.stream)
  x = self.next_input
  y = self.next_target
  if x ~= nil then
    x:record_stream(ohm.cuda.current_stream())
  end
  if y ~= nil then
    y:record_stream(ohm.cuda.current_stream())
  end
  self:preload()
  return x, y
end
model = nn.Sequential(nn.Conv2d(3, 24, 3), nn.BatchNorm2d(24), nn.ReLU({inplace = true}), nn.MaxPool2d(2), nn.Conv2d(24, 32, 3), nn.ReLU({inplace = true}), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5)):cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.05, momentum = 0.9, nesterov = true})
loader = ohm.utils.data.DataLoader(Clips(14), {batch_size = 4, shuffle = true, pin_memory = false, drop_last = false})
mark("model")
for epoch = 0, 2 - 1 do
  prefetcher = new_prefetcher(loader)
  do
    local new1, new2 = prefetcher:next()
    x = new1
    y = new2
  end
  i = 0
  while x ~= nil do
    i = i + 1
    out = model(x)
    loss = F.cross_entropy(out, y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    mark("epoch " .. epoch .. " step " .. i)
    do
      local new1, new2 = prefetcher:next()
      x = new1
      y = new2
    end
  end
end
ohm.cuda.synchronize()
mark("trained")
mark("end of program (globals alive)")
model = nil
optimizer = nil
loader = nil
prefetcher = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")
