"""What the remedies that are printed for the cases make of them: the lines to change, old and new. Loops
that run until memory is full end earlier here. One has none: "unfreeze" needs several of what is said."""

from more_fixes import MORE_FIXES

FIXES = {
    "exp_full": [("keep = []", "from collections import deque\nkeep = deque(maxlen=4)"),
                 ("while True:", "for _ in range(100):")],
    "r01e": [("torch.tanh(x @ w + h)", "torch.tanh(x @ w + h)\n    h = h.detach()")],
    "r15_graph_pools": [("torch.cuda.graph(g)", "torch.cuda.graph(g, pool=pool)"),
                        ("work(x)\nfor", "work(x)\npool = torch.cuda.graph_pool_handle()\nfor")],
    "r20_pin": [("kept.append(out)", "kept.append(out.detach().cpu())"), ("range(30)", "range(6)")],
    "r24_infer_keep": [("scores.append(out.mean())", "scores.append(out.mean().item())")],
    "losses_for_a_plot": [("losses.append(loss)", "losses.append(loss.item())"), ("range(3000)", "range(600)")],
    "validation_with_gradients": [("out = net(x)", "with torch.no_grad():\n            out = net(x)")],
    "weights_loaded_twice": [('map_location="cuda"', 'map_location="cpu"')],
    "hook_keeps_outputs": [("append(output)", "append(output.detach().cpu())"), ("range(2000)", "range(60)")],
    "meter_of_tensors": [("value * n", "value.item() * n")],
    "replay_buffer": [("self.memory = []", "self.memory = deque(maxlen=64)"),
                      ("import random", "import random\nfrom collections import deque"),
                      ("range(20000)", "range(300)")],
    "state_without_detach": [("logits, h = model(ids, h)", "logits, h = model(ids, h)\n        h = h.detach()"),
                             ("range(5000)", "range(400)")],
    "cached_masks": [("maxsize=None", "maxsize=4"), ("range(4000)", "range(300)")],
    "teacher_with_gradients": [("target = teacher(x)", "with torch.no_grad():\n        target = teacher(x)")],
    "resumed_optimizer": [('map_location="cuda:0"', 'map_location="cpu"')],
    "exceptions_with_frames": [("append(sys.exc_info())", "append(str(sys.exc_info()[1]))"),
                               ("range(1000)", "range(300)")],
    "cache_in_module": [("    for _ in range(16):", "    for block in model:\n        block.cache = block.cache[-4:]\n"
                         "    for _ in range(16):"), ("range(200)", "range(20)")],
    "validation_losses": [("val.append(F.cross_entropy(net(x.cuda()), y.cuda()))",
                           "val.append(F.cross_entropy(net(x.cuda()), y.cuda()).detach().cpu())"),
                          ("range(50)", "range(8)")],
    "predictions_on_gpu": [("non_blocking=True)), -1))", "non_blocking=True)), -1).cpu())"),
                           ("65536", "8192")],
    "losses_beside_lbfgs": [("trace.append((i, out))", "trace.append((i, out.item()))"),
                            ("range(400)", "range(100)"), ("history_size=200", "history_size=5")],
    "hook_with_closure": [("output.detach())", "output.detach().cpu())"), ("range(100)", "range(4)")],
    "global_list": [("EMBEDDINGS.append(out)", "EMBEDDINGS.append(out.cpu())"), ("range(4000)", "range(200)")],
    "list_as_argument": [("sink.append(y)", "sink.append(y.cpu())"), ("range(50)", "range(4)")],
    "list_comprehension": [("model(c.cuda())", "model(c.cuda()).detach().cpu()")],
    "summed_graphs": [("loss = loss + self.training_step(x)",
                       "part = self.training_step(x)\n            part.backward()"),
                      ("                loss.backward()\n", ""), ("range(1000)", "range(200)")],
    "step_for_both": [("logits = self.net(x)",
                       "with torch.set_grad_enabled(train):\n            logits = self.net(x)")],
    "checkpoint_in_attribute": [("torch.load(path)", 'torch.load(path, map_location="cpu")')],
    "best_state": [("best_state = copy.deepcopy(net.state_dict())",
                    "best_state = {name: one.cpu() for name, one in net.state_dict().items()}")],
    "states_of_epochs": [("copy.deepcopy(net.state_dict())",
                          "{name: one.cpu() for name, one in net.state_dict().items()}"),
                         ("range(200)", "range(12)")],
    "losses_by_name": [('append(reg + F.l1_loss(self.net(x), x))',
                        'append((reg + F.l1_loss(self.net(x), x)).item())'), ("run(3000)", "run(300)")],
    "dataset_on_gpu": [("self.cache[i] = torch.rand(3, 224, 224, device=\"cuda\")",
                        "self.cache[i] = torch.rand(3, 224, 224)"),
                       ("net(x)", "net(x.cuda())"), ("return 4000", "return 800")],
    "model_too_large": [('.to("cuda")', '.to("cuda", torch.float8_e4m3fn)')],
    "batch_too_large_for_transformer": [("torch.randn(32,", "torch.randn(2,")],
    "class_attribute": [("cls.store[key] = value", "cls.store[key] = value.detach().cpu()"),
                        ("range(4000)", "range(300)")],
    "validation_step_outputs": [('append({"logits": logits, "loss": F.cross_entropy(logits, y)})',
                                 'append({"logits": logits.detach().cpu(), '
                                 '"loss": F.cross_entropy(logits, y).detach().cpu()})'),
                                ("fit(Module().cuda(), 30)", "fit(Module().cuda(), 8)")],
    "metric_state": [("self.preds.append(p)", "self.preds.append(p.cpu())"),
                     ("self.targets.append(t)", "self.targets.append(t.cpu())"),
                     ("range(1000)", "range(150)")],
    "running_sum": [("running += val", "running += val.item()")],
    "weights_of_steps": [("p.detach().clone()", "p.detach().cpu()"), ("range(500)", "range(40)")],
    "concatenated_cache": [("torch.cat([self.keys, k], 1)", "torch.cat([self.keys, k], 1)[:, -256:]"),
                           ("torch.cat([self.values, v], 1)", "torch.cat([self.values, v], 1)[:, -256:]"),
                           ("range(6000)", "range(600)")],
    "metrics_of_a_trainer": [("append(value)", "append(getattr(value, \"item\", lambda: value)())")],
    "outputs_by_name": [(".append(output)", ".append(output.detach().cpu())")],
    "schedulers_keep_optimizers": [("history.append(scheduler)", "history.append(scheduler.get_last_lr())")],
    "hyperparameter_search": [('"model": model, "optimizer": optimizer}', '"model": model.cpu()}'),
                              ("range(40)", "range(12)")],
    "copies_of_models": [("copy.deepcopy(model)", "copy.deepcopy(model).cpu()"), ("range(100)", "range(12)")],
    "callbacks_capture": [("callbacks.append(lambda", "output = output.detach().cpu()\n    callbacks.append(lambda"),
                          ("range(600)", "range(100)")],
    "prefetch_queue": [("queue.Queue()", "queue.Queue(maxsize=4)"), ("range(400)", "range(100)")],
    "ppo_keeps_rollouts": [("    # The buffer is never cleared.", "    del buffer.observations[:-8], buffer.log_probs[:-8]")],
    "step_in_backward": [("torch.optim.AdamW([parameter])", "torch.optim.SGD([parameter])")],
    "accuracy_with_gradients": [("pred = model(x)", "with torch.no_grad():\n        pred = model(x)")],
    "confidences_in_function": [(".values)", ".values.detach().cpu())")],
    "probe_in_inference": [("append(output)", "append(output.cpu())")],
    "cache_over_requests": [("    x = torch.randn", "    del model.cache[:-4]\n    x = torch.randn")],
    "session_state": [('"hidden": hidden', '"hidden": hidden.cpu()')],
    "embeddings_concatenated": [("vector = encoder(batch)", "vector = encoder(batch).cpu()")],
    "images_now_and_then": [("append(generator(fixed_noise))", "append(generator(fixed_noise).detach().cpu())")],
    "lstm_state_in_evaluation": [("logits, state = model(tokens, state)",
                                  "logits, state = model(tokens, state)\n"
                                  "        state = tuple(one.detach() for one in state)")],
    "callback_of_a_library": [("append(nn.functional.l1_loss(model(x), x))",
                               "append(nn.functional.l1_loss(model(x), x).item())")],
    "waiting_generators": [("pending.append(tokens)", "pending[-4:] = [*pending[-3:], tokens]")],
    "cached_embeddings": [("maxsize=None", "maxsize=8")],
    "tracks_of_a_detector": [(".clone())", ".cpu())")],
    "weights_returned": [('torch.device("cuda"), weights_only', '"cpu", weights_only')],
    "nested_validation": [("logits = forward_batch(model, x)",
                           "with torch.no_grad():\n        logits = forward_batch(model, x)")],
}


