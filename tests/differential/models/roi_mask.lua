local roi_align, MaskRCNN, dice_loss, model, m, optimizer, image, corner, boxes, label, target, gt, logits, deltas, masks, rows, chosen, ce, reg, ml, losses, loss
function roi_align(feature, boxes, size)
  local n, _, c, h, w, steps, x, y, gx, gy, grid
  n = boxes:size(0)
  _, c, h, w = table.unpack(feature.shape)
  steps = (ohm.arange(size, {device = feature.device}):float() + 0.5) / size
  x = slice(slice(boxes, 0, 0), 1, 0, 1) + ((slice(slice(boxes, 0, 0), 1, 2, 3) - slice(slice(boxes, 0, 0), 1, 0, 1)) * steps)
  y = slice(slice(boxes, 0, 0), 1, 1, 2) + ((slice(slice(boxes, 0, 0), 1, 3, 4) - slice(slice(boxes, 0, 0), 1, 1, 2)) * steps)
  gx = slice(slice((((x / w) * 2) - 1), 0, 0):unsqueeze(1), 2, 0):expand(n, size, size)
  gy = slice(slice((((y / h) * 2) - 1), 0, 0), 1, 0):unsqueeze(2):expand(n, size, size)
  grid = ohm.stack({gx, gy}, {dim = -1})
  return F.grid_sample(feature:expand(n, -1, -1, -1), grid, {align_corners = false})
end
MaskRCNN = nn.Module:extend("MaskRCNN")
function MaskRCNN:__init(c, classes)
  if classes == nil then classes = 5 end
  if c == nil then c = 16 end
  self.backbone = nn.Sequential(nn.Conv2d(3, c, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(c), nn.ReLU({inplace = true}), nn.Conv2d(c, c, 3, {stride = 2, padding = 1}), nn.ReLU({inplace = true}))
  self.box = nn.Sequential(nn.Flatten(), nn.Linear(c * 16, 32), nn.ReLU(), nn.Linear(32, classes + (4 * classes)))
  self.mask = nn.Sequential(nn.Conv2d(c, c, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.ConvTranspose2d(c, c, 2, {stride = 2}), nn.ReLU({inplace = true}), nn.Conv2d(c, classes, 1))
  self.classes = classes
end
function MaskRCNN:forward(image, boxes)
  local f, out, logits, deltas, masks
  f = self.backbone(image)
  out = self.box(roi_align(f, boxes, 4))
  logits, deltas = out:split({self.classes, 4 * self.classes}, {dim = 1})
  masks = self.mask(roi_align(f, boxes, 7))
  return logits, deltas:view(-1, self.classes, 4), masks
end
function dice_loss(logits, target)
  local p, t
  p = ohm.sigmoid(logits):flatten(1)
  t = target:flatten(1)
  return (1 - (((2 * (p * t):sum(-1)) + 1) / ((p:sum(-1) + t:sum(-1)) + 1))):mean()
end
model = MaskRCNN():cuda()
for _, item1 in ipairs(model:modules()) do
  m = item1
  if is_a(m, "Conv2d") then
    nn.init.kaiming_normal_(m.weight, {mode = "fan_out", nonlinearity = "relu"})
    nn.init.constant_(m.bias, 0)
  end
end
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.02, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  image = ohm.rand(1, 3, 48, 48, {device = "cuda"})
  corner = ohm.rand(9, 2, {device = "cuda"}) * 6
  boxes = ohm.cat({corner, (corner + 3) + (ohm.rand(9, 2, {device = "cuda"}) * 3)}, {dim = 1})
  label = ohm.randint(0, 5, {9}, {device = "cuda"})
  target = ohm.randn(9, 4, {device = "cuda"})
  gt = (ohm.rand(9, 14, 14, {device = "cuda"}):gt(0.5)):float()
  do
    local new1, new2, new3 = model(image, boxes)
    logits = new1
    deltas = new2
    masks = new3
  end
  rows = ohm.arange(9, {device = "cuda"})
  chosen = masks:index({rows, label})
  ce = F.cross_entropy(logits, label)
  reg = F.smooth_l1_loss(deltas:index({rows, label}), target, {beta = 1.0 / 9, reduction = "sum"}) / label:numel()
  ml = F.binary_cross_entropy_with_logits(chosen, gt) + dice_loss(chosen, gt)
  losses = {ce = ce, reg = reg, mask = ml}
  loss = 0 + losses.ce + losses.reg + losses.mask
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
m = nil
optimizer = nil
image = nil
corner = nil
boxes = nil
label = nil
target = nil
gt = nil
logits = nil
deltas = nil
masks = nil
rows = nil
chosen = nil
ce = nil
reg = nil
ml = nil
losses = nil
loss = nil
mark("globals deleted")
