-- Written by tests/comparisons/translate_programs.py: do not edit.

--== op_abs_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.abs(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_abs_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.abs(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_adaptive_avg_pool2d_1_small
local N, x, out, g
N = 160
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.adaptive_avg_pool2d(x, 1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_adaptive_avg_pool2d_2_big
local N, x, out, g
N = 1024
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.adaptive_avg_pool2d(x, 2)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_add_alpha_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.add(x, y, {alpha = 2})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_add_alpha_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.add(x, y, {alpha = 2})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_add_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_add_broadcast_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_add_broadcast_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_add_inplace_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x * 1.0):add_(y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_add_scalar_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + 1.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_add_scalar_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + 1.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_add_self_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + x
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_argmax_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:argmax({dim = 1})
mark("forward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_argmax_small
local N, x, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:argmax({dim = 1})
mark("forward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_avg_pool2d_big
local N, x, out, g
N = 1024
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.avg_pool2d(x, 2)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_avg_pool2d_small
local N, x, out, g
N = 160
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.avg_pool2d(x, 2)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_batch_norm_1d_3d_small
local N, m, x, out, g
N = 160
m = nn.BatchNorm1d(64, {device = "cuda"})
x = ohm.randn(16, 64, (N * N) // 1024, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_batch_norm_1d_big
local N, m, x, out, g
N = 1024
m = nn.BatchNorm1d(N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_batch_norm_1d_eval_big
local N, m, x, out, g
N = 1024
m = nn.BatchNorm1d(N, {device = "cuda"}):eval()
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_batch_norm_1d_eval_small
local N, m, x, out, g
N = 160
m = nn.BatchNorm1d(N, {device = "cuda"}):eval()
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_batch_norm_1d_small
local N, m, x, out, g
N = 160
m = nn.BatchNorm1d(N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_batch_norm_2d_small
local N, m, x, out, g
N = 160
m = nn.BatchNorm2d(16, {device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_bce_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.binary_cross_entropy(ohm.sigmoid(x), t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_bce_small
local N, x, t, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.binary_cross_entropy(ohm.sigmoid(x), t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_bce_with_logits_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.binary_cross_entropy_with_logits(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_bmm_rect_big
local x, y, out, g
x = ohm.randn(8, 512, 1024, {device = "cuda", requires_grad = true})
y = ohm.randn(8, 1024, 256, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.bmm(x, y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cat_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.cat({x, y})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cat_dim1_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.cat({x, y}, 1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cat_dim1_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.cat({x, y}, 1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_chunk3_used_big
local N, x, out, g
N = 1024
x = ohm.randn(N, 3 * N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (function(q, k, v) return (q * k) + v end)(x:chunk(3, {dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_chunk3_used_small
local N, x, out, g
N = 160
x = ohm.randn(N, 3 * N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (function(q, k, v) return (q * k) + v end)(x:chunk(3, {dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_clamp_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:clamp(-1, 1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_clamp_min_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:clamp({min = 0})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_clip_grad_norm
local model, x, n
model = nn.Sequential(collect(4, function() return nn.Linear(1024, 1024) end)):cuda()
x = ohm.randn(256, 1024, {device = "cuda"})
model(x):sum():backward()
mark("backward")
n = nn.utils.clip_grad_norm_(model:parameters(), 1.0)
mark("clip 1")
n = nn.utils.clip_grad_norm_(model:parameters(), 1.0, {foreach = false})
mark("clip foreach=False")
nn.utils.clip_grad_value_(model:parameters(), 1.0)
mark("clip value")
mark("end of program (globals alive)")
model = nil
x = nil
n = nil
mark("globals deleted")

--== op_clone_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:clone()
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_contiguous_noop_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:contiguous()
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_conv2d_big
local N, m, x, out, g
N = 1024
m = nn.Conv2d(16, 16, 3, {padding = 1, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv2d_input_no_grad_big
local N, m, x, out, g
N = 1024
m = nn.Conv2d(16, 16, 3, {padding = 1, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda"})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv2d_input_no_grad_small
local N, m, x, out, g
N = 160
m = nn.Conv2d(16, 16, 3, {padding = 1, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda"})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv2d_no_bias_big
local N, m, x, out, g
N = 1024
m = nn.Conv2d(16, 16, 3, {padding = 1, bias = false, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv2d_no_bias_small
local N, m, x, out, g
N = 160
m = nn.Conv2d(16, 16, 3, {padding = 1, bias = false, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv2d_small
local N, m, x, out, g
N = 160
m = nn.Conv2d(16, 16, 3, {padding = 1, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv_transpose2d_big
local N, m, x, out, g
N = 1024
m = nn.ConvTranspose2d(16, 16, 2, {stride = 2, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_conv_transpose2d_small
local N, m, x, out, g
N = 160
m = nn.ConvTranspose2d(16, 16, 2, {stride = 2, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_create_graph
local x, y, g
x = ohm.randn(1024, 1024, {device = "cuda", requires_grad = true})
mark("x")
y = (x ^ 3):sum()
mark("y")
g = ohm.autograd.grad(y, x, {create_graph = true})
mark("grad")
g:pow(2):sum():backward()
mark("second backward")
mark("end of program (globals alive)")
x = nil
y = nil
g = nil
mark("globals deleted")

--== op_cross_entropy_3d_big
local N, x, y, out
N = 1024
x = ohm.randn(4, 64, (N * N) // 256, {device = "cuda", requires_grad = true})
y = ohm.randint(0, 64, {4, (N * N) // 256}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_3d_small
local N, x, y, out
N = 160
x = ohm.randn(4, 64, (N * N) // 256, {device = "cuda", requires_grad = true})
y = ohm.randint(0, 64, {4, (N * N) // 256}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_none_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {N}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y, {reduction = "none"})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_none_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {N}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y, {reduction = "none"})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_prob_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_cross_entropy_prob_small
local N, x, t, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_cross_entropy_small
local N, x, y, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {N}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_smoothing_big
local N, x, y, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {N}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y, {label_smoothing = 0.1})
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_smoothing_small
local N, x, y, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {N}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y, {label_smoothing = 0.1})
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_view_big
local N, x, y, out
N = 1024
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {4, N // 4}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x:view(-1, N), y:view(-1))
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cross_entropy_view_small
local N, x, y, out
N = 160
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
y = ohm.randint(0, N, {4, N // 4}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x:view(-1, N), y:view(-1))
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_cumsum_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:cumsum(0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_cumsum_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:cumsum(0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_detach_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:detach()
mark("forward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_div_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x / y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_div_one_grad_big
local N, x, t, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = x / t
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_div_scalar_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x / 2.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_div_scalar_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x / 2.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_double_mul_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", dtype = ohm.float64, requires_grad = true})
mark("inputs")
out = x * x
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_dropout_eval_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.dropout(x * 1.0, {p = 0.5, training = false})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_dropout_nograd_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.no_grad(function() return F.dropout(x, 0.5, true) end)
mark("forward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_dropout_p0_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.dropout(x * 1.0, {p = 0.0, training = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_dropout_p0_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.dropout(x * 1.0, {p = 0.0, training = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_dropout_p1_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.dropout(x * 1.0, {p = 1.0, training = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_dropout_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.dropout(x, {p = 0.5, training = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_elu_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.elu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_embedding_2d_idx_big
local N, m, i, out, g
N = 1024
m = nn.Embedding(4 * N, N, {device = "cuda"})
i = ohm.randint(0, N, {4, N // 4}, {device = "cuda"})
mark("inputs")
out = m(i)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
i = nil
mark("globals deleted")

--== op_embedding_4096_big
local N, m, i, out, g
N = 1024
m = nn.Embedding(N, 256, {device = "cuda"})
i = ohm.randint(0, N, {4096}, {device = "cuda"})
mark("inputs")
out = m(i)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
i = nil
mark("globals deleted")

--== op_embedding_4096_small
local N, m, i, out, g
N = 160
m = nn.Embedding(N, 256, {device = "cuda"})
i = ohm.randint(0, N, {4096}, {device = "cuda"})
mark("inputs")
out = m(i)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
i = nil
mark("globals deleted")

--== op_exp_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.exp(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_expand_big
local N, x, out, g
N = 1024
x = ohm.randn(N, 1, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:expand(N, N) * 1.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_gather_big
local N, x, i, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
i = ohm.zeros(N, 4, {dtype = ohm.int64, device = "cuda"})
mark("inputs")
out = x:gather(1, i)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
i = nil
mark("globals deleted")

--== op_gelu_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.gelu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_gelu_tanh_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.gelu(x, {approximate = "tanh"})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_gelu_tanh_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.gelu(x, {approximate = "tanh"})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_gru_nocudnn_big
local N, m, x, out, g
N = 1024
m = nn.GRU(N // 4, N // 4, {batch_first = true, device = "cuda"})
x = ohm.randn(16, 16, N // 4, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)[1]
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_gru_nocudnn_small
local N, m, x, out, g
N = 160
m = nn.GRU(N // 4, N // 4, {batch_first = true, device = "cuda"})
x = ohm.randn(16, 16, N // 4, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)[1]
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_half_cross_entropy_big
local N, x, y, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.randint(0, N, {N}, {device = "cuda"})
mark("inputs")
out = F.cross_entropy(x, y)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_half_layer_norm_big
local N, m, x, out, g
N = 1024
m = nn.LayerNorm(N, {device = "cuda", dtype = ohm.float16})
x = ohm.randn(N, N, {device = "cuda", dtype = ohm.float16, requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_half_linear_small
local N, lin, x, out, g
N = 160
lin = nn.Linear(N, N, {device = "cuda", dtype = ohm.float16})
x = ohm.randn(N, N, {device = "cuda", dtype = ohm.float16, requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_half_matmul_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", dtype = ohm.float16, requires_grad = true})
mark("inputs")
out = ohm.matmul(x, y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_half_softmax_fp32_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", dtype = ohm.float16, requires_grad = true})
mark("inputs")
out = ohm.softmax(x, -1, {dtype = ohm.float32})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_huber_loss_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.huber_loss(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_index_select_big
local N, x, i, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
i = ohm.arange(0, N, 2, {device = "cuda"})
mark("inputs")
out = x:index_select(0, i)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
i = nil
mark("globals deleted")

--== op_index_tensor_big
local N, x, i, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
i = ohm.arange(0, N, 2, {device = "cuda"})
mark("inputs")
out = x:index({i})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
i = nil
mark("globals deleted")

--== op_interpolate_bilinear_big
local N, x, out, g
N = 1024
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.interpolate(x, {scale_factor = 2, mode = "bilinear"})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_interpolate_nearest_small
local N, x, out, g
N = 160
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.interpolate(x, {scale_factor = 2})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_kl_div_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.kl_div(x, t, {reduction = "batchmean"})
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_l1_loss_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.l1_loss(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_l1_loss_small
local N, x, t, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.l1_loss(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_layer_norm_3d_small
local N, m, x, out, g
N = 160
m = nn.LayerNorm(N, {device = "cuda"})
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_layer_norm_big
local N, m, x, out, g
N = 1024
m = nn.LayerNorm(N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_layer_norm_no_affine_big
local N, m, x, out, g
N = 1024
m = nn.LayerNorm(N, {elementwise_affine = false, device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_layer_norm_no_affine_small
local N, m, x, out, g
N = 160
m = nn.LayerNorm(N, {elementwise_affine = false, device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_layer_norm_small
local N, m, x, out, g
N = 160
m = nn.LayerNorm(N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_layer_norm_tall_small
local N, m, x, out, g
N = 160
m = nn.LayerNorm(256, {device = "cuda"})
x = ohm.randn((N * N) // 256, 256, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_leaky_relu_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.leaky_relu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_leaky_relu_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.leaky_relu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_linear_3d_big
local N, lin, x, out, g
N = 1024
lin = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_3d_no_bias_big
local N, lin, x, out, g
N = 1024
lin = nn.Linear(N, N, {bias = false, device = "cuda"})
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_3d_small
local N, lin, x, out, g
N = 160
lin = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_big
local N, lin, x, out, g
N = 1024
lin = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_input_no_grad_big
local N, lin, x, out, g
N = 1024
lin = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_input_no_grad_small
local N, lin, x, out, g
N = 160
lin = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_no_bias_rect_big
local lin, x, out, g
lin = nn.Linear(2048, 512, {bias = false, device = "cuda"})
x = ohm.randn(1024, 2048, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_noncontiguous_small
local N, lin, x, out, g
N = 160
lin = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x:t())
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_out1_big
local N, lin, x, out, g
N = 1024
lin = nn.Linear(N, 1, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_out1_small
local N, lin, x, out, g
N = 160
lin = nn.Linear(N, 1, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_rect_big
local N, lin, x, out, g
N = 1024
lin = nn.Linear(N, 4 * N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = lin(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
lin = nil
x = nil
mark("globals deleted")

--== op_linear_relu_linear_big
local N, a, b, x, out, g
N = 1024
a = nn.Linear(N, N, {device = "cuda"})
b = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = b(ohm.relu(a(x)))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
a = nil
b = nil
x = nil
mark("globals deleted")

--== op_linear_relu_linear_small
local N, a, b, x, out, g
N = 160
a = nn.Linear(N, N, {device = "cuda"})
b = nn.Linear(N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = b(ohm.relu(a(x)))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
a = nil
b = nil
x = nil
mark("globals deleted")

--== op_log_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.log(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_log_softmax_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.log_softmax(x, -1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_masked_fill_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:masked_fill(ohm.ones(N, N, {dtype = ohm.bool, device = "cuda"}), 0.0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_matmul_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.matmul(x, y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_matmul_heads_small
local N, x, out, g
N = 160
x = ohm.randn(4, N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.matmul(x:view(4, N, 8, N // 8):transpose(1, 2), x:view(4, N, 8, N // 8):transpose(1, 2):transpose(-2, -1))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_matmul_one_grad_big
local N, x, t, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = ohm.matmul(x, t)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_matmul_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.matmul(x, y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_matmul_sum_backward_big
local N, x, y, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (ohm.matmul(x, y)):sum()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_matmul_sum_backward_small
local N, x, y, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (ohm.matmul(x, y)):sum()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_matmul_t_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.matmul(x, y:t())
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_max_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:max()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_max_dim_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x:max({dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_max_dim_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x:max({dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_max_pool2d_nograd_big
local N, x, out
N = 1024
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.no_grad(function() return F.max_pool2d(x, 2) end)
mark("forward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_max_pool2d_nograd_small
local N, x, out
N = 160
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.no_grad(function() return F.max_pool2d(x, 2) end)
mark("forward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_max_pool2d_small
local N, x, out, g
N = 160
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.max_pool2d(x, 2)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_max_small
local N, x, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:max()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mean_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:mean()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mean_dim_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:mean({dim = 0})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mean_nonleaf_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x * 1.0):mean()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mean_small
local N, x, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:mean()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mish_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.mish(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mish_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.mish(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mse_loss_both_big
local N, x, y, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.mse_loss(x, y)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_mse_loss_none_small
local N, x, t, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.mse_loss(x, t, {reduction = "none"})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_mul_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_mul_broadcast_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_mul_broadcast_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_mul_one_grad_big
local N, x, t, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = x * t
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_mul_one_grad_small
local N, x, t, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = x * t
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_mul_scalar_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * 2.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mul_scalar_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * 2.0
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mul_self_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * x
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_mul_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x * y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_multihead_attention_small
local N, m, x, out, g
N = 160
m = nn.MultiheadAttention(N, 4, {batch_first = true, device = "cuda"})
x = ohm.randn(4, N // 4, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x, x, x)[1]
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== op_neg_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.neg(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_norm_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:norm()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pad_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.pad(x, {1, 1, 1, 1})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pad_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.pad(x, {1, 1, 1, 1})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_permute_big
local N, x, out, g
N = 1024
x = ohm.randn(4, N // 2, N // 2, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:permute(2, 0, 1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_permute_small
local N, x, out, g
N = 160
x = ohm.randn(4, N // 2, N // 2, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:permute(2, 0, 1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pow2_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x ^ 2
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pow2_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x ^ 2
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pow3_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x ^ 3
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pow_half_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x ^ 0.5
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_pow_half_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x ^ 0.5
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_relu_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.relu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_relu_inplace_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.relu(x * 1.0, {inplace = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_relu_nonleaf_chain_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.relu(ohm.relu(ohm.relu(x)))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_relu_outofplace_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.relu(x * 1.0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_relu_outofplace_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.relu(x * 1.0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_relu_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.relu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_reshape_copy_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:t():reshape(-1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_residual_block_big
local N, ln, a, b, x, out, g
N = 1024
ln = nn.LayerNorm(N, {device = "cuda"})
a = nn.Linear(N, 4 * N, {device = "cuda"})
b = nn.Linear(4 * N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + b(F.gelu(a(ln(x))))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
ln = nil
a = nil
b = nil
x = nil
mark("globals deleted")

--== op_residual_block_small
local N, ln, a, b, x, out, g
N = 160
ln = nn.LayerNorm(N, {device = "cuda"})
a = nn.Linear(N, 4 * N, {device = "cuda"})
b = nn.Linear(4 * N, N, {device = "cuda"})
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x + b(F.gelu(a(ln(x))))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
ln = nil
a = nil
b = nil
x = nil
mark("globals deleted")

--== op_retain_graph_twice
local model, x, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)):cuda()
x = ohm.randn(512, 1000, {device = "cuda"})
mark("model, x")
loss = model(x):pow(2):mean()
mark("loss")
loss:backward({retain_graph = true})
mark("backward 1")
loss:backward()
mark("backward 2")
loss = nil
mark("del loss")
mark("end of program (globals alive)")
model = nil
x = nil
mark("globals deleted")

--== op_rsqrt_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.rsqrt(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_rsqrt_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.rsqrt(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sdpa_efficient_fp16_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.EFFICIENT_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_efficient_fp16_causal_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.EFFICIENT_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_efficient_fp16_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.EFFICIENT_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_efficient_fp32_causal_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.EFFICIENT_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_efficient_fp32_causal_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.EFFICIENT_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_flash_fp16_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.FLASH_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_flash_fp16_causal_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.FLASH_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_flash_fp16_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.FLASH_ATTENTION)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_math_fp16_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_math_fp16_causal_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_math_fp16_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_math_fp32_big
local N, q, k, v, ctx, out, g
N = 1024
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_math_fp32_causal_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_sdpa_math_fp32_small
local N, q, k, v, ctx, out, g
N = 160
q = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
k = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
v = ohm.randn(4, 8, N // 2, 64, {device = "cuda", dtype = ohm.float32, requires_grad = true})
ctx = nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH)
mark("inputs")
out = F.scaled_dot_product_attention(q, k, v)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
q = nil
k = nil
v = nil
ctx = nil
mark("globals deleted")

--== op_select_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:select(0, 0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_select_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:select(0, 0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sigmoid_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.sigmoid(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_silu_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.silu(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_slice_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:narrow(0, 0, N // 2)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_smooth_l1_loss_big
local N, x, t, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.smooth_l1_loss(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_smooth_l1_loss_small
local N, x, t, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
t = ohm.randn(N, N, {device = "cuda"})
mark("inputs")
out = F.smooth_l1_loss(x, t)
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
t = nil
mark("globals deleted")

--== op_softmax_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.softmax(x, -1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_softmax_dim0_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.softmax(x, 0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_softmax_dim0_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.softmax(x, 0)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_softmax_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.softmax(x, -1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_softplus_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.softplus(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_softplus_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.softplus(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sort_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x:sort({dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sort_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x:sort({dim = 1}))
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sqrt_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.sqrt(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_square_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.square(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_square_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.square(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_stack_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.stack({x, y})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_stack_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.stack({x, y})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_std_dim_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:std({dim = 1})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sub_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x - y
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_sum_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:sum()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sum_dim1_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:sum({dim = 1})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sum_dim1_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:sum({dim = 1})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sum_dim_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:sum({dim = 0})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sum_dim_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:sum({dim = 0})
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_sum_nonleaf_big
local N, x, out
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x * 1.0):sum()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_tanh_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.tanh(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_tanh_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.tanh(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_to_bf16_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:to(ohm.bfloat16)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_to_half_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:half()
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_to_same_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:to(ohm.float32)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_to_same_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:to(ohm.float32)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_transpose_contiguous_big
local N, x, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:t():contiguous()
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_transpose_contiguous_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:t():contiguous()
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_var_small
local N, x, out
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:var()
mark("forward")
out:backward()
mark("backward")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_view_small
local N, x, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = x:view(-1)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
mark("globals deleted")

--== op_where_big
local N, x, y, out, g
N = 1024
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.where(x:gt(0), x, y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")

--== op_where_small
local N, x, y, out, g
N = 160
x = ohm.randn(N, N, {device = "cuda", requires_grad = true})
y = ohm.randn(N, N, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.where(x:gt(0), x, y)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
x = nil
y = nil
mark("globals deleted")