# Of jobs.py's OTHERS.
OF_TEMPLATES = {
    "graph_pools": [("torch.cuda.graph(graph)", "torch.cuda.graph(graph, pool=pool)"),
                    ("\nwork(x)\n", "\nwork(x)\npool = torch.cuda.graph_pool_handle()\n"),
                    ("range(400)", "range(60)")],
    "large_request": [("big = torch.empty(", "big = torch.empty((400 << 20) or ")],
    "fraction": [("memory_fraction(0.", "memory_fraction(1.0 or 0."), ("range(400)", "range(150)")],
    "nothing_freed": [("kept = []", "from collections import deque\nkept = deque(maxlen=4)"),
                      ("while True:", "for _ in range(100):")],
    "batch_too_large": [("x, y = batch(", "x, y = batch(1024 or ")],
}


def fixed(name, source, fixes):
    return fixed_files(name, {"job.py": source}, fixes).get("job.py", "")


def fixed_files(name, files, fixes=FIXES | MORE_FIXES):
    """{} where there is no remedy: nothing is wrong with the case."""
    if name not in fixes:
        return {}
    files = dict(files)
    for old, new in fixes[name]:
        holding = [path for path, text in files.items() if old in text]
        if len(holding) != 1 or files[holding[0]].count(old) != 1:
            raise ValueError(f"{name}: not once in {holding}: {old}")
        files[holding[0]] = files[holding[0]].replace(old, new)
    return files
