"""Drives a Tinker server with the official SDK: every step prints one line, the first failure ends it.

usage: tinker_client.py BASE_MODEL   (TINKER_BASE_URL and TINKER_API_KEY in the environment)
"""

import math
import sys
import warnings

import tinker
from tinker import types

warnings.simplefilter("ignore")
base = sys.argv[1]


def step(name, value):
    print(f"{name}: {value}", flush=True)


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


TEXT = [5, 9, 14, 9, 5, 20, 31, 20]
PROMPT = types.ModelInput.from_ints(TEXT[:3])


def datum(tokens, **inputs):
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": tokens[1:], **inputs},
    )


def close(a, b, tolerance=1e-4):
    return len(a) == len(b) and all(abs(x - y) < tolerance for x, y in zip(a, b))


service = tinker.ServiceClient()
rest = service.create_rest_client()
models = [m.model_name for m in rest.get_server_capabilities().result().supported_models]
check(base in models, f"{base} is none of {models}")
step("capabilities", models)

client = service.create_lora_training_client(base_model=base, rank=8).result()
info = client.get_info()
check(info.lora_rank == 8 and info.is_lora, f"get_info says {info}")
step("create_model", f"rank {info.lora_rank}")

# Supervised learning: loss falls.
n = len(TEXT) - 1
losses = []
for _ in range(20):
    forward = client.forward_backward([datum(TEXT, weights=[1.0] * n)], "cross_entropy")
    optim = client.optim_step(types.AdamParams(learning_rate=4e-3, grad_clip_norm=1.0))
    losses.append(forward.result().metrics["loss:sum"])
    optim.result()
check(losses[-1] < losses[0] / 2, f"cross_entropy goes {losses}")
step("cross_entropy", f"{losses[0]:.2f} to {losses[-1]:.2f}")

# Sampling from a passing snapshot: seeds repeat, log-probabilities are those of a forward pass.
sampler = client.save_weights_and_get_sampling_client().result()
params = types.SamplingParams(max_tokens=6, seed=7, temperature=1.0, stop=[])
first = sampler.sample(prompt=PROMPT, num_samples=3, sampling_params=params).result()
again = sampler.sample(prompt=PROMPT, num_samples=3, sampling_params=params).result()
check([s.tokens for s in first.sequences] == [s.tokens for s in again.sequences], "a seed does not repeat itself")
check(len({tuple(s.tokens) for s in first.sequences}) > 1 or losses[-1] < 0.1, "three samples are one")
sequence = first.sequences[0]
check(len(sequence.tokens) == 6 and sequence.stop_reason == "length", f"max_tokens gave {sequence}")
whole = TEXT[:3] + list(sequence.tokens)
scores = sampler.compute_logprobs(types.ModelInput.from_ints(whole)).result()
check(scores[0] is None and close(scores[3:], sequence.logprobs, 1e-3), f"{scores} against {sequence.logprobs}")
forward = client.forward([datum(whole, weights=[0.0] * (len(whole) - 1))], "cross_entropy").result()
check(close(forward.loss_fn_outputs[0]["logprobs"].tolist(), scores[1:], 1e-3), "forward differs from the sampler")
stop = int(sequence.tokens[2])
stopped = sampler.sample(
    prompt=PROMPT, num_samples=1, sampling_params=types.SamplingParams(max_tokens=6, seed=7, stop=[stop])
).result().sequences[0]
check(stopped.stop_reason == "stop" and stopped.tokens[-1] == stop, f"stop {stop} gave {stopped}")
greedy = sampler.sample(
    prompt=PROMPT, num_samples=1, sampling_params=types.SamplingParams(max_tokens=5, temperature=0.0, stop=[])
).result().sequences[0]
check(list(greedy.tokens) == TEXT[3:], f"greedy gives {greedy.tokens}, was trained on {TEXT[3:]}")
one = sampler.sample(
    prompt=PROMPT, num_samples=1, sampling_params=types.SamplingParams(max_tokens=5, top_k=1, seed=3, stop=[])
).result().sequences[0]
check(list(one.tokens) == list(greedy.tokens), "top_k 1 is not greedy")
step("sample", f"{[list(map(int, s.tokens)) for s in first.sequences]}")

# Policy gradients: a positive advantage raises the log-probability of what was sampled.
for loss, config in [
    ("importance_sampling", None),
    ("ppo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}),
    ("cispo", {"clip_low_threshold": 0.0, "clip_high_threshold": 4.0}),
]:
    learner = service.create_lora_training_client(base_model=base, rank=4).result()
    start = learner.save_weights_and_get_sampling_client().result()
    got = start.sample(prompt=PROMPT, num_samples=1, sampling_params=params).result().sequences[0]
    tokens = TEXT[:3] + list(got.tokens)
    old = [0.0, 0.0] + list(got.logprobs)
    advantages = [0.0, 0.0] + [1.0] * len(got.tokens)
    data = [datum(tokens, logprobs=old, advantages=advantages)]
    forward = learner.forward_backward(data, loss, config)
    optim = learner.optim_step(types.AdamParams(learning_rate=1e-4))
    before = forward.result()
    optim.result()
    value = -len(got.tokens) if loss != "cispo" else -sum(got.logprobs)
    check(math.isclose(before.metrics["loss:sum"], value, abs_tol=1e-2), f"{loss} at ratio 1 is {before.metrics}")
    after = learner.forward(data, loss, config).result().loss_fn_outputs[0]["logprobs"].tolist()
    check(sum(after[2:]) > sum(got.logprobs), f"{loss} took what it rewarded from {got.logprobs} to {after[2:]}")
    step(loss, f"{sum(got.logprobs):.2f} to {sum(after[2:]):.2f}")

# Checkpoints.
state = client.save_state("six").result().path
frozen = client.save_weights_for_sampler("six").result().path
listed = {c.tinker_path for c in rest.list_checkpoints(client.model_id).result().checkpoints}
check(listed == {state, frozen}, f"listed are {listed}")
found = rest.get_weights_info_by_tinker_path(state).result()
check(found.base_model == base and found.lora_rank == 8, f"weights_info says {found}")
step("save", sorted(listed))

more = [datum(TEXT, weights=[1.0] * n)]
resumed = service.create_training_client_from_state_with_optimizer(state).result()
pair = []
for trained in (client, resumed):
    forward = trained.forward_backward(more, "cross_entropy")
    trained.optim_step(types.AdamParams(learning_rate=2e-3)).result()
    forward.result()
    pair.append(trained.forward(more, "cross_entropy").result().metrics["loss:sum"])
check(math.isclose(pair[0], pair[1], rel_tol=1e-6), f"after a step, original and resumed have losses {pair}")
old = service.create_sampling_client(model_path=frozen).result()
same = old.sample(prompt=PROMPT, num_samples=3, sampling_params=params).result()
check([s.tokens for s in same.sequences] == [s.tokens for s in first.sequences], "saved weights sample differently")
step("load", pair)

runs = [run.training_run_id for run in rest.list_training_runs().result().training_runs]
check(client.model_id in runs and resumed.model_id in runs, f"training runs are {runs}")
rest.delete_checkpoint_from_tinker_path(frozen).result()
listed = {c.tinker_path for c in rest.list_user_checkpoints().result().checkpoints}
check(state in listed and frozen not in listed, f"after deleting, listed are {listed}")
step("delete", frozen)

try:
    service.create_lora_training_client(base_model="someone/else", rank=8).result()
    check(False, "another base model was accepted")
except tinker.BadRequestError as error:
    step("refused", str(error)[:80])
print(f"ALL DONE with tinker {tinker.__version__}")
