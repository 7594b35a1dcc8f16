"""report_record.py COMPILES CORES [SEED]: prints the record of a simulated build. Compiles wait for cores
and for memory as under the governor; a few are killed and retried, preempted, paused, or fail."""
import heapq
import json
import random
import sys

count, cores = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
GB = 1_000_000_000
limit = max(6, 3 * cores) * GB
origin = 1_800_000_000.0
folders = ["csrc/flash_attn/src", "csrc/kernels", "aten/src/ATen/native", "third_party/fmt/src", "c10/core"]


def unit(number):
    kind = rng.choices(["c++", "cuda", "c", "link"], [62, 25, 10, 3])[0]
    ending = {"c++": ".cpp", "cuda": ".cu", "c": ".c", "link": ".so"}[kind]
    name = f"{rng.choice(folders)}/unit_{number:04d}{ending}"
    seconds = {"c++": rng.lognormvariate(2.2, 0.7), "cuda": rng.lognormvariate(3.6, 0.6), "c": rng.lognormvariate(0.2, 0.6),
               "link": rng.lognormvariate(2.0, 0.8)}[kind]
    peak = {"c++": rng.lognormvariate(-0.6, 0.5), "cuda": rng.lognormvariate(1.0, 0.45), "c": rng.lognormvariate(-2.6, 0.4),
            "link": rng.lognormvariate(-0.3, 0.8)}[kind]
    return {"kind": kind, "name": name, "output": name.rsplit("/", 1)[-1] + ".o", "seconds": seconds,
            "peak": int(min(peak, limit / GB * 0.6) * GB), "try": 0}


lines = [{"event": "build", "schema": 1, "id": "synthetic", "name": f"a build of {count} units", "jobs": 0, "cores": cores,
          "memory": 0, "at": origin}]
todo = [unit(i) for i in range(count)]
waiting, running, now, reserved, finished, next_unit, next_sample = [], [], 0.0, 0, 0, 0, 0.0
while finished < count:
    while next_unit < count and len(waiting) < cores + 14:
        one = todo[next_unit]
        one["asked"], one["why"] = now, ""
        waiting.append(one)
        next_unit += 1
    for one in list(waiting):
        if len(running) >= cores:
            one["why"] = one["why"] or "cores"
            continue
        if one["try"] and running:
            one["why"] = "alone"
            continue
        need = int(one["peak"] * rng.uniform(1.02, 1.3))
        if running and reserved + need > limit * 0.9:
            one["why"] = "memory"
            continue
        waiting.remove(one)
        one["start"], one["reserved"] = now, need
        reserved += need
        fate = rng.random()
        one["outcome"] = "done"
        one["length"] = one["seconds"]
        if one["try"] == 0 and fate < 0.004:
            one["outcome"], one["length"] = "out-of-memory", one["seconds"] * 0.7
        elif one["try"] == 0 and fate < 0.006:
            one["outcome"], one["length"] = "set-back", one["seconds"] * 0.4
        one["paused"] = one["length"] * 0.3 if 0.006 < fate < 0.009 else 0
        heapq.heappush(running, (now + one["length"], id(one), one))
    end, _, one = heapq.heappop(running)
    while next_sample < end:
        used = sum(int(o["peak"] * min(1, 0.25 + (next_sample - o["start"]) / o["length"])) for _, _, o in running + [(0, 0, one)]
                   if o["start"] <= next_sample)
        lines.append({"event": "memory", "at": origin + next_sample, "running": len(running) + 1, "waiting": len(waiting), "paused": 0,
                      "used": used, "reserved": max(reserved, used), "available": max(0, limit - used - GB), "limit": limit})
        next_sample += 1
    now = end
    reserved -= one["reserved"]
    again = one["outcome"] != "done"
    lines.append({"event": "compile", "at": origin + one["start"], "wait": one["start"] - one["asked"], "why": one["why"],
                  "seconds": one["length"], "paused": one["paused"], "peak": one["peak"], "reserved": one["reserved"],
                  "estimate": one["reserved"], "from": "unit", "unit": f"{hash(one['name']) & 0xffffffff:08x}", "family": one["name"][:20],
                  "kind": one["kind"], "name": one["name"], "output": one["output"], "threads": 1, "pid": 1, "try": one["try"],
                  "outcome": one["outcome"], "exit": 137 if again else 0, **({"again": True} if one["outcome"] == "out-of-memory" else {})})
    if one["paused"]:
        lines.append({"event": "pause", "at": origin + one["start"] + 0.4 * one["length"], "seconds": one["paused"], "name": one["name"], "why": "memory"})
    if again:
        one.update({"try": one["try"] + 1, "asked": now, "why": "alone"})
        waiting.insert(0, one)
    else:
        finished += 1
lines.append({"event": "unreached", "at": origin + 3, "program": "/opt/tool/bin/strange-cc"})
lines.append({"event": "cache", "at": origin + now, "hits": count // 3, "misses": count - count // 3, "uncacheable": 2, "remote_hits": 1, "errors": 0})
lines.append({"event": "end", "at": origin + now, "exit": 0})
for line in lines:
    print(json.dumps(line))
