"""Call one hook of a PEP 517 build backend, inside the source folder, with the step's own interpreter.

    python backend.py REQUEST.json RESULT.json

The request names the backend, its path, the hook and the settings; the result is what the hook returned. What the
backend prints goes to this process's output; an exception ends with its traceback and exit status 1.
"""

import importlib
import importlib.util
import json
import os
import sys


def settings(pairs):
    """A repeated key gets a list of values, as in pip and build."""
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
    # Do not import from this file's folder: its modules would shadow a package's.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
    sys.path[:0] = [os.path.abspath(path) for path in request["backend_path"]]
    module, _, attributes = request["backend"].partition(":")
    backend = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        backend = getattr(backend, attribute)
    return backend


def compile_in_parallel(threads):
    """Where the backend is built on setuptools; see parallel.py, in the same folder."""
    if threads < 2 or "setuptools" not in sys.modules:
        return
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parallel.py")
    spec = importlib.util.spec_from_file_location("_wheelsmith_parallel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.install(threads)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    sys.argv[1:], result_path = [], sys.argv[2]
    backend = load(request)
    if request["hook"].startswith("build_"):
        compile_in_parallel(request.get("threads", 1))
    hook = getattr(backend, request["hook"], None)
    config = settings(request["config"])
    asks = request["hook"].startswith("get_requires_for_")
    if hook is None and asks:
        value = []
    elif hook is None and request["hook"] == "build_editable":
        value = None  # the caller falls back to setup.py develop
    elif asks:
        value = list(hook(config))
    else:
        value = hook(request["out"], config)
    with open(result_path, "w", encoding="utf-8") as file:
        json.dump({"value": value}, file)


if __name__ == "__main__":
    main()
