-- Written by tests/differential/keep.py: do not edit.

--== amp_upsample_bilinear
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16):
--     y = F.interpolate(x.transpose(2, 3), scale_factor=2, mode="bilinear")
local x, y
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = F.interpolate(x:transpose(2, 3), {scale_factor = 2, mode = "bilinear"})
end
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== avg_pool2d_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.avg_pool2d(x.narrow(1, 2, 8), 2)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.avg_pool2d(x:narrow(1, 2, 8), 2)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== batch_norm_grad_transposed
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x).transpose(2, 3)
-- g = torch.ones(4, 8, 22, 18, device="cuda")
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x):transpose(2, 3)
g = ohm.ones(4, 8, 22, 18, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== batch_norm_of_narrow_na
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, affine=False, device="cuda")
-- y = m(x.narrow(1, 2, 8))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {affine = false, device = "cuda"})
y = m(x:narrow(1, 2, 8))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== bmm_ht_sum
-- x = torch.randn(28, 20, 12, device="cuda", requires_grad=True)
-- w = torch.randn(12, 28, 16, device="cuda", requires_grad=True)
-- y = torch.bmm(x.transpose(0, 2), w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(28, 20, 12, {device = "cuda", requires_grad = true})
w = ohm.randn(12, 28, 16, {device = "cuda", requires_grad = true})
y = ohm.bmm(x:transpose(0, 2), w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== ce_sliced_target
-- x = torch.randn(4, 20, 12, device="cuda", requires_grad=True)
-- i = torch.zeros(4, 13, dtype=torch.long, device="cuda")
-- loss = F.cross_entropy(x, i[:, 1:])
-- loss.backward()
local x, i, loss
x = ohm.randn(4, 20, 12, {device = "cuda", requires_grad = true})
i = ohm.zeros(4, 13, {dtype = ohm.int64, device = "cuda"})
loss = F.cross_entropy(x, slice(slice(i, 0, 0), 1, 1))
loss:backward()
mark("end of program (globals alive)")
x = nil
i = nil
loss = nil
mark("globals deleted")

--== clamp_of_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2).clamp(min=0)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2):clamp({min = 0})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== conv1d_of_transposed
-- x = torch.randn(12, 28, 20, device="cuda", requires_grad=True)
-- m = nn.Conv1d(20, 8, 3, padding=1, device="cuda")
-- y = m(x.transpose(1, 2))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(12, 28, 20, {device = "cuda", requires_grad = true})
m = nn.Conv1d(20, 8, 3, {padding = 1, device = "cuda"})
y = m(x:transpose(1, 2))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== conv2d_depthwise_sum
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, padding=1, groups=8, device="cuda")
-- m(x).sum().backward()
local x, m
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 8, 3, {padding = 1, groups = 8, device = "cuda"})
m(x):sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
mark("globals deleted")

--== conv2d_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 10, 3, padding=1, device="cuda")
-- y = m(x.narrow(1, 2, 8))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 10, 3, {padding = 1, device = "cuda"})
y = m(x:narrow(1, 2, 8))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== conv_transpose2d_groups
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1, groups=2, device="cuda")
-- y = m(x)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose2d(8, 6, 4, {stride = 2, padding = 1, groups = 2, device = "cuda"})
y = m(x)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== convt_grad_slice
-- m = nn.ConvTranspose2d(16, 8, 2, stride=2, device="cuda")
-- x = torch.randn(2, 16, 16, 16, device="cuda", requires_grad=True)
-- s = torch.randn(2, 8, 32, 32, device="cuda")
-- y = torch.cat([m(x), s], dim=1)
-- y.sum().backward()
local m, x, s, y
m = nn.ConvTranspose2d(16, 8, 2, {stride = 2, device = "cuda"})
x = ohm.randn(2, 16, 16, 16, {device = "cuda", requires_grad = true})
s = ohm.randn(2, 8, 32, 32, {device = "cuda"})
y = ohm.cat({m(x), s}, {dim = 1})
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
s = nil
y = nil
mark("globals deleted")

--== convt_sum
-- m = nn.ConvTranspose2d(16, 8, 2, stride=2, device="cuda")
-- x = torch.randn(2, 16, 16, 16, device="cuda", requires_grad=True)
-- m(x).sum().backward()
local m, x
m = nn.ConvTranspose2d(16, 8, 2, {stride = 2, device = "cuda"})
x = ohm.randn(2, 16, 16, 16, {device = "cuda", requires_grad = true})
m(x):sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_conv2d_sum
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 10, 3, padding=1, device="cuda")
-- m(x).sum().backward()
local x, m
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 10, 3, {padding = 1, device = "cuda"})
m(x):sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
mark("globals deleted")

--== cudnn_conv2d_then_cat
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 10, 3, padding=1, device="cuda")
-- y = torch.cat([x, m(x)], dim=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 10, 3, {padding = 1, device = "cuda"})
y = ohm.cat({x, m(x)}, {dim = 1})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== cudnn_depthwise
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, padding=1, groups=8, device="cuda")
-- y = m(x)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 8, 3, {padding = 1, groups = 8, device = "cuda"})
y = m(x)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== cudnn_patch_embed
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 3, 32, 32, device="cuda")
-- m = nn.Conv2d(3, 48, 8, stride=8, device="cuda")
-- y = m(x).flatten(2).transpose(1, 2)
-- g = torch.ones(4, 16, 48, device="cuda")
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 3, 32, 32, {device = "cuda"})
m = nn.Conv2d(3, 48, 8, {stride = 8, device = "cuda"})
y = m(x):flatten(2):transpose(1, 2)
g = ohm.ones(4, 16, 48, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== cumsum_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.cumsum(1).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:cumsum(1):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== cumsum_of_narrow
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.narrow(1, 2, 10).cumsum(1)
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:narrow(1, 2, 10):cumsum(1)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== dot_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = torch.dot(F.linear(w.unsqueeze(0), x).squeeze(0), w)
local x, w, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.dot(F.linear(w:unsqueeze(0), x):squeeze(0), w)
end
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== dropout_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.dropout(x, 0.5, True).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.dropout(x, 0.5, true):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== einsum_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = torch.einsum("ij,jk->ik", F.linear(x, w), w)
local x, w, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.einsum("ij,jk->ik", F.linear(x, w), w)
end
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== emb_sliced_ids
-- e = nn.Embedding(100, 16, device="cuda")
-- i = torch.zeros(4, 13, dtype=torch.long, device="cuda")
-- y = e(i[:, :-1])
-- y.sum().backward()
local e, i, y
e = nn.Embedding(100, 16, {device = "cuda"})
i = ohm.zeros(4, 13, {dtype = ohm.int64, device = "cuda"})
y = e(slice(slice(i, 0, 0), 1, 0, -1))
y:sum():backward()
mark("end of program (globals alive)")
e = nil
i = nil
y = nil
mark("globals deleted")

--== flip_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.flip(1).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:flip(1):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== gather_saves_input
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- ids = torch.zeros(12, 3, 28, dtype=torch.long, device="cuda")
-- y = (x * 1.0).gather(1, ids)
-- t = torch.zeros(1000, device="cuda")
-- y.sum().backward()
local x, ids, y, t
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
ids = ohm.zeros(12, 3, 28, {dtype = ohm.int64, device = "cuda"})
y = (x * 1.0):gather(1, ids)
t = ohm.zeros(1000, {device = "cuda"})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
ids = nil
y = nil
t = nil
mark("globals deleted")

--== gelu_of_transposed_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.gelu(x.transpose(1, 2))
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.gelu(x:transpose(1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== group_norm_bf16
-- x = torch.randn(12, 20, 28, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = F.group_norm(x, 4)
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = F.group_norm(x, 4)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.group_norm(x.narrow(1, 2, 8), 4)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.group_norm(x:narrow(1, 2, 8), 4)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== index_add_saves_source
-- x = torch.randn(50, 16, device="cuda", requires_grad=True)
-- i = torch.zeros(50, dtype=torch.long, device="cuda")
-- y = torch.zeros(10, 16, device="cuda").index_add(0, i, x * 1.0)
-- y.sum().backward()
local x, i, y
x = ohm.randn(50, 16, {device = "cuda", requires_grad = true})
i = ohm.zeros(50, {dtype = ohm.int64, device = "cuda"})
y = ohm.zeros(10, 16, {device = "cuda"}):index_add(0, i, x * 1.0)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
i = nil
y = nil
mark("globals deleted")

--== index_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- ids = torch.zeros(30, dtype=torch.long, device="cuda")
-- y = x[ids]
-- y.sum().backward()
local x, ids, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
ids = ohm.zeros(30, {dtype = ohm.int64, device = "cuda"})
y = x:index({ids})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
ids = nil
y = nil
mark("globals deleted")

--== interpolate_bilinear_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.interpolate(x.narrow(1, 2, 8), scale_factor=2, mode="bilinear")
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.interpolate(x:narrow(1, 2, 8), {scale_factor = 2, mode = "bilinear"})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== kl_div_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = F.kl_div(F.linear(x, w), w, reduction="batchmean")
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = F.kl_div(F.linear(x, w), w, {reduction = "batchmean"})
end
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== l1_loss_no_grad
-- x = torch.randn(12, 20, 28, device="cuda")
-- w = torch.randn(12, 20, 28, device="cuda")
-- y = F.l1_loss(x, w)
local x, w, y
x = ohm.randn(12, 20, 28, {device = "cuda"})
w = ohm.randn(12, 20, 28, {device = "cuda"})
y = F.l1_loss(x, w)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== masked_fill_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- m = torch.zeros(12, 28, 20, dtype=torch.bool, device="cuda")
-- y = x.transpose(1, 2).masked_fill(m, 0.0)
-- z = y.transpose(1, 2).contiguous()
local x, m, y, z
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
m = ohm.zeros(12, 28, 20, {dtype = ohm.bool, device = "cuda"})
y = x:transpose(1, 2):masked_fill(m, 0.0)
z = y:transpose(1, 2):contiguous()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== max_all_of_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2).max()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2):max()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== max_pool2d_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x.narrow(1, 2, 8), 2)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x:narrow(1, 2, 8), 2)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== maximum_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- w = torch.randn(12, 20, 28, device="cuda")
-- y = torch.maximum(x, w).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, w, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
w = ohm.randn(12, 20, 28, {device = "cuda"})
y = ohm.maximum(x, w):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== mul_of_transposed_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2) ** 2
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2) ^ 2
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== norm_p1_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = F.linear(x, w).norm(p=1, dim=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = F.linear(x, w):norm({p = 1, dim = 1})
end
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== pad_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.pad(x, (1, 2)).transpose(1, 2)
-- g = torch.ones(12, 31, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.pad(x, {1, 2}):transpose(1, 2)
g = ohm.ones(12, 31, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== pixel_shuffle_of_narrow_sum
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.pixel_shuffle(x.narrow(1, 2, 8), 2)
-- y.sum().backward()
local x, y
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.pixel_shuffle(x:narrow(1, 2, 8), 2)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== relu_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.relu(x).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.relu(x):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== repeat_interleave_expanded
-- x = torch.randn(12, 1, 28, device="cuda", requires_grad=True)
-- y = x.expand(12, 20, 28).repeat_interleave(2, dim=1)
local x, y
x = ohm.randn(12, 1, 28, {device = "cuda", requires_grad = true})
y = x:expand(12, 20, 28):repeat_interleave(2, {dim = 1})
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== repeat_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.repeat(2, 1, 1)
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x["repeat"](x, 2, 1, 1)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== roll_noncontig
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2).roll(2, 1)
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2):roll(2, 1)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== roll_one_dim_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.roll(2, 1)
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:roll(2, 1)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== roll_two_dims
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = torch.roll(x, shifts=(-1, -1), dims=(1, 2))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = ohm.roll(x, {shifts = {-1, -1}, dims = {1, 2}})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== sdpa_bool_mask
-- q = torch.randn(2, 4, 20, 32, device="cuda")
-- m = torch.zeros(20, 20, dtype=torch.bool, device="cuda")
-- y = F.scaled_dot_product_attention(q, q, q, m)
local q, m, y
q = ohm.randn(2, 4, 20, 32, {device = "cuda"})
m = ohm.zeros(20, 20, {dtype = ohm.bool, device = "cuda"})
y = F.scaled_dot_product_attention(q, q, q, m)
mark("end of program (globals alive)")
q = nil
m = nil
y = nil
mark("globals deleted")

--== sigmoid_of_transposed_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = torch.sigmoid(x.transpose(1, 2))
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = ohm.sigmoid(x:transpose(1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== square_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = torch.square(F.linear(x, w))
local x, w, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.square(F.linear(x, w))
end
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== std_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.std(dim=2).transpose(0, 1)
-- g = torch.ones(20, 12, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:std({dim = 2}):transpose(0, 1)
g = ohm.ones(20, 12, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== topk_of_narrow
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.narrow(1, 2, 10).topk(5, dim=2)[0]
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = (x:narrow(1, 2, 10):topk(5, {dim = 2}))
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== tr_encoder_mask
-- l = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, device="cuda")
-- net = nn.TransformerEncoder(l, 1)
-- m = torch.zeros(12, 12, dtype=torch.bool, device="cuda")
-- x = torch.randn(4, 12, 32, device="cuda")
-- y = net(x, m)
local l, net, m, x, y
l = nn.TransformerEncoderLayer(32, 4, 64, 0.0, {batch_first = true, device = "cuda"})
net = nn.TransformerEncoder(l, 1)
m = ohm.zeros(12, 12, {dtype = ohm.bool, device = "cuda"})
x = ohm.randn(4, 12, 32, {device = "cuda"})
y = net(x, m)
mark("end of program (globals alive)")
l = nil
net = nil
m = nil
x = nil
y = nil
mark("globals deleted")

--== abs_in_place
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.abs_()
-- v.sum().backward()
local x, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:abs_()
v:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
mark("globals deleted")

--== adaptive_avg_pool2d_of_channels_last
-- x = torch.randn(2, 6, 9, 8, device="cuda", requires_grad=True)
-- y = F.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), 3)
-- layout(y)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 6, 9, 8, {device = "cuda", requires_grad = true})
y = F.adaptive_avg_pool2d(x:permute(0, 3, 1, 2), 3)
layout(y)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== adaptive_avg_pool2d_to_one_of_channels_last
-- x = torch.randn(4, 8, 8, 8, device="cuda", requires_grad=True)
-- y = F.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), 1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 8, 8, 8, {device = "cuda", requires_grad = true})
y = F.adaptive_avg_pool2d(x:permute(0, 3, 1, 2), 1)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== addcmul_in_place
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- w = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.addcmul_(w, w)
-- v.sum().backward()
local x, w, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:addcmul_(w, w)
v:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
v = nil
mark("globals deleted")

--== amin_of_channels_last
-- x = torch.randn(7, 16, 16, 8, device="cuda", requires_grad=True)
-- y = x.permute(0, 3, 1, 2).amin(dim=0)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(7, 16, 16, 8, {device = "cuda", requires_grad = true})
y = x:permute(0, 3, 1, 2):amin({dim = 0})
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== amp_norm_of_one_column
-- x = torch.randn(2, 1, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16): y = x.norm(dim=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(2, 1, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = x:norm({dim = 1})
end
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== amp_square_of_narrow
-- x = torch.randn(16, 5, 3, device="cuda", dtype=torch.float16, requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16): y = torch.square(x.narrow(2, 1, 2).transpose(0, 1))
-- layout(y)
local x, y
x = ohm.randn(16, 5, 3, {device = "cuda", dtype = ohm.float16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = ohm.square(x:narrow(2, 1, 2):transpose(0, 1))
end
layout(y)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== avg_pool1d_of_channels_last
-- x = torch.randn(2, 7, 8, device="cuda", requires_grad=True)
-- y = F.avg_pool1d(x.transpose(2, 1), 2)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 7, 8, {device = "cuda", requires_grad = true})
y = F.avg_pool1d(x:transpose(2, 1), 2)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== avg_pool2d_of_channels_last
-- x = torch.randn(2, 9, 9, 8, device="cuda", requires_grad=True)
-- y = F.avg_pool2d(x.permute(0, 3, 1, 2), 2)
-- layout(y)
-- z = y * 2.0
-- z.mean().backward()
local x, y, z
x = ohm.randn(2, 9, 9, 8, {device = "cuda", requires_grad = true})
y = F.avg_pool2d(x:permute(0, 3, 1, 2), 2)
layout(y)
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== batch_norm_of_channels_last
-- x = torch.randn(2, 8, 7, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
x = ohm.randn(2, 8, 7, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== batch_norm_of_channels_last_na
-- x = torch.randn(2, 7, 7, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, affine=False, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, m, y, z
x = ohm.randn(2, 7, 7, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {affine = false, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== batch_norm_of_channels_last_eval
-- x = torch.randn(2, 7, 6, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda").eval()
-- y = m(x.permute(0, 3, 1, 2))
-- y.sum().backward()
local x, m, y
x = ohm.randn(2, 7, 6, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"}):eval()
y = m(x:permute(0, 3, 1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== batch_norm_of_expanded_bfloat16
-- x = torch.randn(4, 1, 7, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- m = nn.BatchNorm1d(8, device="cuda", dtype=torch.bfloat16)
-- y = m(x.expand(4, 8, 7))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 1, 7, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
m = nn.BatchNorm1d(8, {device = "cuda", dtype = ohm.bfloat16})
y = m(x:expand(4, 8, 7))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== bce_with_logits_target_gradient
-- x = torch.randn(7, 16, device="cuda")
-- w = torch.randn(7, 16, device="cuda", requires_grad=True)
-- y = F.binary_cross_entropy_with_logits(x, w)
-- y.backward()
local x, w, y
x = ohm.randn(7, 16, {device = "cuda"})
w = ohm.randn(7, 16, {device = "cuda", requires_grad = true})
y = F.binary_cross_entropy_with_logits(x, w)
y:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== cat_of_channels_last
-- x = torch.randn(3, 16, 7, 2, device="cuda", requires_grad=True)
-- y = x.permute(0, 3, 1, 2).flip((0,))
-- z = torch.cat([y, y], dim=-1)
-- layout(z)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(3, 16, 7, 2, {device = "cuda", requires_grad = true})
y = x:permute(0, 3, 1, 2):flip({0})
z = ohm.cat({y, y}, {dim = -1})
layout(z)
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== cudnn_batch_norm_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 8, 7, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- z = y * 2.0
-- z.mean().backward()
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 8, 7, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== cudnn_conv1d_of_transposed
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 6, 8, device="cuda", requires_grad=True)
-- m = nn.Conv1d(8, 6, 3, padding=1, device="cuda")
-- y = m(x.permute(0, 2, 1))
-- layout(y)
-- z = y * 2.0
-- z.mean().backward()
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 6, 8, {device = "cuda", requires_grad = true})
m = nn.Conv1d(8, 6, 3, {padding = 1, device = "cuda"})
y = m(x:permute(0, 2, 1))
layout(y)
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== cudnn_conv2d_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 9, 9, 8, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, stride=2, groups=2, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 9, 9, 8, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 8, 3, {stride = 2, groups = 2, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== cudnn_conv2d_of_channels_last_transposed_gradient
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 9, 9, 8, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 6, 3, dilation=2, padding=2, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 9, 9, 8, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 6, 3, {dilation = 2, padding = 2, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== cudnn_conv2d_of_channels_last_double
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 9, 9, 8, device="cuda", dtype=torch.float64, requires_grad=True)
-- m = nn.Conv2d(8, 6, 3, device="cuda", dtype=torch.float64)
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 9, 9, 8, {device = "cuda", dtype = ohm.float64, requires_grad = true})
m = nn.Conv2d(8, 6, 3, {device = "cuda", dtype = ohm.float64})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== cudnn_conv2d_depthwise_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 9, 6, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, padding=1, groups=8, device="cuda", dtype=torch.float16)
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 9, 6, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.Conv2d(8, 8, 3, {padding = 1, groups = 8, device = "cuda", dtype = ohm.float16})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== cudnn_conv_transpose2d_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 6, 8, 8, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose2d(8, 6, 4, stride=2, groups=2, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 6, 8, 8, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose2d(8, 6, 4, {stride = 2, groups = 2, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== cudnn_conv_transpose2d_of_transposed
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(6, 8, 9, 2, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose2d(8, 6, 2, stride=2, device="cuda")
-- y = m(x.transpose(0, 3))
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(6, 8, 9, 2, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose2d(8, 6, 2, {stride = 2, device = "cuda"})
y = m(x:transpose(0, 3))
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== dropout_of_channels_last
-- x = torch.randn(2, 9, 8, 8, device="cuda", requires_grad=True)
-- y = F.dropout(x.permute(0, 3, 1, 2), 0.5, True)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(2, 9, 8, 8, {device = "cuda", requires_grad = true})
y = F.dropout(x:permute(0, 3, 1, 2), 0.5, true)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== dropout2d_module
-- x = torch.randn(4, 8, 6, 6, device="cuda", requires_grad=True)
-- m = nn.Dropout2d(0.5)
-- y = m(x)
-- y.sum().backward()
local x, m, y
x = ohm.randn(4, 8, 6, 6, {device = "cuda", requires_grad = true})
m = nn.Dropout2d(0.5)
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== floor_of_one_element
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = torch.floor(x)
-- y.sum().backward()
local x, y
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = ohm.floor(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_channels_last
-- x = torch.randn(4, 6, 6, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.GroupNorm(2, 8, device="cuda", dtype=torch.float16)
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
x = ohm.randn(4, 6, 6, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.GroupNorm(2, 8, {device = "cuda", dtype = ohm.float16})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== group_norm_of_narrow_na
-- x = torch.randn(8, 4, 10, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.GroupNorm(2, 8, affine=False)
-- y = m(x.narrow(2, 1, 9).transpose(0, 1))
-- y.sum().backward()
local x, m, y
x = ohm.randn(8, 4, 10, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.GroupNorm(2, 8, {affine = false})
y = m(x:narrow(2, 1, 9):transpose(0, 1))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== index_add_of_transposed
-- x = torch.randn(5, 8, 17, device="cuda", requires_grad=True)
-- v = x.narrow(2, 1, 16).transpose(0, 1)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = v.index_add(0, line, v.narrow(0, 0, 1))
-- layout(y)
-- y.sum().backward()
local x, v, line, y
x = ohm.randn(5, 8, 17, {device = "cuda", requires_grad = true})
v = x:narrow(2, 1, 16):transpose(0, 1)
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = v:index_add(0, line, v:narrow(0, 0, 1))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
line = nil
y = nil
mark("globals deleted")

--== index_of_transposed
-- x = torch.randn(5, 3, 16, 16, device="cuda", requires_grad=True)
-- line = torch.zeros(2, dtype=torch.long, device="cuda")
-- v = x.transpose(2, 1)
-- y = v[line]
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, line, v, y, g
x = ohm.randn(5, 3, 16, 16, {device = "cuda", requires_grad = true})
line = ohm.zeros(2, {dtype = ohm.int64, device = "cuda"})
v = x:transpose(2, 1)
y = v:index({line})
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
line = nil
v = nil
y = nil
g = nil
mark("globals deleted")

--== instance_norm_of_transposed
-- x = torch.randn(8, 3, 9, device="cuda", requires_grad=True)
-- m = nn.InstanceNorm1d(8, device="cuda")
-- y = m(x.narrow(2, 1, 8).transpose(0, 1))
-- y.sum().backward()
local x, m, y
x = ohm.randn(8, 3, 9, {device = "cuda", requires_grad = true})
m = nn.InstanceNorm1d(8, {device = "cuda"})
y = m(x:narrow(2, 1, 8):transpose(0, 1))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== lerp_in_place
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- w = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.lerp_(w, 0.25)
-- v.sum().backward()
local x, w, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:lerp_(w, 0.25)
v:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
v = nil
mark("globals deleted")

--== logsigmoid_of_channels_last
-- x = torch.randn(8, 7, 3, 3, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.logsigmoid(x.permute(0, 3, 1, 2))
-- y.sum().backward()
local x, y
x = ohm.randn(8, 7, 3, 3, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.logsigmoid(x:permute(0, 3, 1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== matmul_of_one_column
-- x = torch.randn(8, 1, 1, 8, device="cuda", requires_grad=True)
-- w = torch.randn(10, 8, 1, 1, device="cuda", requires_grad=True)
-- y = torch.matmul(x.permute(0, 3, 1, 2).transpose(-2, -1), w.narrow(0, 1, 8))
-- y.sum().backward()
local x, w, y
x = ohm.randn(8, 1, 1, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(10, 8, 1, 1, {device = "cuda", requires_grad = true})
y = ohm.matmul(x:permute(0, 3, 1, 2):transpose(-2, -1), w:narrow(0, 1, 8))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== matmul_of_nothing
-- x = torch.randn(2, 3, 0, device="cuda", requires_grad=True)
-- w = torch.randn(2, 0, 4, device="cuda", requires_grad=True)
-- y = torch.matmul(x, w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(2, 3, 0, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 0, 4, {device = "cuda", requires_grad = true})
y = ohm.matmul(x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== max_pool2d_of_channels_last
-- x = torch.randn(2, 6, 6, 8, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x.permute(0, 3, 1, 2), 3, stride=1)
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 6, 6, 8, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x:permute(0, 3, 1, 2), 3, {stride = 1})
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== max_pool2d_of_expanded
-- x = torch.randn(1, 8, 7, 9, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x.expand(4, 8, 7, 9), 2)
-- y.sum().backward()
local x, y
x = ohm.randn(1, 8, 7, 9, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x:expand(4, 8, 7, 9), 2)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== maximum_of_transposed
-- x = torch.randn(7, 16, device="cuda", requires_grad=True)
-- w = torch.randn(16, 7, device="cuda", requires_grad=True)
-- y = torch.maximum(x.transpose(1, 0), w)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, w, y, z
x = ohm.randn(7, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(16, 7, {device = "cuda", requires_grad = true})
y = ohm.maximum(x:transpose(1, 0), w)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== neg_in_place_then_written
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.neg_()
-- v.add_(1.0)
-- v.sum().backward()
local x, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:neg_()
v:add_(1.0)
v:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
mark("globals deleted")

--== norm_of_transposed_rows
-- x = torch.randn(7, 2, 3, 8, device="cuda", requires_grad=True)
-- y = x.transpose(3, 1).norm(dim=1)
-- z = y * 2.0
-- z.mean().backward()
local x, y, z
x = ohm.randn(7, 2, 3, 8, {device = "cuda", requires_grad = true})
y = x:transpose(3, 1):norm({dim = 1})
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== pad_of_channels_last
-- x = torch.randn(3, 5, 8, 5, device="cuda", requires_grad=True)
-- y = F.pad(x.permute(0, 3, 1, 2), (1, 2))
-- layout(y)
-- z = F.pad(y, (-1, 0))
-- g = torch.ones_like(z)
-- z.backward(g)
local x, y, z, g
x = ohm.randn(3, 5, 8, 5, {device = "cuda", requires_grad = true})
y = F.pad(x:permute(0, 3, 1, 2), {1, 2})
layout(y)
z = F.pad(y, {-1, 0})
g = ohm.ones_like(z)
z:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
g = nil
mark("globals deleted")

--== pow_of_tensors_keeps_result
-- x = torch.randn(5, 5, device="cuda", requires_grad=True)
-- w = torch.randn(5, 5, device="cuda")
-- y = torch.pow(x, w)
-- y = F.relu(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 5, {device = "cuda"})
y = ohm.pow(x, w)
y = F.relu(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== scatter_add_of_transposed
-- x = torch.randn(5, 3, device="cuda", requires_grad=True)
-- w = torch.randn(5, 3, device="cuda")
-- ids = torch.zeros(3, 5, dtype=torch.long, device="cuda")
-- y = x.transpose(1, 0).scatter_add(0, ids, w.transpose(1, 0))
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, w, ids, y, z
x = ohm.randn(5, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 3, {device = "cuda"})
ids = ohm.zeros(3, 5, {dtype = ohm.int64, device = "cuda"})
y = x:transpose(1, 0):scatter_add(0, ids, w:transpose(1, 0))
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
w = nil
ids = nil
y = nil
z = nil
mark("globals deleted")

--== softshrink_of_one_row
-- x = torch.randn(2, 5, 1, 3, device="cuda", requires_grad=True)
-- y = F.softshrink(x.transpose(3, 1))
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 5, 1, 3, {device = "cuda", requires_grad = true})
y = F.softshrink(x:transpose(3, 1))
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== sum_over_one_row
-- x = torch.randn(1, 3, 16, 5, device="cuda", requires_grad=True)
-- y = x.sum(dim=0)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(1, 3, 16, 5, {device = "cuda", requires_grad = true})
y = x:sum({dim = 0})
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== upsample_bilinear_of_channels_last
-- x = torch.randn(2, 8, 6, 8, device="cuda", requires_grad=True)
-- y = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="bilinear")
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 8, 6, 8, {device = "cuda", requires_grad = true})
y = F.interpolate(x:permute(0, 3, 1, 2), {scale_factor = 2, mode = "bilinear"})
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== upsample_nearest_of_channels_last
-- x = torch.randn(2, 8, 6, 8, device="cuda", requires_grad=True)
-- y = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2)
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 8, 6, 8, {device = "cuda", requires_grad = true})
y = F.interpolate(x:permute(0, 3, 1, 2), {scale_factor = 2})
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== upsample_nearest_of_few_channels_last
-- x = torch.randn(2, 8, 6, 3, device="cuda", requires_grad=True)
-- y = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 6, 3, {device = "cuda", requires_grad = true})
y = F.interpolate(x:permute(0, 3, 1, 2), {scale_factor = 2})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== angle_and_its_gradient
-- x = torch.randn(7, 5, device="cuda", requires_grad=True)
-- w = torch.randn(7, 5, device="cuda", requires_grad=True)
-- y = torch.atan2(x, w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(7, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(7, 5, {device = "cuda", requires_grad = true})
y = ohm.atan2(x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== copy_over_transposed
-- x0 = torch.randn(2, 16, device="cuda", dtype=torch.float16, requires_grad=True)
-- w0 = torch.randn(16, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- v = x0.transpose(0, 1) * 1.5
-- v.copy_(w0.expand(16, 2))
-- z = v.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, w0, v, z
x0 = ohm.randn(2, 16, {device = "cuda", dtype = ohm.float16, requires_grad = true})
w0 = ohm.randn(16, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = x0:transpose(0, 1) * 1.5
v:copy_(w0:expand(16, 2))
z = v:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
w0 = nil
v = nil
z = nil
mark("globals deleted")

--== copies_that_are_let_go
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(100, 16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.sub_(w)
-- v.copy_(w)
-- del x
-- del w
-- del v
local x, w, v
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
v = x * 1.5
v:sub_(w)
v:copy_(w)
x = nil
w = nil
v = nil
mark("end of program (globals alive)")
mark("globals deleted")

--== std_of_one_number
-- x = torch.randn(1, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = x.std()
-- y.backward()
local x, y
x = ohm.randn(1, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = x:std()
y:backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== var_of_nothing
-- x = torch.randn(3, 0, device="cuda", dtype=torch.float64, requires_grad=True)
-- y = x.var()
-- y.backward()
local x, y
x = ohm.randn(3, 0, {device = "cuda", dtype = ohm.float64, requires_grad = true})
y = x:var()
y:backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== written_slice_of_detached
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- v = torch.randn(100, 16, device="cuda")
-- a = v.narrow(1, 3, 4).detach()
-- a.transpose(0, 1).mul_(x.narrow(1, 0, 4).transpose(0, 1))
-- a.sum().backward()
local x, v, a
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
v = ohm.randn(100, 16, {device = "cuda"})
a = v:narrow(1, 3, 4):detach()
a:transpose(0, 1):mul_(x:narrow(1, 0, 4):transpose(0, 1))
a:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
a = nil
mark("globals deleted")

--== written_slices
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.narrow(0, 0, 5).mul_(w)
-- v.select(0, 3).add_(w)
-- s = v.sum()
-- s.backward(retain_graph=True)
-- a = torch.autograd.grad(s, w)
local x, w, v, s, a
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(16, {device = "cuda", requires_grad = true})
v = x * 1.5
v:narrow(0, 0, 5):mul_(w)
v:select(0, 3):add_(w)
s = v:sum()
s:backward({retain_graph = true})
a = ohm.autograd.grad(s, w)
mark("end of program (globals alive)")
x = nil
w = nil
v = nil
s = nil
a = nil
mark("globals deleted")

--== written_slices_that_are_let_go
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.select(0, 0).add_(w)
-- v.select(0, 1).copy_(w)
-- del x
-- del w
-- del v
local x, w, v
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(16, {device = "cuda", requires_grad = true})
v = x * 1.5
v:select(0, 0):add_(w)
v:select(0, 1):copy_(w)
x = nil
w = nil
v = nil
mark("end of program (globals alive)")
mark("globals deleted")

--== views_of_a_written_base
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(100, 16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- a = v.transpose(0, 1)
-- c = v.unsqueeze(0).expand(3, 100, 16)
-- v.mul_(w)
-- b = v.narrow(0, 3, 10).narrow(1, 2, 4)
-- b.sigmoid_()
-- s = c.sum() + b.sum()
-- s.backward()
local x, w, v, a, c, b, s
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
v = x * 1.5
a = v:transpose(0, 1)
c = v:unsqueeze(0):expand(3, 100, 16)
v:mul_(w)
b = v:narrow(0, 3, 10):narrow(1, 2, 4)
b:sigmoid_()
s = c:sum() + b:sum()
s:backward()
mark("end of program (globals alive)")
x = nil
w = nil
v = nil
a = nil
c = nil
b = nil
s = nil
mark("globals deleted")

--== sum_of_repeated_and_transposed
-- w = torch.randn(5, 2, device="cuda", requires_grad=True)
-- g = torch.randn(2, 5, device="cuda")
-- y = w.expand(5, 2)
-- z = w.sum()
-- torch.autograd.backward([y, z], [g.transpose(0, 1), torch.ones_like(z)])
local w, g, y, z
w = ohm.randn(5, 2, {device = "cuda", requires_grad = true})
g = ohm.randn(2, 5, {device = "cuda"})
y = w:expand(5, 2)
z = w:sum()
ohm.autograd.backward({y, z}, {g:transpose(0, 1), ohm.ones_like(z)})
mark("end of program (globals alive)")
w = nil
g = nil
y = nil
z = nil
mark("globals deleted")

--== amp_losses_of_half_precision
-- x = torch.randn(8, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- w = torch.randn(8, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y = F.huber_loss(x, w) + F.binary_cross_entropy_with_logits(x, w)
-- y.backward()
local x, w, y
x = ohm.randn(8, 16, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
w = ohm.randn(8, 16, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = F.huber_loss(x, w) + F.binary_cross_entropy_with_logits(x, w)
end
y:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== linear_then_relu_in_place
-- x = torch.randn(8, 4, 48, device="cuda", requires_grad=True)
-- m = nn.Linear(48, 96, device="cuda")
-- y = F.relu(m(x), inplace=True)
-- y.sum().backward()
local x, m, y
x = ohm.randn(8, 4, 48, {device = "cuda", requires_grad = true})
m = nn.Linear(48, 96, {device = "cuda"})
y = F.relu(m(x), {inplace = true})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== index_behind_a_slice
-- x = torch.randn(6, 7, 8, device="cuda", requires_grad=True)
-- i = torch.tensor([1, 2, 0], device="cuda")
-- j = torch.tensor([0, 3, 4], device="cuda")
-- y = x[:, i, j]
-- layout(y)
-- y.sum().backward()
local x, i, j, y
x = ohm.randn(6, 7, 8, {device = "cuda", requires_grad = true})
i = ohm.tensor({1, 2, 0}, {device = "cuda"})
j = ohm.tensor({0, 3, 4}, {device = "cuda"})
y = slice(x, 0, 0):index({i, j}, {1, 2})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
i = nil
j = nil
y = nil
mark("globals deleted")

--== index_around_a_slice
-- x = torch.randn(6, 7, 8, device="cuda", requires_grad=True)
-- i = torch.tensor([1, 2, 0], device="cuda")
-- j = torch.tensor([0, 3, 4], device="cuda")
-- y = x[i, :, j]
-- layout(y)
-- y.sum().backward()
local x, i, j, y
x = ohm.randn(6, 7, 8, {device = "cuda", requires_grad = true})
i = ohm.tensor({1, 2, 0}, {device = "cuda"})
j = ohm.tensor({0, 3, 4}, {device = "cuda"})
y = slice(x, 1, 0):index({i, j}, {0, 2})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
i = nil
j = nil
y = nil
mark("globals deleted")

--== index_by_row_and_column
-- x = torch.randn(6, 7, 8, device="cuda", requires_grad=True)
-- i = torch.tensor([[1], [2]], device="cuda")
-- j = torch.tensor([0, 3, 4], device="cuda")
-- y = x[i, j]
-- layout(y)
-- y.sum().backward()
local x, i, j, y
x = ohm.randn(6, 7, 8, {device = "cuda", requires_grad = true})
i = ohm.tensor({{1}, {2}}, {device = "cuda"})
j = ohm.tensor({0, 3, 4}, {device = "cuda"})
y = x:index({i, j})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
i = nil
j = nil
y = nil
mark("globals deleted")

--== number_to_the_power_of_a_temporary
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- y = 2 ** (x * 3)
-- y.sum().backward()
local x, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
y = 2 ^ (x * 3)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== zero_to_the_power
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- y = 0 ** x
-- y.sum().backward()
local x, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
y = 0 ^ x
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== transposed_to_half_on_gpu
-- x = torch.randn(64, 32).t()
-- y = x.to("cuda", torch.float16)
-- layout(y)
local x, y
x = ohm.randn(64, 32):t()
y = x:to("cuda", ohm.float16)
layout(y)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== channels_last_and_back
-- x = torch.randn(2, 3, 4, 5, device="cuda", requires_grad=True)
-- y = x.contiguous(memory_format=torch.channels_last)
-- layout(y)
-- z = F.relu(y) * 2
-- layout(z)
-- z.sum().backward()
-- w = z.detach().to("cpu", memory_format=torch.contiguous_format)
local x, y, z, w
x = ohm.randn(2, 3, 4, 5, {device = "cuda", requires_grad = true})
y = x:contiguous({memory_format = ohm.channels_last})
layout(y)
z = F.relu(y) * 2
layout(z)
z:sum():backward()
w = z:detach():to("cpu", {memory_format = ohm.contiguous_format})
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
w = nil
mark("globals deleted")

--== channels_last_to_half_on_gpu
-- x = torch.randn(2, 3, 4, 5)
-- y = x.to("cuda", torch.float16, memory_format=torch.channels_last)
-- layout(y)
local x, y
x = ohm.randn(2, 3, 4, 5)
y = x:to("cuda", ohm.float16, {memory_format = ohm.channels_last})
layout(y)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== channels_last_convolution
-- m = nn.Conv2d(3, 8, 3, padding=1).to("cuda", memory_format=torch.channels_last)
-- x = torch.randn(2, 3, 10, 12, device="cuda").to(memory_format=torch.channels_last)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
-- layout(m.weight.grad)
local m, x, y
m = nn.Conv2d(3, 8, 3, {padding = 1}):to("cuda", {memory_format = ohm.channels_last})
x = ohm.randn(2, 3, 10, 12, {device = "cuda"}):to({memory_format = ohm.channels_last})
y = m(x)
layout(y)
y:sum():backward()
layout(m.weight.grad)
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== channels_last_convolution_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.Conv2d(3, 8, 3, padding=1).to("cuda", memory_format=torch.channels_last)
-- x = torch.randn(2, 3, 10, 12, device="cuda").to(memory_format=torch.channels_last)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
-- layout(m.weight.grad)
local m, x, y
ohm.backends.cudnn.enabled = true
m = nn.Conv2d(3, 8, 3, {padding = 1}):to("cuda", {memory_format = ohm.channels_last})
x = ohm.randn(2, 3, 10, 12, {device = "cuda"}):to({memory_format = ohm.channels_last})
y = m(x)
layout(y)
y:sum():backward()
layout(m.weight.grad)
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== ctc_loss_mean
-- x = torch.randn(12, 4, 9, device="cuda", requires_grad=True)
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n)
-- y.backward()
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda", requires_grad = true})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n)
y:backward()
mark("end of program (globals alive)")
x = nil
t = nil
n = nil
m = nil
y = nil
mark("globals deleted")

--== ctc_loss_zero_infinity
-- x = torch.randn(12, 4, 9, device="cuda", requires_grad=True)
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n, reduction="sum", zero_infinity=True)
-- y.backward()
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda", requires_grad = true})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n, {reduction = "sum", zero_infinity = true})
y:backward()
mark("end of program (globals alive)")
x = nil
t = nil
n = nil
m = nil
y = nil
mark("globals deleted")

--== ctc_loss_of_int32_on_the_host
-- x = torch.randn(12, 4, 9, device="cuda", requires_grad=True)
-- t = torch.tensor([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=torch.int32)
-- n = torch.tensor([2, 2, 1, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n, reduction="none")
-- y.sum().backward()
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda", requires_grad = true})
t = ohm.tensor({{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {dtype = ohm.int32})
n = ohm.tensor({2, 2, 1, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n, {reduction = "none"})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
t = nil
n = nil
m = nil
y = nil
mark("globals deleted")

--== ctc_loss_of_sliced_targets
-- x = torch.randn(4, 12, 9, device="cuda", requires_grad=True)
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([2, 2, 1, 3])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.transpose(0, 1), t[:, 1:4], m, n)
-- y.backward()
local x, t, n, m, y
x = ohm.randn(4, 12, 9, {device = "cuda", requires_grad = true})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({2, 2, 1, 3})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:transpose(0, 1), slice(slice(t, 0, 0), 1, 1, 4), m, n)
y:backward()
mark("end of program (globals alive)")
x = nil
t = nil
n = nil
m = nil
y = nil
mark("globals deleted")

--== ctc_loss_without_graph
-- x = torch.randn(12, 4, 9, device="cuda")
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n)
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda"})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n)
mark("end of program (globals alive)")
x = nil
t = nil
n = nil
m = nil
y = nil
mark("globals deleted")

--== ctc_loss_zero_infinity_without_graph
-- x = torch.randn(12, 4, 9, device="cuda")
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n, zero_infinity=True)
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda"})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n, {zero_infinity = true})
mark("end of program (globals alive)")
x = nil
t = nil
n = nil
m = nil
y = nil
mark("globals deleted")

--== floor_divide_of_a_number
-- x = torch.rand(8, 8, device="cuda") + 1
-- y = 7 // x
-- z = y // 2
local x, y, z
x = ohm.rand(8, 8, {device = "cuda"}) + 1
y = 7 // x
z = y // 2
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== amax_of_a_gradient_laid_out_otherwise
-- x0 = torch.randn(16, 1, 1, 8, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 2)
-- y = x.amax(dim=1)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, y, z
x0 = ohm.randn(16, 1, 1, 8, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 2)
y = x:amax({dim = 1})
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== prod_of_a_gradient_laid_out_otherwise
-- x = torch.randn(3, 1, 1, 7, device="cuda", requires_grad=True)
-- y = x.prod(dim=1)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(3, 1, 1, 7, {device = "cuda", requires_grad = true})
y = x:prod({dim = 1})
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== leaky_relu_of_a_gradient_laid_out_otherwise
-- x0 = torch.randn(3, 8, 7, device="cuda", requires_grad=True)
-- x = x0.permute(0, 2, 1)
-- y = F.leaky_relu(x)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x0, x, y, z
x0 = ohm.randn(3, 8, 7, {device = "cuda", requires_grad = true})
x = x0:permute(0, 2, 1)
y = F.leaky_relu(x)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== batch_norm_channels_last_of_a_row_major_gradient
-- x0 = torch.randn(4, 6, 6, 8, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, m, y, z
x0 = ohm.randn(4, 6, 6, 8, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== nll_loss_of_lines_without_reduction
-- x = torch.randn(3, 7, 5, device="cuda", requires_grad=True)
-- t = torch.randint(7, (3, 5), device="cuda")
-- y = F.nll_loss(x, t, reduction="none")
local x, t, y
x = ohm.randn(3, 7, 5, {device = "cuda", requires_grad = true})
t = ohm.randint(7, {3, 5}, {device = "cuda"})
y = F.nll_loss(x, t, {reduction = "none"})
mark("end of program (globals alive)")
x = nil
t = nil
y = nil
mark("globals deleted")

--== index_of_no_elements
-- x = torch.randn(3, 1, 0, device="cuda", requires_grad=True)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x[line]
-- g = torch.ones_like(y)
-- y.backward(g)
local x, line, y, g
x = ohm.randn(3, 1, 0, {device = "cuda", requires_grad = true})
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:index({line})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
line = nil
y = nil
g = nil
mark("globals deleted")

--== index_by_no_rows
-- x = torch.randn(3, 1, 4, device="cuda", requires_grad=True)
-- line = torch.zeros(0, dtype=torch.long, device="cuda")
-- y = x[line]
-- g = torch.ones_like(y)
-- y.backward(g)
local x, line, y, g
x = ohm.randn(3, 1, 4, {device = "cuda", requires_grad = true})
line = ohm.zeros(0, {dtype = ohm.int64, device = "cuda"})
y = x:index({line})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
line = nil
y = nil
g = nil
mark("globals deleted")

--== attention_in_half_precision
-- x = torch.randn(4, 3, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, device="cuda", dtype=torch.float16)
-- y = m(x)
-- y.sum().backward()
local x, m, y
x = ohm.randn(4, 3, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.TransformerEncoderLayer(8, 2, 16, {batch_first = true, device = "cuda", dtype = ohm.float16})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== attention_without_graph
-- x = torch.randn(3, 4, 8, device="cuda")
-- k = torch.randn(5, 4, 8, device="cuda")
-- m = nn.MultiheadAttention(8, 2, device="cuda")
-- with torch.no_grad(): y = m(x, k, k)[0]
local x, k, m, y
x = ohm.randn(3, 4, 8, {device = "cuda"})
k = ohm.randn(5, 4, 8, {device = "cuda"})
m = nn.MultiheadAttention(8, 2, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, k, k)[1]
end
mark("end of program (globals alive)")
x = nil
k = nil
m = nil
y = nil
mark("globals deleted")

--== overwritten_before_deleted
-- v0 = torch.randn(2, 5, device="cuda", requires_grad=True)
-- v1 = torch.randn(2, 5, device="cuda", requires_grad=True)
-- v3 = v1.transpose(0, 1).contiguous().transpose(0, 1)
-- v3 = v3 * 1.5
-- del v0
local v0, v1, v3
v0 = ohm.randn(2, 5, {device = "cuda", requires_grad = true})
v1 = ohm.randn(2, 5, {device = "cuda", requires_grad = true})
v3 = v1:transpose(0, 1):contiguous():transpose(0, 1)
v3 = v3 * 1.5
v0 = nil
mark("end of program (globals alive)")
v1 = nil
v3 = nil
mark("globals deleted")

--== overwritten_by_a_call
-- v0 = torch.randn(2, 5, device="cuda")
-- v1 = torch.randn(2, 5, device="cuda")
-- v1 = F.relu(v0)
-- del v0
local v0, v1
v0 = ohm.randn(2, 5, {device = "cuda"})
v1 = ohm.randn(2, 5, {device = "cuda"})
v1 = F.relu(v0)
v0 = nil
mark("end of program (globals alive)")
v1 = nil
mark("globals deleted")

--== normalize_of_a_temporary
-- x = torch.randn(8, 5, device="cuda")
-- y = F.normalize(x + 1.0, dim=1)
local x, y
x = ohm.randn(8, 5, {device = "cuda"})
y = F.normalize(x + 1.0, {dim = 1})
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== cudnn_attention_causal
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, y, g
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {is_causal = true})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil
y = nil
g = nil
mark("globals deleted")

--== cudnn_attention_bias
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = torch.zeros(32, 32, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- y.sum().backward()
local q, m, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = ohm.zeros(32, 32, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
m = nil
y = nil
mark("globals deleted")

--== cudnn_attention_bool_mask
-- q = torch.randn(2, 4, 33, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = torch.ones(33, 33, device="cuda", dtype=torch.bool)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, m, y, g
q = ohm.randn(2, 4, 33, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = ohm.ones(33, 33, {device = "cuda", dtype = ohm.bool})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil
m = nil
y = nil
g = nil
mark("globals deleted")

--== cudnn_attention_transposed_narrow_values
-- q = torch.randn(2, 32, 4, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- k = torch.randn(2, 48, 4, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- v = torch.randn(2, 48, 4, 32, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
-- z = y.transpose(1, 2).reshape(2, 32, 128)
-- z.sum().backward()
local q, k, v, y, z
q = ohm.randn(2, 32, 4, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(2, 48, 4, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(2, 48, 4, 32, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q:transpose(1, 2), k:transpose(1, 2), v:transpose(1, 2))
z = y:transpose(1, 2):reshape(2, 32, 128)
z:sum():backward()
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
y = nil
z = nil
mark("globals deleted")

--== cudnn_attention_no_grad
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q)
local q, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q)
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== cudnn_attention_256
-- q = torch.randn(2, 4, 32, 256, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 256, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
y:sum():backward()
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== attention_192
-- q = torch.randn(2, 4, 32, 192, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 192, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
y:sum():backward()
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== cudnn_attention_192_no_grad
-- q = torch.randn(2, 4, 32, 192, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q)
local q, y
q = ohm.randn(2, 4, 32, 192, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q)
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== cudnn_attention_quarter_dropped
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.25)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {dropout_p = 0.25})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== attention_tenth_dropped
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {dropout_p = 0.1})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== attention_one_key
-- q = torch.randn(2, 4, 1, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 1, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
y:sum():backward()
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== cudnn_attention_packed_autocast
-- x = torch.randn(2, 32, 128, device="cuda", requires_grad=True)
-- l = nn.Linear(128, 384, device="cuda")
-- with torch.autocast("cuda", dtype=torch.float16):
--     h = l(x).view(2, 32, 3, 4, 32).permute(2, 0, 3, 1, 4)
--     y = F.scaled_dot_product_attention(h[0], h[1], h[2], is_causal=True).transpose(1, 2).reshape(2, 32, 128)
-- y.sum().backward()
local x, l, h, y
x = ohm.randn(2, 32, 128, {device = "cuda", requires_grad = true})
l = nn.Linear(128, 384, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  h = l(x):view(2, 32, 3, 4, 32):permute(2, 0, 3, 1, 4)
  y = F.scaled_dot_product_attention(h:select(0, 0), h:select(0, 1), h:select(0, 2), {is_causal = true}):transpose(1, 2):reshape(2, 32, 128)
end
y:sum():backward()
mark("end of program (globals alive)")
x = nil
l = nil
h = nil
y = nil
mark("globals deleted")

--== attention_mask_gradient
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = torch.zeros(2, 4, 32, 32, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- y.sum().backward()
local q, m, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = ohm.zeros(2, 4, 32, 32, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
m = nil
y = nil
mark("globals deleted")

--== cudnn_attention_value_gradient
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16)
-- v = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, v)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, v, y, g
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16})
v = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, v)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil
v = nil
y = nil
g = nil
mark("globals deleted")

--== attention_3d_half
-- q = torch.randn(4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, y, g
q = ohm.randn(4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil
y = nil
g = nil
mark("globals deleted")

--== attention_3d_bias
-- q = torch.randn(4, 32, 64, device="cuda", requires_grad=True)
-- m = torch.randn(4, 32, 32, device="cuda")
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- y.sum().backward()
local q, m, y
q = ohm.randn(4, 32, 64, {device = "cuda", requires_grad = true})
m = ohm.randn(4, 32, 32, {device = "cuda"})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
m = nil
y = nil
mark("globals deleted")

--== attention_3d_dropped
-- q = torch.randn(4, 32, 64, device="cuda", dtype=torch.float64, requires_grad=True)
-- k = torch.randn(4, 16, 64, device="cuda", dtype=torch.float64, requires_grad=True)
-- y = F.scaled_dot_product_attention(q.transpose(1, 2).contiguous().transpose(1, 2), k, k, dropout_p=0.5)
-- y.sum().backward()
local q, k, y
q = ohm.randn(4, 32, 64, {device = "cuda", dtype = ohm.float64, requires_grad = true})
k = ohm.randn(4, 16, 64, {device = "cuda", dtype = ohm.float64, requires_grad = true})
y = F.scaled_dot_product_attention(q:transpose(1, 2):contiguous():transpose(1, 2), k, k, {dropout_p = 0.5})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
k = nil
y = nil
mark("globals deleted")

--== remainder_gradient
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- w = torch.randn(7, device="cuda", requires_grad=True)
-- y = x % w
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
w = ohm.randn(7, {device = "cuda", requires_grad = true})
y = x % w
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== remainder_of_number
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- y = 2.0 % x
-- del x
local x, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
y = 2.0 % x
x = nil
mark("end of program (globals alive)")
y = nil
mark("globals deleted")

--== floor_divide_is_recorded
-- x = torch.randn(64, device="cuda", requires_grad=True)
-- w = torch.randn(64, device="cuda", requires_grad=True)
-- y = x // w
-- z = y * 2.0
local x, w, y, z
x = ohm.randn(64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, {device = "cuda", requires_grad = true})
y = x // w
z = y * 2.0
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== rsub_tensor
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- w = torch.randn(5, 1, device="cuda", requires_grad=True)
-- y = torch.rsub(x, w, alpha=0.5)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 1, {device = "cuda", requires_grad = true})
y = ohm.rsub(x, w, {alpha = 0.5})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== index_mask values=true
-- x = torch.randn(8, 16, device="cuda", requires_grad=True)
-- keep = torch.zeros(16, 8, dtype=torch.bool, device="cuda")
-- y = x.transpose(0, 1)[keep]
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(8, 16, {device = "cuda", requires_grad = true})
keep = ohm.zeros(16, 8, {dtype = ohm.bool, device = "cuda"})
y = x:transpose(0, 1):index({keep})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
keep = nil
y = nil
mark("globals deleted")

--== index_mask_of_rows values=true
-- x = torch.randn(8, 5000, device="cuda", requires_grad=True)
-- rows = torch.zeros(8, dtype=torch.bool, device="cuda")
-- y = x[rows]
-- layout(y)
-- y.sum().backward()
local x, rows, y
x = ohm.randn(8, 5000, {device = "cuda", requires_grad = true})
rows = ohm.zeros(8, {dtype = ohm.bool, device = "cuda"})
y = x:index({rows})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
rows = nil
y = nil
mark("globals deleted")

--== masked_select_broadcast values=true
-- x = torch.randn(3, 1, 16, device="cuda", requires_grad=True)
-- keep = torch.zeros(8, 16, dtype=torch.bool, device="cuda")
-- y = x.masked_select(keep)
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(3, 1, 16, {device = "cuda", requires_grad = true})
keep = ohm.zeros(8, 16, {dtype = ohm.bool, device = "cuda"})
y = x:masked_select(keep)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
keep = nil
y = nil
mark("globals deleted")

--== nonzero_of_transposed values=true
-- keep = torch.zeros(70, 80, dtype=torch.bool, device="cuda")
-- y = keep.transpose(0, 1).nonzero()
-- layout(y)
-- i = torch.where(keep)[0]
local keep, y, i
keep = ohm.zeros(70, 80, {dtype = ohm.bool, device = "cuda"})
y = keep:transpose(0, 1):nonzero()
layout(y)
i = (ohm.where(keep))
mark("end of program (globals alive)")
keep = nil
y = nil
i = nil
mark("globals deleted")

--== where_other_number
-- x = torch.randn(5, 7, device="cuda", dtype=torch.float16, requires_grad=True)
-- keep = torch.zeros(5, 7, dtype=torch.bool, device="cuda")
-- y = torch.where(keep, x, 0.5)
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(5, 7, {device = "cuda", dtype = ohm.float16, requires_grad = true})
keep = ohm.zeros(5, 7, {dtype = ohm.bool, device = "cuda"})
y = ohm.where(keep, x, 0.5)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
keep = nil
y = nil
mark("globals deleted")

--== where_input_number
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- keep = torch.zeros(5, 7, dtype=torch.bool, device="cuda")
-- y = torch.where(keep, 0.5, x)
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
keep = ohm.zeros(5, 7, {dtype = ohm.bool, device = "cuda"})
y = ohm.where(keep, 0.5, x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
keep = nil
y = nil
mark("globals deleted")

--== lerp_by_tensor
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- e = torch.randn(5, 7, device="cuda", requires_grad=True)
-- w = torch.randn(7, device="cuda", requires_grad=True)
-- y = torch.lerp(x, e, w)
-- layout(y)
-- y.sum().backward()
local x, e, w, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
e = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
w = ohm.randn(7, {device = "cuda", requires_grad = true})
y = ohm.lerp(x, e, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
e = nil
w = nil
y = nil
mark("globals deleted")

--== std_biased
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- y = x.std(dim=1, unbiased=False) + x.var(correction=0)
-- y.sum().backward()
local x, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
y = x:std({dim = 1, unbiased = false}) + x:var({correction = 0})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== diagonal_gradient
-- x = torch.randn(3, 5, 7, device="cuda", requires_grad=True)
-- y = x.diagonal(1, 2, 0)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(3, 5, 7, {device = "cuda", requires_grad = true})
y = x:diagonal(1, 2, 0)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== nan_to_num_gradient
-- x = torch.randn(7, 5, device="cuda", requires_grad=True)
-- y = x.mT.nan_to_num(nan=1.0).positive()
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(7, 5, {device = "cuda", requires_grad = true})
y = x.mT:nan_to_num({nan = 1.0}):positive()
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== einsum_outer
-- a = torch.randn(5, device="cuda", requires_grad=True)
-- b = torch.randn(6, device="cuda", requires_grad=True)
-- y = torch.einsum('i,j->ij', a, b)
-- layout(y)
-- y.sum().backward()
local a, b, y
a = ohm.randn(5, {device = "cuda", requires_grad = true})
b = ohm.randn(6, {device = "cuda", requires_grad = true})
y = ohm.einsum("i,j->ij", a, b)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
a = nil
b = nil
y = nil
mark("globals deleted")

--== einsum_elements
-- a = torch.randn(5, 6, device="cuda", requires_grad=True)
-- b = torch.randn(5, 6, device="cuda", requires_grad=True)
-- y = torch.einsum('ij,ij->ji', a, b)
-- layout(y)
-- y.sum().backward()
local a, b, y
a = ohm.randn(5, 6, {device = "cuda", requires_grad = true})
b = ohm.randn(5, 6, {device = "cuda", requires_grad = true})
y = ohm.einsum("ij,ij->ji", a, b)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
a = nil
b = nil
y = nil
mark("globals deleted")

--== einsum_inner_of_one
-- x = torch.randn(8, 3, 1, device="cuda", requires_grad=True)
-- w = torch.randn(8, 3, 1, device="cuda", requires_grad=True)
-- y = torch.einsum('...ij,...kj->...ik', x, w)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(8, 3, 1, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 3, 1, {device = "cuda", requires_grad = true})
y = ohm.einsum("...ij,...kj->...ik", x, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== einsum_ellipsis
-- x = torch.randn(8, 3, 5, device="cuda", requires_grad=True)
-- w = torch.randn(5, 4, device="cuda", requires_grad=True)
-- y = torch.einsum('...ij,jk', x, w)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(8, 3, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 4, {device = "cuda", requires_grad = true})
y = ohm.einsum("...ij,jk", x, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== bernoulli_transposed_half
-- x = torch.randn(8, 16, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = torch.bernoulli(x.transpose(0, 1))
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(8, 16, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.bernoulli(x:transpose(0, 1))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== any_of_one
-- x = torch.randn(1, device="cuda")
-- y = x.any()
-- z = x.all(dim=0)
local x, y, z
x = ohm.randn(1, {device = "cuda"})
y = x:any()
z = x:all({dim = 0})
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== prod_of_transposed
-- x = torch.randn(8, 700, device="cuda", requires_grad=True)
-- y = x.transpose(0, 1).prod()
-- y.backward()
local x, y
x = ohm.randn(8, 700, {device = "cuda", requires_grad = true})
y = x:transpose(0, 1):prod()
y:backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== cumprod_gradient
-- x = torch.randn(8, 16, device="cuda", requires_grad=True)
-- y = x.transpose(0, 1).cumprod(dim=1)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(8, 16, {device = "cuda", requires_grad = true})
y = x:transpose(0, 1):cumprod({dim = 1})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== argmax_of_narrow
-- x = torch.randn(7, 9, device="cuda")
-- y = x.narrow(1, 1, 7).argmax()
local x, y
x = ohm.randn(7, 9, {device = "cuda"})
y = x:narrow(1, 1, 7):argmax()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== masked_fill_expanded
-- x = torch.randn(1, device="cuda").expand(3)
-- x.masked_fill_(torch.zeros(3, dtype=torch.bool, device="cuda"), 1.0)
-- layout(x)
local x
x = ohm.randn(1, {device = "cuda"}):expand(3)
x:masked_fill_(ohm.zeros(3, {dtype = ohm.bool, device = "cuda"}), 1.0)
layout(x)
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== max_pair
-- x = torch.randn(8, 16, device="cuda", requires_grad=True)
-- v, i = x.max(dim=1)
-- s = v.sum()
-- del v
-- y = x.max(dim=0)[1]
-- s.backward()
local x, v, i, s, y
x = ohm.randn(8, 16, {device = "cuda", requires_grad = true})
v, i = x:max({dim = 1})
s = v:sum()
v = nil
y = second(x:max({dim = 0}))
s:backward()
mark("end of program (globals alive)")
x = nil
i = nil
s = nil
y = nil
mark("globals deleted")

--== mse_loss_none_of_transposed
-- x = torch.randn(3, 8, device="cuda", requires_grad=True)
-- w = torch.randn(3, 9, device="cuda")
-- y = F.mse_loss(x.transpose(0, 1), w.narrow(1, 1, 8).transpose(0, 1), reduction="none")
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(3, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 9, {device = "cuda"})
y = F.mse_loss(x:transpose(0, 1), w:narrow(1, 1, 8):transpose(0, 1), {reduction = "none"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== huber_loss_none_of_transposed
-- x = torch.randn(3, 8, device="cuda", requires_grad=True)
-- w = torch.randn(3, 8, device="cuda")
-- y = F.huber_loss(x.transpose(0, 1), w.transpose(0, 1), reduction="none")
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(3, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 8, {device = "cuda"})
y = F.huber_loss(x:transpose(0, 1), w:transpose(0, 1), {reduction = "none"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== binary_cross_entropy_both_gradients
-- x = torch.randn(7, 2, 16, device="cuda", requires_grad=True)
-- w = torch.randn(7, 2, 16, device="cuda", requires_grad=True)
-- y = F.binary_cross_entropy(torch.sigmoid(x.transpose(0, 1)), torch.sigmoid(w.transpose(0, 1)))
-- y.backward()
local x, w, y
x = ohm.randn(7, 2, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(7, 2, 16, {device = "cuda", requires_grad = true})
y = F.binary_cross_entropy(ohm.sigmoid(x:transpose(0, 1)), ohm.sigmoid(w:transpose(0, 1)))
y:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== einsum_autocast_sum
-- x = torch.randn(5, 5, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y = torch.einsum('ij->j', x)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(5, 5, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.einsum("ij->j", x)
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== einsum_autocast_elements
-- x = torch.randn(5, 300, device="cuda", requires_grad=True)
-- w = torch.randn(5, 900, device="cuda")
-- with torch.autocast("cuda", dtype=torch.float16): y = torch.einsum('ij,ik->ijk', x, w)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 300, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 900, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = ohm.einsum("ij,ik->ijk", x, w)
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== efficient_attention_unaligned
-- q0 = torch.randn(2, 2, 8, 44, device="cuda", requires_grad=True)
-- q = q0.narrow(3, 1, 40)
-- k = torch.randn(2, 2, 8, 40, device="cuda")
-- y = F.scaled_dot_product_attention(q, k, k)
-- y.sum().backward()
local q0, q, k, y
q0 = ohm.randn(2, 2, 8, 44, {device = "cuda", requires_grad = true})
q = q0:narrow(3, 1, 40)
k = ohm.randn(2, 2, 8, 40, {device = "cuda"})
y = F.scaled_dot_product_attention(q, k, k)
y:sum():backward()
mark("end of program (globals alive)")
q0 = nil
q = nil
k = nil
y = nil
mark("globals deleted")

--== flash_attention_wide_dropped
-- q = torch.randn(2, 2, 40, 130, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.25)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 2, 40, 130, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {dropout_p = 0.25})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
y = nil
mark("globals deleted")

--== two_groups
-- m0 = nn.Linear(8, 8, device="cuda")
-- m1 = nn.Linear(8, 8, device="cuda")
-- opt = torch.optim.AdamW([{"params": m0.parameters()}, {"params": m1.parameters(), "lr": 0.01}], lr=0.1)
-- m1(m0(torch.randn(4, 8, device="cuda"))).pow(2).mean().backward()
-- opt.step()
local m0, m1, opt
m0 = nn.Linear(8, 8, {device = "cuda"})
m1 = nn.Linear(8, 8, {device = "cuda"})
opt = ohm.optim.AdamW({{params = m0:parameters()}, {params = m1:parameters(), lr = 0.01}}, {lr = 0.1})
m1(m0(ohm.randn(4, 8, {device = "cuda"}))):pow(2):mean():backward()
opt:step()
mark("end of program (globals alive)")
m0 = nil
m1 = nil
opt = nil
mark("globals deleted")

--== take_along_dim_of_broadcast
-- x = torch.randn(7, 9, device="cuda", requires_grad=True)
-- ids = torch.zeros(1, 3, dtype=torch.int64, device="cuda")
-- y = torch.take_along_dim(x, ids, dim=1)
-- y.sum().backward()
local x, ids, y
x = ohm.randn(7, 9, {device = "cuda", requires_grad = true})
ids = ohm.zeros(1, 3, {dtype = ohm.int64, device = "cuda"})
y = ohm.take_along_dim(x, ids, {dim = 1})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
ids = nil
y = nil
mark("globals deleted")

--== take_along_dim_of_transposed
-- x = torch.randn(1, 9, device="cuda", requires_grad=True)
-- ids = torch.zeros(9, 7, dtype=torch.int64, device="cuda")
-- y = torch.take_along_dim(x, ids.t(), dim=1)
-- layout(y)
-- y.sum().backward()
local x, ids, y
x = ohm.randn(1, 9, {device = "cuda", requires_grad = true})
ids = ohm.zeros(9, 7, {dtype = ohm.int64, device = "cuda"})
y = ohm.take_along_dim(x, ids:t(), {dim = 1})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
ids = nil
y = nil
mark("globals deleted")

--== flash_attention_split
-- q = torch.randn(1, 4, 130, 40, device="cuda", dtype=torch.float16, requires_grad=True)
-- k = torch.randn(1, 4, 300, 40, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, k, k)
-- y.sum().backward()
local q, k, y
q = ohm.randn(1, 4, 130, 40, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(1, 4, 300, 40, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, k, k)
y:sum():backward()
mark("end of program (globals alive)")
q = nil
k = nil
y = nil
mark("globals deleted")

--== flash_attention_split_wide
-- q = torch.randn(1, 4, 64, 136, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- k = torch.randn(1, 4, 1100, 136, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, k, k)
-- y.sum().backward()
local q, k, y
q = ohm.randn(1, 4, 64, 136, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
k = ohm.randn(1, 4, 1100, 136, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = F.scaled_dot_product_attention(q, k, k)
y:sum():backward()
mark("end of program (globals alive)")
q = nil
k = nil
y = nil
mark("globals deleted")

--== efficient_attention_wide_half
-- q = torch.randn(1, 4, 33, 128, device="cuda", dtype=torch.float16, requires_grad=True)
-- mask = torch.zeros(33, 33, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
-- y.sum().backward()
local q, mask, y
q = ohm.randn(1, 4, 33, 128, {device = "cuda", dtype = ohm.float16, requires_grad = true})
mask = ohm.zeros(33, 33, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = mask})
y:sum():backward()
mark("end of program (globals alive)")
q = nil
mask = nil
y = nil
mark("globals deleted")

--== pad_reflect_keeps_its_input
-- x = torch.randn(2, 3, 1000, device="cuda", requires_grad=True)
-- h = x * 2
-- y = F.pad(h, (2, 3), mode="reflect")
-- del h
-- y.sum().backward()
local x, h, y
x = ohm.randn(2, 3, 1000, {device = "cuda", requires_grad = true})
h = x * 2
y = F.pad(h, {2, 3}, {mode = "reflect"})
h = nil
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== pad_reflect_channels_last
-- x0 = torch.randn(2, 30, 40, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.pad(x, (2, 3, 1, 1), mode="reflect")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 30, 40, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.pad(x, {2, 3, 1, 1}, {mode = "reflect"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== pad_reflect_volumes
-- x0 = torch.randn(2, 10, 11, 12, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- y = F.pad(x, (2, 3, 1, 1, 1, 1), mode="reflect")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 10, 11, 12, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
y = F.pad(x, {2, 3, 1, 1, 1, 1}, {mode = "reflect"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== pad_replicate_channels_last
-- x0 = torch.randn(2, 30, 40, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.pad(x, (2, 3, 1, 1), mode="replicate")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 30, 40, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.pad(x, {2, 3, 1, 1}, {mode = "replicate"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== pad_circular_channels_last
-- x0 = torch.randn(2, 30, 40, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.pad(x, (2, -3, 1, 1), mode="circular")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 30, 40, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.pad(x, {2, -3, 1, 1}, {mode = "circular"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== pad_replicate_twice
-- x = torch.randn(3, 5, 8, device="cuda", requires_grad=True)
-- y = F.pad(x, (0, 1), mode="replicate")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(3, 5, 8, {device = "cuda", requires_grad = true})
y = F.pad(x, {0, 1}, {mode = "replicate"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== conv2d_same_uneven
-- m = nn.Conv2d(8, 6, (4, 3), padding="same", device="cuda")
-- x = torch.randn(2, 8, 9, 7, device="cuda", requires_grad=True)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y
m = nn.Conv2d(8, 6, {4, 3}, {padding = "same", device = "cuda"})
x = ohm.randn(2, 8, 9, 7, {device = "cuda", requires_grad = true})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== conv2d_same_uneven_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.Conv2d(8, 6, 2, padding="same", groups=2, device="cuda")
-- x0 = torch.randn(2, 9, 7, 8, device="cuda", requires_grad=True)
-- y = m(x0.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local m, x0, y
ohm.backends.cudnn.enabled = true
m = nn.Conv2d(8, 6, 2, {padding = "same", groups = 2, device = "cuda"})
x0 = ohm.randn(2, 9, 7, 8, {device = "cuda", requires_grad = true})
y = m(x0:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x0 = nil
y = nil
mark("globals deleted")

--== conv1d_same_uneven
-- m = nn.Conv1d(8, 6, 4, padding="same", device="cuda")
-- x = torch.randn(2, 8, 9, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.Conv1d(8, 6, 4, {padding = "same", device = "cuda"})
x = ohm.randn(2, 8, 9, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== conv2d_reflect_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.Conv2d(8, 6, 3, padding=1, padding_mode="reflect", device="cuda")
-- x = torch.randn(2, 8, 9, 7, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
ohm.backends.cudnn.enabled = true
m = nn.Conv2d(8, 6, 3, {padding = 1, padding_mode = "reflect", device = "cuda"})
x = ohm.randn(2, 8, 9, 7, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== conv1d_circular_same
-- m = nn.Conv1d(8, 6, 4, padding="same", padding_mode="circular", device="cuda")
-- x = torch.randn(2, 8, 9, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.Conv1d(8, 6, 4, {padding = "same", padding_mode = "circular", device = "cuda"})
x = ohm.randn(2, 8, 9, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== conv_transpose1d_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.ConvTranspose1d(4, 6, 3, stride=2, device="cuda")
-- x0 = torch.randn(2, 100, 4, device="cuda", requires_grad=True)
-- x = x0.transpose(1, 2)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x0, x, y
ohm.backends.cudnn.enabled = true
m = nn.ConvTranspose1d(4, 6, 3, {stride = 2, device = "cuda"})
x0 = ohm.randn(2, 100, 4, {device = "cuda", requires_grad = true})
x = x0:transpose(1, 2)
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== conv_transpose1d
-- m = nn.ConvTranspose1d(4, 6, 3, stride=2, groups=2, device="cuda")
-- x0 = torch.randn(2, 100, 4, device="cuda", requires_grad=True)
-- x = x0.transpose(1, 2)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x0, x, y
m = nn.ConvTranspose1d(4, 6, 3, {stride = 2, groups = 2, device = "cuda"})
x0 = ohm.randn(2, 100, 4, {device = "cuda", requires_grad = true})
x = x0:transpose(1, 2)
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== bicubic_channels_last_gradient
-- x0 = torch.randn(4, 6, 8, 8, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.interpolate(x, size=(5, 9), mode="bicubic")
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x0, x, y, g
x0 = ohm.randn(4, 6, 8, 8, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.interpolate(x, {size = {5, 9}, mode = "bicubic"})
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
g = nil
mark("globals deleted")

--== bicubic_autocast
-- x = torch.randn(2, 5, 8, 9, device="cuda", requires_grad=True, dtype=torch.float16)
-- with torch.autocast("cuda"): y = F.interpolate(x, size=(5, 12), mode="bicubic")
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 5, 8, 9, {device = "cuda", requires_grad = true, dtype = ohm.float16})
do
  local mode1 <close> = ohm.autocast("cuda")
  y = F.interpolate(x, {size = {5, 12}, mode = "bicubic"})
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== equal_of_tensors values=true
-- x = torch.randn(2, 1000, device="cuda")
-- y = torch.randn(2, 1000, device="cuda")
-- same = torch.equal(x, y)
-- mark("two")
-- same = torch.equal(x, x)
-- mark("one")
-- same = x.t().equal(y.t())
local x, y, same
x = ohm.randn(2, 1000, {device = "cuda"})
y = ohm.randn(2, 1000, {device = "cuda"})
same = ohm.equal(x, y)
mark("two")
same = ohm.equal(x, x)
mark("one")
same = x:t():equal(y:t())
mark("end of program (globals alive)")
x = nil
y = nil
same = nil
mark("globals deleted")

--== isclose
-- x = torch.randn(2, 1000, device="cuda", requires_grad=True)
-- y = torch.randn(2, 1000, device="cuda", requires_grad=True)
-- close = torch.isclose(x, y)
-- layout(close)
-- del close
-- close = torch.isclose(x, y.detach(), equal_nan=True)
local x, y, close
x = ohm.randn(2, 1000, {device = "cuda", requires_grad = true})
y = ohm.randn(2, 1000, {device = "cuda", requires_grad = true})
close = ohm.isclose(x, y)
layout(close)
close = nil
close = ohm.isclose(x, y:detach(), {equal_nan = true})
mark("end of program (globals alive)")
x = nil
y = nil
close = nil
mark("globals deleted")

--== allclose values=true
-- x = torch.randn(2, 1000, device="cuda")
-- y = torch.randn(2, 1000, device="cuda")
-- close = torch.allclose(x, y)
-- mark("strangers")
-- close = x.allclose(x, rtol=0.0, atol=0.0, equal_nan=True)
local x, y, close
x = ohm.randn(2, 1000, {device = "cuda"})
y = ohm.randn(2, 1000, {device = "cuda"})
close = ohm.allclose(x, y)
mark("strangers")
close = x:allclose(x, {rtol = 0.0, atol = 0.0, equal_nan = true})
mark("end of program (globals alive)")
x = nil
y = nil
close = nil
mark("globals deleted")

--== isclose_of_integers
-- x = torch.randint(0, 9, (2, 1000), device="cuda")
-- y = torch.randint(0, 9, (1000,), device="cuda")
-- close = x.isclose(y)
-- layout(close)
local x, y, close
x = ohm.randint(0, 9, {2, 1000}, {device = "cuda"})
y = ohm.randint(0, 9, {1000}, {device = "cuda"})
close = x:isclose(y)
layout(close)
mark("end of program (globals alive)")
x = nil
y = nil
close = nil
mark("globals deleted")

--== twice_batch_norm
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_batch_norm_without_weight
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, affine=False, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {affine = false, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_batch_norm_in_evaluation
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- layer.eval()
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
layer:eval()
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_batch_norm_of_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_batch_norm_of_cudnn_in_evaluation
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- layer.eval()
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
layer:eval()
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_group_norm
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.GroupNorm(1, 2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.GroupNorm(1, 2, {device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_group_norm_without_weight
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.GroupNorm(1, 2, affine=False, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.GroupNorm(1, 2, {affine = false, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_instance_norm
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.InstanceNorm2d(2, affine=True, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.InstanceNorm2d(2, {affine = true, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_bilinear
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.Upsample(scale_factor=2, mode="bilinear")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.Upsample({scale_factor = 2, mode = "bilinear"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_grouped_conv
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.Conv2d(2, 4, 3, padding=1, groups=2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.Conv2d(2, 4, 3, {padding = 1, groups = 2, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_grouped_conv_of_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.Conv2d(2, 4, 3, padding=1, groups=2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.Conv2d(2, 4, 3, {padding = 1, groups = 2, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_bce
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy(p, t)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy(p, t)
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
t = nil
w = nil
p = nil
loss = nil
g = nil
z = nil
mark("globals deleted")

--== twice_bce_with_weight
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy(p, t, weight=w)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy(p, t, {weight = w})
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
t = nil
w = nil
p = nil
loss = nil
g = nil
z = nil
mark("globals deleted")

--== twice_bce_with_logits
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy_with_logits(x, t)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy_with_logits(x, t)
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
t = nil
w = nil
p = nil
loss = nil
g = nil
z = nil
mark("globals deleted")

--== twice_bce_with_logits_and_weights
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=w)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy_with_logits(x, t, {weight = w, pos_weight = w})
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
t = nil
w = nil
p = nil
loss = nil
g = nil
z = nil
mark("globals deleted")

--== twice_softplus
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.softplus(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.softplus(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_logsigmoid
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.logsigmoid(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.logsigmoid(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_mish
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.mish(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.mish(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_maximum
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = torch.maximum(x, w)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = ohm.maximum(x, w)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_var
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = x.var(dim=1)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = x:var({dim = 1})
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_std
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = x.std(dim=0, keepdim=True)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = x:std({dim = 0, keepdim = true})
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_index_select
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = x.index_select(0, torch.zeros(3, dtype=torch.long, device="cuda"))
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = x:index_select(0, ohm.zeros(3, {dtype = ohm.int64, device = "cuda"}))
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_embedding_with_padding
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.embedding(torch.zeros(7, 3, dtype=torch.long, device="cuda"), x, padding_idx=0)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.embedding(ohm.zeros(7, 3, {dtype = ohm.int64, device = "cuda"}), x, {padding_idx = 0})
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== twice_penalty_of_a_critic
-- torch.backends.cudnn.enabled = True
-- critic = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.GroupNorm(2, 8), nn.SiLU(), nn.Flatten(), nn.Linear(8 * 8 * 8, 1)).cuda()
-- opt = torch.optim.Adam(critic.parameters())
-- for step in range(2):
--     opt.zero_grad()
--     real = torch.randn(4, 3, 16, 16, device="cuda", requires_grad=True)
--     scores = critic(real)
--     g = torch.autograd.grad(scores.sum(), real, create_graph=True)[0]
--     penalty = (g * g).sum()
--     loss = scores.mean() + penalty
--     loss.backward()
--     opt.step()
-- mark("two steps")
local critic, opt, real, scores, g, penalty, loss
ohm.backends.cudnn.enabled = true
critic = nn.Sequential(nn.Conv2d(3, 8, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 3, {padding = 1, groups = 8}), nn.GroupNorm(2, 8), nn.SiLU(), nn.Flatten(), nn.Linear((8 * 8) * 8, 1)):cuda()
opt = ohm.optim.Adam(critic:parameters())
for step = 0, 1 do
  opt:zero_grad()
  real = ohm.randn(4, 3, 16, 16, {device = "cuda", requires_grad = true})
  scores = critic(real)
  g = (ohm.autograd.grad(scores:sum(), real, {create_graph = true}))
  penalty = (g * g):sum()
  loss = scores:mean() + penalty
  loss:backward()
  opt:step()
end
mark("two steps")
mark("end of program (globals alive)")
critic = nil
opt = nil
real = nil
scores = nil
g = nil
penalty = nil
loss = nil
mark("globals deleted")

--== matmul_of_columns
-- x0 = torch.randn(7, 1, 1, 3, device="cuda", requires_grad=True)
-- x = x0.transpose(3, 2)
-- w0 = torch.randn(1, 7, 3, 2, device="cuda", requires_grad=True)
-- w = w0.narrow(3, 1, 1).transpose(0, 1)
-- y = torch.matmul(x, w.transpose(-2, -1))
-- y.sum().backward()
local x0, x, w0, w, y
x0 = ohm.randn(7, 1, 1, 3, {device = "cuda", requires_grad = true})
x = x0:transpose(3, 2)
w0 = ohm.randn(1, 7, 3, 2, {device = "cuda", requires_grad = true})
w = w0:narrow(3, 1, 1):transpose(0, 1)
y = ohm.matmul(x, w:transpose(-2, -1))
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
w0 = nil
w = nil
y = nil
mark("globals deleted")

--== gradient_of_bce_target_with_weights
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.rand(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(700, device="cuda")
-- loss = F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=w)
-- loss.backward()
local x, t, w, loss
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.rand(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(700, {device = "cuda"})
loss = F.binary_cross_entropy_with_logits(x, t, {weight = w, pos_weight = w})
loss:backward()
mark("end of program (globals alive)")
x = nil
t = nil
w = nil
loss = nil
mark("globals deleted")

--== conv_transpose3d_resizes_its_result
-- x0 = torch.randn(8, 1, 4, 6, 6, device="cuda", dtype=torch.float64, requires_grad=True)
-- x = x0.narrow(4, 1, 5).transpose(0, 1)
-- m = nn.ConvTranspose3d(8, 6, 2, stride=2, device="cuda", dtype=torch.float64)
-- y = m(x)
-- y.sum().backward()
local x0, x, m, y
x0 = ohm.randn(8, 1, 4, 6, 6, {device = "cuda", dtype = ohm.float64, requires_grad = true})
x = x0:narrow(4, 1, 5):transpose(0, 1)
m = nn.ConvTranspose3d(8, 6, 2, {stride = 2, device = "cuda", dtype = ohm.float64})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
m = nil
y = nil
mark("globals deleted")

--== conv_transpose3d_keeps_the_memory_of_its_input
-- x = torch.randn(1, 8, 4, 6, 6, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose3d(8, 1, 1, padding=1, device="cuda")
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local x, m, y
x = ohm.randn(1, 8, 4, 6, 6, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose3d(8, 1, 1, {padding = 1, device = "cuda"})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== conv3d_of_single_channels
-- x0 = torch.randn(8, 2, 5, 3, 5, device="cuda", requires_grad=True)
-- x = x0.transpose(1, 0)
-- m = nn.Conv3d(8, 16, 2, groups=8, device="cuda")
-- y = m(x)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, m, y, z
x0 = ohm.randn(8, 2, 5, 3, 5, {device = "cuda", requires_grad = true})
x = x0:transpose(1, 0)
m = nn.Conv3d(8, 16, 2, {groups = 8, device = "cuda"})
y = m(x)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== conv3d_with_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 4, 4, 4, 8, device="cuda", requires_grad=True).permute(0, 4, 1, 2, 3)
-- m = nn.Conv3d(8, 8, 3, padding=1, groups=8, device="cuda")
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 4, 4, 4, 8, {device = "cuda", requires_grad = true}):permute(0, 4, 1, 2, 3)
m = nn.Conv3d(8, 8, 3, {padding = 1, groups = 8, device = "cuda"})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== conv3d_without_cudnn
-- x = torch.randn(3, 4, 5, 4, 6, device="cuda", requires_grad=True)
-- m = nn.Conv3d(4, 6, (2, 3, 1), padding="same", groups=2, device="cuda")
-- y = m(x)
-- y.sum().backward()
local x, m, y
x = ohm.randn(3, 4, 5, 4, 6, {device = "cuda", requires_grad = true})
m = nn.Conv3d(4, 6, {2, 3, 1}, {padding = "same", groups = 2, device = "cuda"})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== max_pool3d_of_one_volume_with_channels_last
-- x0 = torch.randn(4, 6, 4, 8, device="cuda", requires_grad=True)
-- x = x0.permute(3, 0, 1, 2)
-- y = F.max_pool3d(x, 2)
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(4, 6, 4, 8, {device = "cuda", requires_grad = true})
x = x0:permute(3, 0, 1, 2)
y = F.max_pool3d(x, 2)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== pooling_of_volumes_with_channels_last
-- x = torch.randn(2, 4, 6, 6, 8, device="cuda", requires_grad=True).permute(0, 4, 1, 2, 3)
-- a = F.max_pool3d(x, 3, stride=1, padding=1)
-- b = F.avg_pool3d(x, 2)
-- c = F.adaptive_avg_pool3d(x, (2, 3, 1))
-- d = F.adaptive_avg_pool3d(x, 1)
-- layout(a)
-- layout(b)
-- layout(c)
-- layout(d)
-- loss = a.sum() + b.sum() + c.sum() + d.sum()
-- loss.backward()
local x, a, b, c, d, loss
x = ohm.randn(2, 4, 6, 6, 8, {device = "cuda", requires_grad = true}):permute(0, 4, 1, 2, 3)
a = F.max_pool3d(x, 3, {stride = 1, padding = 1})
b = F.avg_pool3d(x, 2)
c = F.adaptive_avg_pool3d(x, {2, 3, 1})
d = F.adaptive_avg_pool3d(x, 1)
layout(a)
layout(b)
layout(c)
layout(d)
loss = ((a:sum() + b:sum()) + c:sum()) + d:sum()
loss:backward()
mark("end of program (globals alive)")
x = nil
a = nil
b = nil
c = nil
d = nil
loss = nil
mark("globals deleted")

--== twice_conv3d
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 4, 5, 4, 6, device="cuda", requires_grad=True)
-- conv = nn.Conv3d(4, 6, 3, stride=2, padding=1, device="cuda")
-- m = nn.Sequential(nn.BatchNorm3d(6), nn.MaxPool3d(2, stride=1)).cuda()
-- y = m(conv(x))
-- g, h = torch.autograd.grad((y * y).sum(), [x, conv.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z.backward()
local x, conv, m, y, g, h, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 4, 5, 4, 6, {device = "cuda", requires_grad = true})
conv = nn.Conv3d(4, 6, 3, {stride = 2, padding = 1, device = "cuda"})
m = nn.Sequential(nn.BatchNorm3d(6), nn.MaxPool3d(2, {stride = 1})):cuda()
y = m(conv(x))
g, h = table.unpack(ohm.autograd.grad((y * y):sum(), {x, conv.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
conv = nil
m = nil
y = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== norms_and_dropout_of_volumes
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 4, 3, 4, 5, device="cuda", requires_grad=True)
-- m = nn.Sequential(nn.BatchNorm3d(4), nn.Dropout3d(0.5), nn.InstanceNorm3d(4, affine=True), nn.GroupNorm(2, 4)).cuda()
-- y = m(x)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 4, 3, 4, 5, {device = "cuda", requires_grad = true})
m = nn.Sequential(nn.BatchNorm3d(4), nn.Dropout3d(0.5), nn.InstanceNorm3d(4, {affine = true}), nn.GroupNorm(2, 4)):cuda()
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
y = nil
mark("globals deleted")

--== likes_of_tensors_with_gaps
-- x0 = torch.randn(2, 7, 8, device="cuda")
-- x = x0.narrow(2, 1, 7).transpose(0, 1)
-- a = torch.ones_like(x)
-- layout(a)
-- b = torch.zeros_like(x)
-- layout(b)
-- c = torch.empty_like(x)
-- layout(c)
-- d = torch.randn_like(x)
-- layout(d)
-- e = torch.rand_like(x)
-- layout(e)
-- f = torch.full_like(x, 2.0)
-- layout(f)
local x0, x, a, b, c, d, e, f
x0 = ohm.randn(2, 7, 8, {device = "cuda"})
x = x0:narrow(2, 1, 7):transpose(0, 1)
a = ohm.ones_like(x)
layout(a)
b = ohm.zeros_like(x)
layout(b)
c = ohm.empty_like(x)
layout(c)
d = ohm.randn_like(x)
layout(d)
e = ohm.rand_like(x)
layout(e)
f = ohm.full_like(x, 2.0)
layout(f)
mark("end of program (globals alive)")
x0 = nil
x = nil
a = nil
b = nil
c = nil
d = nil
e = nil
f = nil
mark("globals deleted")

--== integers_and_fractions
-- x = torch.zeros(3, 200, dtype=torch.long, device="cuda")
-- a = x * 2.0
-- layout(a)
-- b = x * 2
-- layout(b)
-- c = 1.0 - x
-- layout(c)
-- d = (x > 0) * 1.0
-- layout(d)
-- e = torch.where(x > 0, x, 1.0)
-- layout(e)
local x, a, b, c, d, e
x = ohm.zeros(3, 200, {dtype = ohm.int64, device = "cuda"})
a = x * 2.0
layout(a)
b = x * 2
layout(b)
c = 1.0 - x
layout(c)
d = (x:gt(0)) * 1.0
layout(d)
e = ohm.where(x:gt(0), x, 1.0)
layout(e)
mark("end of program (globals alive)")
x = nil
a = nil
b = nil
c = nil
d = nil
e = nil
mark("globals deleted")

--== roll_as_one_line
-- x0 = torch.randn(16, 16, 8, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 2)
-- y = x.roll(1)
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x0, x, y, g
x0 = ohm.randn(16, 16, 8, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 2)
y = x:roll(1)
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
g = nil
mark("globals deleted")

--== squeeze_of_nothing
-- x = torch.randn(5, device="cuda", requires_grad=True)
-- y = x.squeeze()
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(5, {device = "cuda", requires_grad = true})
y = x:squeeze()
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== einsum_without_contraction
-- x0 = torch.randn(16, 1, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 2, 1)
-- w0 = torch.randn(3, 16, 2, device="cuda")
-- w = w0.narrow(2, 1, 1).transpose(0, 1)
-- y = torch.einsum('...ij,...kj->...ik', x, w)
-- layout(y)
-- y.sum().backward()
local x0, x, w0, w, y
x0 = ohm.randn(16, 1, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 2, 1)
w0 = ohm.randn(3, 16, 2, {device = "cuda"})
w = w0:narrow(2, 1, 1):transpose(0, 1)
y = ohm.einsum("...ij,...kj->...ik", x, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
w0 = nil
w = nil
y = nil
mark("globals deleted")

--== columns_of_windows
-- x = torch.randn(2, 3, 12, 14, device="cuda", requires_grad=True)
-- y = F.unfold(x, 3, padding=1, stride=(1, 2))
-- layout(y)
-- z = F.fold(y * 2.0, (12, 14), 3, padding=1, stride=(1, 2))
-- layout(z)
-- z.sum().backward()
local x, y, z
x = ohm.randn(2, 3, 12, 14, {device = "cuda", requires_grad = true})
y = F.unfold(x, 3, {padding = 1, stride = {1, 2}})
layout(y)
z = F.fold(y * 2.0, {12, 14}, 3, {padding = 1, stride = {1, 2}})
layout(z)
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== columns_of_turned_images
-- x = torch.randn(2, 3, 10, 50, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = nn.Unfold(3)(x.transpose(2, 3))
-- layout(y)
-- y.backward(torch.ones_like(y))
-- layout(x.grad)
local x, y
x = ohm.randn(2, 3, 10, 50, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = nn.Unfold(3)(x:transpose(2, 3))
layout(y)
y:backward(ohm.ones_like(y))
layout(x.grad)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== columns_smaller_than_the_image
-- x = torch.randn(3, 20, 25, device="cuda", requires_grad=True)
-- y = F.unfold(x, 3, stride=3)
-- layout(y)
-- del x
-- y.sum().backward()
local x, y
x = ohm.randn(3, 20, 25, {device = "cuda", requires_grad = true})
y = F.unfold(x, 3, {stride = 3})
layout(y)
x = nil
y:sum():backward()
mark("end of program (globals alive)")
y = nil
mark("globals deleted")

--== folded_columns_that_lie_otherwise
-- x = torch.randn(27, 2, 120, device="cuda", requires_grad=True)
-- y = F.fold(x.transpose(0, 1), (12, 14), 3)
-- layout(y)
-- y.backward(torch.ones_like(y))
local x, y
x = ohm.randn(27, 2, 120, {device = "cuda", requires_grad = true})
y = F.fold(x:transpose(0, 1), {12, 14}, 3)
layout(y)
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== adaptive_maxima_with_channels_last
-- x = torch.randn(2, 4, 20, 20, device="cuda", requires_grad=True)
-- y = F.adaptive_max_pool2d(x.to(memory_format=torch.channels_last), (7, 5))
-- layout(y)
-- y.backward(torch.ones_like(y))
-- layout(x.grad)
local x, y
x = ohm.randn(2, 4, 20, 20, {device = "cuda", requires_grad = true})
y = F.adaptive_max_pool2d(x:to({memory_format = ohm.channels_last}), {7, 5})
layout(y)
y:backward(ohm.ones_like(y))
layout(x.grad)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== adaptive_maxima_of_one_turned_image
-- x = torch.randn(4, 20, 21, device="cuda", requires_grad=True)
-- y = nn.AdaptiveMaxPool2d(3)(x.transpose(1, 2))
-- z = y.transpose(0, 2).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(4, 20, 21, {device = "cuda", requires_grad = true})
y = nn.AdaptiveMaxPool2d(3)(x:transpose(1, 2))
z = y:transpose(0, 2):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== adaptive_maxima_of_expanded_lines
-- x = torch.randn(2, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.adaptive_max_pool1d(x.expand(2, 300), 50)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.adaptive_max_pool1d(x:expand(2, 300), 50)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== grid_of_affine_maps
-- theta = torch.randn(2, 2, 3, device="cuda", requires_grad=True)
-- x = torch.randn(2, 8, 20, 20, device="cuda", requires_grad=True)
-- grid = F.affine_grid(theta, (2, 8, 20, 30), align_corners=False)
-- layout(grid)
-- y = F.grid_sample(x, grid, align_corners=False)
-- layout(y)
-- y.mean().backward()
local theta, x, grid, y
theta = ohm.randn(2, 2, 3, {device = "cuda", requires_grad = true})
x = ohm.randn(2, 8, 20, 20, {device = "cuda", requires_grad = true})
grid = F.affine_grid(theta, {2, 8, 20, 30}, {align_corners = false})
layout(grid)
y = F.grid_sample(x, grid, {align_corners = false})
layout(y)
y:mean():backward()
mark("end of program (globals alive)")
theta = nil
x = nil
grid = nil
y = nil
mark("globals deleted")

--== affine_grid_of_one_row
-- theta = torch.randn(2, 2, 3, device="cuda", requires_grad=True)
-- y = F.affine_grid(theta, (2, 3, 1, 40), align_corners=True)
-- y.sum().backward()
local theta, y
theta = ohm.randn(2, 2, 3, {device = "cuda", requires_grad = true})
y = F.affine_grid(theta, {2, 3, 1, 40}, {align_corners = true})
y:sum():backward()
mark("end of program (globals alive)")
theta = nil
y = nil
mark("globals deleted")

--== samples_of_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 8, 20, 21, device="cuda", requires_grad=True)
-- g = torch.randn(2, 30, 20, 2, device="cuda", requires_grad=True)
-- y = F.grid_sample(x.transpose(2, 3), g.transpose(1, 2), align_corners=True)
-- layout(y)
-- y.sum().backward()
-- layout(g.grad)
local x, g, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 8, 20, 21, {device = "cuda", requires_grad = true})
g = ohm.randn(2, 30, 20, 2, {device = "cuda", requires_grad = true})
y = F.grid_sample(x:transpose(2, 3), g:transpose(1, 2), {align_corners = true})
layout(y)
y:sum():backward()
layout(g.grad)
mark("end of program (globals alive)")
x = nil
g = nil
y = nil
mark("globals deleted")

--== samples_at_a_constant_grid
-- x = torch.randn(2, 8, 20, 20, device="cuda", requires_grad=True)
-- g = torch.randn(2, 30, 20, 2, device="cuda")
-- y = F.grid_sample(x.to(memory_format=torch.channels_last), g, mode="bicubic", padding_mode="reflection", align_corners=False)
-- layout(y)
-- y.backward(torch.ones_like(y))
-- layout(x.grad)
local x, g, y
x = ohm.randn(2, 8, 20, 20, {device = "cuda", requires_grad = true})
g = ohm.randn(2, 30, 20, 2, {device = "cuda"})
y = F.grid_sample(x:to({memory_format = ohm.channels_last}), g, {mode = "bicubic", padding_mode = "reflection", align_corners = false})
layout(y)
y:backward(ohm.ones_like(y))
layout(x.grad)
mark("end of program (globals alive)")
x = nil
g = nil
y = nil
mark("globals deleted")

--== samples_of_constant_images
-- x = torch.randn(2, 8, 20, 20, device="cuda")
-- g = torch.randn(2, 30, 20, 2, device="cuda", requires_grad=True)
-- y = F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=False)
-- y.backward(torch.ones_like(y))
local x, g, y
x = ohm.randn(2, 8, 20, 20, {device = "cuda"})
g = ohm.randn(2, 30, 20, 2, {device = "cuda", requires_grad = true})
y = F.grid_sample(x, g, {mode = "nearest", padding_mode = "border", align_corners = false})
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x = nil
g = nil
y = nil
mark("globals deleted")

--== samples_under_autocast
-- x = torch.randn(2, 8, 20, 20, device="cuda", requires_grad=True)
-- theta = torch.randn(2, 2, 3, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16):
--     y = F.grid_sample(x, F.affine_grid(theta, (2, 8, 10, 10), align_corners=True), align_corners=True)
-- layout(y)
-- y.sum().backward()
local x, theta, y
x = ohm.randn(2, 8, 20, 20, {device = "cuda", requires_grad = true})
theta = ohm.randn(2, 2, 3, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = F.grid_sample(x, F.affine_grid(theta, {2, 8, 10, 10}, {align_corners = true}), {align_corners = true})
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
theta = nil
y = nil
mark("globals deleted")

--== shuffled_pixels_and_channels
-- x = torch.randn(2, 8, 12, 12, device="cuda", requires_grad=True)
-- y = torch.channel_shuffle(F.pixel_unshuffle(x, 2), 4)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 12, 12, {device = "cuda", requires_grad = true})
y = ohm.channel_shuffle(F.pixel_unshuffle(x, 2), 4)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== shuffled_channels_of_a_part
-- x = torch.randn(6, 8, 6, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = torch.channel_shuffle(x.narrow(0, 1, 4), 4)
-- y.sum().backward()
local x, y
x = ohm.randn(6, 8, 6, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.channel_shuffle(x:narrow(0, 1, 4), 4)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== local_response_norm
-- x = torch.randn(2, 8, 200, device="cuda", requires_grad=True)
-- y = nn.LocalResponseNorm(3)(x)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 200, {device = "cuda", requires_grad = true})
y = nn.LocalResponseNorm(3)(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== local_response_norm_without_a_graph
-- x = torch.randn(2, 8, 10, 20, device="cuda")
-- y = nn.LocalResponseNorm(3)(x)
-- layout(y)
local x, y
x = ohm.randn(2, 8, 10, 20, {device = "cuda"})
y = nn.LocalResponseNorm(3)(x)
layout(y)
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== gumbel_softmax
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- y = F.gumbel_softmax(x, tau=0.5)
-- h = F.gumbel_softmax(x, hard=True, dim=0)
-- layout(h)
-- s = (y + h).sum()
-- s.backward()
local x, y, h, s
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
y = F.gumbel_softmax(x, {tau = 0.5})
h = F.gumbel_softmax(x, {hard = true, dim = 0})
layout(h)
s = (y + h):sum()
s:backward()
mark("end of program (globals alive)")
x = nil
y = nil
h = nil
s = nil
mark("globals deleted")

--== soft_margins
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- t = torch.randn(80, 60, device="cuda").transpose(0, 1)
-- y = F.soft_margin_loss(x, t)
-- z = F.soft_margin_loss(x, t, reduction="none")
-- layout(z)
-- s = y + z.mean()
-- s.backward()
local x, t, y, z, s
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
t = ohm.randn(80, 60, {device = "cuda"}):transpose(0, 1)
y = F.soft_margin_loss(x, t)
z = F.soft_margin_loss(x, t, {reduction = "none"})
layout(z)
s = y + z:mean()
s:backward()
mark("end of program (globals alive)")
x = nil
t = nil
y = nil
z = nil
s = nil
mark("globals deleted")

--== margins_of_classes
-- x = torch.randn(80, 600, device="cuda", requires_grad=True)
-- t = torch.zeros(600, dtype=torch.long, device="cuda")
-- w = torch.ones(80, device="cuda")
-- y = F.multi_margin_loss(x.transpose(0, 1), t, p=2, weight=w)
-- z = F.multi_margin_loss(x.transpose(0, 1), t, reduction="none")
-- layout(z)
-- s = y + z.sum()
-- s.backward()
local x, t, w, y, z, s
x = ohm.randn(80, 600, {device = "cuda", requires_grad = true})
t = ohm.zeros(600, {dtype = ohm.int64, device = "cuda"})
w = ohm.ones(80, {device = "cuda"})
y = F.multi_margin_loss(x:transpose(0, 1), t, {p = 2, weight = w})
z = F.multi_margin_loss(x:transpose(0, 1), t, {reduction = "none"})
layout(z)
s = y + z:sum()
s:backward()
mark("end of program (globals alive)")
x = nil
t = nil
w = nil
y = nil
z = nil
s = nil
mark("globals deleted")

--== cosine_embeddings
-- x = torch.randn(600, 80, device="cuda", requires_grad=True)
-- w = torch.randn(600, 80, device="cuda", requires_grad=True)
-- t = torch.ones(600, device="cuda")
-- y = F.cosine_embedding_loss(x, w, t, margin=0.5)
-- y.backward()
local x, w, t, y
x = ohm.randn(600, 80, {device = "cuda", requires_grad = true})
w = ohm.randn(600, 80, {device = "cuda", requires_grad = true})
t = ohm.ones(600, {device = "cuda"})
y = F.cosine_embedding_loss(x, w, t, {margin = 0.5})
y:backward()
mark("end of program (globals alive)")
x = nil
w = nil
t = nil
y = nil
mark("globals deleted")

--== gaussian_likelihoods
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- t = torch.randn(60, 80, device="cuda")
-- v = torch.ones(60, 1, device="cuda", requires_grad=True)
-- y = F.gaussian_nll_loss(x, t, v, full=True)
-- layout(y)
-- y.backward()
local x, t, v, y
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
t = ohm.randn(60, 80, {device = "cuda"})
v = ohm.ones(60, 1, {device = "cuda", requires_grad = true})
y = F.gaussian_nll_loss(x, t, v, {full = true})
layout(y)
y:backward()
mark("end of program (globals alive)")
x = nil
t = nil
v = nil
y = nil
mark("globals deleted")

--== gaussian_likelihoods_without_a_graph
-- x = torch.randn(60, 80, device="cuda")
-- t = torch.randn(60, 80, device="cuda")
-- v = torch.ones(60, 80, device="cuda")
-- y = F.gaussian_nll_loss(x, t, v, reduction="none")
-- layout(y)
local x, t, v, y
x = ohm.randn(60, 80, {device = "cuda"})
t = ohm.randn(60, 80, {device = "cuda"})
v = ohm.ones(60, 80, {device = "cuda"})
y = F.gaussian_nll_loss(x, t, v, {reduction = "none"})
layout(y)
mark("end of program (globals alive)")
x = nil
t = nil
v = nil
y = nil
mark("globals deleted")

--== copies_between_devices_of_tensors_with_gaps
-- x0 = torch.randn(2, 16, 7, 4, device="cuda")
-- x = x0.narrow(3, 1, 3).transpose(0, 1)
-- a = x.cpu()
-- layout(a)
-- b = x.to("cpu", torch.float64)
-- layout(b)
-- h0 = torch.randn(2, 16, 7, 4)
-- h = h0.narrow(3, 1, 3).transpose(0, 1)
-- c = h.cuda()
-- layout(c)
-- d = h.to("cuda", torch.float16)
-- layout(d)
-- e = x.to("cpu", non_blocking=True)
-- layout(e)
-- f = x.double()
-- layout(f)
-- k2 = torch.randn(5, 4, device="cuda").narrow(1, 0, 3)
-- g = k2.cpu()
-- layout(g)
-- i = k2.transpose(0, 1).cpu()
-- layout(i)
local x0, x, a, b, h0, h, c, d, e, f, k2, g, i
x0 = ohm.randn(2, 16, 7, 4, {device = "cuda"})
x = x0:narrow(3, 1, 3):transpose(0, 1)
a = x:cpu()
layout(a)
b = x:to("cpu", ohm.float64)
layout(b)
h0 = ohm.randn(2, 16, 7, 4)
h = h0:narrow(3, 1, 3):transpose(0, 1)
c = h:cuda()
layout(c)
d = h:to("cuda", ohm.float16)
layout(d)
e = x:to("cpu", {non_blocking = true})
layout(e)
f = x:double()
layout(f)
k2 = ohm.randn(5, 4, {device = "cuda"}):narrow(1, 0, 3)
g = k2:cpu()
layout(g)
i = k2:transpose(0, 1):cpu()
layout(i)
mark("end of program (globals alive)")
x0 = nil
x = nil
a = nil
b = nil
h0 = nil
h = nil
c = nil
d = nil
e = nil
f = nil
k2 = nil
g = nil
i = nil
mark("globals deleted")

--== split_of_one_column_of_channels_last
-- x0 = torch.randn(5, 8, 1, 8, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = x.split(1, dim=-1)[0]
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x0, x, y, z
x0 = ohm.randn(5, 8, 1, 8, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = (x:split(1, {dim = -1}))
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== std_of_one_element_over_named_dims
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = x.std(dim=(0, 1))
-- y.sum().backward()
local x, y
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = x:std({dim = {0, 1}})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== batch_norm3d_bf16_channels_last_expanded_gradient
-- x0 = torch.randn(2, 6, 6, 3, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- m = nn.BatchNorm3d(8, device="cuda", dtype=torch.bfloat16)
-- y = m(x)
-- y.sum().backward()
local x0, x, m, y
x0 = ohm.randn(2, 6, 6, 3, 8, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
m = nn.BatchNorm3d(8, {device = "cuda", dtype = ohm.bfloat16})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
m = nil
y = nil
mark("globals deleted")

--== batch_norm3d_bf16_channels_last_copied_gradient
-- x0 = torch.randn(2, 6, 6, 3, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- m = nn.BatchNorm3d(8, device="cuda", dtype=torch.bfloat16)
-- y = m(x)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, m, y, z
x0 = ohm.randn(2, 6, 6, 3, 8, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
m = nn.BatchNorm3d(8, {device = "cuda", dtype = ohm.bfloat16})
y = m(x)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== batch_norm3d_bf16_channels_last_no_affine
-- x0 = torch.randn(2, 6, 6, 3, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- m = nn.BatchNorm3d(8, device="cuda", dtype=torch.bfloat16, affine=False)
-- y = m(x)
-- y.backward(torch.ones_like(y))
local x0, x, m, y
x0 = ohm.randn(2, 6, 6, 3, 8, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
m = nn.BatchNorm3d(8, {device = "cuda", dtype = ohm.bfloat16, affine = false})
y = m(x)
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x0 = nil
x = nil
m = nil
y = nil
mark("globals deleted")

--== elu_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.elu(x, 0.7)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.elu(x, 0.7)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== celu_written_over_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.celu(x * w, inplace=True)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.celu(x * w, {inplace = true})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== hardtanh_written_over_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.hardtanh(x * w, inplace=True)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.hardtanh(x * w, {inplace = true})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== silu_written_over_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.silu(x * w, inplace=True)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.silu(x * w, {inplace = true})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== hardswish_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.hardswish(x)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.hardswish(x)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== softshrink_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.softshrink(x)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.softshrink(x)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== prelu_by_channel_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.prelu(x, w.transpose(0, 1).flatten(1).sum(1))
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.prelu(x, w:transpose(0, 1):flatten(1):sum(1))
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== glu_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.glu(torch.cat([x, w], dim=1), dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.glu(ohm.cat({x, w}, {dim = 1}), {dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== smooth_l1_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.smooth_l1_loss(x, w, beta=0.5)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.smooth_l1_loss(x, w, {beta = 0.5})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== huber_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.huber_loss(x, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.huber_loss(x, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== huber_of_each_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.huber_loss(x, w, reduction="none")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.huber_loss(x, w, {reduction = "none"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== soft_margin_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.soft_margin_loss(x, w.detach())
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.soft_margin_loss(x, w:detach())
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== mse_of_each_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.mse_loss(x, w, reduction="none")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.mse_loss(x, w, {reduction = "none"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== prod_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.prod()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:prod()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== prod_of_rows_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.prod(dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:prod({dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== cumprod_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.cumprod(dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:cumprod({dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== amax_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.amax()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:amax()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== amin_of_rows_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.amin(dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:amin({dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== gather_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- ids = torch.zeros(2, 3, dtype=torch.long, device="cuda")
-- y = x.gather(0, ids)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, ids, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
ids = ohm.zeros(2, 3, {dtype = ohm.int64, device = "cuda"})
y = x:gather(0, ids)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
ids = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== scatter_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- ids = torch.zeros(2, 3, dtype=torch.long, device="cuda")
-- y = x.scatter(0, ids, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, ids, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
ids = ohm.zeros(2, 3, {dtype = ohm.int64, device = "cuda"})
y = x:scatter(0, ids, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
ids = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== index_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x[line]
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, line, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:index({line})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
line = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== index_add_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x.index_add(0, line, w.narrow(0, 0, 1), alpha=0.5)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, line, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:index_add(0, line, w:narrow(0, 0, 1), {alpha = 0.5})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
line = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== masked_select_twice values=true
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- keep = torch.zeros(2, 3, dtype=torch.bool, device="cuda")
-- y = x.masked_select(keep)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, keep, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
keep = ohm.zeros(2, 3, {dtype = ohm.bool, device = "cuda"})
y = x:masked_select(keep)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
keep = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== abs_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = torch.abs(x * w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = ohm.abs(x * w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== softsign_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.softsign(x)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.softsign(x)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== l1_loss_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.l1_loss(x, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.l1_loss(x, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== norm_1_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.norm(p=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:norm({p = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== norm_infinity_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.norm(p=float("inf"), dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:norm({p = math.huge, dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== conv_transpose1d_twice
-- x = torch.randn(2, 4, 8, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose1d(4, 4, 3, stride=2, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(2, 4, 8, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose1d(4, 4, 3, {stride = 2, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== conv1d_and_its_loss_twice
-- x = torch.randn(2, 6, 3, device="cuda", requires_grad=True)
-- layer = nn.Conv1d(6, 4, 3, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- z = (g * g).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, z
x = ohm.randn(2, 6, 3, {device = "cuda", requires_grad = true})
layer = nn.Conv1d(6, 4, 3, {device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
z = (g * g):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
z = nil
mark("globals deleted")

--== conv_transpose2d_twice
-- x = torch.randn(2, 4, 5, 3, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose2d(4, 4, 3, groups=2, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(2, 4, 5, 3, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose2d(4, 4, 3, {groups = 2, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== conv_transpose2d_with_output_padding_twice_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(1, 6, 2, 5, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose2d(6, 4, 2, stride=2, output_padding=1, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- z = (g * g).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(1, 6, 2, 5, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose2d(6, 4, 2, {stride = 2, output_padding = 1, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
z = (g * g):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
z = nil
mark("globals deleted")

--== conv_transpose3d_twice
-- x = torch.randn(1, 2, 3, 2, 5, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose3d(2, 4, 2, stride=2, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(1, 2, 3, 2, 5, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose3d(2, 4, 2, {stride = 2, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== prelu_layer_twice
-- x = torch.randn(2, 4, 3, 3, device="cuda", requires_grad=True)
-- layer = nn.PReLU(4, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(2, 4, 3, 3, {device = "cuda", requires_grad = true})
layer = nn.PReLU(4, {device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== weight_norm
-- m = nn.Linear(80, 60, device="cuda")
-- m = nn.utils.weight_norm(m)
-- o = torch.optim.SGD(m.parameters(), lr=0.1)
-- x = torch.randn(16, 80, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- o.step()
-- y = m(x) + m(x)
-- y.sum().backward()
-- m = nn.utils.remove_weight_norm(m)
-- z = m(x)
local m, o, x, y, z
m = nn.Linear(80, 60, {device = "cuda"})
m = nn.utils.weight_norm(m)
o = ohm.optim.SGD(m:parameters(), {lr = 0.1})
x = ohm.randn(16, 80, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
o:step()
y = m(x) + m(x)
y:sum():backward()
m = nn.utils.remove_weight_norm(m)
z = m(x)
mark("end of program (globals alive)")
m = nil
o = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== weight_norm_of_all_and_of_a_middle_dimension
-- m = nn.Conv2d(8, 600, 3, device="cuda")
-- m = nn.utils.weight_norm(m, dim=-1)
-- n = nn.Conv2d(8, 600, 3, bias=False, device="cuda", dtype=torch.float64)
-- n = nn.utils.weight_norm(n, dim=2)
-- x = torch.randn(2, 8, 6, 6, device="cuda", requires_grad=True)
-- y = m(x).sum() + n(x.double()).sum()
-- y.backward()
local m, n, x, y
m = nn.Conv2d(8, 600, 3, {device = "cuda"})
m = nn.utils.weight_norm(m, {dim = -1})
n = nn.Conv2d(8, 600, 3, {bias = false, device = "cuda", dtype = ohm.float64})
n = nn.utils.weight_norm(n, {dim = 2})
x = ohm.randn(2, 8, 6, 6, {device = "cuda", requires_grad = true})
y = m(x):sum() + n(x:double()):sum()
y:backward()
mark("end of program (globals alive)")
m = nil
n = nil
x = nil
y = nil
mark("globals deleted")

--== weight_norm_in_half_precision
-- m = nn.Linear(80, 60, device="cuda", dtype=torch.float16)
-- m = nn.utils.weight_norm(m)
-- n = nn.Linear(80, 60, device="cuda", dtype=torch.bfloat16)
-- n = nn.utils.parametrizations.weight_norm(n)
-- x = torch.randn(16, 80, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = m(x).sum() + n(x.bfloat16()).sum()
-- y.backward()
local m, n, x, y
m = nn.Linear(80, 60, {device = "cuda", dtype = ohm.float16})
m = nn.utils.weight_norm(m)
n = nn.Linear(80, 60, {device = "cuda", dtype = ohm.bfloat16})
n = nn.utils.parametrizations.weight_norm(n)
x = ohm.randn(16, 80, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = m(x):sum() + n(x:bfloat16()):sum()
y:backward()
mark("end of program (globals alive)")
m = nil
n = nil
x = nil
y = nil
mark("globals deleted")

--== weight_norm_second_gradient
-- x = torch.randn(80, 60, device="cuda", requires_grad=True)
-- w = torch.randn(80, 1, device="cuda", requires_grad=True)
-- y = torch._weight_norm(x, w, 0)
-- g, h = torch.autograd.grad((y * y).sum(), [x, w], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z.backward()
local x, w, y, g, h, z
x = ohm.randn(80, 60, {device = "cuda", requires_grad = true})
w = ohm.randn(80, 1, {device = "cuda", requires_grad = true})
y = ohm._weight_norm(x, w, 0)
g, h = table.unpack(ohm.autograd.grad((y * y):sum(), {x, w}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== spectral_norm
-- m = nn.Conv2d(8, 60, 3, device="cuda")
-- m = nn.utils.spectral_norm(m, n_power_iterations=2)
-- x = torch.randn(2, 8, 6, 6, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- m.eval()
-- y = m(x)
-- y.sum().backward()
-- m = nn.utils.remove_spectral_norm(m)
-- z = m(x)
local m, x, y, z
m = nn.Conv2d(8, 60, 3, {device = "cuda"})
m = nn.utils.spectral_norm(m, {n_power_iterations = 2})
x = ohm.randn(2, 8, 6, 6, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
m:eval()
y = m(x)
y:sum():backward()
m = nn.utils.remove_spectral_norm(m)
z = m(x)
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== spectral_norm_of_a_transposed_convolution
-- m = nn.ConvTranspose1d(60, 80, 3)
-- m = nn.utils.spectral_norm(m)
-- m = m.to("cuda")
-- x = torch.randn(2, 60, 7, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.ConvTranspose1d(60, 80, 3)
m = nn.utils.spectral_norm(m)
m = m:to("cuda")
x = ohm.randn(2, 60, 7, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== parametrized_spectral_norm
-- m = nn.Linear(80, 60, device="cuda")
-- m = nn.utils.parametrizations.spectral_norm(m)
-- x = torch.randn(16, 80, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- y = m(x)
local m, x, y
m = nn.Linear(80, 60, {device = "cuda"})
m = nn.utils.parametrizations.spectral_norm(m)
x = ohm.randn(16, 80, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
y = m(x)
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== parametrized_weight_norm
-- m = nn.Linear(60, 40, device="cuda")
-- m = nn.utils.parametrizations.weight_norm(m, dim=1)
-- x = torch.randn(16, 60, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.Linear(60, 40, {device = "cuda"})
m = nn.utils.parametrizations.weight_norm(m, {dim = 1})
x = ohm.randn(16, 60, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== a_module_of_another_dtype_after_a_call
-- m = nn.Linear(80, 60, device="cuda")
-- x = torch.randn(16, 80, device="cuda")
-- y = m(x)
-- m = m.to(dtype=torch.float64)
-- z = m(x.double())
-- z.sum().backward()
local m, x, y, z
m = nn.Linear(80, 60, {device = "cuda"})
x = ohm.randn(16, 80, {device = "cuda"})
y = m(x)
m = m:to({dtype = ohm.float64})
z = m(x:double())
z:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== lines_convolved_twice
-- m = nn.Conv1d(8, 60, 3, padding=1, device="cuda")
-- n = nn.ConvTranspose1d(60, 8, 3, padding=1, device="cuda")
-- x = torch.randn(2, 8, 70, device="cuda", requires_grad=True)
-- y = n(m(x))
-- y.sum().backward()
-- y = n(m(x))
-- y.sum().backward()
local m, n, x, y
m = nn.Conv1d(8, 60, 3, {padding = 1, device = "cuda"})
n = nn.ConvTranspose1d(60, 8, 3, {padding = 1, device = "cuda"})
x = ohm.randn(2, 8, 70, {device = "cuda", requires_grad = true})
y = n(m(x))
y:sum():backward()
y = n(m(x))
y:sum():backward()
mark("end of program (globals alive)")
m = nil
n = nil
x = nil
y = nil
mark("globals deleted")

--== prelu_of_an_input_without_gradient
-- m = nn.PReLU(8, device="cuda")
-- x = torch.randn(2, 8, 50, 70, device="cuda")
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.PReLU(8, {device = "cuda"})
x = ohm.randn(2, 8, 50, 70, {device = "cuda"})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== autocast_keeps_a_cast_of_no_grad
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16): n = torch.no_grad()(lambda: m(x))(); y = m(x)
-- z = y * 2.0
local m, x, n, y, z
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  n = ohm.no_grad(function() return m(x) end)
  y = m(x)
end
z = y * 2.0
mark("end of program (globals alive)")
m = nil
x = nil
n = nil
y = nil
z = nil
mark("globals deleted")

--== circular_padding_twice
-- x = torch.randn(2, 3, 4, device="cuda", requires_grad=True)
-- y = F.pad(x, (1, 1), mode="circular")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, 4, {device = "cuda", requires_grad = true})
y = F.pad(x, {1, 1}, {mode = "circular"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== conv2d_circular_twice
-- x = torch.randn(1, 2, 5, 3, device="cuda", requires_grad=True)
-- layer = nn.Conv2d(2, 4, 3, padding=1, padding_mode="circular", device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(1, 2, 5, 3, {device = "cuda", requires_grad = true})
layer = nn.Conv2d(2, 4, 3, {padding = 1, padding_mode = "circular", device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil
layer = nil
y = nil
loss = nil
g = nil
h = nil
z = nil
mark("globals deleted")

--== written_over_by_functions
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.round_()
-- torch.sin_(v)
-- v.log1p_()
-- v.select(0, 0).cos_()
-- v.rsqrt_()
-- layout(v)
-- v.sum().backward()
local x, v
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
v = x * 1.5
v:round_()
ohm.sin_(v)
v:log1p_()
v:select(0, 0):cos_()
v:rsqrt_()
layout(v)
v:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
mark("globals deleted")

--== reciprocal_twice
-- x = torch.randn(3, 3, device="cuda", requires_grad=True)
-- w = torch.randn(3, 3, device="cuda", requires_grad=True)
-- y = torch.reciprocal(x * w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
y = ohm.reciprocal(x * w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== sine_in_place_twice
-- x = torch.randn(3, 3, device="cuda", requires_grad=True)
-- w = torch.randn(3, 3, device="cuda", requires_grad=True)
-- y = (x * w).sin_()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
y = (x * w):sin_()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== norm_of_all_twice
-- x = torch.randn(5, 3, 2, device="cuda", requires_grad=True)
-- y = x.norm()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(5, 3, 2, {device = "cuda", requires_grad = true})
y = x:norm()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== largest_norm_of_all_twice
-- x = torch.randn(5, device="cuda", requires_grad=True)
-- y = x.norm(p=float("inf"))
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(5, {device = "cuda", requires_grad = true})
y = x:norm({p = math.huge})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== magnitude_in_place_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = (x * w).abs_()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = (x * w):abs_()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== std_of_one_number_twice
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- w = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = (x * w).std()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
w = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = (x * w):std()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== var_of_one_number_twice
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- w = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = (x * w).var()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
w = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = (x * w):var()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== lbfgs
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS(m.parameters(), max_iter=4, tolerance_change=0)
-- def closure():
--     opt.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- opt.step(closure)
-- mark("first step")
-- opt.step(closure)
-- mark("second step")
local m, x, opt, closure
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(m:parameters(), {max_iter = 4, tolerance_change = 0})
function closure()
  local loss
  opt:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
opt:step(closure)
mark("first step")
opt:step(closure)
mark("second step")
mark("end of program (globals alive)")
m = nil
x = nil
opt = nil
mark("globals deleted")

--== lbfgs_line_search
-- m = nn.Sequential(nn.Linear(80, 70), nn.ReLU(), nn.Linear(70, 30)).to("cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS(m.parameters(), lr=0.1, max_iter=3, history_size=2, tolerance_change=0, line_search_fn="strong_wolfe")
-- def closure():
--     opt.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- y = opt.step(closure)
-- mark("first step")
-- y = opt.step(closure)
-- mark("second step")
-- del opt
-- mark("del opt")
local m, x, opt, closure, y
m = nn.Sequential(nn.Linear(80, 70), nn.ReLU(), nn.Linear(70, 30)):to("cuda")
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(m:parameters(), {lr = 0.1, max_iter = 3, history_size = 2, tolerance_change = 0, line_search_fn = "strong_wolfe"})
function closure()
  local loss
  opt:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
y = opt:step(closure)
mark("first step")
y = opt:step(closure)
mark("second step")
opt = nil
mark("del opt")
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== lbfgs_of_one_iteration
-- m = nn.Linear(80, 70, device="cuda")
-- n = nn.Linear(70, 30, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS([*m.parameters(), n.bias], lr=0.1, max_iter=1, history_size=2, tolerance_change=0)
-- def closure():
--     opt.zero_grad()
--     loss = n(m(x)).pow(2).mean()
--     loss.backward()
--     return loss
-- opt.step(closure)
-- opt.step(closure)
-- opt.step(closure)
-- opt.step(closure)
-- del x
-- del opt
-- mark("del opt")
local m, n, x, opt, closure
m = nn.Linear(80, 70, {device = "cuda"})
n = nn.Linear(70, 30, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(joined(m:parameters(), {n.bias}), {lr = 0.1, max_iter = 1, history_size = 2, tolerance_change = 0})
function closure()
  local loss
  opt:zero_grad()
  loss = n(m(x)):pow(2):mean()
  loss:backward()
  return loss
end
opt:step(closure)
opt:step(closure)
opt:step(closure)
opt:step(closure)
x = nil
opt = nil
mark("del opt")
mark("end of program (globals alive)")
m = nil
n = nil
mark("globals deleted")

--== sgd_with_a_closure
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.SGD(m.parameters(), momentum=0.9)
-- def closure():
--     opt.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- y = opt.step(closure)
-- opt.step(closure)
local m, x, opt, closure, y
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.SGD(m:parameters(), {momentum = 0.9})
function closure()
  local loss
  opt:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
y = opt:step(closure)
opt:step(closure)
mark("end of program (globals alive)")
m = nil
x = nil
opt = nil
y = nil
mark("globals deleted")

--== optimizer_state_is_loaded
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.Adam(m.parameters())
-- m(x).sum().backward()
-- opt.step()
-- opt2 = torch.optim.Adam(m.parameters())
-- opt2.load_state_dict(opt.state_dict())
-- del opt
-- m(x).sum().backward()
-- opt2.step()
local m, x, opt, opt2
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.Adam(m:parameters())
m(x):sum():backward()
opt:step()
opt2 = ohm.optim.Adam(m:parameters())
opt2:load_state_dict(opt:state_dict())
opt = nil
m(x):sum():backward()
opt2:step()
mark("end of program (globals alive)")
m = nil
x = nil
opt2 = nil
mark("globals deleted")

--== fused_optimizer_state_is_loaded
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.AdamW(m.parameters(), fused=True)
-- m(x).sum().backward()
-- opt.step()
-- opt2 = torch.optim.AdamW(m.parameters(), fused=True)
-- opt2.load_state_dict(opt.state_dict())
-- del opt
-- m(x).sum().backward()
-- opt2.step()
local m, x, opt, opt2
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.AdamW(m:parameters(), {fused = true})
m(x):sum():backward()
opt:step()
opt2 = ohm.optim.AdamW(m:parameters(), {fused = true})
opt2:load_state_dict(opt:state_dict())
opt = nil
m(x):sum():backward()
opt2:step()
mark("end of program (globals alive)")
m = nil
x = nil
opt2 = nil
mark("globals deleted")

--== lbfgs_state_is_loaded
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS(m.parameters(), max_iter=3, tolerance_change=0)
-- def closure():
--     m.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- opt.step(closure)
-- opt2 = torch.optim.LBFGS(m.parameters(), max_iter=3, tolerance_change=0)
-- opt2.load_state_dict(opt.state_dict())
-- opt2.step(closure)
-- del opt
-- opt2.step(closure)
local m, x, opt, closure, opt2
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(m:parameters(), {max_iter = 3, tolerance_change = 0})
function closure()
  local loss
  m:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
opt:step(closure)
opt2 = ohm.optim.LBFGS(m:parameters(), {max_iter = 3, tolerance_change = 0})
opt2:load_state_dict(opt:state_dict())
opt2:step(closure)
opt = nil
opt2:step(closure)
mark("end of program (globals alive)")
m = nil
x = nil
opt2 = nil
mark("globals deleted")

--== l1_loss_of_one_number_twice
-- x = torch.randn(1, device="cuda", requires_grad=True)
-- w = torch.randn(1, device="cuda", requires_grad=True)
-- y = F.l1_loss(x, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(1, {device = "cuda", requires_grad = true})
w = ohm.randn(1, {device = "cuda", requires_grad = true})
y = F.l1_loss(x, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
z = nil
mark("globals deleted")

--== kthvalue_of_expanded
-- x0 = torch.randn(1, 5, device="cuda", requires_grad=True)
-- x = x0.expand(5, 5)
-- y = x.kthvalue(1, dim=0, keepdim=True)[0]
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(1, 5, {device = "cuda", requires_grad = true})
x = x0:expand(5, 5)
y = (x:kthvalue(1, {dim = 0, keepdim = true}))
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
mark("globals deleted")

--== median_of_transposed
-- x0 = torch.randn(7, 2, 3, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 2)
-- y = x.median(dim=0)[0]
-- z = x.median()
-- s = y.sum() + z
-- s.backward()
local x0, x, y, z, s
x0 = ohm.randn(7, 2, 3, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 2)
y = (x:median({dim = 0}))
z = x:median()
s = y:sum() + z
s:backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
y = nil
z = nil
s = nil
mark("globals deleted")

--== scatter_reduce_mean_without_self
-- x = torch.randn(8, 3, device="cuda", requires_grad=True)
-- w = torch.randn(8, 3, device="cuda", requires_grad=True)
-- ids = torch.zeros(8, 3, dtype=torch.long, device="cuda")
-- y = x.scatter_reduce(0, ids, w, "mean", include_self=False)
-- z = y * 2.0
-- z.mean().backward()
local x, w, ids, y, z
x = ohm.randn(8, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 3, {device = "cuda", requires_grad = true})
ids = ohm.zeros(8, 3, {dtype = ohm.int64, device = "cuda"})
y = x:scatter_reduce(0, ids, w, "mean", {include_self = false})
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil
w = nil
ids = nil
y = nil
z = nil
mark("globals deleted")

--== scatter_reduce_amax_of_input_alone
-- x = torch.randn(2, 5, device="cuda", dtype=torch.float64, requires_grad=True)
-- w = torch.randn(2, 5, device="cuda", dtype=torch.float64)
-- ids = torch.zeros(2, 5, dtype=torch.long, device="cuda")
-- y = x.scatter_reduce(0, ids, w, "amax", include_self=False)
-- y.sum().backward()
local x, w, ids, y
x = ohm.randn(2, 5, {device = "cuda", dtype = ohm.float64, requires_grad = true})
w = ohm.randn(2, 5, {device = "cuda", dtype = ohm.float64})
ids = ohm.zeros(2, 5, {dtype = ohm.int64, device = "cuda"})
y = x:scatter_reduce(0, ids, w, "amax", {include_self = false})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
ids = nil
y = nil
mark("globals deleted")

--== block_diag_of_vectors
-- x = torch.randn(3, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- w = torch.randn(3, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = torch.block_diag(x, w)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(3, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
w = ohm.randn(3, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = ohm.block_diag({x, w})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== vdot_gradients
-- x = torch.randn(2, device="cuda", dtype=torch.float16, requires_grad=True)
-- w = torch.randn(2, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = torch.vdot(x, w)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(2, {device = "cuda", dtype = ohm.float16, requires_grad = true})
w = ohm.randn(2, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.vdot(x, w)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== tensordot_of_all_dims
-- x = torch.randn(1, 8, 4, device="cuda", requires_grad=True)
-- w = torch.randn(4, 8, 1, device="cuda", requires_grad=True)
-- y = torch.tensordot(x, w.transpose(0, 1), dims=2)
-- y.sum().backward()
local x, w, y
x = ohm.randn(1, 8, 4, {device = "cuda", requires_grad = true})
w = ohm.randn(4, 8, 1, {device = "cuda", requires_grad = true})
y = ohm.tensordot(x, w:transpose(0, 1), {dims = 2})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== tensordot_of_lines
-- x = torch.randn(1, 8, device="cuda", requires_grad=True)
-- w = torch.randn(8, device="cuda", requires_grad=True)
-- y = torch.tensordot(x, w, dims=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(1, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(8, {device = "cuda", requires_grad = true})
y = ohm.tensordot(x, w, {dims = 1})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== trace_of_tall_matrix
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- y = x.trace()
-- y.backward()
local x, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
y = x:trace()
y:backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== logcumsumexp_of_one_line
-- x = torch.randn(3000, device="cuda", requires_grad=True)
-- y = x.logcumsumexp(dim=0)
-- y.sum().backward()
local x, y
x = ohm.randn(3000, {device = "cuda", requires_grad = true})
y = x:logcumsumexp({dim = 0})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== masked_scatter_gradients values=true
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, 40, device="cuda", requires_grad=True)
-- keep = torch.zeros(33, dtype=torch.bool, device="cuda")
-- y = x.masked_scatter(keep, w.transpose(0, 1))
-- y.sum().backward()
local x, w, keep, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, 40, {device = "cuda", requires_grad = true})
keep = ohm.zeros(33, {dtype = ohm.bool, device = "cuda"})
y = x:masked_scatter(keep, w:transpose(0, 1))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
keep = nil
y = nil
mark("globals deleted")

--== bincount_and_histc values=true
-- x = torch.randn(40, 330, device="cuda")
-- ids = torch.zeros(40, dtype=torch.long, device="cuda")
-- y = torch.bincount(ids, minlength=50)
-- h = torch.histc(x.transpose(0, 1))
-- z = torch.histc(x, bins=7, min=-1, max=1)
local x, ids, y, h, z
x = ohm.randn(40, 330, {device = "cuda"})
ids = ohm.zeros(40, {dtype = ohm.int64, device = "cuda"})
y = ohm.bincount(ids, {minlength = 50})
h = ohm.histc(x:transpose(0, 1))
z = ohm.histc(x, {bins = 7, min = -1, max = 1})
mark("end of program (globals alive)")
x = nil
ids = nil
y = nil
h = nil
z = nil
mark("globals deleted")

--== searchsorted_of_other_dtype
-- x = torch.randn(8, 33, device="cuda", dtype=torch.float16)
-- w = torch.randn(7, 8, device="cuda").transpose(0, 1)
-- y = torch.searchsorted(x, w)
-- layout(y)
-- i = torch.isin(w, 0.5, invert=True)
-- layout(i)
local x, w, y, i
x = ohm.randn(8, 33, {device = "cuda", dtype = ohm.float16})
w = ohm.randn(7, 8, {device = "cuda"}):transpose(0, 1)
y = ohm.searchsorted(x, w)
layout(y)
i = ohm.isin(w, 0.5, {invert = true})
layout(i)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
i = nil
mark("globals deleted")

--== std_and_mean_of_all
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- v, m = torch.std_mean(x)
-- s = v + m
-- s.backward()
local x, v, m, s
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
v, m = ohm.std_mean(x)
s = v + m
s:backward()
mark("end of program (globals alive)")
x = nil
v = nil
m = nil
s = nil
mark("globals deleted")

--== variance_of_one_number_of_float64
-- x = torch.randn(1, device="cuda", dtype=torch.float64, requires_grad=True)
-- y = x.var()
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(1, {device = "cuda", dtype = ohm.float64, requires_grad = true})
y = x:var()
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== indices_added_to_a_view
-- x = torch.randn(40, 33, 6, device="cuda", requires_grad=True)
-- w = torch.randn(600, 6, device="cuda", requires_grad=True)
-- i = torch.zeros(600, dtype=torch.long, device="cuda")
-- y = x.transpose(0, 1).index_put((i, i), w, accumulate=True)
-- layout(y)
-- y.sum().backward()
local x, w, i, y
x = ohm.randn(40, 33, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(600, 6, {device = "cuda", requires_grad = true})
i = ohm.zeros(600, {dtype = ohm.int64, device = "cuda"})
y = x:transpose(0, 1):index_put({i, i}, w, {accumulate = true})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
i = nil
y = nil
mark("globals deleted")

--== different_elements values=true
-- x = torch.randn(300, 330, device="cuda")
-- i = torch.zeros(70000, dtype=torch.long, device="cuda")
-- y = torch.unique(x.transpose(0, 1))
-- z, inverse, counts = torch.unique(i, return_inverse=True, return_counts=True)
-- u, inverse2, counts2 = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
-- v, inverse3 = x.double().unique(return_inverse=True)
-- w = torch.unique_consecutive(x.half())
local x, i, y, z, inverse, counts, u, inverse2, counts2, v, inverse3, w
x = ohm.randn(300, 330, {device = "cuda"})
i = ohm.zeros(70000, {dtype = ohm.int64, device = "cuda"})
y = ohm.unique(x:transpose(0, 1))
z, inverse, counts = ohm.unique(i, {return_inverse = true, return_counts = true})
u, inverse2, counts2 = ohm.unique_consecutive(x, {return_inverse = true, return_counts = true})
v, inverse3 = x:double():unique({return_inverse = true})
w = ohm.unique_consecutive(x:half())
mark("end of program (globals alive)")
x = nil
i = nil
y = nil
z = nil
inverse = nil
counts = nil
u = nil
inverse2 = nil
counts2 = nil
v = nil
inverse3 = nil
w = nil
mark("globals deleted")

--== median_of_numbers
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- y = x.nanmedian() + torch.nanmedian(x, dim=1)[0].sum()
-- y.backward()
local x, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
y = x:nanmedian() + (ohm.nanmedian(x, {dim = 1})):sum()
y:backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== matrix_and_vector_of_strides
-- x = torch.randn(40, 33, 2, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- b = torch.randn(1, device="cuda", requires_grad=True)
-- y = torch.addmv(b, x.select(2, 0), w, beta=0.5)
-- z = torch.mv(x.select(2, 1), b.expand(33))
-- u = torch.addr(x.select(2, 1), y, w, alpha=2.0)
-- v = u.sum() + z.sum()
-- v.backward()
local x, w, b, y, z, u, v
x = ohm.randn(40, 33, 2, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
b = ohm.randn(1, {device = "cuda", requires_grad = true})
y = ohm.addmv(b, x:select(2, 0), w, {beta = 0.5})
z = ohm.mv(x:select(2, 1), b:expand(33))
u = ohm.addr(x:select(2, 1), y, w, {alpha = 2.0})
v = u:sum() + z:sum()
v:backward()
mark("end of program (globals alive)")
x = nil
w = nil
b = nil
y = nil
z = nil
u = nil
v = nil
mark("globals deleted")

--== larger_numbers_of_both
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- y = torch.fmax(x, w) + torch.fmin(x, w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
y = ohm.fmax(x, w) + ohm.fmin(x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== distance_of_both
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- y = torch.dist(x, w) + torch.dist(x, w, p=1)
-- y.backward()
local x, w, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
y = ohm.dist(x, w) + ohm.dist(x, w, {p = 1})
y:backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== reduced_writes_over_the_input
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(40, 33, device="cuda", requires_grad=True)
-- ids = torch.zeros(40, 33, dtype=torch.long, device="cuda")
-- y = (x * 2.0).scatter_reduce_(0, ids, w, "mean", include_self=False)
-- y.sum().backward()
local x, w, ids, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
ids = ohm.zeros(40, 33, {dtype = ohm.int64, device = "cuda"})
y = (x * 2.0):scatter_reduce_(0, ids, w, "mean", {include_self = false})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
ids = nil
y = nil
mark("globals deleted")

--== whole_numbers_bit_by_bit
-- ids = torch.zeros(40, 33, dtype=torch.long, device="cuda")
-- y = torch.bitwise_and(ids, ids.int())
-- layout(y)
-- z = torch.bitwise_left_shift(ids.int(), 2)
-- layout(z)
-- u = torch.gcd(ids, ids.transpose(0, 1).narrow(0, 0, 1).narrow(1, 0, 33))
-- v = torch.tril_indices(4, 5, offset=1, device="cuda")
-- layout(v)
local ids, y, z, u, v
ids = ohm.zeros(40, 33, {dtype = ohm.int64, device = "cuda"})
y = ohm.bitwise_and(ids, ids:int())
layout(y)
z = ohm.bitwise_left_shift(ids:int(), 2)
layout(z)
u = ohm.gcd(ids, ids:transpose(0, 1):narrow(0, 0, 1):narrow(1, 0, 33))
v = ohm.tril_indices(4, 5, {offset = 1, device = "cuda"})
layout(v)
mark("end of program (globals alive)")
ids = nil
y = nil
z = nil
u = nil
v = nil
mark("globals deleted")

--== different_bools_and_halves values=true
-- x = torch.randn(300, 330, device="cuda", dtype=torch.float16)
-- y, inverse = torch.unique(x, return_inverse=True)
-- keep = torch.zeros(300, 33, dtype=torch.bool, device="cuda")
-- z, counts = torch.unique(keep.transpose(0, 1), return_counts=True)
-- u, inverse2 = keep.unique(return_inverse=True)
-- i = torch.zeros(70000, dtype=torch.long, device="cuda").to(torch.uint8)
-- v = torch.unique(i)
local x, y, inverse, keep, z, counts, u, inverse2, i, v
x = ohm.randn(300, 330, {device = "cuda", dtype = ohm.float16})
y, inverse = ohm.unique(x, {return_inverse = true})
keep = ohm.zeros(300, 33, {dtype = ohm.bool, device = "cuda"})
z, counts = ohm.unique(keep:transpose(0, 1), {return_counts = true})
u, inverse2 = keep:unique({return_inverse = true})
i = ohm.zeros(70000, {dtype = ohm.int64, device = "cuda"}):to(ohm.uint8)
v = ohm.unique(i)
mark("end of program (globals alive)")
x = nil
y = nil
inverse = nil
keep = nil
z = nil
counts = nil
u = nil
inverse2 = nil
i = nil
v = nil
mark("globals deleted")

--== many_indices_of_few_rows
-- x = torch.randn(500, 40, device="cuda", requires_grad=True)
-- i = torch.zeros(20000, dtype=torch.long, device="cuda")
-- w = torch.randn(20000, device="cuda", requires_grad=True)
-- y = x[i].sum() + x.index_put((i, i), w, accumulate=True).sum()
-- y.backward()
local x, i, w, y
x = ohm.randn(500, 40, {device = "cuda", requires_grad = true})
i = ohm.zeros(20000, {dtype = ohm.int64, device = "cuda"})
w = ohm.randn(20000, {device = "cuda", requires_grad = true})
y = x:index({i}):sum() + x:index_put({i, i}, w, {accumulate = true}):sum()
y:backward()
mark("end of program (globals alive)")
x = nil
i = nil
w = nil
y = nil
mark("globals deleted")

--== indices_of_int32
-- x = torch.randn(500, 40, device="cuda", requires_grad=True)
-- i = torch.zeros(200, dtype=torch.int, device="cuda")
-- w = torch.randn(200, 40, device="cuda", requires_grad=True)
-- y = x[i] + w
-- z = x.index_put((i,), w)
-- u = x.index_put((i,), w, accumulate=True)
-- v = y.sum() + z.sum() + u.sum()
-- v.backward()
local x, i, w, y, z, u, v
x = ohm.randn(500, 40, {device = "cuda", requires_grad = true})
i = ohm.zeros(200, {dtype = ohm.int32, device = "cuda"})
w = ohm.randn(200, 40, {device = "cuda", requires_grad = true})
y = x:index({i}) + w
z = x:index_put({i}, w)
u = x:index_put({i}, w, {accumulate = true})
v = (y:sum() + z:sum()) + u:sum()
v:backward()
mark("end of program (globals alive)")
x = nil
i = nil
w = nil
y = nil
z = nil
u = nil
v = nil
mark("globals deleted")

--== rms_norm_fused
-- m = nn.RMSNorm(64, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.backward(torch.ones_like(y))
local m, x, y
m = nn.RMSNorm(64, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== rms_norm_no_weight
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = F.rms_norm(x, (64,))
-- y.backward(torch.ones_like(y))
-- with torch.no_grad(): z = F.rms_norm(x, (64,))
local x, y, z
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = F.rms_norm(x, {64})
y:backward(ohm.ones_like(y))
do
  local mode1 <close> = ohm.no_grad()
  z = F.rms_norm(x, {64})
end
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== rms_norm_bfloat16
-- m = nn.RMSNorm(64, device="cuda", dtype=torch.bfloat16)
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True, dtype=torch.bfloat16)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm(64, {device = "cuda", dtype = ohm.bfloat16})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true, dtype = ohm.bfloat16})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== rms_norm_two_dtypes
-- m = nn.RMSNorm(64, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True, dtype=torch.bfloat16)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm(64, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true, dtype = ohm.bfloat16})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== rms_norm_autocast
-- m = nn.RMSNorm(64, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     h = x.bfloat16()
--     y = m(h)
--     layout(y)
--     z = m(x)
--     layout(z)
-- (y.sum()+z.sum()).backward()
local m, x, h, y, z
m = nn.RMSNorm(64, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  h = x:bfloat16()
  y = m(h)
  layout(y)
  z = m(x)
  layout(z)
end
;(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
m = nil
x = nil
h = nil
y = nil
z = nil
mark("globals deleted")

--== rms_norm_of_transposed
-- m = nn.RMSNorm(100, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = m(x.transpose(1,2))
-- layout(y)
-- y.transpose(1,2).backward(torch.ones(32,100,64,device="cuda"))
local m, x, y
m = nn.RMSNorm(100, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = m(x:transpose(1, 2))
layout(y)
y:transpose(1, 2):backward(ohm.ones(32, 100, 64, {device = "cuda"}))
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== rms_norm_two_dims
-- m = nn.RMSNorm((100,64), device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm({100, 64}, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== rms_norm_frozen
-- m = nn.RMSNorm(64, device="cuda").requires_grad_(False)
-- x = torch.randn(8, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- m.requires_grad_(True)
-- y = m(x.detach())
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm(64, {device = "cuda"}):requires_grad_(false)
x = ohm.randn(8, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
m:requires_grad_(true)
y = m(x:detach())
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== index_put_host_indices
-- x = torch.randn(10, 600, device="cuda", requires_grad=True)
-- v = torch.randn(3, 600, device="cuda", requires_grad=True)
-- i = torch.tensor([1, 3, 5])
-- y = x.index_put((i,), v)
-- y.sum().backward()
local x, v, i, y
x = ohm.randn(10, 600, {device = "cuda", requires_grad = true})
v = ohm.randn(3, 600, {device = "cuda", requires_grad = true})
i = ohm.tensor({1, 3, 5})
y = x:index_put({i}, v)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
i = nil
y = nil
mark("globals deleted")

--== index_put_host_adding
-- x = torch.randn(10, 600, device="cuda")
-- v = torch.randn(3, 600, device="cuda")
-- i = torch.tensor([1, 3, 1])
-- x.index_put_((i,), v, accumulate=True)
local x, v, i
x = ohm.randn(10, 600, {device = "cuda"})
v = ohm.randn(3, 600, {device = "cuda"})
i = ohm.tensor({1, 3, 1})
x:index_put_({i}, v, {accumulate = true})
mark("end of program (globals alive)")
x = nil
v = nil
i = nil
mark("globals deleted")

--== index_put_host_two
-- x = torch.randn(10, 600, device="cuda")
-- v = torch.randn(3, device="cuda")
-- i = torch.tensor([1, 3, 5])
-- j = torch.tensor([2], device="cuda")
-- x.index_put_((i, j), v)
-- y = x.index_put((i, i), v, accumulate=True)
local x, v, i, j, y
x = ohm.randn(10, 600, {device = "cuda"})
v = ohm.randn(3, {device = "cuda"})
i = ohm.tensor({1, 3, 5})
j = ohm.tensor({2}, {device = "cuda"})
x:index_put_({i, j}, v)
y = x:index_put({i, i}, v, {accumulate = true})
mark("end of program (globals alive)")
x = nil
v = nil
i = nil
j = nil
y = nil
mark("globals deleted")

--== index_put_host_int32
-- x = torch.randn(10, 600, device="cuda")
-- v = torch.randn(3, 600, device="cuda")
-- i = torch.tensor([1, 3, 5], dtype=torch.int32)
-- y = x[i]
-- x.index_put_((i,), v)
local x, v, i, y
x = ohm.randn(10, 600, {device = "cuda"})
v = ohm.randn(3, 600, {device = "cuda"})
i = ohm.tensor({1, 3, 5}, {dtype = ohm.int32})
y = x:index({i})
x:index_put_({i}, v)
mark("end of program (globals alive)")
x = nil
v = nil
i = nil
y = nil
mark("globals deleted")

--== cudnn_lstm_training
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, num_layers=2, device="cuda")
-- layout(m.weight_ih_l0)
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- layout(y)
-- z = y * 2
-- y.sum().backward()
-- y, (h, c) = m(x, (h.detach(), c.detach()))
-- l = y.sum() + h.sum()
-- l.backward()
local m, x, y, h, c, z, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {num_layers = 2, device = "cuda"})
layout(m.weight_ih_l0)
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]
  h = results[2]
  c = results[3]
end
layout(y)
z = y * 2
y:sum():backward()
do
  local results = m(x, {h:detach(), c:detach()})
  y = results[1]
  h = results[2]
  c = results[3]
end
l = y:sum() + h:sum()
l:backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
z = nil
l = nil
mark("globals deleted")

--== cudnn_lstm_batch_first_bidirectional
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, batch_first=True, bidirectional=True).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- layout(y)
-- z = (y * y).sum()
-- z.backward(retain_graph=True)
-- y, (h, c) = m(x, (h, c))
-- z = (y * y).sum()
-- z.backward()
local m, x, y, h, c, z
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {batch_first = true, bidirectional = true}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]
  h = results[2]
  c = results[3]
end
layout(y)
z = (y * y):sum()
z:backward({retain_graph = true})
do
  local results = m(x, {h, c})
  y = results[1]
  h = results[2]
  c = results[3]
end
z = (y * y):sum()
z:backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
z = nil
mark("globals deleted")

--== cudnn_gru_states
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32, bias=False, device="cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- h0 = torch.randn(1, 3, 32, device="cuda", requires_grad=True)
-- y, h = m(x, h0)
-- l = h.sum()
-- l.backward()
local m, x, h0, y, h, l
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32, {bias = false, device = "cuda"})
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
h0 = ohm.randn(1, 3, 32, {device = "cuda", requires_grad = true})
do
  local results = m(x, h0)
  y = results[1]
  h = results[2]
end
l = h:sum()
l:backward()
mark("end of program (globals alive)")
m = nil
x = nil
h0 = nil
y = nil
h = nil
l = nil
mark("globals deleted")

--== cudnn_gru_no_grad
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32, batch_first=True, device="cuda")
-- x = torch.randn(5, 3, 16, device="cuda")
-- with torch.no_grad(): y, h = m(x)
-- layout(y)
-- m.eval()
-- with torch.no_grad(): y, h = m(x)
local m, x, y, h
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32, {batch_first = true, device = "cuda"})
x = ohm.randn(5, 3, 16, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x)
    y = results[1]
    h = results[2]
  end
end
layout(y)
m:eval()
do
  local mode2 <close> = ohm.no_grad()
  do
    local results = m(x)
    y = results[1]
    h = results[2]
  end
end
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
mark("globals deleted")

--== cudnn_rnn_optimizer_and_casts
-- torch.backends.cudnn.enabled = True
-- m = nn.RNN(16, 32, nonlinearity="relu").to("cuda")
-- o = torch.optim.Adam(m.parameters())
-- x = torch.randn(5, 3, 16, device="cuda")
-- y, h = m(x)
-- y.sum().backward()
-- o.step()
-- o.zero_grad()
-- y, h = m(x)
-- h.sum().backward()
-- o.step()
-- m = m.half()
-- m = m.to("cuda")
local m, o, x, y, h
ohm.backends.cudnn.enabled = true
m = nn.RNN(16, 32, {nonlinearity = "relu"}):to("cuda")
o = ohm.optim.Adam(m:parameters())
x = ohm.randn(5, 3, 16, {device = "cuda"})
do
  local results = m(x)
  y = results[1]
  h = results[2]
end
y:sum():backward()
o:step()
o:zero_grad()
do
  local results = m(x)
  y = results[1]
  h = results[2]
end
h:sum():backward()
o:step()
m = m:half()
m = m:to("cuda")
mark("end of program (globals alive)")
m = nil
o = nil
x = nil
y = nil
h = nil
mark("globals deleted")

--== cudnn_lstm_bfloat16
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, dtype=torch.bfloat16).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", dtype=torch.bfloat16)
-- y, (h, c) = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y, h, c
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {dtype = ohm.bfloat16}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", dtype = ohm.bfloat16})
do
  local results = m(x)
  y = results[1]
  h = results[2]
  c = results[3]
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
mark("globals deleted")

--== cudnn_lstm_float16_plain
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, device="cuda", dtype=torch.float16)
-- x0 = torch.randn(3, 5, 16, device="cuda", dtype=torch.float16, requires_grad=True)
-- x = x0.transpose(0, 1)
-- y, (h, c) = m(x)
-- l = (c * c).sum()
-- l.backward()
local m, x0, x, y, h, c, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {device = "cuda", dtype = ohm.float16})
x0 = ohm.randn(3, 5, 16, {device = "cuda", dtype = ohm.float16, requires_grad = true})
x = x0:transpose(0, 1)
do
  local results = m(x)
  y = results[1]
  h = results[2]
  c = results[3]
end
l = (c * c):sum()
l:backward()
mark("end of program (globals alive)")
m = nil
x0 = nil
x = nil
y = nil
h = nil
c = nil
l = nil
mark("globals deleted")

--== cudnn_lstm_autocast
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y, (h, c) = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y, h, c
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  do
    local results = m(x)
    y = results[1]
    h = results[2]
    c = results[3]
  end
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
mark("globals deleted")

--== cudnn_gru_autocast_no_grad
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32, bias=False, dtype=torch.float16).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y, h = m(x)
-- with torch.no_grad(): n, h = m(x.half())
-- y.sum().backward()
local m, x, y, h, n
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32, {bias = false, dtype = ohm.float16}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  do
    local results = m(x)
    y = results[1]
    h = results[2]
  end
end
do
  local mode2 <close> = ohm.no_grad()
  do
    local results = m(x:half())
    n = results[1]
    h = results[2]
  end
end
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
n = nil
mark("globals deleted")

--== cudnn_gru_copied
-- import copy
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda")
-- n = copy.deepcopy(m)
-- y, h = n(x)
-- y.sum().backward()
-- n = n.to("cuda")
-- y, h = n(x)
local m, x, n, y, h
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda"})
n = ohm.copy.deepcopy(m)
do
  local results = n(x)
  y = results[1]
  h = results[2]
end
y:sum():backward()
n = n:to("cuda")
do
  local results = n(x)
  y = results[1]
  h = results[2]
end
mark("end of program (globals alive)")
m = nil
x = nil
n = nil
y = nil
h = nil
mark("globals deleted")

--== cudnn_lstm_packed
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, bidirectional=True).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- p = nn.utils.rnn.pack_padded_sequence(x, [5, 3, 2])
-- y, (h, c) = m(p)
-- z, n = nn.utils.rnn.pad_packed_sequence(y)
-- z.sum().backward()
local m, x, p, y, h, c, z, n
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {bidirectional = true}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
p = nn.utils.rnn.pack_padded_sequence(x, {5, 3, 2})
do
  local results = m(p)
  y = results[1]
  h = results[2]
  c = results[3]
end
z, n = nn.utils.rnn.pad_packed_sequence(y)
z:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
p = nil
y = nil
h = nil
c = nil
z = nil
n = nil
mark("globals deleted")

--== cudnn_lstm_frozen
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, num_layers=2).to("cuda")
-- m.requires_grad_(False)
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- l = y.mean() + c.sum()
-- l.backward()
local m, x, y, h, c, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {num_layers = 2}):to("cuda")
m:requires_grad_(false)
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]
  h = results[2]
  c = results[3]
end
l = y:mean() + c:sum()
l:backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
l = nil
mark("globals deleted")

--== evaluated_attention_with_padding
-- m = nn.MultiheadAttention(16, 2, batch_first=True, device="cuda")
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y, w = m(x, x, x, key_padding_mask=pad)
-- layout(w)
-- with torch.no_grad(): y, w = m(x, x, x, average_attn_weights=False)
-- layout(w)
local m, x, pad, y, w
m = nn.MultiheadAttention(16, 2, {batch_first = true, device = "cuda"})
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x, x, x, {key_padding_mask = pad})
    y = results[1]
    w = results[2]
  end
end
layout(w)
do
  local mode2 <close> = ohm.no_grad()
  do
    local results = m(x, x, x, {average_attn_weights = false})
    y = results[1]
    w = results[2]
  end
end
layout(w)
mark("end of program (globals alive)")
m = nil
x = nil
pad = nil
y = nil
w = nil
mark("globals deleted")

--== evaluated_attention_without_bias
-- m = nn.MultiheadAttention(16, 2, batch_first=True, bias=False, device="cuda")
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- mask = torch.zeros(8, 8, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y = m(x, x, x, key_padding_mask=pad, attn_mask=mask, need_weights=False)[0]
local m, x, pad, mask, y
m = nn.MultiheadAttention(16, 2, {batch_first = true, bias = false, device = "cuda"})
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
mask = ohm.zeros(8, 8, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, x, x, {key_padding_mask = pad, attn_mask = mask, need_weights = false})
end
mark("end of program (globals alive)")
m = nil
x = nil
pad = nil
mask = nil
y = nil
mark("globals deleted")

--== evaluated_attention_of_narrow_heads
-- m = nn.MultiheadAttention(8, 2, batch_first=True, device="cuda")
-- m.eval()
-- x = torch.randn(3, 2, 8, device="cuda")
-- with torch.inference_mode(): y = m(x, x, x, need_weights=False)[0]
local m, x, y
m = nn.MultiheadAttention(8, 2, {batch_first = true, device = "cuda"})
m:eval()
x = ohm.randn(3, 2, 8, {device = "cuda"})
do
  local mode1 <close> = ohm.inference_mode()
  y = m(x, x, x, {need_weights = false})
end
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== evaluated_attention_of_one_element
-- m = nn.MultiheadAttention(64, 4, batch_first=True, device="cuda", dtype=torch.float16)
-- m.eval()
-- x = torch.randn(3, 1, 64, device="cuda", dtype=torch.float16)
-- with torch.no_grad(): y, w = m(x, x, x)
local m, x, y, w
m = nn.MultiheadAttention(64, 4, {batch_first = true, device = "cuda", dtype = ohm.float16})
m:eval()
x = ohm.randn(3, 1, 64, {device = "cuda", dtype = ohm.float16})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x, x, x)
    y = results[1]
    w = results[2]
  end
end
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
w = nil
mark("globals deleted")

--== evaluated_encoder_with_padding
-- layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, device="cuda")
-- m = nn.TransformerEncoder(layer, 2)
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y = m(x, src_key_padding_mask=pad)
-- y = m(x, src_key_padding_mask=pad)
-- layout(y)
local layer, m, x, pad, y
layer = nn.TransformerEncoderLayer(16, 2, 24, {batch_first = true, device = "cuda"})
m = nn.TransformerEncoder(layer, 2)
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, {src_key_padding_mask = pad})
end
y = m(x, {src_key_padding_mask = pad})
layout(y)
mark("end of program (globals alive)")
layer = nil
m = nil
x = nil
pad = nil
y = nil
mark("globals deleted")

--== evaluated_layer_with_both_masks
-- m = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, norm_first=True, activation="gelu", device="cuda")
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- mask = torch.triu(torch.ones(8, 8, dtype=torch.bool, device="cuda"), diagonal=1)
-- with torch.no_grad(): y = m(x, src_mask=mask, src_key_padding_mask=pad)
local m, x, pad, mask, y
m = nn.TransformerEncoderLayer(16, 2, 24, {batch_first = true, norm_first = true, activation = "gelu", device = "cuda"})
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
mask = ohm.triu(ohm.ones(8, 8, {dtype = ohm.bool, device = "cuda"}), {diagonal = 1})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, {src_mask = mask, src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil
x = nil
pad = nil
mask = nil
y = nil
mark("globals deleted")

--== evaluated_layer_of_long_rows
-- m = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, device="cuda")
-- m.eval()
-- x = torch.randn(1, 1030, 8, device="cuda")
-- pad = torch.zeros(1, 1030, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y = m(x, src_key_padding_mask=pad)
local m, x, pad, y
m = nn.TransformerEncoderLayer(8, 2, 8, {batch_first = true, device = "cuda"})
m:eval()
x = ohm.randn(1, 1030, 8, {device = "cuda"})
pad = ohm.zeros(1, 1030, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, {src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil
x = nil
pad = nil
y = nil
mark("globals deleted")

--== layer_with_booleans
-- m = nn.TransformerEncoderLayer(96, 3, 16, batch_first=True, bias=False, device="cuda", dtype=torch.bfloat16)
-- x = torch.randn(2, 1, 96, device="cuda", dtype=torch.bfloat16)
-- mask = torch.zeros(6, 1, 1, dtype=torch.bool, device="cuda")
-- pad = torch.tensor([[False], [False]], device="cuda")
-- with torch.inference_mode(): y = m(x, src_mask=mask, src_key_padding_mask=pad)
local m, x, mask, pad, y
m = nn.TransformerEncoderLayer(96, 3, 16, {batch_first = true, bias = false, device = "cuda", dtype = ohm.bfloat16})
x = ohm.randn(2, 1, 96, {device = "cuda", dtype = ohm.bfloat16})
mask = ohm.zeros(6, 1, 1, {dtype = ohm.bool, device = "cuda"})
pad = ohm.tensor({{false}, {false}}, {device = "cuda"})
do
  local mode1 <close> = ohm.inference_mode()
  y = m(x, {src_mask = mask, src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil
x = nil
mask = nil
pad = nil
y = nil
mark("globals deleted")

--== attention_with_a_cast_mask
-- m = nn.TransformerEncoderLayer(16, 2, 16, batch_first=True).to("cuda")
-- x = torch.randn(2, 5, 16, device="cuda")
-- pad = torch.zeros(2, 5, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16): y = m(x, src_key_padding_mask=pad)
local m, x, pad, y
m = nn.TransformerEncoderLayer(16, 2, 16, {batch_first = true}):to("cuda")
x = ohm.randn(2, 5, 16, {device = "cuda"})
pad = ohm.zeros(2, 5, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = m(x, {src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil
x = nil
pad = nil
y = nil
mark("globals deleted")

--== lstm_projected_no_grad
-- m = nn.LSTM(4, 20, proj_size=3, device="cuda", dtype=torch.float16)
-- x = torch.randn(2, 4, device="cuda", dtype=torch.float16, requires_grad=True)
-- with torch.no_grad(): y, (h, c) = m(x)
local m, x, y, h, c
m = nn.LSTM(4, 20, {proj_size = 3, device = "cuda", dtype = ohm.float16})
x = ohm.randn(2, 4, {device = "cuda", dtype = ohm.float16, requires_grad = true})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x)
    y = results[1]
    h = results[2]
    c = results[3]
  end
end
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
mark("globals deleted")

--== cudnn_lstm_projected
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 20, proj_size=6, num_layers=2, bidirectional=True, device="cuda")
-- x = torch.randn(4, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- layout(y)
-- l = y.sum() + (h * h).sum()
-- l.backward()
local m, x, y, h, c, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 20, {proj_size = 6, num_layers = 2, bidirectional = true, device = "cuda"})
x = ohm.randn(4, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]
  h = results[2]
  c = results[3]
end
layout(y)
l = y:sum() + (h * h):sum()
l:backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
h = nil
c = nil
l = nil
mark("globals deleted")

--== gru_without_a_batch
-- m = nn.GRU(16, 20, batch_first=True, device="cuda")
-- x = torch.randn(4, 16, device="cuda", requires_grad=True)
-- h0 = torch.randn(1, 20, device="cuda")
-- y, h = m(x, h0)
-- l = y.sum() + h.sum()
-- l.backward()
local m, x, h0, y, h, l
m = nn.GRU(16, 20, {batch_first = true, device = "cuda"})
x = ohm.randn(4, 16, {device = "cuda", requires_grad = true})
h0 = ohm.randn(1, 20, {device = "cuda"})
do
  local results = m(x, h0)
  y = results[1]
  h = results[2]
end
l = y:sum() + h:sum()
l:backward()
mark("end of program (globals alive)")
m = nil
x = nil
h0 = nil
y = nil
h = nil
l = nil
mark("globals deleted")

--== clip_error_if_nonfinite
-- m = nn.Linear(8, 8, device="cuda")
-- x = torch.randn(16, 8, device="cuda")
-- loss = m(x).pow(2).mean()
-- loss.backward()
-- t = nn.utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
local m, x, loss, t
m = nn.Linear(8, 8, {device = "cuda"})
x = ohm.randn(16, 8, {device = "cuda"})
loss = m(x):pow(2):mean()
loss:backward()
t = nn.utils.clip_grad_norm_(m:parameters(), 1.0, {error_if_nonfinite = true})
mark("end of program (globals alive)")
m = nil
x = nil
loss = nil
t = nil
mark("globals deleted")

--== averaged_model_and_late_group
-- m = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).to("cuda")
-- head = nn.Linear(8, 4, device="cuda")
-- a = torch.optim.swa_utils.AveragedModel(m)
-- b = torch.optim.swa_utils.AveragedModel(m, avg_fn=torch.optim.swa_utils.get_ema_avg_fn(0.9))
-- opt = torch.optim.Adam(m.parameters())
-- opt.add_param_group({"params": head.parameters(), "lr": 0.01})
-- x = torch.randn(16, 8, device="cuda")
-- loss = head(m(x)).pow(2).mean()
-- loss.backward()
-- opt.step()
-- a.update_parameters(m)
-- b.update_parameters(m)
-- a.update_parameters(m)
-- b.update_parameters(m)
local m, head, a, b, opt, x, loss
m = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)):to("cuda")
head = nn.Linear(8, 4, {device = "cuda"})
a = ohm.optim.swa_utils.AveragedModel(m)
b = ohm.optim.swa_utils.AveragedModel(m, {avg_fn = ohm.optim.swa_utils.get_ema_avg_fn(0.9)})
opt = ohm.optim.Adam(m:parameters())
opt:add_param_group({params = head:parameters(), lr = 0.01})
x = ohm.randn(16, 8, {device = "cuda"})
loss = head(m(x)):pow(2):mean()
loss:backward()
opt:step()
a:update_parameters(m)
b:update_parameters(m)
a:update_parameters(m)
b:update_parameters(m)
mark("end of program (globals alive)")
m = nil
head = nil
a = nil
b = nil
opt = nil
x = nil
loss = nil
mark("globals deleted")

--== einsum_of_one_tensor
-- x = torch.randn(4, 6, 2, device="cuda", requires_grad=True)
-- v = x * 1.5
-- y = torch.einsum("bld,bld->bld", v, v)
-- y.sum().backward()
local x, v, y
x = ohm.randn(4, 6, 2, {device = "cuda", requires_grad = true})
v = x * 1.5
y = ohm.einsum("bld,bld->bld", v, v)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
v = nil
y = nil
mark("globals deleted")

--== einsum_of_three
-- d = torch.randn(3, 12, 16, device="cuda", requires_grad=True)
-- b = torch.randn(3, 12, 8, device="cuda", requires_grad=True)
-- x = torch.randn(3, 12, 16, device="cuda", requires_grad=True)
-- u = x * 3
-- s = d * 2
-- y = torch.einsum("bld,bln,bld->bldn", s, b, u)
-- l = y.sum() + (u * u).sum()
-- l.backward()
local d, b, x, u, s, y, l
d = ohm.randn(3, 12, 16, {device = "cuda", requires_grad = true})
b = ohm.randn(3, 12, 8, {device = "cuda", requires_grad = true})
x = ohm.randn(3, 12, 16, {device = "cuda", requires_grad = true})
u = x * 3
s = d * 2
y = ohm.einsum("bld,bln,bld->bldn", s, b, u)
l = y:sum() + (u * u):sum()
l:backward()
mark("end of program (globals alive)")
d = nil
b = nil
x = nil
u = nil
s = nil
y = nil
l = nil
mark("globals deleted")

--== einsum_of_a_column
-- x = torch.randn(3, 2, 6, device="cuda")
-- v = x.narrow(2, 5, 1)
-- y = torch.einsum("bld,bld->b", v, v)
local x, v, y
x = ohm.randn(3, 2, 6, {device = "cuda"})
v = x:narrow(2, 5, 1)
y = ohm.einsum("bld,bld->b", v, v)
mark("end of program (globals alive)")
x = nil
v = nil
y = nil
mark("globals deleted")

--== einsum_of_one_row_beside_two
-- x = torch.randn(3, 2, 6, device="cuda")
-- w = torch.randn(3, 1, 6, device="cuda")
-- y = torch.einsum("bld,bld->b", x, w)
-- z = torch.einsum("bld,bld->bl", w, x)
local x, w, y, z
x = ohm.randn(3, 2, 6, {device = "cuda"})
w = ohm.randn(3, 1, 6, {device = "cuda"})
y = ohm.einsum("bld,bld->b", x, w)
z = ohm.einsum("bld,bld->bl", w, x)
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== squeezed_column_of_linear
-- m = nn.Linear(56, 1, device="cuda")
-- x = torch.randn(3, 56, device="cuda", requires_grad=True)
-- y = m(x).squeeze(1)
-- z = m(x).squeeze(1)
-- s = torch.stack([y, z]).transpose(0, 1).contiguous()
-- s.backward(torch.randn(3, 2, device="cuda"))
local m, x, y, z, s
m = nn.Linear(56, 1, {device = "cuda"})
x = ohm.randn(3, 56, {device = "cuda", requires_grad = true})
y = m(x):squeeze(1)
z = m(x):squeeze(1)
s = ohm.stack({y, z}):transpose(0, 1):contiguous()
s:backward(ohm.randn(3, 2, {device = "cuda"}))
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
s = nil
mark("globals deleted")

--== eight_bits
-- w = torch.randn(16, 32, device="cuda")
-- scale = w.abs().amax(dim=1, keepdim=True) / 127.0
-- q = (w / scale).round().clamp(-127, 127).to(torch.int8)
-- x = torch.randn(4, 32, device="cuda", requires_grad=True)
-- y = F.linear(x, q.to(torch.float32) * scale)
-- y.sum().backward()
-- s = q.to(torch.int16)
-- n = q.sum()
local w, scale, q, x, y, s, n
w = ohm.randn(16, 32, {device = "cuda"})
scale = w:abs():amax({dim = 1, keepdim = true}) / 127.0
q = (w / scale):round():clamp(-127, 127):to(ohm.int8)
x = ohm.randn(4, 32, {device = "cuda", requires_grad = true})
y = F.linear(x, q:to(ohm.float32) * scale)
y:sum():backward()
s = q:to(ohm.int16)
n = q:sum()
mark("end of program (globals alive)")
w = nil
scale = nil
q = nil
x = nil
y = nil
s = nil
n = nil
mark("globals deleted")

--== matmul_matrix_by_turned_batch
-- a = torch.randn(8, 30, device="cuda")
-- b = torch.randn(3, 50, 30, device="cuda")
-- c = a @ b.transpose(1, 2)
-- mark("turned")
-- d = a @ torch.randn(3, 30, 50, device="cuda")
-- mark("plain")
-- a.requires_grad_(True)
-- e = a @ b.transpose(1, 2)
-- mark("with gradient")
local a, b, c, d, e
a = ohm.randn(8, 30, {device = "cuda"})
b = ohm.randn(3, 50, 30, {device = "cuda"})
c = ohm.matmul(a, b:transpose(1, 2))
mark("turned")
d = ohm.matmul(a, ohm.randn(3, 30, 50, {device = "cuda"}))
mark("plain")
a:requires_grad_(true)
e = ohm.matmul(a, b:transpose(1, 2))
mark("with gradient")
mark("end of program (globals alive)")
a = nil
b = nil
c = nil
d = nil
e = nil
mark("globals deleted")

--== second_gradient_of_a_sum_over_two
-- x = torch.rand(7, 6, 8, 8, device="cuda", requires_grad=True)
-- w = torch.rand(7, 6, device="cuda", requires_grad=True)
-- h = F.leaky_relu(x * x, 0.2).sum(dim=(2, 3))
-- s = (w * h).sum(1)
-- g = torch.autograd.grad(s.sum(), x, create_graph=True)[0]
-- loss = F.relu(1 - s).mean() + g.pow(2).mean(dim=(1, 2, 3)).sum()
-- loss.backward()
local x, w, h, s, g, loss
x = ohm.rand(7, 6, 8, 8, {device = "cuda", requires_grad = true})
w = ohm.rand(7, 6, {device = "cuda", requires_grad = true})
h = F.leaky_relu(x * x, 0.2):sum({dim = {2, 3}})
s = (w * h):sum(1)
g = (ohm.autograd.grad(s:sum(), x, {create_graph = true}))
loss = F.relu(1 - s):mean() + g:pow(2):mean({dim = {1, 2, 3}}):sum()
loss:backward()
mark("end of program (globals alive)")
x = nil
w = nil
h = nil
s = nil
g = nil
loss = nil
mark("globals deleted")

--== second_gradient_of_spread_over_two
-- x = torch.rand(7, 6, 8, 8, device="cuda", requires_grad=True)
-- w = torch.rand(7, 6, device="cuda", requires_grad=True)
-- h = (x * x).var(dim=(2, 3)) + torch.logsumexp(x * 2, dim=(2, 3)) + (x * 3).amax(dim=(2, 3)) + (x * 4).norm(dim=(2, 3))
-- s = (w * h).sum(1)
-- g = torch.autograd.grad(s.sum(), x, create_graph=True)[0]
-- loss = F.relu(1 - s).mean() + g.pow(2).mean(dim=(1, 2, 3)).sum()
-- loss.backward()
local x, w, h, s, g, loss
x = ohm.rand(7, 6, 8, 8, {device = "cuda", requires_grad = true})
w = ohm.rand(7, 6, {device = "cuda", requires_grad = true})
h = (((x * x):var({dim = {2, 3}}) + ohm.logsumexp(x * 2, {dim = {2, 3}})) + (x * 3):amax({dim = {2, 3}})) + (x * 4):norm({dim = {2, 3}})
s = (w * h):sum(1)
g = (ohm.autograd.grad(s:sum(), x, {create_graph = true}))
loss = F.relu(1 - s):mean() + g:pow(2):mean({dim = {1, 2, 3}}):sum()
loss:backward()
mark("end of program (globals alive)")
x = nil
w = nil
h = nil
s = nil
g = nil
loss = nil
mark("globals deleted")

--== checkpointed_rows_behind_a_sum
-- from torch.utils.checkpoint import checkpoint
-- x = torch.randn(5, 15, 44, device="cuda", requires_grad=True)
-- m = nn.Linear(44, 44, device="cuda")
-- n = nn.LayerNorm(44, device="cuda")
-- h = x * 2
-- y = h + n(h)
-- z = checkpoint(m, y, use_reentrant=True)
-- z.sum().backward()
local x, m, n, h, y, z
x = ohm.randn(5, 15, 44, {device = "cuda", requires_grad = true})
m = nn.Linear(44, 44, {device = "cuda"})
n = nn.LayerNorm(44, {device = "cuda"})
h = x * 2
y = h + n(h)
z = ohm.utils.checkpoint.checkpoint(m, y, {use_reentrant = true})
z:sum():backward()
mark("end of program (globals alive)")
x = nil
m = nil
n = nil
h = nil
y = nil
z = nil
mark("globals deleted")

--== cdist_with_gradients
-- a = torch.randn(12, 48, device="cuda", requires_grad=True)
-- b = torch.randn(70, 48, device="cuda", requires_grad=True)
-- g = torch.randn(12, 70, device="cuda")
-- mark("many rows")
-- y = torch.cdist(a, b)
-- mark("forward")
-- y.backward(g)
-- mark("one gradient")
-- c = torch.randn(12, 48, device="cuda")
-- y = torch.cdist(a, c)
-- y.sum().backward()
-- mark("few rows")
-- c.requires_grad_(True)
-- y = torch.cdist(c, a)
-- mark("forward")
-- y.backward(torch.randn(12, 12, device="cuda"))
-- mark("p = 1")
-- y = torch.cdist(a, c, p=1.0)
-- y.sum().backward()
-- mark("p = 0")
-- y = torch.cdist(a, c, p=0.0)
-- y.sum().backward()
-- mark("transposed")
-- t = torch.randn(48, 9, device="cuda", requires_grad=True)
-- y = torch.cdist(t.t(), c)
-- y.sum().backward()
local a, b, g, y, c, t
a = ohm.randn(12, 48, {device = "cuda", requires_grad = true})
b = ohm.randn(70, 48, {device = "cuda", requires_grad = true})
g = ohm.randn(12, 70, {device = "cuda"})
mark("many rows")
y = ohm.cdist(a, b)
mark("forward")
y:backward(g)
mark("one gradient")
c = ohm.randn(12, 48, {device = "cuda"})
y = ohm.cdist(a, c)
y:sum():backward()
mark("few rows")
c:requires_grad_(true)
y = ohm.cdist(c, a)
mark("forward")
y:backward(ohm.randn(12, 12, {device = "cuda"}))
mark("p = 1")
y = ohm.cdist(a, c, {p = 1.0})
y:sum():backward()
mark("p = 0")
y = ohm.cdist(a, c, {p = 0.0})
y:sum():backward()
mark("transposed")
t = ohm.randn(48, 9, {device = "cuda", requires_grad = true})
y = ohm.cdist(t:t(), c)
y:sum():backward()
mark("end of program (globals alive)")
a = nil
b = nil
g = nil
y = nil
c = nil
t = nil
mark("globals deleted")

--== cdist_of_batches
-- a = torch.randn(3, 12, 48, device="cuda", requires_grad=True)
-- b = torch.randn(3, 30, 48, device="cuda", requires_grad=True)
-- mark("by a product")
-- y = torch.cdist(a, b)
-- mark("forward")
-- y.sum().backward()
-- mark("few rows")
-- c = torch.randn(3, 7, 48, device="cuda", requires_grad=True)
-- y = torch.cdist(a, c)
-- mark("forward")
-- y.backward(torch.randn(3, 12, 7, device="cuda"))
-- mark("four dimensions")
-- d = torch.randn(2, 3, 30, 8, device="cuda", requires_grad=True)
-- e = torch.randn(2, 3, 5, 8, device="cuda", requires_grad=True)
-- y = torch.cdist(d, e)
-- y.sum().backward()
-- y = torch.cdist(e, e * 2)
-- y.sum().backward()
local a, b, y, c, d, e
a = ohm.randn(3, 12, 48, {device = "cuda", requires_grad = true})
b = ohm.randn(3, 30, 48, {device = "cuda", requires_grad = true})
mark("by a product")
y = ohm.cdist(a, b)
mark("forward")
y:sum():backward()
mark("few rows")
c = ohm.randn(3, 7, 48, {device = "cuda", requires_grad = true})
y = ohm.cdist(a, c)
mark("forward")
y:backward(ohm.randn(3, 12, 7, {device = "cuda"}))
mark("four dimensions")
d = ohm.randn(2, 3, 30, 8, {device = "cuda", requires_grad = true})
e = ohm.randn(2, 3, 5, 8, {device = "cuda", requires_grad = true})
y = ohm.cdist(d, e)
y:sum():backward()
y = ohm.cdist(e, e * 2)
y:sum():backward()
mark("end of program (globals alive)")
a = nil
b = nil
y = nil
c = nil
d = nil
e = nil
mark("globals deleted")

--== cdist_without_gradients
-- a = torch.randn(12, 48, device="cuda")
-- b = torch.randn(70, 48, device="cuda")
-- y = torch.cdist(a, b)
-- z = torch.cdist(b, a)
local a, b, y, z
a = ohm.randn(12, 48, {device = "cuda"})
b = ohm.randn(70, 48, {device = "cuda"})
y = ohm.cdist(a, b)
z = ohm.cdist(b, a)
mark("end of program (globals alive)")
a = nil
b = nil
y = nil
z = nil
mark("globals deleted")

--== cdist_second_gradient
-- a = torch.randn(12, 48, device="cuda", requires_grad=True)
-- b = torch.randn(70, 48, device="cuda", requires_grad=True)
-- g = torch.autograd.grad(torch.cdist(a, b).sum(), a, create_graph=True)[0]
-- (g * g).sum().backward()
local a, b, g
a = ohm.randn(12, 48, {device = "cuda", requires_grad = true})
b = ohm.randn(70, 48, {device = "cuda", requires_grad = true})
g = (ohm.autograd.grad(ohm.cdist(a, b):sum(), a, {create_graph = true}))
;(g * g):sum():backward()
mark("end of program (globals alive)")
a = nil
b = nil
g = nil
mark("globals deleted")

--== index_put_of_a_number_of_the_host
-- x = torch.zeros(60, 7, device="cuda")
-- i = torch.zeros(9, dtype=torch.long, device="cuda")
-- v = torch.tensor(1.0)
-- x.index_put_((i, i), v)
-- mark("written")
-- x.index_put_((i,), torch.tensor(3.0), accumulate=True)
-- mark("added")
-- y = torch.zeros(60, 7, device="cuda", requires_grad=True)
-- z = (y * 2).index_put((i,), v)
-- z.sum().backward()
-- mark("gradient")
local x, i, v, y, z
x = ohm.zeros(60, 7, {device = "cuda"})
i = ohm.zeros(9, {dtype = ohm.int64, device = "cuda"})
v = ohm.tensor(1.0)
x:index_put_({i, i}, v)
mark("written")
x:index_put_({i}, ohm.tensor(3.0), {accumulate = true})
mark("added")
y = ohm.zeros(60, 7, {device = "cuda", requires_grad = true})
z = (y * 2):index_put({i}, v)
z:sum():backward()
mark("gradient")
mark("end of program (globals alive)")
x = nil
i = nil
v = nil
y = nil
z = nil
mark("globals deleted")

--== activations_in_place
-- x = torch.randn(8, 300, device="cuda", requires_grad=True)
-- a = nn.Hardswish(inplace=True)
-- b = nn.Hardsigmoid(inplace=True)
-- c = nn.Mish(inplace=True)
-- d = nn.Threshold(0.1, 0.5, inplace=True)
-- mark("hardswish")
-- y = a(x * 2)
-- y.sum().backward()
-- mark("hardsigmoid")
-- y = b(x * 2)
-- y.sum().backward()
-- mark("mish")
-- y = c(x * 2)
-- y.sum().backward()
-- mark("threshold")
-- y = d(x * 2)
-- y.sum().backward()
-- mark("functions")
-- y = F.hardswish(F.mish(x * 2, inplace=True), inplace=True)
-- z = F.threshold(F.hardsigmoid(y * 2, inplace=True), 0.1, 0.2, inplace=True)
-- z.sum().backward()
-- mark("without a graph")
-- with torch.no_grad():
--     y = a(b(c(d(x * 2))))
local x, a, b, c, d, y, z
x = ohm.randn(8, 300, {device = "cuda", requires_grad = true})
a = nn.Hardswish({inplace = true})
b = nn.Hardsigmoid({inplace = true})
c = nn.Mish({inplace = true})
d = nn.Threshold(0.1, 0.5, {inplace = true})
mark("hardswish")
y = a(x * 2)
y:sum():backward()
mark("hardsigmoid")
y = b(x * 2)
y:sum():backward()
mark("mish")
y = c(x * 2)
y:sum():backward()
mark("threshold")
y = d(x * 2)
y:sum():backward()
mark("functions")
y = F.hardswish(F.mish(x * 2, {inplace = true}), {inplace = true})
z = F.threshold(F.hardsigmoid(y * 2, {inplace = true}), 0.1, 0.2, {inplace = true})
z:sum():backward()
mark("without a graph")
do
  local mode1 <close> = ohm.no_grad()
  y = a(b(c(d(x * 2))))
end
mark("end of program (globals alive)")
x = nil
a = nil
b = nil
c = nil
d = nil
y = nil
z = nil
mark("globals deleted")

--== hooked_module_lives_in_the_graph
-- m = nn.BatchNorm1d(300, affine=False, device="cuda")
-- h = m.register_full_backward_hook(lambda module, i, o: None)
-- x = torch.randn(4, 300, device="cuda", requires_grad=True)
-- y = m(x).sum()
-- del m
-- mark("module gone")
-- y.backward()
-- mark("backward")
-- del y
-- mark("graph gone")
local m, h, x, y
m = nn.BatchNorm1d(300, {affine = false, device = "cuda"})
h = m:register_full_backward_hook(function(module, i, o) return nil end)
x = ohm.randn(4, 300, {device = "cuda", requires_grad = true})
y = m(x):sum()
m = nil
mark("module gone")
y:backward()
mark("backward")
y = nil
mark("graph gone")
mark("end of program (globals alive)")
h = nil
x = nil
mark("globals deleted")

--== einsum_of_two_sums
-- a = torch.randn(2, 9, 9, device="cuda")
-- b = torch.randn(2, 13, 13, device="cuda")
-- y = torch.einsum("bij,bkl->bik", a, b)
-- mark("with a product")
-- a = torch.randn(2, 9, 7, 5, device="cuda")
-- b = torch.randn(2, 13, 6, 5, device="cuda")
-- y = torch.einsum("bijm,bklm->bik", a, b)
-- mark("turned")
-- z = torch.einsum("bijm,bklm->bki", a, b)
local a, b, y, z
a = ohm.randn(2, 9, 9, {device = "cuda"})
b = ohm.randn(2, 13, 13, {device = "cuda"})
y = ohm.einsum("bij,bkl->bik", a, b)
mark("with a product")
a = ohm.randn(2, 9, 7, 5, {device = "cuda"})
b = ohm.randn(2, 13, 6, 5, {device = "cuda"})
y = ohm.einsum("bijm,bklm->bik", a, b)
mark("turned")
z = ohm.einsum("bijm,bklm->bki", a, b)
mark("end of program (globals alive)")
a = nil
b = nil
y = nil
z = nil
mark("globals deleted")

--== bags_with_offsets
-- m = nn.EmbeddingBag(900, 30, mode="mean", device="cuda")
-- n = nn.EmbeddingBag(40, 6, mode="sum", device="cuda")
-- t = torch.zeros(115, dtype=torch.long, device="cuda")
-- o = torch.zeros(23, dtype=torch.long, device="cuda")
-- mark("mean")
-- y = m(t, o)
-- mark("forward")
-- y.sum().backward()
-- mark("sum")
-- y = n(t, o)
-- y.sum().backward()
-- mark("two dimensions")
-- y = n(t.view(23, 5))
-- y.sum().backward()
local m, n, t, o, y
m = nn.EmbeddingBag(900, 30, {mode = "mean", device = "cuda"})
n = nn.EmbeddingBag(40, 6, {mode = "sum", device = "cuda"})
t = ohm.zeros(115, {dtype = ohm.int64, device = "cuda"})
o = ohm.zeros(23, {dtype = ohm.int64, device = "cuda"})
mark("mean")
y = m(t, o)
mark("forward")
y:sum():backward()
mark("sum")
y = n(t, o)
y:sum():backward()
mark("two dimensions")
y = n(t:view(23, 5))
y:sum():backward()
mark("end of program (globals alive)")
m = nil
n = nil
t = nil
o = nil
y = nil
mark("globals deleted")

--== draws_of_normal
-- mean = torch.randn(16, 6, device="cuda", requires_grad=True)
-- b = torch.normal(mean, 2.0)
-- mark("mean")
-- d = torch.normal(0.0, 1.0, (4, 3), device="cuda")
-- b.sum().backward()
local mean, b, d
mean = ohm.randn(16, 6, {device = "cuda", requires_grad = true})
b = ohm.normal(mean, 2.0)
mark("mean")
d = ohm.normal(0.0, 1.0, {4, 3}, {device = "cuda"})
b:sum():backward()
mark("end of program (globals alive)")
mean = nil
b = nil
d = nil
mark("globals deleted")

--== compared_in_place
-- x = torch.randn(2, 3, 4, device="cuda", requires_grad=True)
-- b = torch.zeros(3, 4, device="cuda")
-- b.eq_(0)
-- b.lt_(torch.ones(4, device="cuda"))
-- v = x * 3
-- v.ge_(0.0)
-- v.sum().backward()
-- u = x * 3
-- k = torch.randn(4, device="cuda", requires_grad=True)
-- u.gt_(k)
-- u.sum().backward()
local x, b, v, u, k
x = ohm.randn(2, 3, 4, {device = "cuda", requires_grad = true})
b = ohm.zeros(3, 4, {device = "cuda"})
b:eq_(0)
b:lt_(ohm.ones(4, {device = "cuda"}))
v = x * 3
v:ge_(0.0)
v:sum():backward()
u = x * 3
k = ohm.randn(4, {device = "cuda", requires_grad = true})
u:gt_(k)
u:sum():backward()
mark("end of program (globals alive)")
x = nil
b = nil
v = nil
u = nil
k = nil
mark("globals deleted")

--== sums_to_sizes
-- x = torch.randn(2, 3, 4, device="cuda", requires_grad=True)
-- y = (x * 2).sum_to_size(3, 1)
-- z = (x * 2).sum_to_size(2, 1, 4)
-- w = (x * 2).sum_to_size(2, 3, 4)
-- l = y.sum() + z.sum() + w.sum()
-- l.backward()
-- i = torch.randint_like(x, 5)
-- j = torch.randint_like(x, 2, 5, dtype=torch.int64)
local x, y, z, w, l, i, j
x = ohm.randn(2, 3, 4, {device = "cuda", requires_grad = true})
y = (x * 2):sum_to_size(3, 1)
z = (x * 2):sum_to_size(2, 1, 4)
w = (x * 2):sum_to_size(2, 3, 4)
l = (y:sum() + z:sum()) + w:sum()
l:backward()
i = ohm.randint_like(x, 5)
j = ohm.randint_like(x, 2, 5, {dtype = ohm.int64})
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
w = nil
l = nil
i = nil
j = nil
mark("globals deleted")

--== kl_div_of_a_transposed_target
-- x=torch.randn(2,8,device="cuda",requires_grad=True)
-- w=torch.randn(8,2,device="cuda",requires_grad=True)
-- y=F.kl_div(x,w.transpose(1,0),reduction="none")
-- y.backward(torch.ones_like(y))
local x, w, y
x = ohm.randn(2, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 2, {device = "cuda", requires_grad = true})
y = F.kl_div(x, w:transpose(1, 0), {reduction = "none"})
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== views_in_place
-- x=torch.randn(300,200,device="cuda")
-- x.unsqueeze_(0)
-- y=x*2
-- x.squeeze_(0)
-- x.t_()
-- z=x.contiguous()
-- x.transpose_(0,1)
-- w=x+1
local x, y, z, w
x = ohm.randn(300, 200, {device = "cuda"})
x:unsqueeze_(0)
y = x * 2
x:squeeze_(0)
x:t_()
z = x:contiguous()
x:transpose_(0, 1)
w = x + 1
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
w = nil
mark("globals deleted")

--== views_in_place_in_a_graph
-- x=torch.randn(300,200,device="cuda",requires_grad=True)
-- y=x*2
-- y.unsqueeze_(1)
-- y.transpose_(0,2)
-- z=y*y
-- y2=z+1
-- y2.squeeze_(1)
-- y2.t_()
-- u=(y2*y2).sum()
-- u.backward()
local x, y, z, y2, u
x = ohm.randn(300, 200, {device = "cuda", requires_grad = true})
y = x * 2
y:unsqueeze_(1)
y:transpose_(0, 2)
z = y * y
y2 = z + 1
y2:squeeze_(1)
y2:t_()
u = (y2 * y2):sum()
u:backward()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
y2 = nil
u = nil
mark("globals deleted")

--== as_strided_windows
-- x=torch.randn(4000,device="cuda",requires_grad=True)
-- w=x.as_strided((399,20),(10,1))
-- y=w*w
-- y.sum().backward()
local x, w, y
x = ohm.randn(4000, {device = "cuda", requires_grad = true})
w = x:as_strided({399, 20}, {10, 1})
y = w * w
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== as_strided_repeated
-- x=torch.randn(40,100,device="cuda",requires_grad=True)
-- h=x*2
-- w=h.as_strided((20,3,50),(200,0,1),25)
-- w.sum().backward()
local x, h, w
x = ohm.randn(40, 100, {device = "cuda", requires_grad = true})
h = x * 2
w = h:as_strided({20, 3, 50}, {200, 0, 1}, 25)
w:sum():backward()
mark("end of program (globals alive)")
x = nil
h = nil
w = nil
mark("globals deleted")

--== as_strided_of_transposed
-- x=torch.randn(40,100,device="cuda",requires_grad=True)
-- h=(x*2).transpose(0,1)
-- w=h.as_strided((99,2,40),(1,1,100))
-- (w*w).mean().backward()
-- v=torch.as_strided(x,(10,10),(10,1))
-- v.exp().sum().backward()
local x, h, w, v
x = ohm.randn(40, 100, {device = "cuda", requires_grad = true})
h = (x * 2):transpose(0, 1)
w = h:as_strided({99, 2, 40}, {1, 1, 100})
;(w * w):mean():backward()
v = ohm.as_strided(x, {10, 10}, {10, 1})
v:exp():sum():backward()
mark("end of program (globals alive)")
x = nil
h = nil
w = nil
v = nil
mark("globals deleted")

--== as_strided_windows_of_an_expanded_gradient
-- x=torch.randn(4000,device="cuda",requires_grad=True)
-- w=x.as_strided((399,20),(10,1))
-- w.sum().backward()
local x, w
x = ohm.randn(4000, {device = "cuda", requires_grad = true})
w = x:as_strided({399, 20}, {10, 1})
w:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
mark("globals deleted")

--== views_in_place_of_a_copy
-- x=torch.randn(4000,device="cuda",requires_grad=True)
-- y=x.view(40,100)*1
-- z=y.view(40,1,100)
-- y.swapaxes_(0,1)
-- with torch.no_grad():
--     z.unsqueeze_(0)
-- (y*2).sum().backward()
local x, y, z
x = ohm.randn(4000, {device = "cuda", requires_grad = true})
y = x:view(40, 100) * 1
z = y:view(40, 1, 100)
y:swapaxes_(0, 1)
do
  local mode1 <close> = ohm.no_grad()
  z:unsqueeze_(0)
end
;(y * 2):sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== bits_and_remainders_in_place
-- m=torch.zeros(1000,100,dtype=torch.bool,device="cuda")
-- o=torch.ones(100,dtype=torch.bool,device="cuda")
-- m.bitwise_or_(o)
-- m.bitwise_and_(o)
-- i=torch.ones(1000,100,dtype=torch.long,device="cuda")
-- i.bitwise_left_shift_(2)
-- i.remainder_(3)
-- x=torch.randn(1000,100,device="cuda",requires_grad=True)
-- w=torch.randn(1000,100,device="cuda",requires_grad=True)
-- y=x*2
-- y.remainder_(w)
-- z=y*y
-- z.fmod_(w)
-- z.fmod_(1.5)
-- z.sum().backward()
local m, o, i, x, w, y, z
m = ohm.zeros(1000, 100, {dtype = ohm.bool, device = "cuda"})
o = ohm.ones(100, {dtype = ohm.bool, device = "cuda"})
m:bitwise_or_(o)
m:bitwise_and_(o)
i = ohm.ones(1000, 100, {dtype = ohm.int64, device = "cuda"})
i:bitwise_left_shift_(2)
i:remainder_(3)
x = ohm.randn(1000, 100, {device = "cuda", requires_grad = true})
w = ohm.randn(1000, 100, {device = "cuda", requires_grad = true})
y = x * 2
y:remainder_(w)
z = y * y
z:fmod_(w)
z:fmod_(1.5)
z:sum():backward()
mark("end of program (globals alive)")
m = nil
o = nil
i = nil
x = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== aminmax
-- x=torch.randn(1000,100,device="cuda")
-- a,b=torch.aminmax(x)
-- c,d=torch.aminmax(x,dim=0)
-- e,f=torch.aminmax(x,dim=1,keepdim=True)
-- y=torch.randn(64,3000,device="cuda",dtype=torch.half)
-- g,h=torch.aminmax(y)
-- i,j=torch.aminmax(y.t(),dim=0)
-- k,l=torch.aminmax(y.t())
-- m=torch.ones(200,3000,device="cuda",dtype=torch.double)
-- n,o=torch.aminmax(m)
-- p,q=torch.aminmax(m,dim=0)
local x, a, b, c, d, e, f, y, g, h, i, j, k, l, m, n, o, p, q
x = ohm.randn(1000, 100, {device = "cuda"})
a, b = ohm.aminmax(x)
c, d = ohm.aminmax(x, {dim = 0})
e, f = ohm.aminmax(x, {dim = 1, keepdim = true})
y = ohm.randn(64, 3000, {device = "cuda", dtype = ohm.float16})
g, h = ohm.aminmax(y)
i, j = ohm.aminmax(y:t(), {dim = 0})
k, l = ohm.aminmax(y:t())
m = ohm.ones(200, 3000, {device = "cuda", dtype = ohm.float64})
n, o = ohm.aminmax(m)
p, q = ohm.aminmax(m, {dim = 0})
mark("end of program (globals alive)")
x = nil
a = nil
b = nil
c = nil
d = nil
e = nil
f = nil
y = nil
g = nil
h = nil
i = nil
j = nil
k = nil
l = nil
m = nil
n = nil
o = nil
p = nil
q = nil
mark("globals deleted")

--== attention_of_other_widths
-- m=nn.MultiheadAttention(64,4,kdim=32,vdim=48).cuda()
-- q=torch.randn(20,8,64,device="cuda",requires_grad=True)
-- k=torch.randn(30,8,32,device="cuda")
-- v=torch.randn(30,8,48,device="cuda")
-- y,w=m(q,k,v)
-- y.sum().backward()
local m, q, k, v, y, w
m = nn.MultiheadAttention(64, 4, {kdim = 32, vdim = 48}):cuda()
q = ohm.randn(20, 8, 64, {device = "cuda", requires_grad = true})
k = ohm.randn(30, 8, 32, {device = "cuda"})
v = ohm.randn(30, 8, 48, {device = "cuda"})
do
  local results = m(q, k, v)
  y = results[1]
  w = results[2]
end
y:sum():backward()
mark("end of program (globals alive)")
m = nil
q = nil
k = nil
v = nil
y = nil
w = nil
mark("globals deleted")

--== attention_with_further_keys
-- m=nn.MultiheadAttention(64,4,add_bias_kv=True,add_zero_attn=True,batch_first=True).cuda()
-- q=torch.randn(8,20,64,device="cuda",requires_grad=True)
-- mask=torch.zeros(20,20,dtype=torch.bool,device="cuda")
-- pad=torch.zeros(8,20,dtype=torch.bool,device="cuda")
-- y,w=m(q,q,q,key_padding_mask=pad,attn_mask=mask)
-- y.sum().backward()
-- m.eval()
-- with torch.no_grad():
--     z,w2=m(q,q,q,key_padding_mask=pad,attn_mask=mask)
--     u,w3=m(q,q,q)
local m, q, mask, pad, y, w, z, w2, u, w3
m = nn.MultiheadAttention(64, 4, {add_bias_kv = true, add_zero_attn = true, batch_first = true}):cuda()
q = ohm.randn(8, 20, 64, {device = "cuda", requires_grad = true})
mask = ohm.zeros(20, 20, {dtype = ohm.bool, device = "cuda"})
pad = ohm.zeros(8, 20, {dtype = ohm.bool, device = "cuda"})
do
  local results = m(q, q, q, {key_padding_mask = pad, attn_mask = mask})
  y = results[1]
  w = results[2]
end
y:sum():backward()
m:eval()
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(q, q, q, {key_padding_mask = pad, attn_mask = mask})
    z = results[1]
    w2 = results[2]
  end
  do
    local results = m(q, q, q)
    u = results[1]
    w3 = results[2]
  end
end
mark("end of program (globals alive)")
m = nil
q = nil
mask = nil
pad = nil
y = nil
w = nil
z = nil
w2 = nil
u = nil
w3 = nil
mark("globals deleted")

--== attention_of_other_widths_without_weights
-- m=nn.MultiheadAttention(64,4,kdim=32,vdim=64,bias=False,dropout=0.1,add_bias_kv=True).cuda()
-- q=torch.randn(20,8,64,device="cuda",requires_grad=True)
-- k=torch.randn(30,8,32,device="cuda")
-- v=torch.randn(30,8,64,device="cuda")
-- y=m(q,k,v,need_weights=False)[0]
-- y.sum().backward()
-- z=m(q,k,v,need_weights=False,attn_mask=torch.zeros(20,30,device="cuda"))[0]
-- z.sum().backward()
local m, q, k, v, y, z
m = nn.MultiheadAttention(64, 4, {kdim = 32, vdim = 64, bias = false, dropout = 0.1, add_bias_kv = true}):cuda()
q = ohm.randn(20, 8, 64, {device = "cuda", requires_grad = true})
k = ohm.randn(30, 8, 32, {device = "cuda"})
v = ohm.randn(30, 8, 64, {device = "cuda"})
y = m(q, k, v, {need_weights = false})
y:sum():backward()
z = m(q, k, v, {need_weights = false, attn_mask = ohm.zeros(20, 30, {device = "cuda"})})
z:sum():backward()
mark("end of program (globals alive)")
m = nil
q = nil
k = nil
v = nil
y = nil
z = nil
mark("globals deleted")

--== attention_without_bias_or_weights
-- m=nn.MultiheadAttention(64,4,bias=False).cuda()
-- q=torch.randn(20,8,64,device="cuda",requires_grad=True)
-- y=m(q,q,q,need_weights=False)[0]
-- y.sum().backward()
local m, q, y
m = nn.MultiheadAttention(64, 4, {bias = false}):cuda()
q = ohm.randn(20, 8, 64, {device = "cuda", requires_grad = true})
y = m(q, q, q, {need_weights = false})
y:sum():backward()
mark("end of program (globals alive)")
m = nil
q = nil
y = nil
mark("globals deleted")

--== lazy_layers
-- net=nn.Sequential(nn.LazyConv2d(16,3),nn.ReLU(),nn.LazyConvTranspose2d(8,2),nn.Flatten(),nn.LazyLinear(10)).cuda()
-- x=torch.randn(32,3,8,8,device="cuda")
-- y=net(x)
-- opt=torch.optim.Adam(net.parameters())
-- for _ in range(2):
--     net(x).sum().backward()
--     opt.step()
--     opt.zero_grad()
local net, x, y, opt
net = nn.Sequential(nn.LazyConv2d(16, 3), nn.ReLU(), nn.LazyConvTranspose2d(8, 2), nn.Flatten(), nn.LazyLinear(10)):cuda()
x = ohm.randn(32, 3, 8, 8, {device = "cuda"})
y = net(x)
opt = ohm.optim.Adam(net:parameters())
for _ = 0, 1 do
  net(x):sum():backward()
  opt:step()
  opt:zero_grad()
end
mark("end of program (globals alive)")
net = nil
x = nil
y = nil
opt = nil
mark("globals deleted")

--== lazy_layers_of_each_kind
-- a=nn.LazyConv1d(16,3,device="cuda")
-- b=nn.LazyConv3d(4,2,bias=False).cuda()
-- c=nn.LazyLinear(10,bias=False,device="cuda")
-- d=nn.LazyLinear(10).cuda().half()
-- x=torch.randn(8,30,50,device="cuda")
-- y=a(x)
-- z=b(torch.randn(2,3,5,6,7,device="cuda"))
-- w=c(y)
-- w.sum().backward()
-- v=d(y.half())
local a, b, c, d, x, y, z, w, v
a = nn.LazyConv1d(16, 3, {device = "cuda"})
b = nn.LazyConv3d(4, 2, {bias = false}):cuda()
c = nn.LazyLinear(10, {bias = false, device = "cuda"})
d = nn.LazyLinear(10):cuda():half()
x = ohm.randn(8, 30, 50, {device = "cuda"})
y = a(x)
z = b(ohm.randn(2, 3, 5, 6, 7, {device = "cuda"}))
w = c(y)
w:sum():backward()
v = d(y:half())
mark("end of program (globals alive)")
a = nil
b = nil
c = nil
d = nil
x = nil
y = nil
z = nil
w = nil
v = nil
mark("globals deleted")

--== adafactor
-- net=nn.Sequential(nn.Linear(64,300),nn.LayerNorm(300),nn.ReLU(),nn.Linear(300,10)).cuda()
-- opt=torch.optim.Adafactor(net.parameters(),lr=0.01)
-- x=torch.randn(32,64,device="cuda")
-- for _ in range(3):
--     opt.zero_grad()
--     net(x).sum().backward()
--     opt.step()
local net, opt, x
net = nn.Sequential(nn.Linear(64, 300), nn.LayerNorm(300), nn.ReLU(), nn.Linear(300, 10)):cuda()
opt = ohm.optim.Adafactor(net:parameters(), {lr = 0.01})
x = ohm.randn(32, 64, {device = "cuda"})
for _ = 0, 2 do
  opt:zero_grad()
  net(x):sum():backward()
  opt:step()
end
mark("end of program (globals alive)")
net = nil
opt = nil
x = nil
mark("globals deleted")

--== adafactor_decayed
-- net=nn.Sequential(nn.Conv2d(3,16,3),nn.BatchNorm2d(16),nn.Flatten(),nn.Linear(16*36,10)).cuda()
-- opt=torch.optim.Adafactor(net.parameters(),lr=0.01,weight_decay=0.1,maximize=True)
-- x=torch.randn(32,3,8,8,device="cuda")
-- for _ in range(3):
--     net(x).sum().backward()
--     opt.step()
--     opt.zero_grad()
local net, opt, x
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.Flatten(), nn.Linear(16 * 36, 10)):cuda()
opt = ohm.optim.Adafactor(net:parameters(), {lr = 0.01, weight_decay = 0.1, maximize = true})
x = ohm.randn(32, 3, 8, 8, {device = "cuda"})
for _ = 0, 2 do
  net(x):sum():backward()
  opt:step()
  opt:zero_grad()
end
mark("end of program (globals alive)")
net = nil
opt = nil
x = nil
mark("globals deleted")

--== group_norm_of_rows
-- m = nn.GroupNorm(4, 64).cuda()
-- x = torch.randn(72, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda()
x = ohm.randn(72, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_half_rows
-- m = nn.GroupNorm(4, 64).cuda().half()
-- x = torch.randn(72, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda():half()
x = ohm.randn(72, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_plain_rows
-- m = nn.GroupNorm(4, 64, affine=False).cuda()
-- x = torch.randn(72, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64, {affine = false}):cuda()
x = ohm.randn(72, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_one_pixel
-- m = nn.GroupNorm(4, 64).cuda()
-- x = torch.randn(8, 64, 1, 1, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda()
x = ohm.randn(8, 64, 1, 1, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_one_half_pixel
-- m = nn.GroupNorm(4, 64).cuda().half()
-- x = torch.randn(8, 64, 1, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda():half()
x = ohm.randn(8, 64, 1, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_one_plain_pixel
-- m = nn.GroupNorm(4, 64, affine=False).cuda()
-- x = torch.randn(8, 64, 1, 1, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64, {affine = false}):cuda()
x = ohm.randn(8, 64, 1, 1, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_lines_of_one
-- m = nn.GroupNorm(4, 64).cuda()
-- x = torch.randn(8, 64, 1, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda()
x = ohm.randn(8, 64, 1, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_one_voxel
-- m = nn.GroupNorm(4, 64).cuda()
-- x = torch.randn(8, 64, 1, 1, 1, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda()
x = ohm.randn(8, 64, 1, 1, 1, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_turned_rows
-- m = nn.GroupNorm(4, 64).cuda()
-- x = torch.randn(64, 72, device="cuda", requires_grad=True)
-- y = m(x.t())
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64):cuda()
x = ohm.randn(64, 72, {device = "cuda", requires_grad = true})
y = m(x:t())
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== depthwise_line_of_turned_rows
-- c = nn.Conv1d(32, 32, 4, groups=32, padding=3).cuda()
-- x = torch.randn(4, 12, 32, device="cuda", requires_grad=True)
-- y = c(x.transpose(1, 2))[:, :, :12]
-- y.sum().backward()
local c, x, y
c = nn.Conv1d(32, 32, 4, {groups = 32, padding = 3}):cuda()
x = ohm.randn(4, 12, 32, {device = "cuda", requires_grad = true})
y = slice(slice(slice(c(x:transpose(1, 2)), 0, 0), 1, 0), 2, 0, 12)
y:sum():backward()
mark("end of program (globals alive)")
c = nil
x = nil
y = nil
mark("globals deleted")

--== depthwise_line_without_gradient_of_input
-- c = nn.Conv1d(32, 32, 4, groups=32, padding=3).cuda()
-- x = torch.randn(4, 12, 32, device="cuda")
-- y = c(x.transpose(1, 2))
-- y.sum().backward()
local c, x, y
c = nn.Conv1d(32, 32, 4, {groups = 32, padding = 3}):cuda()
x = ohm.randn(4, 12, 32, {device = "cuda"})
y = c(x:transpose(1, 2))
y:sum():backward()
mark("end of program (globals alive)")
c = nil
x = nil
y = nil
mark("globals deleted")

--== multinomial_of_one_row
-- w = torch.rand(64, device="cuda")
-- a = torch.multinomial(w, 16, replacement=True)
-- a = torch.multinomial(w.unsqueeze(0), 16, replacement=True)
-- b = torch.multinomial(torch.rand(3, 64, device="cuda"), 5, replacement=True)
-- c = torch.multinomial(torch.rand(5000, device="cuda").half(), 5, replacement=True)
-- d = torch.multinomial(torch.rand(5000, dtype=torch.float64, device="cuda"), 5, replacement=True)
local w, a, b, c, d
w = ohm.rand(64, {device = "cuda"})
a = ohm.multinomial(w, 16, {replacement = true})
a = ohm.multinomial(w:unsqueeze(0), 16, {replacement = true})
b = ohm.multinomial(ohm.rand(3, 64, {device = "cuda"}), 5, {replacement = true})
c = ohm.multinomial(ohm.rand(5000, {device = "cuda"}):half(), 5, {replacement = true})
d = ohm.multinomial(ohm.rand(5000, {dtype = ohm.float64, device = "cuda"}), 5, {replacement = true})
mark("end of program (globals alive)")
w = nil
a = nil
b = nil
c = nil
d = nil
mark("globals deleted")

--== cumprod_of_integers
-- x = torch.randint(0, 3, (4, 9), device="cuda")
-- y = x.cumprod(1)
-- z = torch.cumprod(x > 0, dim=0)
-- w = x[0].cumprod(0)
local x, y, z, w
x = ohm.randint(0, 3, {4, 9}, {device = "cuda"})
y = x:cumprod(1)
z = ohm.cumprod(x:gt(0), {dim = 0})
w = x:select(0, 0):cumprod(0)
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
w = nil
mark("globals deleted")

--== tolist_of_rows_with_gaps
-- x = torch.randint(0, 3, (4, 9), device="cuda")
-- y = x[:, 0].tolist()
-- z = x.t().tolist()
local x, y, z
x = ohm.randint(0, 3, {4, 9}, {device = "cuda"})
y = slice(x, 0, 0):select(1, 0):tolist()
z = x:t():tolist()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
mark("globals deleted")

--== group_norm_channels_last_without_parameters
-- m = nn.GroupNorm(4, 64, affine=False).cuda()
-- x = torch.randn(8, 64, 3, 3, device="cuda", requires_grad=True).to(memory_format=torch.channels_last)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(4, 64, {affine = false}):cuda()
x = ohm.randn(8, 64, 3, 3, {device = "cuda", requires_grad = true}):to({memory_format = ohm.channels_last})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== group_norm_of_one_channel
-- m = nn.GroupNorm(1, 1).cuda()
-- x = torch.randn(8, 1, 3, 3, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.GroupNorm(1, 1):cuda()
x = ohm.randn(8, 1, 3, 3, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
mark("globals deleted")

--== blocks_of_one_size_by_segment
-- a = torch.empty(40 << 20, dtype=torch.uint8, device="cuda")
-- b = torch.empty(40 << 20, dtype=torch.uint8, device="cuda")
-- del a
-- torch.cuda.empty_cache()
-- c = torch.empty(40 << 20, dtype=torch.uint8, device="cuda")
-- del b, c
-- d = torch.empty(40 << 20, dtype=torch.uint8, device="cuda")
-- e = torch.empty(36 << 20, dtype=torch.uint8, device="cuda")
-- f = torch.empty(30 << 20, dtype=torch.uint8, device="cuda")
-- del d, e, f
-- torch.cuda.empty_cache()
local a, b, c, d, e, f
a = ohm.empty(40 << 20, {dtype = ohm.uint8, device = "cuda"})
b = ohm.empty(40 << 20, {dtype = ohm.uint8, device = "cuda"})
a = nil
ohm.cuda.empty_cache()
c = ohm.empty(40 << 20, {dtype = ohm.uint8, device = "cuda"})
b = nil
c = nil
d = ohm.empty(40 << 20, {dtype = ohm.uint8, device = "cuda"})
e = ohm.empty(36 << 20, {dtype = ohm.uint8, device = "cuda"})
f = ohm.empty(30 << 20, {dtype = ohm.uint8, device = "cuda"})
d = nil
e = nil
f = nil
ohm.cuda.empty_cache()
mark("end of program (globals alive)")
mark("globals deleted")

--== cdist_of_sliced_rows
-- x = torch.randn(4, 60, 8, device="cuda", requires_grad=True)
-- y = torch.cdist(x, x[:, :30])
-- y.sum().backward()
local x, y
x = ohm.randn(4, 60, 8, {device = "cuda", requires_grad = true})
y = ohm.cdist(x, slice(slice(x, 0, 0), 1, 0, 30))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== cdist_of_sliced_columns
-- x = torch.randn(60, 8, device="cuda", requires_grad=True)
-- y = torch.cdist(x, x[:, :5][:30].repeat(1, 2)[:, :8])
-- y.sum().backward()
local x, y
x = ohm.randn(60, 8, {device = "cuda", requires_grad = true})
y = ohm.cdist(x, slice(slice(slice(slice(x, 0, 0), 1, 0, 5):narrow(0, 0, 30)["repeat"](slice(slice(x, 0, 0), 1, 0, 5):narrow(0, 0, 30), 1, 2), 0, 0), 1, 0, 8))
y:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== addmm_weighted
-- b=torch.randn(300,device="cuda",requires_grad=True)
-- c=torch.randn(200,300,device="cuda",requires_grad=True)
-- x=torch.randn(200,100,device="cuda",requires_grad=True)
-- w=torch.randn(100,300,device="cuda",requires_grad=True)
-- y=torch.addmm(c,x,w,beta=0.5,alpha=2.0)
-- y.sum().backward()
-- z=torch.addmm(b,x,w,alpha=0.5)
-- z.sum().backward()
-- u=torch.addmm(b,x,w,beta=0.5)
-- u.mean().backward()
-- v=torch.addmm(c,w.t()[:200],w,beta=0.0)
-- a=c.addmm(x,w,beta=1,alpha=-1)
-- (v+a).sum().backward()
local b, c, x, w, y, z, u, v, a
b = ohm.randn(300, {device = "cuda", requires_grad = true})
c = ohm.randn(200, 300, {device = "cuda", requires_grad = true})
x = ohm.randn(200, 100, {device = "cuda", requires_grad = true})
w = ohm.randn(100, 300, {device = "cuda", requires_grad = true})
y = ohm.addmm(c, x, w, {beta = 0.5, alpha = 2.0})
y:sum():backward()
z = ohm.addmm(b, x, w, {alpha = 0.5})
z:sum():backward()
u = ohm.addmm(b, x, w, {beta = 0.5})
u:mean():backward()
v = ohm.addmm(c, w:t():narrow(0, 0, 200), w, {beta = 0.0})
a = c:addmm(x, w, {beta = 1, alpha = -1})
;(v + a):sum():backward()
mark("end of program (globals alive)")
b = nil
c = nil
x = nil
w = nil
y = nil
z = nil
u = nil
v = nil
a = nil
mark("globals deleted")

--== random_integers_in_place
-- t=torch.empty(1000,dtype=torch.long,device="cuda").random_(5)
-- u=torch.empty(1000,device="cuda").random_(2,9)
-- x=torch.randn(1000,device="cuda",requires_grad=True)
-- y=x*2
-- y.random_(3)
-- (y*y).sum().backward()
local t, u, x, y
t = ohm.empty(1000, {dtype = ohm.int64, device = "cuda"}):random_(5)
u = ohm.empty(1000, {device = "cuda"}):random_(2, 9)
x = ohm.randn(1000, {device = "cuda", requires_grad = true})
y = x * 2
y:random_(3)
;(y * y):sum():backward()
mark("end of program (globals alive)")
t = nil
u = nil
x = nil
y = nil
mark("globals deleted")

--== ones_like_of_idle_strides
-- x = torch.randn(1, 16, 3, device="cuda", dtype=torch.float16, requires_grad=True)
-- linear = nn.Linear(8, 8, device="cuda")
-- start = torch.randn(4, 8, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16): h = linear(start); y = x.sum(dim=1)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, linear, start, h, y, z
x = ohm.randn(1, 16, 3, {device = "cuda", dtype = ohm.float16, requires_grad = true})
linear = nn.Linear(8, 8, {device = "cuda"})
start = ohm.randn(4, 8, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  h = linear(start)
  y = x:sum({dim = 1})
end
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil
linear = nil
start = nil
h = nil
y = nil
z = nil
mark("globals deleted")

--== einsum_of_strided_vector
-- a = torch.randn(4, 16, device="cuda", requires_grad=True)
-- v0 = torch.randn(16, 8, device="cuda", requires_grad=True)
-- v = v0.select(1, 2)
-- y = torch.einsum('ij,j->i', a, v)
-- y.sum().backward()
local a, v0, v, y
a = ohm.randn(4, 16, {device = "cuda", requires_grad = true})
v0 = ohm.randn(16, 8, {device = "cuda", requires_grad = true})
v = v0:select(1, 2)
y = ohm.einsum("ij,j->i", a, v)
y:sum():backward()
mark("end of program (globals alive)")
a = nil
v0 = nil
v = nil
y = nil
mark("globals deleted")

--== einsum_of_batches_of_one
-- x0 = torch.randn(1, 10, 16, device="cuda", requires_grad=True)
-- x = x0.narrow(1, 1, 8)
-- w0 = torch.randn(16, 8, 1, device="cuda", requires_grad=True)
-- w = w0.transpose(2, 0)
-- y = torch.einsum('...i,...i->...', x, w)
-- z = torch.einsum('abc,dbc->dba', x, w)
-- (y.sum() + z.sum()).backward()
local x0, x, w0, w, y, z
x0 = ohm.randn(1, 10, 16, {device = "cuda", requires_grad = true})
x = x0:narrow(1, 1, 8)
w0 = ohm.randn(16, 8, 1, {device = "cuda", requires_grad = true})
w = w0:transpose(2, 0)
y = ohm.einsum("...i,...i->...", x, w)
z = ohm.einsum("abc,dbc->dba", x, w)
;(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
w0 = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== einsum_of_columns
-- c = torch.randn(4, 8, device="cuda", requires_grad=True)
-- m0 = torch.randn(8, 2, device="cuda", requires_grad=True)
-- m = m0.narrow(1, 0, 1)
-- y = torch.einsum('jk,ij->ik', m, c)
-- z = torch.einsum('ij,jk->ik', c, m)
-- (y * z).sum().backward()
local c, m0, m, y, z
c = ohm.randn(4, 8, {device = "cuda", requires_grad = true})
m0 = ohm.randn(8, 2, {device = "cuda", requires_grad = true})
m = m0:narrow(1, 0, 1)
y = ohm.einsum("jk,ij->ik", m, c)
z = ohm.einsum("ij,jk->ik", c, m)
;(y * z):sum():backward()
mark("end of program (globals alive)")
c = nil
m0 = nil
m = nil
y = nil
z = nil
mark("globals deleted")

--== einsum_of_three_with_ones
-- x = torch.randn(1, 5, 8, device="cuda", requires_grad=True)
-- w0 = torch.randn(8, 5, 3, device="cuda", requires_grad=True)
-- w = w0.permute(2, 1, 0)
-- v = torch.randn(3, 1, device="cuda", requires_grad=True)
-- y = torch.einsum('bik,cik,cj->bcj', x, w, v)
-- y.sum().backward()
local x, w0, w, v, y
x = ohm.randn(1, 5, 8, {device = "cuda", requires_grad = true})
w0 = ohm.randn(8, 5, 3, {device = "cuda", requires_grad = true})
w = w0:permute(2, 1, 0)
v = ohm.randn(3, 1, {device = "cuda", requires_grad = true})
y = ohm.einsum("bik,cik,cj->bcj", x, w, v)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w0 = nil
w = nil
v = nil
y = nil
mark("globals deleted")

--== matmul_of_batch_and_vector
-- x = torch.randn(3, 8, 5, device="cuda", requires_grad=True)
-- w0 = torch.randn(1, device="cuda", requires_grad=True)
-- w = w0.expand(5)
-- y = x @ w
-- z = x.transpose(0, 1) @ w.detach()
-- (y.sum() + z.sum()).backward()
local x, w0, w, y, z
x = ohm.randn(3, 8, 5, {device = "cuda", requires_grad = true})
w0 = ohm.randn(1, {device = "cuda", requires_grad = true})
w = w0:expand(5)
y = ohm.matmul(x, w)
z = ohm.matmul(x:transpose(0, 1), w:detach())
;(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
x = nil
w0 = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== matmul_of_vector_and_batch
-- x = torch.randn(5, device="cuda", requires_grad=True)
-- w = torch.randn(8, 5, 16, device="cuda", requires_grad=True)
-- y = x @ w
-- z = x.detach() @ w
-- (y.sum() + z.sum()).backward()
local x, w, y, z
x = ohm.randn(5, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 5, 16, {device = "cuda", requires_grad = true})
y = ohm.matmul(x, w)
z = ohm.matmul(x:detach(), w)
;(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== matmul_of_one_matrix_and_a_batch
-- x = torch.randn(1, 4, 5, device="cuda", requires_grad=True)
-- w = torch.randn(8, 5, 3, device="cuda", requires_grad=True)
-- y = x @ w
-- z = w.transpose(1, 2) @ x.transpose(1, 2)
-- (y.sum() + z.sum()).backward()
local x, w, y, z
x = ohm.randn(1, 4, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 5, 3, {device = "cuda", requires_grad = true})
y = ohm.matmul(x, w)
z = ohm.matmul(w:transpose(1, 2), x:transpose(1, 2))
;(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
z = nil
mark("globals deleted")

--== matmul_of_lines_of_one
-- x0 = torch.randn(1, 2, 2, device="cuda", requires_grad=True)
-- x = x0.narrow(2, 1, 1).transpose(0, 1)
-- w = torch.randn(1, device="cuda")
-- y = x @ w
-- v = torch.randn(1, 3, device="cuda")
-- z = x @ v
-- (y.sum() + z.sum()).backward()
local x0, x, w, y, v, z
x0 = ohm.randn(1, 2, 2, {device = "cuda", requires_grad = true})
x = x0:narrow(2, 1, 1):transpose(0, 1)
w = ohm.randn(1, {device = "cuda"})
y = ohm.matmul(x, w)
v = ohm.randn(1, 3, {device = "cuda"})
z = ohm.matmul(x, v)
;(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
w = nil
y = nil
v = nil
z = nil
mark("globals deleted")

--== addmm_of_rows
-- x = torch.randn(5, 3, device="cuda", requires_grad=True)
-- w = torch.randn(3, 6, device="cuda", requires_grad=True)
-- b = torch.randn(1, 6, device="cuda", requires_grad=True)
-- y = torch.addmm(b, x, w)
-- z = torch.addmm(b, x.narrow(0, 0, 1), w, alpha=0.5)
-- (y + z).sum().backward()
local x, w, b, y, z
x = ohm.randn(5, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 6, {device = "cuda", requires_grad = true})
b = ohm.randn(1, 6, {device = "cuda", requires_grad = true})
y = ohm.addmm(b, x, w)
z = ohm.addmm(b, x:narrow(0, 0, 1), w, {alpha = 0.5})
;(y + z):sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
b = nil
y = nil
z = nil
mark("globals deleted")

--== addmm_of_half_matrices
-- x = torch.randn(5, 3, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- w = torch.randn(3, 6, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- b = torch.randn(5, 7, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = torch.addmm(b.narrow(1, 1, 6), x, w)
-- z = torch.addmm(y, x, w, beta=0.5)
-- z.sum().backward()
local x, w, b, y, z
x = ohm.randn(5, 3, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
w = ohm.randn(3, 6, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
b = ohm.randn(5, 7, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = ohm.addmm(b:narrow(1, 1, 6), x, w)
z = ohm.addmm(y, x, w, {beta = 0.5})
z:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
b = nil
y = nil
z = nil
mark("globals deleted")

--== baddbmm_of_single_columns
-- x = torch.randn(5, 1, 1, device="cuda", requires_grad=True)
-- w0 = torch.randn(1, 5, 5, device="cuda", requires_grad=True)
-- w = w0.transpose(0, 1)
-- y = torch.baddbmm(x @ w, x, w)
-- y.sum().backward()
local x, w0, w, y
x = ohm.randn(5, 1, 1, {device = "cuda", requires_grad = true})
w0 = ohm.randn(1, 5, 5, {device = "cuda", requires_grad = true})
w = w0:transpose(0, 1)
y = ohm.baddbmm(ohm.matmul(x, w), x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w0 = nil
w = nil
y = nil
mark("globals deleted")

--== huber_loss_of_expanded
-- x0 = torch.randn(1, 2, 7, device="cuda", requires_grad=True)
-- x = x0.expand(2, 2, 7)
-- w0 = torch.randn(2, 2, 8, device="cuda")
-- w = w0.narrow(2, 1, 7).transpose(0, 1)
-- y = F.huber_loss(x, w, reduction="none")
-- layout(y)
-- y.sum().backward()
local x0, x, w0, w, y
x0 = ohm.randn(1, 2, 7, {device = "cuda", requires_grad = true})
x = x0:expand(2, 2, 7)
w0 = ohm.randn(2, 2, 8, {device = "cuda"})
w = w0:narrow(2, 1, 7):transpose(0, 1)
y = F.huber_loss(x, w, {reduction = "none"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
w0 = nil
w = nil
y = nil
mark("globals deleted")

--== products_added_in_place
-- x=torch.randn(200,100,device="cuda",requires_grad=True)
-- w=torch.randn(100,300,device="cuda",requires_grad=True)
-- a=torch.zeros(200,300,device="cuda")
-- a.addmm_(x,w)
-- a.addmm_(x,w,beta=0.5,alpha=2.0)
-- a.sum().backward()
-- b=torch.randn(200,300,device="cuda",requires_grad=True)
-- c=b*2
-- c.addmm_(x,w,beta=0.5,alpha=2.0)
-- c.sum().backward()
-- p=torch.randn(4,20,30,device="cuda",requires_grad=True)
-- q=torch.randn(4,30,50,device="cuda",requires_grad=True)
-- d=torch.zeros(4,20,50,device="cuda")
-- d.baddbmm_(p,q)
-- d.baddbmm_(p,q,beta=0.5,alpha=3.0)
-- d.sum().backward()
-- e=torch.randn(4,20,50,device="cuda",requires_grad=True)
-- f=e*2
-- f.baddbmm_(p,q,beta=0.5)
-- f.mean().backward()
-- v=torch.randn(100,device="cuda",requires_grad=True)
-- g=torch.zeros(200,device="cuda")
-- g.addmv_(x,v)
-- g.addmv_(x,v,beta=0.5,alpha=2.0)
-- g.sum().backward()
-- u=torch.randn(300,device="cuda",requires_grad=True)
-- h=torch.zeros(100,300,device="cuda")
-- h.addr_(v,u)
-- h.addr_(v,u,beta=0.5,alpha=2.0)
-- h.sum().backward()
-- with torch.no_grad():
--     i=torch.zeros(300,200,device="cuda").t()
--     i.addmm_(x,w)
--     j=torch.zeros(200,600,device="cuda")[:, :300]
--     j.addmm_(x,w)
--     k=torch.zeros(4,50,20,device="cuda").transpose(1,2)
--     k.baddbmm_(p,q)
local x, w, a, b, c, p, q, d, e, f, v, g, u, h, i, j, k
x = ohm.randn(200, 100, {device = "cuda", requires_grad = true})
w = ohm.randn(100, 300, {device = "cuda", requires_grad = true})
a = ohm.zeros(200, 300, {device = "cuda"})
a:addmm_(x, w)
a:addmm_(x, w, {beta = 0.5, alpha = 2.0})
a:sum():backward()
b = ohm.randn(200, 300, {device = "cuda", requires_grad = true})
c = b * 2
c:addmm_(x, w, {beta = 0.5, alpha = 2.0})
c:sum():backward()
p = ohm.randn(4, 20, 30, {device = "cuda", requires_grad = true})
q = ohm.randn(4, 30, 50, {device = "cuda", requires_grad = true})
d = ohm.zeros(4, 20, 50, {device = "cuda"})
d:baddbmm_(p, q)
d:baddbmm_(p, q, {beta = 0.5, alpha = 3.0})
d:sum():backward()
e = ohm.randn(4, 20, 50, {device = "cuda", requires_grad = true})
f = e * 2
f:baddbmm_(p, q, {beta = 0.5})
f:mean():backward()
v = ohm.randn(100, {device = "cuda", requires_grad = true})
g = ohm.zeros(200, {device = "cuda"})
g:addmv_(x, v)
g:addmv_(x, v, {beta = 0.5, alpha = 2.0})
g:sum():backward()
u = ohm.randn(300, {device = "cuda", requires_grad = true})
h = ohm.zeros(100, 300, {device = "cuda"})
h:addr_(v, u)
h:addr_(v, u, {beta = 0.5, alpha = 2.0})
h:sum():backward()
do
  local mode1 <close> = ohm.no_grad()
  i = ohm.zeros(300, 200, {device = "cuda"}):t()
  i:addmm_(x, w)
  j = slice(slice(ohm.zeros(200, 600, {device = "cuda"}), 0, 0), 1, 0, 300)
  j:addmm_(x, w)
  k = ohm.zeros(4, 50, 20, {device = "cuda"}):transpose(1, 2)
  k:baddbmm_(p, q)
end
mark("end of program (globals alive)")
x = nil
w = nil
a = nil
b = nil
c = nil
p = nil
q = nil
d = nil
e = nil
f = nil
v = nil
g = nil
u = nil
h = nil
i = nil
j = nil
k = nil
mark("globals deleted")

--== addbmm_and_in_place
-- p=torch.randn(4,20,30,device="cuda",requires_grad=True)
-- q=torch.randn(4,30,50,device="cuda",requires_grad=True)
-- b=torch.randn(50,device="cuda",requires_grad=True)
-- c=torch.randn(20,50,device="cuda",requires_grad=True)
-- y=torch.addbmm(b,p,q)
-- y.sum().backward()
-- z=torch.addbmm(c,p,q,beta=0.5,alpha=2.0)
-- z.mean().backward()
-- y2=c.addbmm(p,q,beta=0.0)
-- y2.sum().backward()
-- d=torch.zeros(20,50,device="cuda")
-- d.addbmm_(p,q)
-- d.addbmm_(p,q,beta=0.5,alpha=2.0)
-- d.sum().backward()
-- e=c*2
-- e.addbmm_(p,q)
-- (e*e).sum().backward()
local p, q, b, c, y, z, y2, d, e
p = ohm.randn(4, 20, 30, {device = "cuda", requires_grad = true})
q = ohm.randn(4, 30, 50, {device = "cuda", requires_grad = true})
b = ohm.randn(50, {device = "cuda", requires_grad = true})
c = ohm.randn(20, 50, {device = "cuda", requires_grad = true})
y = ohm.addbmm(b, p, q)
y:sum():backward()
z = ohm.addbmm(c, p, q, {beta = 0.5, alpha = 2.0})
z:mean():backward()
y2 = c:addbmm(p, q, {beta = 0.0})
y2:sum():backward()
d = ohm.zeros(20, 50, {device = "cuda"})
d:addbmm_(p, q)
d:addbmm_(p, q, {beta = 0.5, alpha = 2.0})
d:sum():backward()
e = c * 2
e:addbmm_(p, q)
;(e * e):sum():backward()
mark("end of program (globals alive)")
p = nil
q = nil
b = nil
c = nil
y = nil
z = nil
y2 = nil
d = nil
e = nil
mark("globals deleted")

--== interpolate_lines
-- x=torch.randn(4,6,300,device="cuda",requires_grad=True)
-- y=F.interpolate(x,size=700,mode="linear")
-- y.sum().backward()
-- y=F.interpolate(x,scale_factor=2.0,mode="linear",align_corners=True)
-- (y*y).sum().backward()
-- z=F.interpolate(x,scale_factor=0.5)
-- z.sum().backward()
-- z=F.interpolate(x,scale_factor=2)
-- (z*z).sum().backward()
-- u=F.interpolate(x.transpose(1,2),size=12,mode="linear")
-- u.sum().backward()
-- v=F.interpolate(x.transpose(1,2),size=12)
-- v.sum().backward()
-- w=F.interpolate(x[:,:2],size=400)
-- w.sum().backward()
-- h=x.half()
-- a=F.interpolate(h,size=700,mode="linear")
-- a.sum().backward()
-- with torch.autocast("cuda"):
--     b=F.interpolate(h,size=700,mode="linear")
-- b.sum().backward()
-- m=nn.Upsample(scale_factor=2,mode="linear")
-- c=m(x)
-- (c*c).sum().backward()
-- p=F.interpolate(x,size=350,mode="linear")
-- q=p.transpose(1,2)*2.0
-- q.sum().backward()
local x, y, z, u, v, w, h, a, b, m, c, p, q
x = ohm.randn(4, 6, 300, {device = "cuda", requires_grad = true})
y = F.interpolate(x, {size = 700, mode = "linear"})
y:sum():backward()
y = F.interpolate(x, {scale_factor = 2.0, mode = "linear", align_corners = true})
;(y * y):sum():backward()
z = F.interpolate(x, {scale_factor = 0.5})
z:sum():backward()
z = F.interpolate(x, {scale_factor = 2})
;(z * z):sum():backward()
u = F.interpolate(x:transpose(1, 2), {size = 12, mode = "linear"})
u:sum():backward()
v = F.interpolate(x:transpose(1, 2), {size = 12})
v:sum():backward()
w = F.interpolate(slice(slice(x, 0, 0), 1, 0, 2), {size = 400})
w:sum():backward()
h = x:half()
a = F.interpolate(h, {size = 700, mode = "linear"})
a:sum():backward()
do
  local mode1 <close> = ohm.autocast("cuda")
  b = F.interpolate(h, {size = 700, mode = "linear"})
end
b:sum():backward()
m = nn.Upsample({scale_factor = 2, mode = "linear"})
c = m(x)
;(c * c):sum():backward()
p = F.interpolate(x, {size = 350, mode = "linear"})
q = p:transpose(1, 2) * 2.0
q:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
u = nil
v = nil
w = nil
h = nil
a = nil
b = nil
m = nil
c = nil
p = nil
q = nil
mark("globals deleted")

--== interpolate_area
-- x=torch.randn(4,6,30,40,device="cuda",requires_grad=True)
-- y=F.interpolate(x,size=(7,9),mode="area")
-- y.sum().backward()
-- y=F.interpolate(x,scale_factor=0.5,mode="area")
-- (y*y).sum().backward()
-- y=F.interpolate(x,size=1,mode="area")
-- (y*y).sum().backward()
-- l=torch.randn(4,6,300,device="cuda",requires_grad=True)
-- z=F.interpolate(l,size=70,mode="area")
-- z.sum().backward()
-- z=F.interpolate(l,scale_factor=2.0,mode="area")
-- (z*z).sum().backward()
-- v=torch.randn(2,3,8,10,12,device="cuda",requires_grad=True)
-- w=F.interpolate(v,scale_factor=0.5,mode="area")
-- (w*w).sum().backward()
-- c=x.to(memory_format=torch.channels_last)
-- d=F.interpolate(c,size=(7,9),mode="area")
-- (d*d).sum().backward()
local x, y, l, z, v, w, c, d
x = ohm.randn(4, 6, 30, 40, {device = "cuda", requires_grad = true})
y = F.interpolate(x, {size = {7, 9}, mode = "area"})
y:sum():backward()
y = F.interpolate(x, {scale_factor = 0.5, mode = "area"})
;(y * y):sum():backward()
y = F.interpolate(x, {size = 1, mode = "area"})
;(y * y):sum():backward()
l = ohm.randn(4, 6, 300, {device = "cuda", requires_grad = true})
z = F.interpolate(l, {size = 70, mode = "area"})
z:sum():backward()
z = F.interpolate(l, {scale_factor = 2.0, mode = "area"})
;(z * z):sum():backward()
v = ohm.randn(2, 3, 8, 10, 12, {device = "cuda", requires_grad = true})
w = F.interpolate(v, {scale_factor = 0.5, mode = "area"})
;(w * w):sum():backward()
c = x:to({memory_format = ohm.channels_last})
d = F.interpolate(c, {size = {7, 9}, mode = "area"})
;(d * d):sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
l = nil
z = nil
v = nil
w = nil
c = nil
d = nil
mark("globals deleted")

--== norms_of_any_power
-- x=torch.randn(300,400,device="cuda",requires_grad=True)
-- a=torch.norm(x,3)
-- a.backward()
-- a=x.norm(3,dim=1)
-- a.sum().backward()
-- a=torch.norm(x,p=1.5,dim=0,keepdim=True)
-- a.sum().backward()
-- a=torch.norm(x,p=0.5,dim=1)
-- a.sum().backward()
-- a=torch.norm(x,p=float("inf"),dim=1)
-- a.sum().backward()
-- a=torch.norm(x,p=-float("inf"),dim=(0,1))
-- a.sum().backward()
-- a=torch.norm(x,p=0)
-- b=torch.norm(x,p=0,dim=1)
-- (b.sum()+x.sum()).backward()
-- c=torch.norm(x,p=2.5)
-- c.backward()
-- d=torch.norm(x.half(),p=3,dim=1)
-- d.sum().backward()
-- with torch.autocast("cuda"):
--     e=torch.norm(x.half(),p=3,dim=1)
-- e.sum().backward()
-- f=F.normalize(x,p=3.0)
-- f.sum().backward()
-- y=torch.randn(300,400,device="cuda",requires_grad=True)
-- g=F.pairwise_distance(x,y,p=3.0)
-- g.sum().backward()
-- h=torch.dist(x,y,3)
-- h.backward()
-- i=torch.norm(x.unsqueeze(0),p=3,dim=0)
-- i.sum().backward()
local x, a, b, c, d, e, f, y, g, h, i
x = ohm.randn(300, 400, {device = "cuda", requires_grad = true})
a = ohm.norm(x, 3)
a:backward()
a = x:norm(3, {dim = 1})
a:sum():backward()
a = ohm.norm(x, {p = 1.5, dim = 0, keepdim = true})
a:sum():backward()
a = ohm.norm(x, {p = 0.5, dim = 1})
a:sum():backward()
a = ohm.norm(x, {p = math.huge, dim = 1})
a:sum():backward()
a = ohm.norm(x, {p = -math.huge, dim = {0, 1}})
a:sum():backward()
a = ohm.norm(x, {p = 0})
b = ohm.norm(x, {p = 0, dim = 1})
;(b:sum() + x:sum()):backward()
c = ohm.norm(x, {p = 2.5})
c:backward()
d = ohm.norm(x:half(), {p = 3, dim = 1})
d:sum():backward()
do
  local mode1 <close> = ohm.autocast("cuda")
  e = ohm.norm(x:half(), {p = 3, dim = 1})
end
e:sum():backward()
f = F.normalize(x, {p = 3.0})
f:sum():backward()
y = ohm.randn(300, 400, {device = "cuda", requires_grad = true})
g = F.pairwise_distance(x, y, {p = 3.0})
g:sum():backward()
h = ohm.dist(x, y, 3)
h:backward()
i = ohm.norm(x:unsqueeze(0), {p = 3, dim = 0})
i:sum():backward()
mark("end of program (globals alive)")
x = nil
a = nil
b = nil
c = nil
d = nil
e = nil
f = nil
y = nil
g = nil
h = nil
i = nil
mark("globals deleted")

--== cdist_of_batches_that_broadcast
-- x=torch.randn(4,60,8,device="cuda",requires_grad=True)
-- y=torch.randn(50,8,device="cuda",requires_grad=True)
-- a=torch.cdist(x,y)
-- a.sum().backward()
-- b=torch.cdist(x,y,p=1.0)
-- b.sum().backward()
-- c=torch.cdist(y,x,p=3.0)
-- c.sum().backward()
-- u=torch.randn(3,1,20,8,device="cuda",requires_grad=True)
-- v=torch.randn(4,10,8,device="cuda",requires_grad=True)
-- d=torch.cdist(u,v)
-- (d*d).sum().backward()
-- e=torch.cdist(u,x)
-- (e*e).sum().backward()
-- f=torch.cdist(y.unsqueeze(0),x)
-- f.sum().backward()
-- w=torch.randn(1,60,8,device="cuda",requires_grad=True)
-- g=torch.cdist(y,w)
-- g.sum().backward()
local x, y, a, b, c, u, v, d, e, f, w, g
x = ohm.randn(4, 60, 8, {device = "cuda", requires_grad = true})
y = ohm.randn(50, 8, {device = "cuda", requires_grad = true})
a = ohm.cdist(x, y)
a:sum():backward()
b = ohm.cdist(x, y, {p = 1.0})
b:sum():backward()
c = ohm.cdist(y, x, {p = 3.0})
c:sum():backward()
u = ohm.randn(3, 1, 20, 8, {device = "cuda", requires_grad = true})
v = ohm.randn(4, 10, 8, {device = "cuda", requires_grad = true})
d = ohm.cdist(u, v)
;(d * d):sum():backward()
e = ohm.cdist(u, x)
;(e * e):sum():backward()
f = ohm.cdist(y:unsqueeze(0), x)
f:sum():backward()
w = ohm.randn(1, 60, 8, {device = "cuda", requires_grad = true})
g = ohm.cdist(y, w)
g:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
a = nil
b = nil
c = nil
u = nil
v = nil
d = nil
e = nil
f = nil
w = nil
g = nil
mark("globals deleted")

--== index_reduce
-- x=torch.randn(300,40,device="cuda",requires_grad=True)
-- s=torch.randn(500,40,device="cuda",requires_grad=True)
-- i=torch.randint(0,300,(500,),device="cuda")
-- a=x.index_reduce(0,i,s,"amax")
-- a.sum().backward()
-- b=torch.index_reduce(x,0,i,s,"mean")
-- b.sum().backward()
-- c=x.index_reduce(0,i,s,"amin",include_self=False)
-- (c*c).sum().backward()
-- d=x.index_reduce(0,i,s,"prod")
-- d.sum().backward()
-- e=x.index_reduce(0,i,s,"mean",include_self=False)
-- (e*e).sum().backward()
-- f=(x*2.0)
-- f.index_reduce_(0,i,s,"amax")
-- f.sum().backward()
-- g=(x*2.0)
-- g.index_reduce_(0,i,s,"prod",include_self=False)
-- g.sum().backward()
-- h=torch.zeros(300,40,device="cuda")
-- h.index_reduce_(0,i,s.detach(),"mean")
-- k=x.detach().index_reduce(0,i,s,"amax")
-- k.sum().backward()
-- l=x.index_reduce(0,i,s.detach(),"prod")
-- l.sum().backward()
local x, s, i, a, b, c, d, e, f, g, h, k, l
x = ohm.randn(300, 40, {device = "cuda", requires_grad = true})
s = ohm.randn(500, 40, {device = "cuda", requires_grad = true})
i = ohm.randint(0, 300, {500}, {device = "cuda"})
a = x:index_reduce(0, i, s, "amax")
a:sum():backward()
b = ohm.index_reduce(x, 0, i, s, "mean")
b:sum():backward()
c = x:index_reduce(0, i, s, "amin", {include_self = false})
;(c * c):sum():backward()
d = x:index_reduce(0, i, s, "prod")
d:sum():backward()
e = x:index_reduce(0, i, s, "mean", {include_self = false})
;(e * e):sum():backward()
f = x * 2.0
f:index_reduce_(0, i, s, "amax")
f:sum():backward()
g = x * 2.0
g:index_reduce_(0, i, s, "prod", {include_self = false})
g:sum():backward()
h = ohm.zeros(300, 40, {device = "cuda"})
h:index_reduce_(0, i, s:detach(), "mean")
k = x:detach():index_reduce(0, i, s, "amax")
k:sum():backward()
l = x:index_reduce(0, i, s:detach(), "prod")
l:sum():backward()
mark("end of program (globals alive)")
x = nil
s = nil
i = nil
a = nil
b = nil
c = nil
d = nil
e = nil
f = nil
g = nil
h = nil
k = nil
l = nil
mark("globals deleted")

--== triplet_swap
-- a = torch.randn(64, 300, device="cuda", requires_grad=True)
-- p = torch.randn(64, 300, device="cuda", requires_grad=True)
-- n = torch.randn(64, 300, device="cuda", requires_grad=True)
-- m = nn.TripletMarginLoss(margin=0.7, swap=True)
-- y = m(a, p, n)
-- y.backward()
-- z = F.triplet_margin_loss(a, p, n, margin=2.0, p=1, swap=True, reduction="none")
-- z.sum().backward()
-- with torch.no_grad():
--     u = F.triplet_margin_loss(a, p, n, swap=True, reduction="sum")
local a, p, n, m, y, z, u
a = ohm.randn(64, 300, {device = "cuda", requires_grad = true})
p = ohm.randn(64, 300, {device = "cuda", requires_grad = true})
n = ohm.randn(64, 300, {device = "cuda", requires_grad = true})
m = nn.TripletMarginLoss({margin = 0.7, swap = true})
y = m(a, p, n)
y:backward()
z = F.triplet_margin_loss(a, p, n, {margin = 2.0, p = 1, swap = true, reduction = "none"})
z:sum():backward()
do
  local mode1 <close> = ohm.no_grad()
  u = F.triplet_margin_loss(a, p, n, {swap = true, reduction = "sum"})
end
mark("end of program (globals alive)")
a = nil
p = nil
n = nil
m = nil
y = nil
z = nil
u = nil
mark("globals deleted")

--== instance_norm_tracking
-- m = nn.InstanceNorm2d(24, affine=True, track_running_stats=True).cuda()
-- x = torch.randn(8, 24, 33, 17, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- m.eval()
-- z = m(x)
-- z.mean().backward()
-- with torch.no_grad():
--     u = m(x)
-- l = nn.InstanceNorm1d(300, track_running_stats=True, momentum=0.3).cuda()
-- s = torch.randn(16, 300, 40, device="cuda", requires_grad=True)
-- v = l(s)
-- v.sum().backward()
-- w = l(s[0])
-- l.eval()
-- v = l(s)
-- v.sum().backward()
-- w = l(s[0])
-- w.sum().backward()
-- h = nn.InstanceNorm3d(3).cuda()
-- q = torch.randn(2, 3, 9, 8, 7, device="cuda", requires_grad=True)
-- r = h(q)
-- r.sum().backward()
-- k = h(q[1])
-- k.sum().backward()
local m, x, y, z, u, l, s, v, w, h, q, r, k
m = nn.InstanceNorm2d(24, {affine = true, track_running_stats = true}):cuda()
x = ohm.randn(8, 24, 33, 17, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
m:eval()
z = m(x)
z:mean():backward()
do
  local mode1 <close> = ohm.no_grad()
  u = m(x)
end
l = nn.InstanceNorm1d(300, {track_running_stats = true, momentum = 0.3}):cuda()
s = ohm.randn(16, 300, 40, {device = "cuda", requires_grad = true})
v = l(s)
v:sum():backward()
w = l(s:select(0, 0))
l:eval()
v = l(s)
v:sum():backward()
w = l(s:select(0, 0))
w:sum():backward()
h = nn.InstanceNorm3d(3):cuda()
q = ohm.randn(2, 3, 9, 8, 7, {device = "cuda", requires_grad = true})
r = h(q)
r:sum():backward()
k = h(q:select(0, 1))
k:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
u = nil
l = nil
s = nil
v = nil
w = nil
h = nil
q = nil
r = nil
k = nil
mark("globals deleted")

--== instance_norm_running
-- x = torch.randn(8, 24, 33, 17, device="cuda", requires_grad=True)
-- rm = torch.zeros(24, device="cuda")
-- rv = torch.ones(24, device="cuda")
-- w = torch.rand(24, device="cuda", requires_grad=True)
-- b = torch.rand(24, device="cuda", requires_grad=True)
-- y = F.instance_norm(x, running_mean=rm, running_var=rv, weight=w, bias=b, use_input_stats=True, momentum=0.2, eps=1e-3)
-- y.sum().backward()
-- z = F.instance_norm(x, rm, rv, w, b, False)
-- z.sum().backward()
-- with torch.autocast("cuda", dtype=torch.float16):
--     c = F.conv2d(x, torch.randn(24, 24, 3, 3, device="cuda"))
--     u = F.instance_norm(c, rm, rv, w, b)
-- u.float().sum().backward()
-- t = F.instance_norm(x, weight=w, bias=b)
local x, rm, rv, w, b, y, z, c, u, t
x = ohm.randn(8, 24, 33, 17, {device = "cuda", requires_grad = true})
rm = ohm.zeros(24, {device = "cuda"})
rv = ohm.ones(24, {device = "cuda"})
w = ohm.rand(24, {device = "cuda", requires_grad = true})
b = ohm.rand(24, {device = "cuda", requires_grad = true})
y = F.instance_norm(x, {running_mean = rm, running_var = rv, weight = w, bias = b, use_input_stats = true, momentum = 0.2, eps = 0.001})
y:sum():backward()
z = F.instance_norm(x, rm, rv, w, b, false)
z:sum():backward()
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  c = F.conv2d(x, ohm.randn(24, 24, 3, 3, {device = "cuda"}))
  u = F.instance_norm(c, rm, rv, w, b)
end
u:float():sum():backward()
t = F.instance_norm(x, {weight = w, bias = b})
mark("end of program (globals alive)")
x = nil
rm = nil
rv = nil
w = nil
b = nil
y = nil
z = nil
c = nil
u = nil
t = nil
mark("globals deleted")

--== bags_max_weighted_padded
-- m = nn.EmbeddingBag(500, 64, mode="max").cuda()
-- i = torch.randint(0, 500, (32, 20), device="cuda")
-- y = m(i)
-- y.sum().backward()
-- o = torch.arange(0, 640, 10, device="cuda")
-- j = torch.randint(0, 500, (640,), device="cuda")
-- z = m(j, o)
-- z.mean().backward()
-- s = nn.EmbeddingBag(500, 64, mode="sum", padding_idx=3).cuda()
-- w = torch.rand(32, 20, device="cuda", requires_grad=True)
-- u = s(i, per_sample_weights=w)
-- u.sum().backward()
-- e = torch.arange(0, 641, 10, device="cuda")
-- q = nn.EmbeddingBag(500, 64, include_last_offset=True, padding_idx=0).cuda()
-- v = q(j, e)
-- v.sum().backward()
-- with torch.no_grad():
--     k = m(i)
--     l = s(i, per_sample_weights=w)
-- t = torch.rand(700, 32, device="cuda", requires_grad=True)
-- f = F.embedding_bag(j, t, o, mode="sum", per_sample_weights=torch.rand(640, device="cuda"))
-- f.sum().backward()
-- g = F.embedding_bag(i, t, mode="max", padding_idx=1)
-- g.sum().backward()
local m, i, y, o, j, z, s, w, u, e, q, v, k, l, t, f, g
m = nn.EmbeddingBag(500, 64, {mode = "max"}):cuda()
i = ohm.randint(0, 500, {32, 20}, {device = "cuda"})
y = m(i)
y:sum():backward()
o = ohm.arange(0, 640, 10, {device = "cuda"})
j = ohm.randint(0, 500, {640}, {device = "cuda"})
z = m(j, o)
z:mean():backward()
s = nn.EmbeddingBag(500, 64, {mode = "sum", padding_idx = 3}):cuda()
w = ohm.rand(32, 20, {device = "cuda", requires_grad = true})
u = s(i, {per_sample_weights = w})
u:sum():backward()
e = ohm.arange(0, 641, 10, {device = "cuda"})
q = nn.EmbeddingBag(500, 64, {include_last_offset = true, padding_idx = 0}):cuda()
v = q(j, e)
v:sum():backward()
do
  local mode1 <close> = ohm.no_grad()
  k = m(i)
  l = s(i, {per_sample_weights = w})
end
t = ohm.rand(700, 32, {device = "cuda", requires_grad = true})
f = F.embedding_bag(j, t, o, {mode = "sum", per_sample_weights = ohm.rand(640, {device = "cuda"})})
f:sum():backward()
g = F.embedding_bag(i, t, {mode = "max", padding_idx = 1})
g:sum():backward()
mark("end of program (globals alive)")
m = nil
i = nil
y = nil
o = nil
j = nil
z = nil
s = nil
w = nil
u = nil
e = nil
q = nil
v = nil
k = nil
l = nil
t = nil
f = nil
g = nil
mark("globals deleted")

--== square_subsequent_mask
-- m = nn.Transformer.generate_square_subsequent_mask(300, device="cuda")
-- h = nn.Transformer.generate_square_subsequent_mask(128, device="cuda", dtype=torch.float16)
-- c = nn.Transformer.generate_square_subsequent_mask(128).cuda()
-- t = nn.Transformer(d_model=32, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=64).cuda()
-- y = t(torch.randn(10, 4, 32, device="cuda"), torch.randn(12, 4, 32, device="cuda"), tgt_mask=nn.Transformer.generate_square_subsequent_mask(12, device="cuda"))
-- y.sum().backward()
local m, h, c, t, y
m = nn.Transformer.generate_square_subsequent_mask(300, {device = "cuda"})
h = nn.Transformer.generate_square_subsequent_mask(128, {device = "cuda", dtype = ohm.float16})
c = nn.Transformer.generate_square_subsequent_mask(128):cuda()
t = nn.Transformer({d_model = 32, nhead = 2, num_encoder_layers = 1, num_decoder_layers = 1, dim_feedforward = 64}):cuda()
y = t(ohm.randn(10, 4, 32, {device = "cuda"}), ohm.randn(12, 4, 32, {device = "cuda"}), {tgt_mask = nn.Transformer.generate_square_subsequent_mask(12, {device = "cuda"})})
y:sum():backward()
mark("end of program (globals alive)")
m = nil
h = nil
c = nil
t = nil
y = nil
mark("globals deleted")

--== bilinear_form
-- m = nn.Bilinear(20, 30, 5).cuda()
-- x = torch.randn(128, 20, device="cuda", requires_grad=True)
-- y = torch.randn(128, 30, device="cuda", requires_grad=True)
-- z = m(x, y)
-- z.sum().backward()
-- k = nn.Bilinear(16, 16, 3, bias=False).cuda()
-- a = torch.randn(8, 40, 16, device="cuda", requires_grad=True)
-- b = torch.randn(8, 40, 16, device="cuda")
-- c = k(a, b)
-- c.mean().backward()
-- with torch.no_grad():
--     d = F.bilinear(x, y, m.weight, m.bias)
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     e = m(x, y)
-- e.sum().backward()
local m, x, y, z, k, a, b, c, d, e
m = nn.Bilinear(20, 30, 5):cuda()
x = ohm.randn(128, 20, {device = "cuda", requires_grad = true})
y = ohm.randn(128, 30, {device = "cuda", requires_grad = true})
z = m(x, y)
z:sum():backward()
k = nn.Bilinear(16, 16, 3, {bias = false}):cuda()
a = ohm.randn(8, 40, 16, {device = "cuda", requires_grad = true})
b = ohm.randn(8, 40, 16, {device = "cuda"})
c = k(a, b)
c:mean():backward()
do
  local mode1 <close> = ohm.no_grad()
  d = F.bilinear(x, y, m.weight, m.bias)
end
do
  local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  e = m(x, y)
end
e:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
k = nil
a = nil
b = nil
c = nil
d = nil
e = nil
mark("globals deleted")

--== lazy_norms
-- m = nn.LazyBatchNorm2d().cuda()
-- x = torch.randn(8, 24, 33, 17, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- m.eval()
-- z = m(x)
-- z.sum().backward()
-- l = nn.LazyBatchNorm1d(device="cuda")
-- u = l(torch.randn(40, 300, device="cuda"))
-- u.sum().backward()
-- i = nn.LazyInstanceNorm2d(affine=True, track_running_stats=True).cuda()
-- v = i(x)
-- v.sum().backward()
-- p = nn.LazyInstanceNorm1d().cuda()
-- w = p(torch.randn(4, 5, 600, device="cuda", requires_grad=True))
-- w.sum().backward()
-- n = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(affine=False), nn.ReLU()).cuda()
-- o = torch.optim.SGD(n.parameters(), lr=0.1)
-- t = n(x)
-- t.sum().backward()
-- o.step()
local m, x, y, z, l, u, i, v, p, w, n, o, t
m = nn.LazyBatchNorm2d():cuda()
x = ohm.randn(8, 24, 33, 17, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
m:eval()
z = m(x)
z:sum():backward()
l = nn.LazyBatchNorm1d({device = "cuda"})
u = l(ohm.randn(40, 300, {device = "cuda"}))
u:sum():backward()
i = nn.LazyInstanceNorm2d({affine = true, track_running_stats = true}):cuda()
v = i(x)
v:sum():backward()
p = nn.LazyInstanceNorm1d():cuda()
w = p(ohm.randn(4, 5, 600, {device = "cuda", requires_grad = true}))
w:sum():backward()
n = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d({affine = false}), nn.ReLU()):cuda()
o = ohm.optim.SGD(n:parameters(), {lr = 0.1})
t = n(x)
t:sum():backward()
o:step()
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
l = nil
u = nil
i = nil
v = nil
p = nil
w = nil
n = nil
o = nil
t = nil
mark("globals deleted")

--== embedding_max_norm
-- w = torch.randn(500, 64, device="cuda")
-- i = torch.randint(0, 500, (32, 20), device="cuda")
-- y = F.embedding(i, w, max_norm=1.0)
-- w = torch.randn(500, 64, device="cuda")
-- j = torch.randint(0, 500, (5000,), device="cuda")
-- y = F.embedding(j, w, max_norm=1.0)
-- k = torch.randint(0, 500, (640,), device="cuda", dtype=torch.int32)
-- z = F.embedding(k, w, max_norm=1.0)
-- m = nn.Embedding(500, 64, max_norm=0.5, norm_type=1.0).cuda()
-- u = m(i)
-- u.sum().backward()
-- with torch.no_grad():
--     v = m(j)
local w, i, y, j, k, z, m, u, v
w = ohm.randn(500, 64, {device = "cuda"})
i = ohm.randint(0, 500, {32, 20}, {device = "cuda"})
y = F.embedding(i, w, {max_norm = 1.0})
w = ohm.randn(500, 64, {device = "cuda"})
j = ohm.randint(0, 500, {5000}, {device = "cuda"})
y = F.embedding(j, w, {max_norm = 1.0})
k = ohm.randint(0, 500, {640}, {device = "cuda", dtype = ohm.int32})
z = F.embedding(k, w, {max_norm = 1.0})
m = nn.Embedding(500, 64, {max_norm = 0.5, norm_type = 1.0}):cuda()
u = m(i)
u:sum():backward()
do
  local mode1 <close> = ohm.no_grad()
  v = m(j)
end
mark("end of program (globals alive)")
w = nil
i = nil
y = nil
j = nil
k = nil
z = nil
m = nil
u = nil
v = nil
mark("globals deleted")

--== sort_of_long_rows
-- j = torch.randint(0, 500, (5000,), device="cuda")
-- v, k = torch.sort(j)
-- f = torch.randn(70000, device="cuda")
-- v, k = torch.sort(f, descending=True)
-- h = torch.randn(9000, device="cuda").half()
-- v, k = h.sort()
-- x = torch.randn(6000, device="cuda", requires_grad=True)
-- v, k = torch.sort(x)
-- v[:100].sum().backward()
-- u = torch.argsort(f)
local j, v, k, f, h, x, u
j = ohm.randint(0, 500, {5000}, {device = "cuda"})
v, k = ohm.sort(j)
f = ohm.randn(70000, {device = "cuda"})
v, k = ohm.sort(f, {descending = true})
h = ohm.randn(9000, {device = "cuda"}):half()
v, k = h:sort()
x = ohm.randn(6000, {device = "cuda", requires_grad = true})
v, k = ohm.sort(x)
v:narrow(0, 0, 100):sum():backward()
u = ohm.argsort(f)
mark("end of program (globals alive)")
j = nil
v = nil
k = nil
f = nil
h = nil
x = nil
u = nil
mark("globals deleted")

--== stack_of_channels_last
-- x0 = torch.randn(2, 3, 5, 4, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- w = torch.randn(2, 4, 3, 5, device="cuda", requires_grad=True).contiguous(memory_format=torch.channels_last)
-- y = torch.stack([x, x], dim=1)
-- layout(y)
-- z = torch.stack([x, w], dim=0)
-- layout(z)
-- u = torch.stack([w, x], dim=4)
-- layout(u)
-- (y.sum() + z.sum() + u.sum()).backward()
local x0, x, w, y, z, u
x0 = ohm.randn(2, 3, 5, 4, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
w = ohm.randn(2, 4, 3, 5, {device = "cuda", requires_grad = true}):contiguous({memory_format = ohm.channels_last})
y = ohm.stack({x, x}, {dim = 1})
layout(y)
z = ohm.stack({x, w}, {dim = 0})
layout(z)
u = ohm.stack({w, x}, {dim = 4})
layout(u)
;((y:sum() + z:sum()) + u:sum()):backward()
mark("end of program (globals alive)")
x0 = nil
x = nil
w = nil
y = nil
z = nil
u = nil
mark("globals deleted")

--== averages_of_counters
-- m = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).to("cuda")
-- a = torch.optim.swa_utils.AveragedModel(m, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True)
-- a.update_parameters(m)
-- x = torch.randn(16, 8, device="cuda")
-- y = m(x)
-- a.update_parameters(m)
local m, a, x, y
m = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)):to("cuda")
a = ohm.optim.swa_utils.AveragedModel(m, {multi_avg_fn = ohm.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers = true})
a:update_parameters(m)
x = ohm.randn(16, 8, {device = "cuda"})
y = m(x)
a:update_parameters(m)
mark("end of program (globals alive)")
m = nil
a = nil
x = nil
y = nil
mark("globals deleted")

--== numbers_at_indices
-- x = torch.randn(6, 5, 4, device="cuda", requires_grad=True)
-- i = torch.zeros(3, dtype=torch.long, device="cuda")
-- j = torch.zeros(2, 3, dtype=torch.long, device="cuda")
-- h = torch.zeros(3, dtype=torch.long)
-- y = x * 1.0
-- y[i] = 1.0
-- y[j] = 2.0
-- y[:, i] = 0.0
-- y[i, i] = 1
-- y[h] = 3.0
-- y[i, 0] = 1.0
-- y[None, i] = 2.0
-- y.sum().backward()
local x, i, j, h, y
x = ohm.randn(6, 5, 4, {device = "cuda", requires_grad = true})
i = ohm.zeros(3, {dtype = ohm.int64, device = "cuda"})
j = ohm.zeros(2, 3, {dtype = ohm.int64, device = "cuda"})
h = ohm.zeros(3, {dtype = ohm.int64})
y = x * 1.0
y[i] = 1.0
y[j] = 2.0
set_at(slice(y, 0, 0), {i}, 0.0, {1})
set_at(y, {i, i}, 1)
y[h] = 3.0
set_at(y:select(1, 0), {i}, 1.0)
set_at(y:unsqueeze(0), {i}, 2.0, {1})
y:sum():backward()
mark("end of program (globals alive)")
x = nil
i = nil
j = nil
h = nil
y = nil
mark("globals deleted")

--== numbers_under_masks values=true
-- x0 = torch.randn(7, 3, 3, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 1)
-- keep3x7 = torch.zeros((3, 7), dtype=torch.bool, device="cuda")
-- keep3 = torch.zeros(3, dtype=torch.bool, device="cuda")
-- y = x * 1.0
-- y[keep3x7] = 0.0
-- y[keep3] = 1
-- y[:, 1:, keep3] = 2.0
-- y.index_put_((keep3,), torch.tensor(1.0))
-- layout(y)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, keep3x7, keep3, y, z
x0 = ohm.randn(7, 3, 3, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 1)
keep3x7 = ohm.zeros({3, 7}, {dtype = ohm.bool, device = "cuda"})
keep3 = ohm.zeros(3, {dtype = ohm.bool, device = "cuda"})
y = x * 1.0
y[keep3x7] = 0.0
y[keep3] = 1
set_at(slice(slice(y, 0, 0), 1, 1), {keep3}, 2.0, {2})
y:index_put_({keep3}, ohm.tensor(1.0))
layout(y)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil
x = nil
keep3x7 = nil
keep3 = nil
y = nil
z = nil
mark("globals deleted")

--== rows_written_at_indices
-- x = torch.randn(16, 5, device="cuda", requires_grad=True)
-- i = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x.clone()
-- y[::2] = y[::2].detach()
-- y[i] = y[i] * 2.0
-- y[-1] = torch.ones_like(y[-1])
-- g = torch.ones_like(y)
-- y.backward(g)
local x, i, y, g
x = ohm.randn(16, 5, {device = "cuda", requires_grad = true})
i = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:clone()
slice(y, 0, 0, nil, 2):copy_(slice(y, 0, 0, nil, 2):detach())
y[i] = y:index({i}) * 2.0
y:select(0, -1):copy_(ohm.ones_like(y:select(0, -1)))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil
i = nil
y = nil
g = nil
mark("globals deleted")

--== several_indices_go
-- x = torch.randn(5, 5, 5, device="cuda", requires_grad=True)
-- i = torch.zeros(3, dtype=torch.long, device="cuda")
-- j = torch.zeros(300, 1, dtype=torch.long, device="cuda")
-- y = x[i, j]
-- z = x.index_put((i, j), x[0, 0])
-- del i, j
-- del y
-- del z
local x, i, j, y, z
x = ohm.randn(5, 5, 5, {device = "cuda", requires_grad = true})
i = ohm.zeros(3, {dtype = ohm.int64, device = "cuda"})
j = ohm.zeros(300, 1, {dtype = ohm.int64, device = "cuda"})
y = x:index({i, j})
z = x:index_put({i, j}, x:select(0, 0):select(0, 0))
i = nil
j = nil
y = nil
z = nil
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== powers_of_whole_numbers
-- x = torch.zeros(8, 5, dtype=torch.long, device="cuda")
-- b = torch.zeros(8, 5, dtype=torch.bool, device="cuda")
-- w = torch.randn(8, 5, device="cuda", requires_grad=True)
-- v = torch.randn(8, 5, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- a = x ** 2
-- c = 2 ** x
-- d = x ** 0.5
-- e = b.square()
-- f = torch.pow(x, w)
-- g = torch.pow(w, x)
-- h = torch.pow(v, w)
-- k = 2 ** w.t()
-- layout(k)
-- n = torch.pow(w, torch.ones(()))
-- (f.sum() + g.sum() + h.sum() + n.sum() + (1 ** w).sum()).backward()
local x, b, w, v, a, c, d, e, f, g, h, k, n
x = ohm.zeros(8, 5, {dtype = ohm.int64, device = "cuda"})
b = ohm.zeros(8, 5, {dtype = ohm.bool, device = "cuda"})
w = ohm.randn(8, 5, {device = "cuda", requires_grad = true})
v = ohm.randn(8, 5, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
a = x ^ 2
c = 2 ^ x
d = x ^ 0.5
e = b:square()
f = ohm.pow(x, w)
g = ohm.pow(w, x)
h = ohm.pow(v, w)
k = 2 ^ w:t()
layout(k)
n = ohm.pow(w, ohm.ones({}))
;((((f:sum() + g:sum()) + h:sum()) + n:sum()) + (1 ^ w):sum()):backward()
mark("end of program (globals alive)")
x = nil
b = nil
w = nil
v = nil
a = nil
c = nil
d = nil
e = nil
f = nil
g = nil
h = nil
k = nil
n = nil
mark("globals deleted")

--== functions_of_whole_numbers
-- x = torch.zeros(8, 5, dtype=torch.int32, device="cuda")
-- b = torch.zeros(8, 5, dtype=torch.bool, device="cuda")
-- w = torch.randn(8, 5, device="cuda", requires_grad=True)
-- a = x.sqrt() + b.exp() + torch.sigmoid(x) + x.reciprocal()
-- c = x.sign() + x.round()
-- d = torch.atan2(w, x) + torch.atan2(x, b)
-- e = torch.addcmul(w, x, x) + torch.addcmul(x, x, x)
-- f = x.prod() + b.prod(dim=0)
-- g = x.t().cumsum(dim=0)
-- h = x.mean(dim=0, dtype=torch.float32) + b.sum()
-- k = x.to(torch.uint8).any()
-- layout(k)
-- (d.sum() + e.sum()).backward()
-- x.clamp_(min=0)
-- x.pow_(2)
local x, b, w, a, c, d, e, f, g, h, k
x = ohm.zeros(8, 5, {dtype = ohm.int32, device = "cuda"})
b = ohm.zeros(8, 5, {dtype = ohm.bool, device = "cuda"})
w = ohm.randn(8, 5, {device = "cuda", requires_grad = true})
a = ((x:sqrt() + b:exp()) + ohm.sigmoid(x)) + x:reciprocal()
c = x:sign() + x:round()
d = ohm.atan2(w, x) + ohm.atan2(x, b)
e = ohm.addcmul(w, x, x) + ohm.addcmul(x, x, x)
f = x:prod() + b:prod({dim = 0})
g = x:t():cumsum({dim = 0})
h = x:mean({dim = 0, dtype = ohm.float32}) + b:sum()
k = x:to(ohm.uint8):any()
layout(k)
;(d:sum() + e:sum()):backward()
x:clamp_({min = 0})
x:pow_(2)
mark("end of program (globals alive)")
x = nil
b = nil
w = nil
a = nil
c = nil
d = nil
e = nil
f = nil
g = nil
h = nil
k = nil
mark("globals deleted")

--== numbers_of_the_host
-- x = torch.randn(8, 5, device="cuda", requires_grad=True)
-- w = torch.ones((), dtype=torch.bfloat16)
-- keep = torch.zeros(8, 5, dtype=torch.bool, device="cuda")
-- y = torch.where(keep, x, w)
-- z = x.detach().clone()
-- z.copy_(2.0)
-- i = torch.zeros(8, 5, dtype=torch.long, device="cuda")
-- i.copy_(x)
-- u = x.to(torch.uint8)
-- y.sum().backward()
local x, w, keep, y, z, i, u
x = ohm.randn(8, 5, {device = "cuda", requires_grad = true})
w = ohm.ones({}, {dtype = ohm.bfloat16})
keep = ohm.zeros(8, 5, {dtype = ohm.bool, device = "cuda"})
y = ohm.where(keep, x, w)
z = x:detach():clone()
z:copy_(2.0)
i = ohm.zeros(8, 5, {dtype = ohm.int64, device = "cuda"})
i:copy_(x)
u = x:to(ohm.uint8)
y:sum():backward()
mark("end of program (globals alive)")
x = nil
w = nil
keep = nil
y = nil
z = nil
i = nil
u = nil
mark("globals deleted")

--== sorts_of_long_rows
-- x = torch.randn(3, 5000, device="cuda")
-- v, k = x.sort(dim=1)
-- h = torch.randn(38543, 4, device="cuda", dtype=torch.float16)
-- a, b = h[1:].t().sort(dim=1)
-- d = torch.randn(5000, 3, device="cuda", dtype=torch.float64, requires_grad=True)
-- c, e = d.sort(dim=0, descending=True)
-- c.sum().backward()
-- f, g = torch.randn(130, 4100, device="cuda").sort(dim=1)
-- i, j = torch.randn(2, 1000000, device="cuda").sort(dim=1)
-- m, n = torch.zeros(5, 6000, device="cuda", dtype=torch.long).sort(dim=1)
-- o = torch.zeros(1, device="cuda").expand(35499).argsort()
local x, v, k, h, a, b, d, c, e, f, g, i, j, m, n, o
x = ohm.randn(3, 5000, {device = "cuda"})
v, k = x:sort({dim = 1})
h = ohm.randn(38543, 4, {device = "cuda", dtype = ohm.float16})
a, b = slice(h, 0, 1):t():sort({dim = 1})
d = ohm.randn(5000, 3, {device = "cuda", dtype = ohm.float64, requires_grad = true})
c, e = d:sort({dim = 0, descending = true})
c:sum():backward()
f, g = ohm.randn(130, 4100, {device = "cuda"}):sort({dim = 1})
i, j = ohm.randn(2, 1000000, {device = "cuda"}):sort({dim = 1})
m, n = ohm.zeros(5, 6000, {device = "cuda", dtype = ohm.int64}):sort({dim = 1})
o = ohm.zeros(1, {device = "cuda"}):expand(35499):argsort()
mark("end of program (globals alive)")
x = nil
v = nil
k = nil
h = nil
a = nil
b = nil
d = nil
c = nil
e = nil
f = nil
g = nil
i = nil
j = nil
m = nil
n = nil
o = nil
mark("globals deleted")

--== permutations_of_many
-- a = torch.randperm(40000, device="cuda")
-- b = torch.randperm(70000, device="cuda")
-- c = torch.randperm(524289, device="cuda")
local a, b, c
a = ohm.randperm(40000, {device = "cuda"})
b = ohm.randperm(70000, {device = "cuda"})
c = ohm.randperm(524289, {device = "cuda"})
mark("end of program (globals alive)")
a = nil
b = nil
c = nil
mark("globals deleted")

--== complement_of_a_call
-- p = torch.full((40, 170), 0.5, device="cuda")
-- ids = torch.ones(40, 170, dtype=torch.long, device="cuda")
-- m = torch.bernoulli(p).bool()
-- ids.masked_fill_(~m, -100)
-- mark("filled")
-- k = ~torch.tril(torch.ones((90, 90), dtype=torch.bool, device="cuda"))
-- n = torch.logical_or(~m, ~m)
local p, ids, m, k, n
p = ohm.full({40, 170}, 0.5, {device = "cuda"})
ids = ohm.ones(40, 170, {dtype = ohm.int64, device = "cuda"})
m = ohm.bernoulli(p):bool()
ids:masked_fill_(~m, -100)
mark("filled")
k = ~ohm.tril(ohm.ones({90, 90}, {dtype = ohm.bool, device = "cuda"}))
n = ohm.logical_or(~m, ~m)
mark("end of program (globals alive)")
p = nil
ids = nil
m = nil
k = nil
n = nil
mark("globals deleted")

--== grid_let_go_first values=true
-- theta = torch.zeros(8, 2, 3, device="cuda")
-- w = torch.randn(2, 24, 16, 16, device="cuda", requires_grad=True)
-- rows = torch.arange(2, device="cuda").repeat_interleave(4)
-- out = F.grid_sample(w[rows], F.affine_grid(theta, (8, 24, 14, 14), align_corners=False), align_corners=False)
-- out.sum().backward()
-- mark("backward")
local theta, w, rows, out
theta = ohm.zeros(8, 2, 3, {device = "cuda"})
w = ohm.randn(2, 24, 16, 16, {device = "cuda", requires_grad = true})
rows = ohm.arange(2, {device = "cuda"}):repeat_interleave(4)
out = F.grid_sample(w:index({rows}), F.affine_grid(theta, {8, 24, 14, 14}, {align_corners = false}), {align_corners = false})
out:sum():backward()
mark("backward")
mark("end of program (globals alive)")
theta = nil
w = nil
rows = nil
out = nil
mark("globals deleted")

--== sorted_topk
-- x = torch.randn(64, 100, device="cuda")
-- y = torch.randint(0, 100, (64,), device="cuda")
-- v, p = x.topk(5, 1, True, True)
-- q, o = x.topk(3, 1, False, False)
-- p = p.t()
-- c = p.eq(y.view(1, -1).expand_as(p))
-- a = c[:1].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / 64)
-- mark("accuracy")
local x, y, v, p, q, o, c, a
x = ohm.randn(64, 100, {device = "cuda"})
y = ohm.randint(0, 100, {64}, {device = "cuda"})
v, p = x:topk(5, 1, true, true)
q, o = x:topk(3, 1, false, false)
p = p:t()
c = p:eq(y:view(1, -1):expand_as(p))
a = c:narrow(0, 0, 1):reshape(-1):float():sum(0, {keepdim = true}):mul_(100.0 / 64)
mark("accuracy")
mark("end of program (globals alive)")
x = nil
y = nil
v = nil
p = nil
q = nil
o = nil
c = nil
a = nil
mark("globals deleted")

--== filled_with_true
-- m = torch.zeros(30, 14, 14, dtype=torch.bool, device="cuda")
-- m[1, :, 10:].fill_(True)
-- n = m.masked_fill(m, False)
-- k = torch.zeros(40, 30, device="cuda").masked_fill_(torch.zeros(40, 30, dtype=torch.bool, device="cuda"), True)
-- h = torch.randn(64, 64, device="cuda").type(torch.float16)
-- g = h.type(torch.float16)
-- mark("end")
local m, n, k, h, g
m = ohm.zeros(30, 14, 14, {dtype = ohm.bool, device = "cuda"})
slice(slice(m:select(0, 1), 0, 0), 1, 10):fill_(true)
n = m:masked_fill(m, false)
k = ohm.zeros(40, 30, {device = "cuda"}):masked_fill_(ohm.zeros(40, 30, {dtype = ohm.bool, device = "cuda"}), true)
h = ohm.randn(64, 64, {device = "cuda"}):type(ohm.float16)
g = h:type(ohm.float16)
mark("end")
mark("end of program (globals alive)")
m = nil
n = nil
k = nil
h = nil
g = nil
mark("globals deleted")

--== whole_powers
-- ids = torch.arange(300, device="cuda").view(30, 10)
-- a = ids ** 2
-- b = ids.int() ** 2.0
-- c = 2 ** ids
-- d = ids ** ids.int()
-- e = 0.9 ** ids
-- f = ids.t() ** 3
-- mark("made")
-- x = torch.randn(30, 10, device="cuda", requires_grad=True)
-- y = x ** ids
-- y.sum().backward()
-- mark("backward")
-- z = x[:, :1] ** torch.arange(10, device="cuda")
-- z.backward(torch.ones(30, 10, device="cuda"))
-- w = ids.bool() ** 2
-- v = 1 ** ids
-- u = ids.to(torch.int32) ** torch.tensor(2, device="cuda")
-- t = 3.0 ** ids.int()
-- s = ids.pow(0.5)
-- r = ids ** torch.rand(30, 10, device="cuda", requires_grad=True)
-- r.sum().backward()
-- mark("end")
-- layout(b)
-- layout(c)
-- layout(f)
-- layout(w)
-- layout(u)
-- layout(t)
local ids, a, b, c, d, e, f, x, y, z, w, v, u, t, s, r
ids = ohm.arange(300, {device = "cuda"}):view(30, 10)
a = ids ^ 2
b = ids:int() ^ 2.0
c = 2 ^ ids
d = ids ^ ids:int()
e = 0.9 ^ ids
f = ids:t() ^ 3
mark("made")
x = ohm.randn(30, 10, {device = "cuda", requires_grad = true})
y = x ^ ids
y:sum():backward()
mark("backward")
z = slice(slice(x, 0, 0), 1, 0, 1) ^ ohm.arange(10, {device = "cuda"})
z:backward(ohm.ones(30, 10, {device = "cuda"}))
w = ids:bool() ^ 2
v = 1 ^ ids
u = ids:to(ohm.int32) ^ ohm.tensor(2, {device = "cuda"})
t = 3.0 ^ ids:int()
s = ids:pow(0.5)
r = ids ^ ohm.rand(30, 10, {device = "cuda", requires_grad = true})
r:sum():backward()
mark("end")
layout(b)
layout(c)
layout(f)
layout(w)
layout(u)
layout(t)
mark("end of program (globals alive)")
ids = nil
a = nil
b = nil
c = nil
d = nil
e = nil
f = nil
x = nil
y = nil
z = nil
w = nil
v = nil
u = nil
t = nil
s = nil
r = nil
mark("globals deleted")

--== integer_in_a_tensor
-- x = torch.randn(60, 50, device="cuda", requires_grad=True)
-- v, order = torch.randn(60, device="cuda").sort(0)
-- i = order.select(0, -1)
-- first = order.narrow(0, 0, 20) * 0
-- a = x[i]
-- b = x[i, i]
-- c = x[order, i]
-- d = x[i, first]
-- e = x[:, i]
-- (a.sum() + b + c.sum() + d.sum() + e.sum()).backward()
-- mark("backward")
-- layout(a)
-- layout(c)
local x, v, order, i, first, a, b, c, d, e
x = ohm.randn(60, 50, {device = "cuda", requires_grad = true})
v, order = ohm.randn(60, {device = "cuda"}):sort(0)
i = order:select(0, -1)
first = order:narrow(0, 0, 20) * 0
a = x:index({i})
b = x:index({i, i})
c = x:index({order, i})
d = x:index({i, first})
e = slice(x, 0, 0):index({i}, {1})
;((((a:sum() + b) + c:sum()) + d:sum()) + e:sum()):backward()
mark("backward")
layout(a)
layout(c)
mark("end of program (globals alive)")
x = nil
v = nil
order = nil
i = nil
first = nil
a = nil
b = nil
c = nil
d = nil
e = nil
mark("globals deleted")

--== both_sides_widened
-- x = torch.randn(3, 21, 16, device="cuda", requires_grad=True)
-- w = torch.randn(15, 16, device="cuda", requires_grad=True)
-- y = torch.cosine_similarity(x.unsqueeze(2), w.view(1, 1, 15, 16), dim=-1)
-- y.sum().backward()
-- mark("backward")
local x, w, y
x = ohm.randn(3, 21, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(15, 16, {device = "cuda", requires_grad = true})
y = ohm.cosine_similarity(x:unsqueeze(2), w:view(1, 1, 15, 16), {dim = -1})
y:sum():backward()
mark("backward")
mark("end of program (globals alive)")
x = nil
w = nil
y = nil
mark("globals deleted")

--== encoder_of_transposed_rows
-- m = nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True).to("cuda")
-- m.eval()
-- x = torch.randn(21, 3, 32, device="cuda").transpose(0, 1)
-- with torch.no_grad():
--     y = m(x)
--     z = m(y)
-- layout(y)
-- layout(z)
local m, x, y, z
m = nn.TransformerEncoderLayer(32, 4, 64, 0.1, {batch_first = true}):to("cuda")
m:eval()
x = ohm.randn(21, 3, 32, {device = "cuda"}):transpose(0, 1)
do
  local mode1 <close> = ohm.no_grad()
  y = m(x)
  z = m(y)
end
layout(y)
layout(z)
mark("end of program (globals alive)")
m = nil
x = nil
y = nil
z = nil
mark("globals deleted")

--== negated_gradients_one_by_one
-- m = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8)).to("cuda")
-- a = torch.optim.Rprop(m.parameters(), lr=0.1, maximize=True, foreach=False)
-- b = torch.optim.Adagrad(m.parameters(), lr=0.1, maximize=True, foreach=False)
-- c = torch.optim.Adadelta(m.parameters(), lr=0.1, maximize=True, foreach=False)
-- d = torch.optim.Adamax(m.parameters(), lr=0.1, maximize=True, foreach=False)
-- e = torch.optim.RMSprop(m.parameters(), lr=0.1, maximize=True, weight_decay=0.1, foreach=False)
-- x = torch.randn(16, 8, device="cuda")
-- m(x).pow(2).mean().backward()
-- a.step()
-- b.step()
-- c.step()
-- d.step()
-- e.step()
local m, a, b, c, d, e, x
m = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8)):to("cuda")
a = ohm.optim.Rprop(m:parameters(), {lr = 0.1, maximize = true, foreach = false})
b = ohm.optim.Adagrad(m:parameters(), {lr = 0.1, maximize = true, foreach = false})
c = ohm.optim.Adadelta(m:parameters(), {lr = 0.1, maximize = true, foreach = false})
d = ohm.optim.Adamax(m:parameters(), {lr = 0.1, maximize = true, foreach = false})
e = ohm.optim.RMSprop(m:parameters(), {lr = 0.1, maximize = true, weight_decay = 0.1, foreach = false})
x = ohm.randn(16, 8, {device = "cuda"})
m(x):pow(2):mean():backward()
a:step()
b:step()
c:step()
d:step()
e:step()
mark("end of program (globals alive)")
m = nil
a = nil
b = nil
c = nil
d = nil
e = nil
x = nil
mark("globals deleted")

--== sums_over_one
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- x.sum(dim=(0, 1)).sum().backward()
-- y = torch.randn(1, device="cuda", requires_grad=True)
-- y.sum(dim=0).backward()
-- z = torch.randn(1, 1, device="cuda", requires_grad=True)
-- z.sum().backward()
-- w = torch.randn(1, 3, device="cuda", requires_grad=True)
-- w.sum(dim=(0, 1)).backward()
-- u = torch.randn(1, 1, device="cuda", requires_grad=True)
-- u.mean(dim=(0, 1)).backward()
-- v = torch.randn(1, 1, device="cuda", requires_grad=True)
-- v.nansum(dim=(0, 1)).backward()
-- t = torch.randn(1, 1, device="cuda", requires_grad=True)
-- t.var(dim=(0, 1), unbiased=False).backward()
-- s = torch.randn(1, 1, 1, device="cuda", requires_grad=True)
-- s.sum(dim=1).sum(dim=(0, 1)).backward()
-- mark("backward")
local x, y, z, w, u, v, t, s
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
x:sum({dim = {0, 1}}):sum():backward()
y = ohm.randn(1, {device = "cuda", requires_grad = true})
y:sum({dim = 0}):backward()
z = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
z:sum():backward()
w = ohm.randn(1, 3, {device = "cuda", requires_grad = true})
w:sum({dim = {0, 1}}):backward()
u = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
u:mean({dim = {0, 1}}):backward()
v = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
v:nansum({dim = {0, 1}}):backward()
t = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
t:var({dim = {0, 1}, unbiased = false}):backward()
s = ohm.randn(1, 1, 1, {device = "cuda", requires_grad = true})
s:sum({dim = 1}):sum({dim = {0, 1}}):backward()
mark("backward")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
w = nil
u = nil
v = nil
t = nil
s = nil
mark("globals deleted")

--== clamp_between_tensors
-- x = torch.randn(4, 5, device="cuda", requires_grad=True)
-- lo = torch.randn(5, device="cuda", requires_grad=True)
-- hi = torch.randn(4, 1, device="cuda", requires_grad=True)
-- y = x.clamp(lo, hi)
-- y.sum().backward()
-- mark("both")
-- z = x.clamp(min=lo)
-- z.sum().backward()
-- w = torch.clamp(x, max=hi)
-- w.sum().backward()
-- mark("one")
local x, lo, hi, y, z, w
x = ohm.randn(4, 5, {device = "cuda", requires_grad = true})
lo = ohm.randn(5, {device = "cuda", requires_grad = true})
hi = ohm.randn(4, 1, {device = "cuda", requires_grad = true})
y = x:clamp(lo, hi)
y:sum():backward()
mark("both")
z = x:clamp({min = lo})
z:sum():backward()
w = ohm.clamp(x, {max = hi})
w:sum():backward()
mark("one")
mark("end of program (globals alive)")
x = nil
lo = nil
hi = nil
y = nil
z = nil
w = nil
mark("globals deleted")

--== clamp_between_tensors_in_place
-- x = torch.zeros(4, 5, device="cuda", requires_grad=True)
-- lo = torch.zeros(5, device="cuda", requires_grad=True)
-- hi = torch.zeros(4, 1, device="cuda", requires_grad=True)
-- y = x * 2
-- y.clamp_(lo, hi)
-- y.sum().backward()
-- mark("both")
-- z = x * 3
-- z.clamp_(min=lo)
-- z.sum().backward()
-- mark("one")
local x, lo, hi, y, z
x = ohm.zeros(4, 5, {device = "cuda", requires_grad = true})
lo = ohm.zeros(5, {device = "cuda", requires_grad = true})
hi = ohm.zeros(4, 1, {device = "cuda", requires_grad = true})
y = x * 2
y:clamp_(lo, hi)
y:sum():backward()
mark("both")
z = x * 3
z:clamp_({min = lo})
z:sum():backward()
mark("one")
mark("end of program (globals alive)")
x = nil
lo = nil
hi = nil
y = nil
z = nil
mark("globals deleted")

--== clamp_gradients_of_bounds
-- x = torch.zeros(6, 4, 5, device="cuda", requires_grad=True)
-- l = torch.zeros(5, device="cuda", requires_grad=True)
-- h = torch.zeros(4, 1, device="cuda", requires_grad=True)
-- g = torch.zeros(6, 4, 5, device="cuda")
-- torch.clamp(x, l.detach(), h.detach()).backward(g)
-- mark("input")
-- torch.clamp(x.detach(), l, h.detach()).backward(g)
-- mark("min")
-- torch.clamp(x.detach(), l.detach(), h).backward(g)
-- mark("max")
-- torch.clamp(x, l, h).backward(g)
-- mark("all")
-- torch.clamp(x, min=l).backward(g)
-- torch.clamp(x, max=h).backward(g)
-- mark("one bound")
-- y = torch.clamp(x, l.double(), h)
-- y.sum().backward()
-- mark("promoted")
local x, l, h, g, y
x = ohm.zeros(6, 4, 5, {device = "cuda", requires_grad = true})
l = ohm.zeros(5, {device = "cuda", requires_grad = true})
h = ohm.zeros(4, 1, {device = "cuda", requires_grad = true})
g = ohm.zeros(6, 4, 5, {device = "cuda"})
ohm.clamp(x, l:detach(), h:detach()):backward(g)
mark("input")
ohm.clamp(x:detach(), l, h:detach()):backward(g)
mark("min")
ohm.clamp(x:detach(), l:detach(), h):backward(g)
mark("max")
ohm.clamp(x, l, h):backward(g)
mark("all")
ohm.clamp(x, {min = l}):backward(g)
ohm.clamp(x, {max = h}):backward(g)
mark("one bound")
y = ohm.clamp(x, l:double(), h)
y:sum():backward()
mark("promoted")
mark("end of program (globals alive)")
x = nil
l = nil
h = nil
g = nil
y = nil
mark("globals deleted")

--== masked_fill_of_a_tensor
-- x = torch.randn(400, 5, device="cuda", requires_grad=True)
-- m = torch.zeros(400, 5, device="cuda") > 0
-- v = torch.tensor(2.0, device="cuda")
-- y = x.masked_fill(m, v)
-- y.sum().backward()
-- c = torch.tensor(3.0)
-- u = x.masked_fill(m, c)
-- u.sum().backward()
-- t = torch.randn(400, 5, device="cuda")
-- t.masked_fill_(m, v)
-- mark("filled")
local x, m, v, y, c, u, t
x = ohm.randn(400, 5, {device = "cuda", requires_grad = true})
m = ohm.zeros(400, 5, {device = "cuda"}):gt(0)
v = ohm.tensor(2.0, {device = "cuda"})
y = x:masked_fill(m, v)
y:sum():backward()
c = ohm.tensor(3.0)
u = x:masked_fill(m, c)
u:sum():backward()
t = ohm.randn(400, 5, {device = "cuda"})
t:masked_fill_(m, v)
mark("filled")
mark("end of program (globals alive)")
x = nil
m = nil
v = nil
y = nil
c = nil
u = nil
t = nil
mark("globals deleted")

--== one_hot_without_classes values=true
-- i = torch.zeros(300, dtype=torch.long, device="cuda")
-- y = F.one_hot(i)
-- mark("found")
-- z = F.one_hot(i, 7)
-- mark("given")
local i, y, z
i = ohm.zeros(300, {dtype = ohm.int64, device = "cuda"})
y = F.one_hot(i)
mark("found")
z = F.one_hot(i, 7)
mark("given")
mark("end of program (globals alive)")
i = nil
y = nil
z = nil
mark("globals deleted")

--== activation_is_a_function
-- l = nn.TransformerEncoderLayer(32, 4, 64, activation=F.gelu, batch_first=True).cuda()
-- x = torch.randn(3, 7, 32, device="cuda")
-- y = l(x)
-- y.sum().backward()
-- mark("gelu")
-- d = nn.TransformerDecoderLayer(32, 4, 64, activation=F.relu, batch_first=True).cuda()
-- z = d(x, y.detach())
-- z.sum().backward()
-- mark("relu")
local l, x, y, d, z
l = nn.TransformerEncoderLayer(32, 4, 64, {activation = F.gelu, batch_first = true}):cuda()
x = ohm.randn(3, 7, 32, {device = "cuda"})
y = l(x)
y:sum():backward()
mark("gelu")
d = nn.TransformerDecoderLayer(32, 4, 64, {activation = F.relu, batch_first = true}):cuda()
z = d(x, y:detach())
z:sum():backward()
mark("relu")
mark("end of program (globals alive)")
l = nil
x = nil
y = nil
d = nil
z = nil
mark("globals deleted")

--== kron_of_one_matrix
-- x = torch.randn(20, 30, device="cuda", requires_grad=True)
-- y = torch.kron(x, x)
-- y.sum().backward()
-- mark("kron")
local x, y
x = ohm.randn(20, 30, {device = "cuda", requires_grad = true})
y = ohm.kron(x, x)
y:sum():backward()
mark("kron")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== indexed_behind_a_new_dimension
-- x = torch.zeros(6, 8, device="cuda").t()
-- y = torch.zeros(5, 6, 8, device="cuda").transpose(0, 2)
-- i = torch.zeros(3, dtype=torch.long, device="cuda")
-- j = torch.zeros(3, 2, dtype=torch.long, device="cuda").t()
-- a = x[None, i].mul(2.0)
-- b = y[None, i].mul(2.0)
-- c = x[:, None, j].mul(2.0)
-- d = y[None, :, j].mul(2.0)
-- e = F.relu(x[None, i] + x[i])
-- mark("indexed")
local x, y, i, j, a, b, c, d, e
x = ohm.zeros(6, 8, {device = "cuda"}):t()
y = ohm.zeros(5, 6, 8, {device = "cuda"}):transpose(0, 2)
i = ohm.zeros(3, {dtype = ohm.int64, device = "cuda"})
j = ohm.zeros(3, 2, {dtype = ohm.int64, device = "cuda"}):t()
a = x:unsqueeze(0):index({i}, {1}):mul(2.0)
b = y:unsqueeze(0):index({i}, {1}):mul(2.0)
c = slice(x, 0, 0):unsqueeze(1):index({j}, {2}):mul(2.0)
d = slice(y:unsqueeze(0), 1, 0):index({j}, {2}):mul(2.0)
e = F.relu(x:unsqueeze(0):index({i}, {1}) + x:index({i}))
mark("indexed")
mark("end of program (globals alive)")
x = nil
y = nil
i = nil
j = nil
a = nil
b = nil
c = nil
d = nil
e = nil
mark("globals deleted")

--== cdist_of_one_row
-- a = torch.zeros(1, 4, device="cuda", requires_grad=True)
-- b = torch.zeros(5, 4, device="cuda", requires_grad=True)
-- torch.cdist(a, b).sum().backward()
-- mark("one and several")
-- torch.cdist(b, a, p=1.0).sum().backward()
-- mark("several and one")
-- torch.cdist(a, a.detach(), p=3.0).sum().backward()
-- mark("one and one")
local a, b
a = ohm.zeros(1, 4, {device = "cuda", requires_grad = true})
b = ohm.zeros(5, 4, {device = "cuda", requires_grad = true})
ohm.cdist(a, b):sum():backward()
mark("one and several")
ohm.cdist(b, a, {p = 1.0}):sum():backward()
mark("several and one")
ohm.cdist(a, a:detach(), {p = 3.0}):sum():backward()
mark("one and one")
mark("end of program (globals alive)")
a = nil
b = nil
mark("globals deleted")

--== copy_of_a_narrower_dtype
-- w0 = torch.randn(16, 16, 2, device="cuda", requires_grad=True)
-- w = w0.narrow(2, 1, 1).transpose(0, 1)
-- y = torch.randn(16, 16, 8, device="cuda", dtype=torch.float64)
-- y.copy_(w)
-- y.sum().backward()
-- mark("wider")
-- v = torch.randn(16, 1, device="cuda", dtype=torch.float64, requires_grad=True)
-- z = torch.randn(16, 8, device="cuda")
-- z.copy_(v)
-- z.sum().backward()
-- mark("narrower")
local w0, w, y, v, z
w0 = ohm.randn(16, 16, 2, {device = "cuda", requires_grad = true})
w = w0:narrow(2, 1, 1):transpose(0, 1)
y = ohm.randn(16, 16, 8, {device = "cuda", dtype = ohm.float64})
y:copy_(w)
y:sum():backward()
mark("wider")
v = ohm.randn(16, 1, {device = "cuda", dtype = ohm.float64, requires_grad = true})
z = ohm.randn(16, 8, {device = "cuda"})
z:copy_(v)
z:sum():backward()
mark("narrower")
mark("end of program (globals alive)")
w0 = nil
w = nil
y = nil
v = nil
z = nil
mark("globals deleted")

--== failed_pass_holds_root
-- torch.cuda.memory._set_allocator_settings("garbage_collection_threshold:0.8,max_split_size_mb:30")
-- torch.cuda.set_per_process_memory_fraction(0.0012)
-- model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Tanh()).to("cuda")
-- kept = []
-- x = None
-- y = None
-- try:
--     x = torch.randn(20000, 256, device="cuda")
--     y = model(x)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     model.zero_grad(set_to_none=False)
--     torch.cuda.empty_cache()
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(500, 256, device="cuda")
--     with torch.autocast("cuda", dtype=torch.bfloat16): y = model(x)
--     y.float().pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     mark(str(error))
--     model.zero_grad()
--     model.zero_grad(set_to_none=False)
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(500, 256, device="cuda")
--     with torch.no_grad(): y = model(x)
-- except torch.OutOfMemoryError as error:
--     torch.cuda.empty_cache()
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(64, 256, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     kept = []
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(100000, 256, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     y = None
--     torch.cuda.empty_cache()
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(50000, 256, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     y = None
--     model.zero_grad(set_to_none=False)
--     mark("failed")
-- mark("caught")
-- mark("tried")
local model, kept, x, y
ohm.cuda.memory._set_allocator_settings("garbage_collection_threshold:0.8,max_split_size_mb:30")
ohm.cuda.set_per_process_memory_fraction(0.0012)
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Tanh()):to("cuda")
kept = {}
x = nil
y = nil
do
  local is_done, problem = pcall(function()
    x = ohm.randn(20000, 256, {device = "cuda"})
    y = model(x)
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    model:zero_grad({set_to_none = false})
    ohm.cuda.empty_cache()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(500, 256, {device = "cuda"})
    do
      local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
      y = model(x)
    end
    y:float():pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark(tostring(problem))
    model:zero_grad()
    model:zero_grad({set_to_none = false})
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(500, 256, {device = "cuda"})
    do
      local mode2 <close> = ohm.no_grad()
      y = model(x)
    end
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    ohm.cuda.empty_cache()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(64, 256, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    kept = {}
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(100000, 256, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    y = nil; sweep()
    ohm.cuda.empty_cache()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(50000, 256, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    y = nil; sweep()
    model:zero_grad({set_to_none = false})
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
model = nil
kept = nil
x = nil
y = nil
mark("globals deleted")

--== failed_calls_go_inside_out
-- torch.cuda.set_per_process_memory_fraction(0.003)
-- model = nn.Sequential(nn.Linear(300, 300), nn.Dropout(0.1), nn.Linear(300, 64), nn.SiLU(), nn.Linear(64, 300), nn.LayerNorm(300), nn.Dropout(0.1), nn.Tanh()).to("cuda")
-- opt = torch.optim.AdamW(model.parameters(), foreach=False)
-- kept = []
-- x = None
-- y = None
-- try:
--     x = torch.randn(100000, 300, device="cuda")
--     with torch.no_grad(): y = model(x)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     x = None
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     x = torch.randn(500, 300, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     y = None
--     model.zero_grad()
--     mark("failed")
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(8000, 300, device="cuda")
--     y = model(x)
--     y.pow(2).mean().backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     kept = []
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(50000, 300, device="cuda")
--     with torch.no_grad(): y = model(x)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     model.zero_grad()
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(100000, 300, device="cuda")
--     y = model(x)
--     y.pow(2).mean().backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
local model, opt, kept, x, y
ohm.cuda.set_per_process_memory_fraction(0.003)
model = nn.Sequential(nn.Linear(300, 300), nn.Dropout(0.1), nn.Linear(300, 64), nn.SiLU(), nn.Linear(64, 300), nn.LayerNorm(300), nn.Dropout(0.1), nn.Tanh()):to("cuda")
opt = ohm.optim.AdamW(model:parameters(), {foreach = false})
kept = {}
x = nil
y = nil
do
  local is_done, problem = pcall(function()
    x = ohm.randn(100000, 300, {device = "cuda"})
    do
      local mode1 <close> = ohm.no_grad()
      y = model(x)
    end
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    x = nil; sweep()
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(500, 300, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    y = nil; sweep()
    model:zero_grad()
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(8000, 300, {device = "cuda"})
    y = model(x)
    y:pow(2):mean():backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    kept = {}
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(50000, 300, {device = "cuda"})
    do
      local mode2 <close> = ohm.no_grad()
      y = model(x)
    end
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    model:zero_grad()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(100000, 300, {device = "cuda"})
    y = model(x)
    y:pow(2):mean():backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
mark("end of program (globals alive)")
model = nil
opt = nil
kept = nil
x = nil
y = nil
mark("globals deleted")

--== failed_recomputation
-- torch.cuda.memory._set_allocator_settings("max_split_size_mb:40")
-- torch.cuda.set_per_process_memory_fraction(0.002)
-- model = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Tanh(), nn.LayerNorm(512)).to("cuda")
-- kept = []
-- x = None
-- y = None
-- try:
--     x = torch.randn(2000, 512, device="cuda")
--     with torch.autocast("cuda", dtype=torch.bfloat16): y = model(x)
--     y.float().pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     y = None
--     mark("failed")
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(500, 512, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     torch.cuda.empty_cache()
--     x = None
-- mark("caught")
-- kept = []
-- mark("tried")
-- try:
--     x = torch.randn(20000, 512, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     x = torch.randn(20000, 512, device="cuda")
--     with torch.autocast("cuda", dtype=torch.bfloat16): y = model(x)
--     y.float().pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     model.zero_grad()
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     x = torch.randn(2000, 512, device="cuda")
--     y = model(x)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     kept = []
-- mark("caught")
-- x = None
-- mark("tried")
-- try:
--     x = torch.randn(50000, 512, device="cuda")
--     y = model(x)
--     kept.append(y)
-- except torch.OutOfMemoryError as error:
--     y = None
--     mark("failed")
--     mark(str(error))
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
local model, kept, x, y
ohm.cuda.memory._set_allocator_settings("max_split_size_mb:40")
ohm.cuda.set_per_process_memory_fraction(0.002)
model = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Tanh(), nn.LayerNorm(512)):to("cuda")
kept = {}
x = nil
y = nil
do
  local is_done, problem = pcall(function()
    x = ohm.randn(2000, 512, {device = "cuda"})
    do
      local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
      y = model(x)
    end
    y:float():pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    y = nil; sweep()
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(500, 512, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    ohm.cuda.empty_cache()
    x = nil; sweep()
    problem = nil; sweep()
  end
end
mark("caught")
kept = {}
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(20000, 512, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(20000, 512, {device = "cuda"})
    do
      local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
      y = model(x)
    end
    y:float():pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    model:zero_grad()
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(2000, 512, {device = "cuda"})
    y = model(x)
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    kept = {}
    problem = nil; sweep()
  end
end
mark("caught")
x = nil
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(50000, 512, {device = "cuda"})
    y = model(x)
    kept[#kept + 1] = y
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    y = nil; sweep()
    mark("failed")
    mark(tostring(problem))
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
mark("end of program (globals alive)")
model = nil
kept = nil
x = nil
y = nil
mark("globals deleted")

--== failed_norm_in_recomputation
-- torch.cuda.memory._set_allocator_settings("max_split_size_mb:21")
-- torch.cuda.set_per_process_memory_fraction(0.0015)
-- model = nn.Sequential(nn.Linear(1000, 1000), nn.Linear(1000, 1000), nn.Linear(1000, 2000), nn.SiLU(), nn.Linear(2000, 1000), nn.LayerNorm(1000)).to("cuda")
-- kept = []
-- x = None
-- y = None
-- try:
--     x = torch.randn(2000, 1000, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     model.zero_grad(set_to_none=False)
--     kept = []
-- mark("caught")
-- x = None
-- mark("tried")
-- try:
--     x = torch.randn(2000, 1000, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     x = torch.randn(8000, 1000, device="cuda")
--     y = model(x)
--     y.pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     x = torch.randn(50000, 1000, device="cuda")
--     y = model(x)
--     y.pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     x = None
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(500, 1000, device="cuda")
--     with torch.no_grad(): y = model(x)
-- except torch.OutOfMemoryError as error:
--     mark(str(error))
--     mark("failed")
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(64, 1000, device="cuda")
--     y = model(x)
--     kept.append(y)
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     x = None
--     torch.cuda.empty_cache()
-- mark("caught")
-- mark("tried")
local model, kept, x, y
ohm.cuda.memory._set_allocator_settings("max_split_size_mb:21")
ohm.cuda.set_per_process_memory_fraction(0.0015)
model = nn.Sequential(nn.Linear(1000, 1000), nn.Linear(1000, 1000), nn.Linear(1000, 2000), nn.SiLU(), nn.Linear(2000, 1000), nn.LayerNorm(1000)):to("cuda")
kept = {}
x = nil
y = nil
do
  local is_done, problem = pcall(function()
    x = ohm.randn(2000, 1000, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    model:zero_grad({set_to_none = false})
    kept = {}
    problem = nil; sweep()
  end
end
mark("caught")
x = nil
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(2000, 1000, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(8000, 1000, {device = "cuda"})
    y = model(x)
    y:pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(50000, 1000, {device = "cuda"})
    y = model(x)
    y:pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    x = nil; sweep()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(500, 1000, {device = "cuda"})
    do
      local mode1 <close> = ohm.no_grad()
      y = model(x)
    end
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark(tostring(problem))
    mark("failed")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = model(x)
    kept[#kept + 1] = y
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    x = nil; sweep()
    ohm.cuda.empty_cache()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
model = nil
kept = nil
x = nil
y = nil
mark("globals deleted")

--== failures_in_expandable_segments
-- torch.cuda.memory._set_allocator_settings("expandable_segments:True")
-- torch.cuda.set_per_process_memory_fraction(0.002)
-- model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 1024), nn.SiLU(), nn.Linear(1024, 256)).to("cuda")
-- kept = []
-- x = None
-- y = None
-- try:
--     x = torch.randn(8000, 256, device="cuda")
--     y = model(x)
--     y.pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     model.zero_grad(set_to_none=False)
--     x = None
--     y = None
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     x = torch.randn(100000, 256, device="cuda")
--     from torch.utils.checkpoint import checkpoint
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     model.zero_grad(set_to_none=False)
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(8000, 256, device="cuda")
--     y = model(x)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     y = None
-- mark("caught")
-- mark("tried")
-- try:
--     x = torch.randn(20000, 256, device="cuda")
--     with torch.no_grad(): y = model(x)
-- except torch.OutOfMemoryError as error:
--     mark(str(error))
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
local model, kept, x, y
ohm.cuda.memory._set_allocator_settings("expandable_segments:True")
ohm.cuda.set_per_process_memory_fraction(0.002)
model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 1024), nn.SiLU(), nn.Linear(1024, 256)):to("cuda")
kept = {}
x = nil
y = nil
do
  local is_done, problem = pcall(function()
    x = ohm.randn(8000, 256, {device = "cuda"})
    y = model(x)
    y:pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    model:zero_grad({set_to_none = false})
    x = nil; sweep()
    y = nil; sweep()
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(100000, 256, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    model:zero_grad({set_to_none = false})
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(8000, 256, {device = "cuda"})
    y = model(x)
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    y = nil; sweep()
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    x = ohm.randn(20000, 256, {device = "cuda"})
    do
      local mode1 <close> = ohm.no_grad()
      y = model(x)
    end
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark(tostring(problem))
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
mark("end of program (globals alive)")
model = nil
kept = nil
x = nil
y = nil
mark("globals deleted")

--== checkpointed_norm_goes_last
-- model = nn.Sequential(nn.Linear(300, 300), nn.Dropout(0.1), nn.LayerNorm(300)).to("cuda")
-- x = torch.randn(2000, 300, device="cuda")
-- from torch.utils.checkpoint import checkpoint
-- y = checkpoint(model, x, use_reentrant=False)
-- y.sum().backward()
local model, x, y
model = nn.Sequential(nn.Linear(300, 300), nn.Dropout(0.1), nn.LayerNorm(300)):to("cuda")
x = ohm.randn(2000, 300, {device = "cuda"})
y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
y:sum():backward()
mark("end of program (globals alive)")
model = nil
x = nil
y = nil
mark("globals deleted")

--== norms_in_wider_dtypes
-- x = torch.randn(300, 400, device="cuda", requires_grad=True)
-- a = torch.norm(x, "fro")
-- a.backward()
-- b = x.norm("fro", dim=(0, 1), keepdim=True)
-- c = torch.norm(x, p="fro", dim=1)
-- c.sum().backward()
-- h = torch.randn(300, 400, device="cuda", dtype=torch.float16)
-- d = h.norm(2, dtype=torch.float32)
-- e = torch.norm(h, 2, dim=1, dtype=torch.float32)
-- t = h.t()[1:].norm("fro", dim=0)
-- with torch.autocast("cuda"):
--     f = torch.norm(h, "fro")
-- g = x.detach().norm(2, dtype=torch.float64)
-- layout(a)
-- layout(b)
-- layout(c)
-- layout(d)
-- layout(e)
-- layout(t)
-- layout(f)
-- layout(g)
local x, a, b, c, h, d, e, t, f, g
x = ohm.randn(300, 400, {device = "cuda", requires_grad = true})
a = ohm.norm(x, "fro")
a:backward()
b = x:norm("fro", {dim = {0, 1}, keepdim = true})
c = ohm.norm(x, {p = "fro", dim = 1})
c:sum():backward()
h = ohm.randn(300, 400, {device = "cuda", dtype = ohm.float16})
d = h:norm(2, {dtype = ohm.float32})
e = ohm.norm(h, 2, {dim = 1, dtype = ohm.float32})
t = slice(h:t(), 0, 1):norm("fro", {dim = 0})
do
  local mode1 <close> = ohm.autocast("cuda")
  f = ohm.norm(h, "fro")
end
g = x:detach():norm(2, {dtype = ohm.float64})
layout(a)
layout(b)
layout(c)
layout(d)
layout(e)
layout(t)
layout(f)
layout(g)
mark("end of program (globals alive)")
x = nil
a = nil
b = nil
c = nil
h = nil
d = nil
e = nil
t = nil
f = nil
g = nil
mark("globals deleted")

--== whole_norms_under_autocast
-- h = torch.randn(300, 400, device="cuda", dtype=torch.float16, requires_grad=True)
-- with torch.autocast("cuda"):
--     a = h.norm(1)
--     b = h.norm(float("inf"))
--     c = h.norm(3)
--     d = h.norm(0.5)
--     e = h.norm(3, dim=1)
-- a.backward()
-- b.backward()
-- c.backward()
-- d.backward()
-- e.sum().backward()
-- x = torch.randn(300, 400, device="cuda", requires_grad=True)
-- x.norm(1, dtype=torch.float64).backward()
-- x.norm(2, dtype=torch.float64).backward()
-- x.norm(3, dtype=torch.float64).backward()
-- x.norm(0.5, dtype=torch.float64).backward()
-- x.norm(float("inf"), dtype=torch.float64).backward()
local h, a, b, c, d, e, x
h = ohm.randn(300, 400, {device = "cuda", dtype = ohm.float16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda")
  a = h:norm(1)
  b = h:norm(math.huge)
  c = h:norm(3)
  d = h:norm(0.5)
  e = h:norm(3, {dim = 1})
end
a:backward()
b:backward()
c:backward()
d:backward()
e:sum():backward()
x = ohm.randn(300, 400, {device = "cuda", requires_grad = true})
x:norm(1, {dtype = ohm.float64}):backward()
x:norm(2, {dtype = ohm.float64}):backward()
x:norm(3, {dtype = ohm.float64}):backward()
x:norm(0.5, {dtype = ohm.float64}):backward()
x:norm(math.huge, {dtype = ohm.float64}):backward()
mark("end of program (globals alive)")
h = nil
a = nil
b = nil
c = nil
d = nil
e = nil
x = nil
mark("globals deleted")

--== clamp_min_and_max_of_tensors
-- x = torch.randn(300, 400, device="cuda", requires_grad=True)
-- lo = torch.randn(400, device="cuda", requires_grad=True)
-- y = x.clamp_min(lo)
-- y.sum().backward()
-- z = torch.clamp_max(x, lo)
-- z.sum().backward()
-- w = (x * 2.0).clamp_min_(lo)
-- w.sum().backward()
-- v = torch.clamp_max_(x * 2.0, lo.detach())
-- v.sum().backward()
-- with torch.no_grad():
--     u = x.t().clamp_min(lo[:300])
-- h = x.detach().half()
-- r = h.clamp_min(lo.detach())
-- i = torch.arange(6, device="cuda").clamp_min(torch.tensor(2, device="cuda"))
-- j = torch.arange(6, device="cuda").clamp_max(torch.tensor(2, device="cuda"))
-- layout(y)
-- layout(z)
-- layout(w)
-- layout(v)
-- layout(u)
-- layout(r)
-- layout(i)
-- layout(j)
-- layout(x.grad)
-- layout(lo.grad)
local x, lo, y, z, w, v, u, h, r, i, j
x = ohm.randn(300, 400, {device = "cuda", requires_grad = true})
lo = ohm.randn(400, {device = "cuda", requires_grad = true})
y = x:clamp_min(lo)
y:sum():backward()
z = ohm.clamp_max(x, lo)
z:sum():backward()
w = (x * 2.0):clamp_min_(lo)
w:sum():backward()
v = ohm.clamp_max_(x * 2.0, lo:detach())
v:sum():backward()
do
  local mode1 <close> = ohm.no_grad()
  u = x:t():clamp_min(lo:narrow(0, 0, 300))
end
h = x:detach():half()
r = h:clamp_min(lo:detach())
i = ohm.arange(6, {device = "cuda"}):clamp_min(ohm.tensor(2, {device = "cuda"}))
j = ohm.arange(6, {device = "cuda"}):clamp_max(ohm.tensor(2, {device = "cuda"}))
layout(y)
layout(z)
layout(w)
layout(v)
layout(u)
layout(r)
layout(i)
layout(j)
layout(x.grad)
layout(lo.grad)
mark("end of program (globals alive)")
x = nil
lo = nil
y = nil
z = nil
w = nil
v = nil
u = nil
h = nil
r = nil
i = nil
j = nil
mark("globals deleted")

--== max_pool_twice
-- x = torch.randn(4, 8, 16, 16, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x, 2)
-- g, = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
-- g.sum().backward()
local x, y, g
x = ohm.randn(4, 8, 16, 16, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x, 2)
g = ohm.autograd.grad(y:pow(2):sum(), x, {create_graph = true})
g:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== max_pool_twice_channels_last
-- x = torch.randn(4, 8, 16, 16, device="cuda").contiguous(memory_format=torch.channels_last).requires_grad_()
-- y = F.max_pool2d(x, 2)
-- g, = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
-- g.sum().backward()
local x, y, g
x = ohm.randn(4, 8, 16, 16, {device = "cuda"}):contiguous({memory_format = ohm.channels_last}):requires_grad_()
y = F.max_pool2d(x, 2)
g = ohm.autograd.grad(y:pow(2):sum(), x, {create_graph = true})
g:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== max_pool3d_twice
-- x = torch.randn(4, 8, 16, 16, 4, device="cuda", requires_grad=True)
-- y = F.max_pool3d(x, 2)
-- g, = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
-- g.sum().backward()
local x, y, g
x = ohm.randn(4, 8, 16, 16, 4, {device = "cuda", requires_grad = true})
y = F.max_pool3d(x, 2)
g = ohm.autograd.grad(y:pow(2):sum(), x, {create_graph = true})
g:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== adaptive_max_pool_twice
-- x = torch.randn(4, 8, 16, 16, device="cuda", requires_grad=True)
-- y = F.adaptive_max_pool2d(x, 5)
-- g, = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
-- g.sum().backward()
local x, y, g
x = ohm.randn(4, 8, 16, 16, {device = "cuda", requires_grad = true})
y = F.adaptive_max_pool2d(x, 5)
g = ohm.autograd.grad(y:pow(2):sum(), x, {create_graph = true})
g:sum():backward()
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== one_hot_of_a_view
-- i = torch.zeros(64, 30, dtype=torch.int64, device="cuda")
-- a = F.one_hot(i.t(), 32)
-- b = torch.zeros(30, 64, 32, device="cuda").scatter_(-1, i.t().unsqueeze(-1), 1.0)
-- c = torch.zeros(30, 64, 32, device="cuda").gather(-1, i.t().unsqueeze(-1))
local i, a, b, c
i = ohm.zeros(64, 30, {dtype = ohm.int64, device = "cuda"})
a = F.one_hot(i:t(), 32)
b = ohm.zeros(30, 64, 32, {device = "cuda"}):scatter_(-1, i:t():unsqueeze(-1), 1.0)
c = ohm.zeros(30, 64, 32, {device = "cuda"}):gather(-1, i:t():unsqueeze(-1))
mark("end of program (globals alive)")
i = nil
a = nil
b = nil
c = nil
mark("globals deleted")

--== products_in_tf32
-- torch.set_float32_matmul_precision("high")
-- torch.backends.cuda.matmul.allow_tf32 = True
-- torch.backends.cudnn.allow_tf32 = True
-- m = nn.Sequential(nn.Linear(300, 400), nn.ReLU(), nn.Linear(400, 200)).to("cuda")
-- x = torch.randn(64, 300, device="cuda")
-- m(x).pow(2).mean().backward()
-- c = nn.Conv2d(3, 16, 3, padding=1).to("cuda")
-- y = c(torch.randn(4, 3, 64, 64, device="cuda"))
-- y.sum().backward()
local m, x, c, y
ohm.set_float32_matmul_precision("high")
ohm.backends.cuda.matmul.allow_tf32 = true
ohm.backends.cudnn.allow_tf32 = true
m = nn.Sequential(nn.Linear(300, 400), nn.ReLU(), nn.Linear(400, 200)):to("cuda")
x = ohm.randn(64, 300, {device = "cuda"})
m(x):pow(2):mean():backward()
c = nn.Conv2d(3, 16, 3, {padding = 1}):to("cuda")
y = c(ohm.randn(4, 3, 64, 64, {device = "cuda"}))
y:sum():backward()
mark("end of program (globals alive)")
m = nil
x = nil
c = nil
y = nil
mark("globals deleted")

--== failed_recurrent_step_holds_states
-- torch.cuda.set_per_process_memory_fraction(0.001)
-- hog = None
-- x = None
-- y = None
-- loss = None
-- model = nn.LSTM(64, 64, bidirectional=True).to("cuda")
-- opt = torch.optim.Adam(model.parameters(), lr=0.01, amsgrad=True)
-- try:
--     hog = torch.empty(68698980, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(30, 8, 64, device="cuda")
--     y = model(x)[0]
--     loss = y.pow(2).mean()
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(46572668, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(30, 8, 64, device="cuda")
--     y = model(x)[0]
--     loss = y.pow(2).mean()
--     loss.backward()
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     loss = None
--     mark("handled")
-- mark("caught")
-- opt.zero_grad()
-- mark("tried")
-- try:
--     hog = torch.empty(44871176, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(30, 8, 64, device="cuda")
--     y = model(x)[0]
--     loss = y.pow(2).mean()
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
local hog, x, y, loss, model, opt
ohm.cuda.set_per_process_memory_fraction(0.001)
hog = nil
x = nil
y = nil
loss = nil
model = nn.LSTM(64, 64, {bidirectional = true}):to("cuda")
opt = ohm.optim.Adam(model:parameters(), {lr = 0.01, amsgrad = true})
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(68698980, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(30, 8, 64, {device = "cuda"})
    y = model(x)[1]
    loss = y:pow(2):mean()
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(46572668, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(30, 8, 64, {device = "cuda"})
    y = model(x)[1]
    loss = y:pow(2):mean()
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0)
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    loss = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
opt:zero_grad()
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(44871176, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(30, 8, 64, {device = "cuda"})
    y = model(x)[1]
    loss = y:pow(2):mean()
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
mark("end of program (globals alive)")
hog = nil
x = nil
y = nil
loss = nil
model = nil
opt = nil
mark("globals deleted")

--== failed_foreach_update
-- torch.cuda.memory._set_allocator_settings("expandable_segments:True")
-- torch.cuda.set_per_process_memory_fraction(0.001)
-- hog = None
-- x = None
-- y = None
-- loss = None
-- model = nn.Sequential(nn.Linear(700, 700), nn.ReLU(), nn.Linear(700, 700)).to("cuda")
-- opt = torch.optim.RAdam(model.parameters(), lr=0.01)
-- try:
--     hog = torch.empty(44918690, dtype=torch.uint8, device="cuda")
--     x = torch.randn(200, 700, device="cuda")
--     y = model(x)
--     loss = F.smooth_l1_loss(y, torch.zeros_like(y))
--     loss.backward()
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     hog = None
--     y = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(61370207, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(200, 700, device="cuda")
--     y = model(x)
--     loss = F.mse_loss(y, torch.ones_like(y))
--     loss.backward()
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(20526413, dtype=torch.uint8, device="cuda")
--     x = torch.randn(200, 700, device="cuda")
--     y = model(x)
--     loss = y.sum()
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     hog = None
--     opt.zero_grad(set_to_none=False)
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = None
--     x = torch.randn(200, 700, device="cuda")
--     y = model(x)
--     loss = F.smooth_l1_loss(y, torch.zeros_like(y))
--     loss.backward()
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=1.0)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     hog = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
local hog, x, y, loss, model, opt
ohm.cuda.memory._set_allocator_settings("expandable_segments:True")
ohm.cuda.set_per_process_memory_fraction(0.001)
hog = nil
x = nil
y = nil
loss = nil
model = nn.Sequential(nn.Linear(700, 700), nn.ReLU(), nn.Linear(700, 700)):to("cuda")
opt = ohm.optim.RAdam(model:parameters(), {lr = 0.01})
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(44918690, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(200, 700, {device = "cuda"})
    y = model(x)
    loss = F.smooth_l1_loss(y, ohm.zeros_like(y))
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    hog = nil; sweep()
    y = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(61370207, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(200, 700, {device = "cuda"})
    y = model(x)
    loss = F.mse_loss(y, ohm.ones_like(y))
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(20526413, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(200, 700, {device = "cuda"})
    y = model(x)
    loss = y:sum()
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    hog = nil; sweep()
    opt:zero_grad({set_to_none = false})
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = nil
    x = ohm.randn(200, 700, {device = "cuda"})
    y = model(x)
    loss = F.smooth_l1_loss(y, ohm.zeros_like(y))
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {norm_type = 1.0})
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    hog = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
x = nil
y = nil
loss = nil
model = nil
opt = nil
mark("globals deleted")

--== failed_attention_step
-- torch.cuda.memory._set_allocator_settings("expandable_segments:True")
-- torch.cuda.set_per_process_memory_fraction(0.0006)
-- hog = None
-- x = None
-- y = None
-- loss = None
-- model = nn.MultiheadAttention(256, 4, batch_first=True).to("cuda")
-- opt = torch.optim.Adadelta(model.parameters(), lr=0.01)
-- try:
--     hog = torch.empty(43548117, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(4, 16, 256, device="cuda")
--     y = model(x, x, x)[0]
--     loss = F.smooth_l1_loss(y, torch.zeros_like(y))
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     torch.cuda.empty_cache()
--     hog = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = None
--     x = torch.randn(4, 16, 256, device="cuda")
--     y = model(x, x, x)[0]
--     loss = F.smooth_l1_loss(y, torch.zeros_like(y))
--     loss.backward()
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(6708099, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(4, 16, 256, device="cuda")
--     y = model(x, x, x)[0]
--     loss = y.float().logsumexp(-1).mean()
--     loss.backward()
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     opt.zero_grad()
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(39719153, dtype=torch.uint8, device="cuda")
--     x = torch.randn(4, 16, 256, device="cuda")
--     y = model(x, x, x)[0]
--     loss = F.mse_loss(y, torch.ones_like(y))
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     hog = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
local hog, x, y, loss, model, opt
ohm.cuda.memory._set_allocator_settings("expandable_segments:True")
ohm.cuda.set_per_process_memory_fraction(0.0006)
hog = nil
x = nil
y = nil
loss = nil
model = nn.MultiheadAttention(256, 4, {batch_first = true}):to("cuda")
opt = ohm.optim.Adadelta(model:parameters(), {lr = 0.01})
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(43548117, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(4, 16, 256, {device = "cuda"})
    y = model(x, x, x)[1]
    loss = F.smooth_l1_loss(y, ohm.zeros_like(y))
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    ohm.cuda.empty_cache()
    hog = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = nil
    x = ohm.randn(4, 16, 256, {device = "cuda"})
    y = model(x, x, x)[1]
    loss = F.smooth_l1_loss(y, ohm.zeros_like(y))
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(6708099, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(4, 16, 256, {device = "cuda"})
    y = model(x, x, x)[1]
    loss = y:float():logsumexp(-1):mean()
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    opt:zero_grad()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(39719153, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(4, 16, 256, {device = "cuda"})
    y = model(x, x, x)[1]
    loss = F.mse_loss(y, ohm.ones_like(y))
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    hog = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
hog = nil
x = nil
y = nil
loss = nil
model = nil
opt = nil
mark("globals deleted")

--== failed_fused_step_of_a_scaler
-- torch.cuda.set_per_process_memory_fraction(0.0015)
-- hog = None
-- x = None
-- y = None
-- loss = None
-- model = nn.Sequential(nn.Embedding(9000, 96), nn.LayerNorm(96), nn.Linear(96, 300)).to("cuda")
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01, amsgrad=True, fused=True)
-- scaler = torch.amp.GradScaler("cuda", init_scale=256.0)
-- try:
--     hog = torch.empty(20774402, dtype=torch.uint8, device="cuda")
--     x = torch.randint(0, 3000, (4, 20), device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = y.pow(2).mean()
--     scaler.scale(loss).backward()
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     torch.cuda.empty_cache()
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = None
--     x = torch.randint(0, 3000, (4, 20), device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = y.float().logsumexp(-1).mean()
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     loss = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = None
--     x = torch.randint(0, 3000, (4, 20), device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = y.float().logsumexp(-1).mean()
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_value_(model.parameters(), 0.5)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     loss = None
--     hog = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(71269294, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randint(0, 3000, (4, 20), device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = y.sum()
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     loss = None
--     opt.zero_grad(set_to_none=False)
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(5287343, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randint(0, 3000, (4, 20), device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = F.mse_loss(y, torch.ones_like(y))
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_value_(model.parameters(), 0.5)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- hog = None
-- mark("tried")
local hog, x, y, loss, model, opt, scaler
ohm.cuda.set_per_process_memory_fraction(0.0015)
hog = nil
x = nil
y = nil
loss = nil
model = nn.Sequential(nn.Embedding(9000, 96), nn.LayerNorm(96), nn.Linear(96, 300)):to("cuda")
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01, amsgrad = true, fused = true})
scaler = ohm.amp.GradScaler("cuda", {init_scale = 256.0})
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(20774402, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randint(0, 3000, {4, 20}, {device = "cuda"})
    do
      local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = y:pow(2):mean()
    scaler:scale(loss):backward()
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    ohm.cuda.empty_cache()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = nil
    x = ohm.randint(0, 3000, {4, 20}, {device = "cuda"})
    do
      local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = y:float():logsumexp(-1):mean()
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    loss = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = nil
    x = ohm.randint(0, 3000, {4, 20}, {device = "cuda"})
    do
      local mode3 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = y:float():logsumexp(-1):mean()
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_value_(model:parameters(), 0.5)
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    loss = nil; sweep()
    hog = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(71269294, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randint(0, 3000, {4, 20}, {device = "cuda"})
    do
      local mode4 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = y:sum()
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    loss = nil; sweep()
    opt:zero_grad({set_to_none = false})
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(5287343, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randint(0, 3000, {4, 20}, {device = "cuda"})
    do
      local mode5 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = F.mse_loss(y, ohm.ones_like(y))
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_value_(model:parameters(), 0.5)
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
hog = nil
mark("tried")
mark("end of program (globals alive)")
x = nil
y = nil
loss = nil
model = nil
opt = nil
scaler = nil
mark("globals deleted")

--== element_of_a_result_takes_the_place
-- torch.cuda.set_per_process_memory_fraction(0.001)
-- hog = None
-- x = None
-- y = None
-- loss = None
-- model = nn.RNN(64, 64, 2, dropout=0.1).to("cuda")
-- opt = torch.optim.ASGD(model.parameters(), lr=0.01)
-- try:
--     hog = None
--     opt.zero_grad()
--     x = torch.randn(7, 60, 64, device="cuda")
--     y = model(x)[0]
--     loss = F.mse_loss(y, torch.ones_like(y))
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     hog = torch.empty(18232415, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(7, 60, 64, device="cuda")
--     y = model(x)[0]
--     loss = F.smooth_l1_loss(y, torch.zeros_like(y))
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     loss = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = None
--     x = torch.randn(7, 60, 64, device="cuda")
--     y = model(x)[0]
--     loss = y.sum()
--     loss.backward()
--     opt.step()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     x = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
local hog, x, y, loss, model, opt
ohm.cuda.set_per_process_memory_fraction(0.001)
hog = nil
x = nil
y = nil
loss = nil
model = nn.RNN(64, 64, 2, {dropout = 0.1}):to("cuda")
opt = ohm.optim.ASGD(model:parameters(), {lr = 0.01})
do
  local is_done, problem = pcall(function()
    hog = nil
    opt:zero_grad()
    x = ohm.randn(7, 60, 64, {device = "cuda"})
    y = model(x)[1]
    loss = F.mse_loss(y, ohm.ones_like(y))
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(18232415, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(7, 60, 64, {device = "cuda"})
    y = model(x)[1]
    loss = F.smooth_l1_loss(y, ohm.zeros_like(y))
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    loss = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = nil
    x = ohm.randn(7, 60, 64, {device = "cuda"})
    y = model(x)[1]
    loss = y:sum()
    loss:backward()
    opt:step()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    x = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
x = nil
y = nil
loss = nil
model = nil
opt = nil
mark("globals deleted")

--== failed_step_in_float16
-- torch.cuda.memory._set_allocator_settings("expandable_segments:True")
-- torch.cuda.set_per_process_memory_fraction(0.001)
-- hog = None
-- x = None
-- y = None
-- loss = None
-- model = nn.Sequential(nn.Conv2d(8, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 16, 2, 2)).to("cuda")
-- opt = torch.optim.Adam(model.parameters(), lr=0.01, amsgrad=True, fused=True)
-- scaler = torch.amp.GradScaler("cuda", init_scale=256.0)
-- try:
--     hog = None
--     x = torch.randn(2, 8, 16, 16, device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = F.mse_loss(y, torch.ones_like(y))
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     y = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(58410659, dtype=torch.uint8, device="cuda")
--     opt.zero_grad()
--     x = torch.randn(2, 8, 16, 16, device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = F.mse_loss(y, torch.ones_like(y))
--     scaler.scale(loss).backward()
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     torch.cuda.empty_cache()
--     mark("handled")
-- mark("caught")
-- hog = None
-- mark("tried")
-- try:
--     hog = None
--     opt.zero_grad()
--     x = torch.randn(2, 8, 16, 16, device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = y.sum()
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=1.0)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- torch.cuda.empty_cache()
-- mark("tried")
-- try:
--     hog = torch.empty(11867036, dtype=torch.uint8, device="cuda")
--     x = torch.randn(2, 8, 16, 16, device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = F.mse_loss(y, torch.ones_like(y))
--     scaler.scale(loss).backward()
--     scaler.unscale_(opt)
--     nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=1.0)
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     loss = None
--     opt.zero_grad()
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(64011551, dtype=torch.uint8, device="cuda")
--     x = torch.randn(2, 8, 16, 16, device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = y.sum()
--     scaler.scale(loss).backward()
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     torch.cuda.empty_cache()
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(62302005, dtype=torch.uint8, device="cuda")
--     x = torch.randn(2, 8, 16, 16, device="cuda")
--     with torch.autocast("cuda", dtype=torch.float16): y = model(x)
--     loss = F.mse_loss(y, torch.ones_like(y))
--     scaler.scale(loss).backward()
--     scaler.step(opt)
--     scaler.update()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     opt.zero_grad(set_to_none=False)
--     y = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
local hog, x, y, loss, model, opt, scaler
ohm.cuda.memory._set_allocator_settings("expandable_segments:True")
ohm.cuda.set_per_process_memory_fraction(0.001)
hog = nil
x = nil
y = nil
loss = nil
model = nn.Sequential(nn.Conv2d(8, 64, 3, {padding = 1}), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 16, 2, 2)):to("cuda")
opt = ohm.optim.Adam(model:parameters(), {lr = 0.01, amsgrad = true, fused = true})
scaler = ohm.amp.GradScaler("cuda", {init_scale = 256.0})
do
  local is_done, problem = pcall(function()
    hog = nil
    x = ohm.randn(2, 8, 16, 16, {device = "cuda"})
    do
      local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = F.mse_loss(y, ohm.ones_like(y))
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_norm_(model:parameters(), 1.0)
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    y = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(58410659, {dtype = ohm.uint8, device = "cuda"})
    opt:zero_grad()
    x = ohm.randn(2, 8, 16, 16, {device = "cuda"})
    do
      local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = F.mse_loss(y, ohm.ones_like(y))
    scaler:scale(loss):backward()
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    ohm.cuda.empty_cache()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
hog = nil
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = nil
    opt:zero_grad()
    x = ohm.randn(2, 8, 16, 16, {device = "cuda"})
    do
      local mode3 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = y:sum()
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {norm_type = 1.0})
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
ohm.cuda.empty_cache()
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(11867036, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(2, 8, 16, 16, {device = "cuda"})
    do
      local mode4 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = F.mse_loss(y, ohm.ones_like(y))
    scaler:scale(loss):backward()
    scaler:unscale_(opt)
    nn.utils.clip_grad_norm_(model:parameters(), 1.0, {norm_type = 1.0})
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    loss = nil; sweep()
    opt:zero_grad()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(64011551, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(2, 8, 16, 16, {device = "cuda"})
    do
      local mode5 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = y:sum()
    scaler:scale(loss):backward()
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    ohm.cuda.empty_cache()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(62302005, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(2, 8, 16, 16, {device = "cuda"})
    do
      local mode6 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
      y = model(x)
    end
    loss = F.mse_loss(y, ohm.ones_like(y))
    scaler:scale(loss):backward()
    scaler:step(opt)
    scaler:update()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    opt:zero_grad({set_to_none = false})
    y = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
hog = nil
x = nil
y = nil
loss = nil
model = nil
opt = nil
scaler = nil
mark("globals deleted")

--== failed_recomputation_of_a_module
-- from torch.utils.checkpoint import checkpoint
-- torch.cuda.set_per_process_memory_fraction(0.001)
-- def helper(x, y):
--     a = F.relu(x)
--     b = F.softmax(a, dim=-1)
--     a = b - b.mean(dim=1, keepdim=True)
--     return x
-- class Inner(nn.Module):
--     def __init__(self):
--         super().__init__()
--         self.l0 = nn.Linear(256, 256, bias=False)
--         self.l1 = nn.LayerNorm(256)
--         self.l2 = nn.GELU()
--         self.scale = nn.Parameter(torch.ones(256))
--     def forward(self, x):
--         x = torch.cat([x, x], dim=1)[:, :256]
--         b = helper(x, x)
--         x = self.l1(x)
--         return b * self.scale
-- class Outer(nn.Module):
--     def __init__(self):
--         super().__init__()
--         self.l0 = nn.Dropout(0.1)
--         self.l1 = nn.Linear(256, 256, bias=False)
--         self.scale = nn.Parameter(torch.ones(256))
--     def forward(self, x):
--         b = F.relu(x)
--         c = self.l0(b)
--         a = helper(b, c)
--         c = c.float().exp()
--         return x * self.scale
-- hog = None
-- x = None
-- y = None
-- model = Outer().to("cuda")
-- try:
--     hog = torch.empty(16675403, dtype=torch.uint8, device="cuda")
--     x = torch.randn(9000, 256, device="cuda")
--     y = checkpoint(model, x, use_reentrant=False)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     hog = None
--     x = None
--     mark("handled")
-- mark("caught")
-- model.zero_grad()
-- mark("tried")
-- try:
--     hog = torch.empty(23386765, dtype=torch.uint8, device="cuda")
--     x = torch.randn(4000, 256, device="cuda")
--     y = model(x)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- model.zero_grad()
-- mark("tried")
-- try:
--     hog = torch.empty(49678760, dtype=torch.uint8, device="cuda")
--     x = torch.randn(1000, 256, device="cuda", requires_grad=True)
--     y = model(x)
--     y.sum().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     y = None
--     x = None
--     mark("handled")
-- mark("caught")
-- mark("tried")
-- try:
--     hog = torch.empty(74277506, dtype=torch.uint8, device="cuda")
--     x = torch.randn(1000, 256, device="cuda", requires_grad=True)
--     y = model(x)
--     y.float().pow(2).mean().backward()
-- except torch.OutOfMemoryError as error:
--     mark("failed")
--     mark("handled")
-- mark("caught")
-- mark("tried")
local helper, Inner, Outer, hog, x, y, model
ohm.cuda.set_per_process_memory_fraction(0.001)
function helper(x, y)
  local a, b
  a = F.relu(x)
  b = F.softmax(a, {dim = -1})
  a = b - b:mean({dim = 1, keepdim = true})
  return x
end
Inner = nn.Module:extend("Inner")
function Inner:__init()
  self.l0 = nn.Linear(256, 256, {bias = false})
  self.l1 = nn.LayerNorm(256)
  self.l2 = nn.GELU()
  self.scale = nn.Parameter(ohm.ones(256))
end
function Inner:forward(x)
  local b
  x = slice(slice(ohm.cat({x, x}, {dim = 1}), 0, 0), 1, 0, 256)
  b = helper(x, x)
  x = self.l1(x)
  return b * self.scale
end
Outer = nn.Module:extend("Outer")
function Outer:__init()
  self.l0 = nn.Dropout(0.1)
  self.l1 = nn.Linear(256, 256, {bias = false})
  self.scale = nn.Parameter(ohm.ones(256))
end
function Outer:forward(x)
  local b, c, a
  b = F.relu(x)
  c = self.l0(b)
  a = helper(b, c)
  c = c:float():exp()
  return x * self.scale
end
hog = nil
x = nil
y = nil
model = Outer():to("cuda")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(16675403, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(9000, 256, {device = "cuda"})
    y = ohm.utils.checkpoint.checkpoint(model, x, {use_reentrant = false})
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    hog = nil; sweep()
    x = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
model:zero_grad()
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(23386765, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(4000, 256, {device = "cuda"})
    y = model(x)
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
model:zero_grad()
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(49678760, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(1000, 256, {device = "cuda", requires_grad = true})
    y = model(x)
    y:sum():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    y = nil; sweep()
    x = nil; sweep()
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
do
  local is_done, problem = pcall(function()
    hog = ohm.empty(74277506, {dtype = ohm.uint8, device = "cuda"})
    x = ohm.randn(1000, 256, {device = "cuda", requires_grad = true})
    y = model(x)
    y:float():pow(2):mean():backward()
    sweep()  -- what the last statement replaced
  end)
  if not is_done then
    if not tostring(problem):find("out of memory") then error(problem) end
    mark("failed")
    mark("handled")
    problem = nil; sweep()
  end
end
mark("caught")
mark("tried")
mark("end of program (globals alive)")
hog = nil
x = nil
y = nil
model = nil
mark("globals deleted")

--== masks_written_to_the_data_of_a_view
-- v = nn.Linear(32, 1, bias=False).to("cuda")
-- x = torch.randn(4, 12, 32, device="cuda", requires_grad=True)
-- m = torch.zeros(4, 12, dtype=torch.bool, device="cuda")
-- e = v(torch.tanh(x)).squeeze(-1)
-- e.data.masked_fill_(m, -1e9)
-- a = F.softmax(e, dim=1)
-- a.sum().backward()
local v, x, m, e, a
v = nn.Linear(32, 1, {bias = false}):to("cuda")
x = ohm.randn(4, 12, 32, {device = "cuda", requires_grad = true})
m = ohm.zeros(4, 12, {dtype = ohm.bool, device = "cuda"})
e = v(ohm.tanh(x)):squeeze(-1)
e.data:masked_fill_(m, -1000000000.0)
a = F.softmax(e, {dim = 1})
a:sum():backward()
mark("end of program (globals alive)")
v = nil
x = nil
m = nil
e = nil
a = nil
mark("globals deleted")

--== result_of_an_operator_goes_at_once
-- v0 = torch.randn(512, 1024, device="cuda")
-- v1 = v0 + 1.0
-- v2 = v1 * 2.0
-- del v2
-- del v0
local v0, v1, v2
v0 = ohm.randn(512, 1024, {device = "cuda"})
v1 = v0 + 1.0
v2 = v1 * 2.0
v2 = nil
v0 = nil
mark("end of program (globals alive)")
v1 = nil
mark("globals deleted")

--== operator_behind_a_method_in_one_assignment
-- v0 = torch.randn(48, 300, device="cuda")
-- v1 = torch.randn(48, 300, device="cuda")
-- v2 = 1.0 - v1
-- v2, v0 = v0.exp(), 1.0 - v1
-- v2, v1, v0 = torch.tanh(v0), v2 * 2.0, -v1
local v0, v1, v2
v0 = ohm.randn(48, 300, {device = "cuda"})
v1 = ohm.randn(48, 300, {device = "cuda"})
v2 = 1.0 - v1
v2, v0 = v0:exp(), 1.0 - v1
v2, v1, v0 = ohm.tanh(v0), v2 * 2.0, -v1
mark("end of program (globals alive)")
v0 = nil
v1 = nil
v2 = nil
mark("globals deleted")

--== operator_behind_a_function_with_variables
-- def twice(h):
--     g = h * 2.0
--     h = torch.sigmoid(g)
--     return h + 1.0
-- v1 = torch.randn(48, 300, device="cuda")
-- v2 = v1.clone()
-- v3 = v2.clone()
-- v1, v4 = twice(v1), v1 + v3
-- v5, v6 = twice(v2), 1.0 - v2
local twice, v1, v2, v3, v4, v5, v6
function twice(h)
  local g
  g = h * 2.0
  h = ohm.sigmoid(g)
  return h + 1.0
end
v1 = ohm.randn(48, 300, {device = "cuda"})
v2 = v1:clone()
v3 = v2:clone()
v1, v4 = twice(v1), v1 + v3
v5, v6 = twice(v2), 1.0 - v2
mark("end of program (globals alive)")
v1 = nil
v2 = nil
v3 = nil
v4 = nil
v5 = nil
v6 = nil
mark("globals deleted")

--== lists_that_go_right_behind_their_last_element
-- v0 = torch.randn(48, 300, device="cuda")
-- v1 = torch.randn(48, 300, device="cuda")
-- kept = []
-- kept.append(F.relu(v0))
-- kept.append(v1.clone())
-- kept = []
-- kept.append(v0 + v1)
-- kept = []
-- del v0
-- v3 = v1.exp()
-- kept = [v3.sort()[0], v3]
-- kept[1] = torch.tanh(v1)
-- kept = []
-- kept = [-v1, v3]
-- kept = []
-- del v1
local v0, v1, kept, v3
v0 = ohm.randn(48, 300, {device = "cuda"})
v1 = ohm.randn(48, 300, {device = "cuda"})
kept = {}
kept[#kept + 1] = F.relu(v0)
kept[#kept + 1] = v1:clone()
kept = {}
kept[#kept + 1] = v0 + v1
kept = {}
v0 = nil
v3 = v1:exp()
kept = {(v3:sort()), v3}
kept[2] = ohm.tanh(v1)
kept = {}
kept = {-v1, v3}
kept = {}
v1 = nil
mark("end of program (globals alive)")
kept = nil
v3 = nil
mark("globals deleted")

--== dictionary_that_goes_by_its_first_keys
-- v0 = torch.randn(48, 300, device="cuda")
-- v1 = torch.randn(48, 300, device="cuda")
-- state = {}
-- state["b"] = F.relu(v0)
-- state["a"] = v1.exp()
-- state["b"] = -v1
-- state = {}
-- del v1
-- state["c"] = v0.clone()
-- state["a"] = v0 * 2.0
-- v2 = v0.exp()
-- state["c"] = v2
-- del v2
local v0, v1, state, v2
v0 = ohm.randn(48, 300, {device = "cuda"})
v1 = ohm.randn(48, 300, {device = "cuda"})
state = {}
state.b = F.relu(v0)
state.a = v1:exp()
state.b = -v1
state = {}
v1 = nil
state.c = v0:clone()
state.a = v0 * 2.0
v2 = v0:exp()
state.c = v2
v2 = nil
mark("end of program (globals alive)")
v0 = nil
state = nil
mark("globals deleted")

--== argument_that_goes_before_the_function_calls_anything
-- def last(v0, v1):
--     kept = []
--     del v1
--     return v0
-- v0 = torch.randn(48, 300, device="cuda")
-- v1 = v0.exp()
-- state = {}
-- state["a"] = v1.clone()
-- v2 = last(v1, torch.tanh(v0))
-- state = {}
-- v2 = last(v1, v0 * 2.0)
local last, v0, v1, state, v2
function last(v0, v1)
  local kept
  kept = {}
  v1 = nil
  return v0
end
v0 = ohm.randn(48, 300, {device = "cuda"})
v1 = v0:exp()
state = {}
state.a = v1:clone()
v2 = last(v1, ohm.tanh(v0))
state = {}
v2 = last(v1, v0 * 2.0)
mark("end of program (globals alive)")
v0 = nil
v1 = nil
state = nil
v2 = nil
mark("globals deleted")

--== field_of_an_object_and_a_list
-- class Box:
--     def __init__(self):
--         self.number = 1
-- box = Box()
-- v0 = torch.randn(48, 300, device="cuda")
-- v1 = torch.randn(48, 300, device="cuda")
-- kept = []
-- kept.append(v1.exp())
-- kept.append(v0.clone())
-- box.a = (v1 + 1.0) * v0
-- kept = []
-- v0 = v0.exp()
-- box.a = v0
-- kept = []
local Box, box, v0, v1, kept
Box = nn.Module:extend("Box")
function Box:__init()
  self.number = 1
end
box = Box()
v0 = ohm.randn(48, 300, {device = "cuda"})
v1 = ohm.randn(48, 300, {device = "cuda"})
kept = {}
kept[#kept + 1] = v1:exp()
kept[#kept + 1] = v0:clone()
box.a = (v1 + 1.0) * v0
kept = {}
v0 = v0:exp()
box.a = v0
kept = {}
mark("end of program (globals alive)")
box = nil
v0 = nil
v1 = nil
kept = nil
mark("globals deleted")

--== variables_of_the_module_that_a_function_overwrites
-- a = torch.randn(48, 300, device="cuda")
-- b = None
-- c = a.exp()
-- def step():
--     global a, b, c
--     b = a * 2.0
--     b = None
--     a = None
--     c, b = torch.tanh(c), c + 1.0
--     b = None
-- step()
local a, b, c, step
a = ohm.randn(48, 300, {device = "cuda"})
b = nil
c = a:exp()
function step()
  b = a * 2.0
  b = nil
  a = nil
  c, b = ohm.tanh(c), c + 1.0
  b = nil
end
step()
mark("end of program (globals alive)")
c = nil
mark("globals deleted")

--== einsum_with_a_result_without_elements
-- x0 = torch.randn(3, 1, device="cuda", requires_grad=True)
-- x = x0.narrow(1, 1, 0).transpose(0, 1)
-- w0 = torch.randn(3, 0, device="cuda")
-- w = w0.transpose(1, 0)
-- y = torch.einsum('...ij,...kj->...ik', x, w)
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x0, x, w0, w, y, g
x0 = ohm.randn(3, 1, {device = "cuda", requires_grad = true})
x = x0:narrow(1, 1, 0):transpose(0, 1)
w0 = ohm.randn(3, 0, {device = "cuda"})
w = w0:transpose(1, 0)
y = ohm.einsum("...ij,...kj->...ik", x, w)
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x0 = nil
x = nil
w0 = nil
w = nil
y = nil
g = nil
mark("globals deleted")

--== packed_sequence_with_first_states_without_a_graph
-- m = nn.LSTM(4, 20, batch_first=True).to("cuda")
-- x = torch.randn(3, 4, 4, device="cuda", requires_grad=True)
-- h0 = torch.randn(1, 3, 20, device="cuda")
-- c0 = torch.randn(1, 3, 20, device="cuda")
-- p = nn.utils.rnn.pack_padded_sequence(x, [1, 2, 4], batch_first=True, enforce_sorted=False)
-- with torch.no_grad(): y, (h, c) = m(p, (h0, c0))
local m, x, h0, c0, p, y, h, c
m = nn.LSTM(4, 20, {batch_first = true}):to("cuda")
x = ohm.randn(3, 4, 4, {device = "cuda", requires_grad = true})
h0 = ohm.randn(1, 3, 20, {device = "cuda"})
c0 = ohm.randn(1, 3, 20, {device = "cuda"})
p = nn.utils.rnn.pack_padded_sequence(x, {1, 2, 4}, {batch_first = true, enforce_sorted = false})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(p, {h0, c0})
    y = results[1]
    h = results[2]
    c = results[3]
  end
end
mark("end of program (globals alive)")
m = nil
x = nil
h0 = nil
c0 = nil
p = nil
y = nil
h = nil
c = nil
mark("globals deleted")

--== inference_mode_copies_rows_for_native_attention
-- layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, dtype=torch.float16, activation="gelu")
-- m = nn.TransformerEncoder(layer, 1).to("cuda")
-- x0 = torch.randn(2, 10, 16, device="cuda", dtype=torch.float16)
-- x = x0.narrow(1, 1, 8)
-- m.eval()
-- with torch.inference_mode(): y = m(x)
-- with torch.no_grad(): y = m(x)
-- a = nn.MultiheadAttention(16, 2, batch_first=True, dtype=torch.float64).to("cuda")
-- x0 = torch.randn(8, 2, 17, device="cuda", dtype=torch.float64)
-- x = x0.narrow(2, 1, 16).transpose(0, 1)
-- a.eval()
-- with torch.inference_mode(): y = a(x, x, x, need_weights=False)[0]
-- a.requires_grad_(False)
-- with torch.inference_mode(): y = a(x, x, x, need_weights=False)[0]
local layer, m, x0, x, y, a
layer = nn.TransformerEncoderLayer(16, 2, 24, {batch_first = true, dtype = ohm.float16, activation = "gelu"})
m = nn.TransformerEncoder(layer, 1):to("cuda")
x0 = ohm.randn(2, 10, 16, {device = "cuda", dtype = ohm.float16})
x = x0:narrow(1, 1, 8)
m:eval()
do
  local mode1 <close> = ohm.inference_mode()
  y = m(x)
end
do
  local mode2 <close> = ohm.no_grad()
  y = m(x)
end
a = nn.MultiheadAttention(16, 2, {batch_first = true, dtype = ohm.float64}):to("cuda")
x0 = ohm.randn(8, 2, 17, {device = "cuda", dtype = ohm.float64})
x = x0:narrow(2, 1, 16):transpose(0, 1)
a:eval()
do
  local mode3 <close> = ohm.inference_mode()
  y = a(x, x, x, {need_weights = false})
end
a:requires_grad_(false)
do
  local mode4 <close> = ohm.inference_mode()
  y = a(x, x, x, {need_weights = false})
end
mark("end of program (globals alive)")
layer = nil
m = nil
x0 = nil
x = nil
y = nil
a = nil
mark("globals deleted")
