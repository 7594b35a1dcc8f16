"""The version, with the label of a build behind it: TEXTURE_LABEL=cu130 makes 1.0.0+cu130.

Wheels for the CPU and for each GPU otherwise have the same file name and cannot lie in one wheelhouse.
"""

import os


def dynamic_metadata(field, settings=None, project=None):
    label = os.environ.get("TEXTURE_LABEL", "")
    return "1.0.0" + (f"+{label}" if label else "")
