local PMA, Encoder, ArcFace, encoder, head, optimizer, a, b, lengths, same, ea, eb, distance, contrastive, arc, matrix, hardest, triplet, loss
PMA = nn.Module:extend("PMA")
function PMA:__init(width, seeds)
  self.seeds = nn.Parameter(ohm.empty(1, seeds, width))
  nn.init.xavier_uniform_(self.seeds)
  self.attention = nn.MultiheadAttention(width, 4, {batch_first = true})
  self.norm = nn.LayerNorm(width)
end
function PMA:forward(x, mask)
  local s
  s = self.seeds:expand(x:size(0), -1, -1)
  return self.norm(s + self.attention(s, x, x, {key_padding_mask = mask, need_weights = false}))
end
Encoder = nn.Module:extend("Encoder")
function Encoder:__init(width)
  if width == nil then width = 32 end
  self.phi = nn.Sequential(nn.Linear(5, width), nn.PReLU(), nn.Linear(width, width))
  self.pool = PMA(width, 2)
  self.rho = nn.Sequential(nn.Flatten(), nn.Linear(2 * width, width), nn.BatchNorm1d(width, {affine = false}))
end
function Encoder:forward(x, lengths)
  local mask
  mask = ohm.arange(x:size(1), {device = x.device}):expand(lengths:size(0), -1):ge(lengths:unsqueeze(1))
  return F.normalize(self.rho(self.pool(self.phi(x), mask)), {dim = -1})
end
ArcFace = nn.Module:extend("ArcFace")
function ArcFace:__init(width, classes, s, m)
  if m == nil then m = 0.3 end
  if s == nil then s = 16.0 end
  if classes == nil then classes = 20 end
  if width == nil then width = 32 end
  self.weight = nn.Parameter(ohm.empty(classes, width))
  nn.init.xavier_uniform_(self.weight)
  self.s = s
  self.m = m
end
function ArcFace:forward(x, y)
  local cosine, theta, hot
  cosine = F.linear(F.normalize(x), F.normalize(self.weight)):clamp((-1) + 1e-07, 1 - 1e-07)
  theta = ohm.acos(cosine)
  hot = ohm.zeros_like(cosine)
  hot:scatter_(1, y:view(-1, 1):long(), 1)
  return self.s * ohm.where(hot:bool(), ohm.cos(theta + self.m), cosine)
end
encoder, head = Encoder():cuda(), ArcFace():cuda()
optimizer = ohm.optim.AdamW({{params = encoder:parameters()}, {params = head:parameters(), weight_decay = 0.0}}, {lr = 0.001, amsgrad = true})
mark("models")
for step = 0, 2 - 1 do
  do
    local new1, new2 = ohm.randn(12, 9, 5, {device = "cuda"}), ohm.randn(12, 9, 5, {device = "cuda"})
    a = new1
    b = new2
  end
  lengths = ohm.randint(1, 10, {12}, {device = "cuda"})
  same = ohm.randint(0, 2, {12}, {device = "cuda"}):float()
  do
    local new1, new2 = encoder(a, lengths), encoder(b, lengths)
    ea = new1
    eb = new2
  end
  distance = F.pairwise_distance(ea, eb)
  contrastive = ((same * distance:pow(2)) + ((1 - same) * F.relu(1.0 - distance):pow(2))):mean()
  arc = F.cross_entropy(head(ea, ohm.randint(0, 20, {12}, {device = "cuda"})), ohm.randint(0, 20, {12}, {device = "cuda"}))
  matrix = ohm.cdist(ea, eb)
  hardest = (matrix:masked_fill(ohm.eye(12, {dtype = ohm.bool, device = "cuda"}), math.huge):min({dim = 1}))
  triplet = ohm.clamp((matrix:diagonal() - hardest) + 0.2, {min = 0.0}):mean()
  loss = (contrastive + arc) + triplet
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
encoder = nil
head = nil
optimizer = nil
a = nil
b = nil
lengths = nil
same = nil
ea = nil
eb = nil
distance = nil
contrastive = nil
arc = nil
matrix = nil
hardest = nil
triplet = nil
loss = nil
mark("globals deleted")
