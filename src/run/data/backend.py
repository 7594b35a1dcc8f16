"""Calls one hook of a PEP 517 build backend, inside the source folder, with the step's own interpreter.

    python backend.py REQUEST.json RESULT.json

The request names the backend, its path, the hook and the settings; the result is what the hook returned. What the
backend prints goes where our output goes; an exception ends in its traceback and exit status 1.
"""

import importlib
import json
import os
import sys


def settings(pairs):
    """A key that stands twice has a list of values, as pip and build hand them on."""
    result = {}
    for key, value in pairs:
        if key not in result:
            result[key] = value
        elif isinstance(result[key], list):
            result[key].append(value)
        else:
            result[key] = [result[key], value]
    return result


def load(request):
    # The folder of this file is no place to import from: a package may have a module of any name.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
    sys.path[:0] = [os.path.abspath(path) for path in request["backend_path"]]
    module, _, attributes = request["backend"].partition(":")
    backend = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        backend = getattr(backend, attribute)
    return backend


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    sys.argv[1:], result_path = [], sys.argv[2]
    backend = load(request)
    hook = getattr(backend, request["hook"], None)
    config = settings(request["config"])
    asks = request["hook"].startswith("get_requires_for_")
    if hook is None and asks:
        value = []
    elif hook is None and request["hook"] == "build_editable":
        value = None  # there is an older way
    elif asks:
        value = list(hook(config))
    else:
        value = hook(request["out"], config)
    with open(result_path, "w", encoding="utf-8") as file:
        json.dump({"value": value}, file)


if __name__ == "__main__":
    main()
