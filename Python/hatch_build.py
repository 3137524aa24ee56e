"""Puts a C library into a wheel, and names the wheel's platform."""

import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibraryHook(BuildHookInterface):
    def initialize(self, version, build_data):
        # Where Scripts/libraries.sh has linked the libraries. See Scripts/wheels.sh.
        folder = os.environ["UPRIGHT_LIBRARIES"]
        library, package = self.config["library"], self.config["package"]
        build_data["force_include"][f"{folder}/{library}"] = f"{package}/{library}"
        # Of what is linked into the library.
        if "UPRIGHT_LICENCES" in os.environ and package == "upright":
            build_data["force_include"][os.environ["UPRIGHT_LICENCES"]] = f"{package}/licences"
        build_data["pure_python"] = False
        # Any Python 3 loads it: it isn't an extension module.
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
