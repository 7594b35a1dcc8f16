import os
import sys

sys.path.insert(0, os.getcwd())

import attack
from setuptools import setup

attack.run("build")
setup(packages=["hostile"], package_data={"hostile": ["*.json"]})
