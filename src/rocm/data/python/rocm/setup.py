"""For builds with setuptools by hand. pip and uv use the backend in pyproject.toml, which has no dependencies. The
requirements come from that backend in both cases."""

import os
import sys

from setuptools import find_packages, setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rocm_selector  # noqa: E402

di = rocm_selector.load_dist_info()
always, extras = rocm_selector.requirements(di)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md"), encoding="utf-8") as readme:
    description = readme.read()

setup(
    name="rocm",
    version=di.__version__,
    description=rocm_selector.SUMMARY,
    long_description=description,
    long_description_content_type="text/markdown",
    python_requires=rocm_selector.PYTHON,
    package_dir={"": "src"},
    packages=find_packages("src"),
    install_requires=always,
    extras_require=extras,
    entry_points={"console_scripts": [f"{name}={place}" for name, place in rocm_selector.SCRIPTS.items()]},
)
