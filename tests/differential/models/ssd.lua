-- list[a:b]
local function part(x, first, last)
  if ohm.is_tensor(x) then return slice(x, 0, first or 0, last) end
  local size, kept = #x, {}
  first, last = first or 0, last or size
  if first < 0 then first = first + size end
  if last < 0 then last = last + size end
  for i = first + 1, math.min(last, size) do kept[#kept + 1] = x[i] end
  return kept
end

-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local SSD, box_loss, model, optimizer, images, boxes, scores, truth, labels, location, confidence, loss
SSD = nn.Module:extend("SSD")
function SSD:__init(classes)
  if classes == nil then classes = 5 end
  self.a = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.MaxPool2d(2, {ceil_mode = true}), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.MaxPool2d(2, {ceil_mode = true}))
  self.b = nn.Sequential(nn.Conv2d(32, 48, 3, {stride = 2, padding = 1}), nn.ReLU({inplace = true}))
  self.c = nn.Sequential(nn.Conv2d(48, 48, 3, {stride = 2, padding = 1}), nn.ReLU({inplace = true}))
  self.scale = nn.Parameter(ohm.full({1, 32, 1, 1}, 20.0))
  self.boxes = nn.ModuleList((function() local r = {} local l0 = items({32, 48, 48}) for i_ = 1, #l0 do local c = l0[i_] r[#r + 1] = nn.Conv2d(c, 4 * 4, 3, {padding = 1}) end return r end)())
  self.scores = nn.ModuleList((function() local r = {} local l0 = items({32, 48, 48}) for i_ = 1, #l0 do local c = l0[i_] r[#r + 1] = nn.Conv2d(c, 4 * classes, 3, {padding = 1}) end return r end)())
  self.classes = classes
end
function SSD:forward(x)
  local maps, boxes, scores
  maps = {}
  x = self.a(x)
  maps[#maps + 1] = F.normalize(x, {p = 2, dim = 1}) * self.scale
  x = self.b(x)
  maps[#maps + 1] = x
  maps[#maps + 1] = self.c(x)
  boxes = ohm.cat((function() local r = {} local l0 = items(self.boxes:children()) local l1 = items(maps) for i_ = 1, #l0 do local m = l0[i_] local f = l1[i_] r[#r + 1] = m(f):permute(0, 2, 3, 1):contiguous():view(f:size(0), -1) end return r end)(), 1)
  scores = ohm.cat((function() local r = {} local l0 = items(self.scores:children()) local l1 = items(maps) for i_ = 1, #l0 do local m = l0[i_] local f = l1[i_] r[#r + 1] = m(f):permute(0, 2, 3, 1):contiguous():view(f:size(0), -1) end return r end)(), 1)
  return boxes:view(x:size(0), -1, 4), scores:view(x:size(0), -1, self.classes)
end
function box_loss(boxes, scores, truth, labels, classes)
  local positive, count, mask, location, each, negatives, _, order, rank, hard, confidence, n
  positive = compare("gt", labels, 0)
  count = positive:sum(1, {keepdim = true})
  mask = positive:unsqueeze(2):expand_as(boxes)
  location = F.smooth_l1_loss(boxes * mask, truth * mask, {reduction = "sum"})
  each = F.cross_entropy(scores:view(-1, classes), labels:view(-1), {reduction = "none"}):view(labels:size(0), -1)
  negatives = each:detach():clone()
  negatives[positive] = 0
  _, order = negatives:sort(1, {descending = true})
  do
    local new1, new2 = order:sort(1)
    _ = new1
    rank = new2
  end
  hard = compare("lt", rank, (3 * count):clamp({max = labels:size(1) - 1}))
  confidence = (each * (positive | hard):float()):sum()
  n = count:sum():clamp({min = 1}):float()
  return location / n, confidence / n
end
model = SSD():cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.001, momentum = 0.9, weight_decay = 0.0005, nesterov = true})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(4, 3, 50, 50, {device = "cuda"})
  do
    local new1, new2 = model(images)
    boxes = new1
    scores = new2
  end
  truth = ohm.rand_like(boxes)
  labels = ohm.randint(0, 5, part(boxes.shape, nil, 2), {device = "cuda"})
  do
    local new1, new2 = box_loss(boxes, scores, truth, labels, 5)
    location = new1
    confidence = new2
  end
  loss = location + confidence
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
images = nil
boxes = nil
scores = nil
truth = nil
labels = nil
location = nil
confidence = nil
loss = nil
mark("globals deleted")
