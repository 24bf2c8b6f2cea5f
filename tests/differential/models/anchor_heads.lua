local Head, Detector, giou_loss, focal, model, optimizer, images, cls, box, losses, count, where, target, wanted, cls_loss, box_loss, loss, grads, largest, scores, labels, top, kept
Head = nn.Module:extend("Head")
function Head:__init(channels, classes)
  self.tower = nn.Sequential(nn.Conv2d(channels, 32, 3, {padding = 1}), nn.GroupNorm(4, 32), nn.ReLU())
  self.cls = nn.Conv2d(32, classes, 3, {padding = 1})
  self.box = nn.Conv2d(32, 4, 3, {padding = 1})
  self.scale = nn.Parameter(ohm.ones(1))
end
function Head:forward(x)
  local t
  t = self.tower(x)
  return self.cls(t), F.relu(self.box(t) * self.scale)
end
Detector = nn.Module:extend("Detector")
function Detector:__init(classes)
  self.c1 = nn.Conv2d(3, 24, 3, {stride = 4, padding = 1})
  self.c2 = nn.Conv2d(24, 36, 3, {stride = 2, padding = 1})
  self.c3 = nn.Conv2d(36, 48, 3, {stride = 2, padding = 1})
  self.heads = nn.ModuleList(map(function(c) return Head(c, classes) end, {24, 36, 48}))
end
function Detector:forward(x)
  local features, conv, cls, box, f, head, c, b
  features = {}
  for _, item1 in ipairs({self.c1, self.c2, self.c3}) do
    conv = item1
    x = F.relu(conv(x))
    features[#features + 1] = x
  end
  cls, box = {}, {}
  do
    local list2_2 = self.heads:children()
    for number2, item2 in ipairs(features) do
      f = item2
      head = list2_2[number2]
      do
        local new1, new2 = head(f)
        c = new1
        b = new2
      end
      cls[#cls + 1] = c:permute(0, 2, 3, 1):flatten(1, 2)
      box[#box + 1] = b:permute(0, 2, 3, 1):flatten(1, 2)
    end
  end
  return ohm.cat(cls, {dim = 1}), ohm.cat(box, {dim = 1})
end
function giou_loss(p, t)
  local area_p, area_t, lt, rb, inter, union, hull, iou
  area_p = (slice(p, 0, 0):select(1, 0) + slice(p, 0, 0):select(1, 2)) * (slice(p, 0, 0):select(1, 1) + slice(p, 0, 0):select(1, 3))
  area_t = (slice(t, 0, 0):select(1, 0) + slice(t, 0, 0):select(1, 2)) * (slice(t, 0, 0):select(1, 1) + slice(t, 0, 0):select(1, 3))
  lt = ohm.min(slice(slice(p, 0, 0), 1, 0, 2), slice(slice(t, 0, 0), 1, 0, 2))
  rb = ohm.min(slice(slice(p, 0, 0), 1, 2), slice(slice(t, 0, 0), 1, 2))
  inter = (lt + rb):prod({dim = 1})
  union = (area_p + area_t) - inter
  hull = (ohm.max(slice(slice(p, 0, 0), 1, 0, 2), slice(slice(t, 0, 0), 1, 0, 2)) + ohm.max(slice(slice(p, 0, 0), 1, 2), slice(slice(t, 0, 0), 1, 2))):prod({dim = 1})
  iou = inter / union:clamp({min = 1e-06})
  return 1 - (iou - ((hull - union) / hull:clamp({min = 1e-06})))
end
function focal(logits, target, alpha, gamma)
  local p, ce, p_t
  if gamma == nil then gamma = 2.0 end
  if alpha == nil then alpha = 0.25 end
  p = ohm.sigmoid(logits)
  ce = F.binary_cross_entropy_with_logits(logits, target, {reduction = "none"})
  p_t = (p * target) + ((1 - p) * (1 - target))
  return ((alpha * ((1 - p_t) ^ gamma)) * ce):sum()
end
model = Detector(6):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0001, weight_decay = 0.05})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.rand(2, 3, 61, 77, {device = "cuda"})
  do
    local new1, new2 = model(images)
    cls = new1
    box = new2
  end
  losses = {}
  for i = 0, 2 - 1 do
    count = (5 + (3 * i)) + step
    where = slice(ohm.randperm(cls:size(1), {device = "cuda"}), 0, 0, count)
    target = ohm.zeros_like(cls:select(0, i))
    target:index_put_({where, ohm.randint(0, 6, {count}, {device = "cuda"})}, ohm.tensor(1.0))
    wanted = ohm.rand(count, 4, {device = "cuda"}) * 9
    cls_loss = focal(cls:select(0, i), target) / count
    box_loss = giou_loss(box:select(0, i):index({where}), wanted):sum() / count
    losses[#losses + 1] = cls_loss + (2.0 * box_loss)
  end
  loss = ohm.stack(losses):mean()
  mark("losses " .. step)
  optimizer:zero_grad()
  loss:backward()
  grads = map(function(p) return p.grad end, filter(model:parameters(), function(p) return p.grad ~= nil end))
  largest = ohm.stack(map(function(g) return g:abs():max() end, grads)):max():item()
  optimizer:step()
  grads = nil
  losses = nil
  mark("step " .. step)
end
model:eval()
do
  local mode5 <close> = ohm.no_grad()
  do
    local new1, new2 = model(ohm.rand(1, 3, 64, 64, {device = "cuda"}))
    cls = new1
    box = new2
  end
  scores, labels = cls:select(0, 0):sigmoid():max({dim = 1})
  top = second(scores:topk(20))
  kept = box:select(0, 0):index({top}):cpu()
end
mark("detected")
mark("end of program (globals alive)")
model = nil
optimizer = nil
images = nil
cls = nil
box = nil
count = nil
where = nil
target = nil
wanted = nil
cls_loss = nil
box_loss = nil
loss = nil
largest = nil
scores = nil
labels = nil
top = nil
kept = nil
mark("globals deleted")
