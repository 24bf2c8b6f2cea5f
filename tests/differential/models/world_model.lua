local steps, batch, actions, stoch, deter, RSSM, model, actor, critic, model_opt, actor_opt, critic_opt, obs, act, rew, feats, rec, pred, kls, rec_loss, kl_loss, loss, p, f, h, s, imagined, rewards, a, _, state, states, values, returns, last, stacked, actor_loss, value, critic_loss
steps, batch, actions, stoch, deter = 6, 4, 3, 16, 48
local function reversed(list)
  local turned = {}
  for i = #list, 1, -1 do turned[#turned + 1] = list[i] end
  return turned
end
RSSM = nn.Module:extend("RSSM")
function RSSM:__init()
  self.encoder = nn.Sequential(nn.Conv2d(3, 16, 4, {stride = 2}), nn.ELU(), nn.Conv2d(16, 32, 4, {stride = 2}), nn.ELU(), nn.Flatten(), nn.Linear(32 * 4, 64))
  self.img_in = nn.Linear(stoch + actions, deter)
  self.cell = nn.GRUCell(deter, deter)
  self.prior = nn.Sequential(nn.Linear(deter, 64), nn.ELU(), nn.Linear(64, 2 * stoch))
  self.post = nn.Sequential(nn.Linear(deter + 64, 64), nn.ELU(), nn.Linear(64, 2 * stoch))
  self.decoder_in = nn.Linear(deter + stoch, 64)
  self.decoder = nn.Sequential(nn.ConvTranspose2d(64, 32, 5, {stride = 2}), nn.ELU(), nn.ConvTranspose2d(32, 3, 4, {stride = 2}))
  self.reward = nn.Linear(deter + stoch, 1)
end
function RSSM:sample(stats)
  local mean, std
  mean, std = stats:chunk(2, {dim = -1})
  std = F.softplus(std) + 0.1
  return mean + (std * ohm.randn_like(std)), mean, std
end
function RSSM:forward(obs, act)
  local embed, h, s, feats, kls, x, _, pm, ps, qm, qs, kl, rec
  embed = self.encoder(obs:flatten(0, 1)):view(steps, batch, 64)
  h = ohm.zeros(batch, deter, {device = "cuda"})
  s = ohm.zeros(batch, stoch, {device = "cuda"})
  feats, kls = {}, {}
  for t = 0, steps - 1 do
    x = F.elu(self.img_in(ohm.cat({s, act:select(0, t)}, {dim = -1})))
    h = self.cell(x, h)
    do
      local new1, new2, new3 = self:sample(self.prior(h))
      _ = new1
      pm = new2
      ps = new3
    end
    do
      local new1, new2, new3 = self:sample(self.post(ohm.cat({h, embed:select(0, t)}, {dim = -1})))
      s = new1
      qm = new2
      qs = new3
    end
    kl = (ohm.log(ps / qs) + (((qs ^ 2) + ((qm - pm) ^ 2)) / (2 * (ps ^ 2)))) - 0.5
    kls[#kls + 1] = kl:sum(-1)
    feats[#feats + 1] = ohm.cat({h, s}, {dim = -1})
  end
  feats = ohm.stack(feats)
  rec = self.decoder(self.decoder_in(feats):view(-1, 64, 1, 1))
  return feats, rec:view(steps, batch, 3, 12, 12), self.reward(feats):squeeze(-1), ohm.stack(kls)
end
model = RSSM():cuda()
actor = nn.Sequential(nn.Linear(deter + stoch, 64), nn.ELU(), nn.Linear(64, actions), nn.Tanh()):cuda()
critic = nn.Sequential(nn.Linear(deter + stoch, 64), nn.ELU(), nn.Linear(64, 1)):cuda()
model_opt = ohm.optim.Adam(model:parameters(), {lr = 0.0006, eps = 1e-07})
actor_opt = ohm.optim.Adam(actor:parameters(), {lr = 8e-05})
critic_opt = ohm.optim.Adam(critic:parameters(), {lr = 8e-05})
mark("models")
for step = 0, 2 - 1 do
  obs = ohm.rand(steps, batch, 3, 14, 14, {device = "cuda"}) - 0.5
  act = (ohm.rand(steps, batch, actions, {device = "cuda"}) * 2) - 1
  rew = ohm.randn(steps, batch, {device = "cuda"})
  do
    local new1, new2, new3, new4 = model(obs, act)
    feats = new1
    rec = new2
    pred = new3
    kls = new4
  end
  rec_loss = 0.5 * (rec - slice(slice(obs, -2, 1, 13), -1, 1, 13)):pow(2):sum({2, 3, 4}):mean()
  kl_loss = ohm.clamp(kls, {min = 3.0}):mean()
  loss = (rec_loss + F.mse_loss(pred, rew)) + kl_loss
  model_opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 100.0)
  model_opt:step()
  mark("model " .. step)
  for _, item2 in ipairs(model:parameters()) do
    p = item2
    p.requires_grad = false
  end
  f = feats:detach():flatten(0, 1)
  do
    local new1, new2 = f:split({deter, stoch}, {dim = -1})
    h = new1
    s = new2
  end
  imagined = {}
  rewards = {}
  for t = 0, 4 - 1 do
    a = actor(ohm.cat({h, s}, -1):detach())
    h = model.cell(F.elu(model.img_in(ohm.cat({s, a}, -1))), h)
    do
      local new1, new2, new3 = model:sample(model.prior(h))
      s = new1
      _ = new2
      _ = new3
    end
    state = ohm.cat({h, s}, -1)
    imagined[#imagined + 1] = state
    rewards[#rewards + 1] = model.reward(state):squeeze(-1)
  end
  states = ohm.stack(imagined)
  values = critic(states):squeeze(-1)
  returns = {}
  last = values:select(0, -1)
  for t = 4 - 1, 0, -1 do
    last = rewards[t + 1] + (0.99 * ((0.05 * values:select(0, t)) + (0.95 * last)))
    returns[#returns + 1] = last
  end
  stacked = ohm.stack(reversed(returns))
  actor_loss = -stacked:mean()
  actor_opt:zero_grad()
  actor_loss:backward()
  actor_opt:step()
  mark("actor " .. step)
  value = critic(states:detach()):squeeze(-1)
  critic_loss = F.smooth_l1_loss(value, stacked:detach())
  critic_opt:zero_grad()
  critic_loss:backward()
  critic_opt:step()
  for _, item6 in ipairs(model:parameters()) do
    p = item6
    p.requires_grad = true
  end
  mark("critic " .. step)
end
mark("end of program (globals alive)")
model = nil
actor = nil
critic = nil
model_opt = nil
actor_opt = nil
critic_opt = nil
obs = nil
act = nil
rew = nil
feats = nil
rec = nil
pred = nil
kls = nil
rec_loss = nil
kl_loss = nil
loss = nil
p = nil
f = nil
h = nil
s = nil
imagined = nil
rewards = nil
a = nil
_ = nil
state = nil
states = nil
values = nil
returns = nil
last = nil
stacked = nil
actor_loss = nil
value = nil
critic_loss = nil
mark("globals deleted")
