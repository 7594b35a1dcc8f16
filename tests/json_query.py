"""json_query.py EXPRESSION FILE: see json in common.inc. Fails when the file is not exactly one valid document."""
import json
import sys


class Keys(dict):
    """A dict whose keys are attributes too."""
    __getattr__ = dict.__getitem__


def refuse(name):
    raise ValueError(f"{name} is no JSON")


with open(sys.argv[2], encoding="utf-8", errors="strict") as file:
    document = json.load(file, object_hook=Keys, parse_constant=refuse)
answer = eval(f"({sys.argv[1]})", {"document": document, **document})
if isinstance(answer, str):
    print(answer)
elif isinstance(answer, (list, tuple, set)):
    for item in sorted(answer) if isinstance(answer, set) else answer:
        print(item if isinstance(item, str) else json.dumps(item))
else:
    print(json.dumps(answer))
