-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

local Encoder, ConvGRU, coords_grid, lookup, RAFT, model, optimizer, scheduler, image1, image2, flow_gt, valid, predictions, flow_loss, mag, i_weight, i_loss
Encoder = nn.Module:extend("Encoder")
function Encoder:__init(out)
  self.conv1 = nn.Conv2d(3, 16, 7, {stride = 2, padding = 3})
  self.norm1 = nn.InstanceNorm2d(16)
  self.conv2 = nn.Conv2d(16, 32, 3, {stride = 2, padding = 1})
  self.norm2 = nn.InstanceNorm2d(32)
  self.conv3 = nn.Conv2d(32, out, 1)
end
function Encoder:forward(x)
  x = F.relu(self.norm1(self.conv1(x)))
  x = F.relu(self.norm2(self.conv2(x)))
  return self.conv3(x)
end
ConvGRU = nn.Module:extend("ConvGRU")
function ConvGRU:__init(hidden, inp)
  self.convz = nn.Conv2d(hidden + inp, hidden, 3, {padding = 1})
  self.convr = nn.Conv2d(hidden + inp, hidden, 3, {padding = 1})
  self.convq = nn.Conv2d(hidden + inp, hidden, 3, {padding = 1})
end
function ConvGRU:forward(h, x)
  local hx, z, r, q
  hx = ohm.cat({h, x}, {dim = 1})
  z = ohm.sigmoid(self.convz(hx))
  r = ohm.sigmoid(self.convr(hx))
  q = ohm.tanh(self.convq(ohm.cat({r * h, x}, {dim = 1})))
  h = ((1 - z) * h) + (z * q)
  return h
end
function coords_grid(batch, ht, wd, device)
  local coords
  coords = {ohm.meshgrid({ohm.arange(ht, {device = device}), ohm.arange(wd, {device = device})}, {indexing = "ij"})}
  coords = ohm.stack({at(coords, 1), at(coords, 0)}, {dim = 0}):float()
  return repeated(coords:unsqueeze(0), batch, 1, 1, 1)
end
function lookup(pyramid, coords, radius)
  local batch, h1, w1, _, out, corr, dx, dy, gy, gx, delta, centroid, where, H, W, xgrid, ygrid
  coords = coords:permute(0, 2, 3, 1)
  batch, h1, w1, _ = table.unpack(coords.shape)
  out = {}
  for i = 0, (ohm.is_tensor(pyramid) and pyramid:size(0) or #pyramid) - 1 do
    corr = at(pyramid, i)
    dx = ohm.linspace(-radius, radius, (2 * radius) + 1, {device = coords.device})
    dy = ohm.linspace(-radius, radius, (2 * radius) + 1, {device = coords.device})
    do
      local new1, new2 = ohm.meshgrid({dy, dx}, {indexing = "ij"})
      gy = new1
      gx = new2
    end
    delta = ohm.stack({gy, gx}, {dim = -1})
    centroid = coords:reshape((batch * h1) * w1, 1, 1, 2) / ((1 << i))
    where = centroid + delta:view(1, (2 * radius) + 1, (2 * radius) + 1, 2)
    H, W = corr:size(2), corr:size(3)
    do
      local new1, new2 = where:split({1, 1}, {dim = -1})
      xgrid = new1
      ygrid = new2
    end
    xgrid = ((2 * xgrid) / (W - 1)) - 1
    ygrid = ((2 * ygrid) / (H - 1)) - 1
    corr = F.grid_sample(corr, ohm.cat({xgrid, ygrid}, {dim = -1}), {align_corners = true})
    out[#out + 1] = corr:view(batch, h1, w1, -1)
  end
  return ohm.cat(out, {dim = -1}):permute(0, 3, 1, 2):contiguous():float()
end
RAFT = nn.Module:extend("RAFT")
function RAFT:__init(radius, levels)
  if levels == nil then levels = 2 end
  if radius == nil then radius = 2 end
  self.radius = radius
  self.levels = levels
  self.fnet = Encoder(32)
  self.cnet = Encoder(48)
  self.motion = nn.Conv2d((levels * (((2 * radius) + 1) ^ 2)) + 2, 24, 3, {padding = 1})
  self.gru = ConvGRU(24, 48)
  self.flow_head = nn.Conv2d(24, 2, 3, {padding = 1})
end
function RAFT:forward(image1, image2, iters)
  local fmap1, fmap2, b, c, h, w, corr, pyramid, net, inp, coords0, coords1, predictions, sampled, flow, m
  fmap1 = self.fnet(image1)
  fmap2 = self.fnet(image2)
  b, c, h, w = table.unpack(fmap1.shape)
  corr = ohm.matmul(fmap1:view(b, c, h * w):transpose(1, 2), fmap2:view(b, c, h * w))
  corr = corr:view((b * h) * w, 1, h, w) / ohm.sqrt(ohm.tensor(c):float())
  pyramid = {corr}
  for i = 0, (self.levels - 1) - 1 do
    corr = F.avg_pool2d(corr, 2, {stride = 2})
    pyramid[#pyramid + 1] = corr
  end
  net, inp = ohm.split(self.cnet(image1), {24, 24}, {dim = 1})
  net = ohm.tanh(net)
  inp = ohm.relu(inp)
  coords0 = coords_grid(b, h, w, image1.device)
  coords1 = coords_grid(b, h, w, image1.device)
  predictions = {}
  for itr = 0, iters - 1 do
    coords1 = coords1:detach()
    sampled = lookup(pyramid, coords1, self.radius)
    flow = coords1 - coords0
    m = F.relu(self.motion(ohm.cat({sampled, flow}, {dim = 1})))
    net = self.gru(net, ohm.cat({inp, m}, {dim = 1}))
    coords1 = coords1 + self.flow_head(net)
    predictions[#predictions + 1] = 4 * F.interpolate(coords1 - coords0, {scale_factor = 4, mode = "bilinear", align_corners = true})
  end
  return predictions
end
model = RAFT():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0004, weight_decay = 1e-05, eps = 1e-08})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, 0.0004, 110, {pct_start = 0.05, cycle_momentum = false, anneal_strategy = "linear"})
mark("model")
for step = 0, 2 - 1 do
  image1 = ohm.randn(2, 3, 64, 64, {device = "cuda"})
  image2 = ohm.randn(2, 3, 64, 64, {device = "cuda"})
  flow_gt = ohm.randn(2, 2, 64, 64, {device = "cuda"})
  valid = ohm.ones(2, 64, 64, {device = "cuda"})
  optimizer:zero_grad()
  predictions = model(image1, image2, 3)
  flow_loss = 0.0
  mag = ohm.sum(flow_gt ^ 2, {dim = 1}):sqrt()
  valid = (compare("ge", valid, 0.5)) & (compare("lt", mag, 400))
  for i = 0, 3 - 1 do
    i_weight = 0.8 ^ ((3 - i) - 1)
    i_loss = (at(predictions, i) - flow_gt):abs()
    flow_loss = iadd(flow_loss, i_weight * (slice(valid, 0, 0):unsqueeze(1) * i_loss):mean())
  end
  flow_loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
image1 = nil
image2 = nil
flow_gt = nil
valid = nil
predictions = nil
flow_loss = nil
mag = nil
i_weight = nil
i_loss = nil
mark("globals deleted")

