# Run by an interpreter with -I: prints the properties of the imported torch as one line of JSON.
import json

import torch
import torch.distributed

print(
    json.dumps(
        {
            "version": str(torch.__version__),
            "cuda": torch.version.cuda or "",
            "hip": getattr(torch.version, "hip", None) or "",
            "cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI),
        }
    )
)
