#!/bin/bash
# The model that vLLM's recipe generates and serves as a test, and the test's own steps: a stand-in for `vllm serve`
# with its options and URLs loads the model with transformers, on the CPU, and generates. A server that dies and one
# that never stops are reported.
source "$(dirname "$0")/../common.inc"
source "$tests/small_package.inc"
need_registry
need_disk 4
cd "$t"
python3 -m venv venv
venv/bin/python -m pip install -q --no-cache-dir torch==2.13.0+cpu transformers >"$t/pip" 2>&1 || skip "no torch 2.13.0+cpu here: $(tail -n 1 "$t/pip")"
run_json recipe show vllm
json '[x.script for x in recipe.test if x.name == "serve"][0]' >serve.py

cat >stand_in <<'PYTHON'
import argparse, http.server, json, os, signal, subprocess
import torch
import transformers

parser = argparse.ArgumentParser()
parser.add_argument("verb", choices=["serve"])
parser.add_argument("model")
for name in ("host", "port", "served-model-name", "dtype", "max-model-len", "max-num-seqs", "gpu-memory-utilization"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--enforce-eager", action="store_true", required=True)
options = parser.parse_args()
assert os.environ["HF_HUB_OFFLINE"] == "1" and options.host == "127.0.0.1" and options.dtype == "float16"
signal.signal(signal.SIGTERM, signal.SIG_IGN if os.path.exists("stubborn") else signal.SIG_DFL)
engine = subprocess.Popen(["sleep", "987"])
tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
model, loaded = transformers.AutoModelForCausalLM.from_pretrained(options.model, output_loading_info=True)
assert not any(loaded.values()), loaded
assert type(model).__name__ == "LlamaForCausalLM" and model.dtype == torch.float16, model
assert tokenizer.decode(tokenizer("one two").input_ids) == "one two"
model = model.float()


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        assert self.path == "/health"
        self.answer(b"")

    def do_POST(self):
        assert self.path == "/v1/completions"
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["model"] == options.served_model_name
        ids = tokenizer(asked["prompt"], return_tensors="pt").input_ids
        made = model.generate(ids, max_new_tokens=asked["max_tokens"], min_new_tokens=asked["max_tokens"], do_sample=False)[0][ids.shape[1]:]
        self.answer(json.dumps({"choices": [{"text": tokenizer.decode(made)}], "usage": {"completion_tokens": len(made)}}).encode())


http.server.HTTPServer((options.host, int(options.port)), Handler).serve_forever()
PYTHON
serves() { { echo "#!$t/venv/bin/python"; cat "$1"; } >venv/bin/vllm && chmod +x venv/bin/vllm && timeout 300 venv/bin/python serve.py >"$t/said" 2>&1; }
nothing_left() { [[ -z $(pgrep -f "^sleep 987$") ]] || fail "the engine is still running"; }

serves stand_in || { cat "$t/said" >&2; fail "the test"; }
grep -q "'completion_tokens': 4" "$t/said" || fail "$(<"$t/said")"
nothing_left
touch stubborn
sed 's/(signal.SIGTERM, 30)/(signal.SIGTERM, 1)/' serve.py >quick.py && mv quick.py serve.py
serves stand_in || { cat "$t/said" >&2; fail "a server that ignores SIGTERM"; }
nothing_left
echo 'raise SystemExit(3)' >dead
if serves dead; then fail "a server that dies passes"; fi
grep -q "vllm serve ended with 3 before it answered" "$t/said" || fail "$(<"$t/said")"
