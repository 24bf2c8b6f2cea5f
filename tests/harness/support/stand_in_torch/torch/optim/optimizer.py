before, after = [], []
register_optimizer_step_pre_hook = before.append
register_optimizer_step_post_hook = after.append
