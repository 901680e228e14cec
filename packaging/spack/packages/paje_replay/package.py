# SPDX-License-Identifier: MIT OR Apache-2.0

import os

from spack_repo.builtin.build_systems.cargo import CargoBuilder, CargoPackage

from spack.package import *


class PajeReplay(CargoPackage):
    """Pajé Replay replays traces of parallel programs (Pajé, OTF2) fast and exactly, and has tools that check,
    split, compare, profile, convert, view, pack and predict from them."""

    license("MIT OR Apache-2.0")

    # The release's source archive, in the current folder.
    manual_download = True

    version("0.1.0")

    variant("tables", default=True, description="Write Arrow, Parquet and CSV tables")
    variant("png", default=False, description="Write figures as PNG")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/paje-replay-{version}.tar.gz"


class CargoBuilder(CargoBuilder):
    def build(self, pkg, spec, prefix):
        with working_dir(self.build_directory), open("packaging/programs") as programs:
            names = [line.split() for line in programs if line.startswith("pj_")]
            for _, package in names:
                features = [
                    feature
                    for feature, of in (("tables", "pj-dump"), ("png", "pj-view"))
                    if of == package and spec.satisfies("+" + feature)
                ]
                pkg.module.cargo(
                    "install",
                    "--locked",
                    "--root",
                    "out",
                    "--path",
                    package,
                    "--features",
                    ",".join(features),
                    *self.std_build_args,
                )

    def check(self):
        with working_dir(self.build_directory):
            self.pkg.module.cargo("test", "--locked", "--package", "pj-dump")

    @run_after("install")
    def install_pages(self):
        pages = join_path(self.prefix.share.man, "man1")
        places = {
            "bash": bash_completion_path(self.prefix),
            "zsh": zsh_completion_path(self.prefix),
            "fish": fish_completion_path(self.prefix),
        }
        for folder in (pages, *places.values()):
            mkdirp(folder)
        for name in os.listdir(self.prefix.bin):
            program = Executable(join_path(self.prefix.bin, name))
            with open(join_path(pages, name + ".1"), "w") as page:
                program("--generate", "man", output=page)
            files = {"bash": name, "zsh": "_" + name, "fish": name + ".fish"}
            for shell, file in files.items():
                with open(join_path(places[shell], file), "w") as completions:
                    program("--generate", "complete-" + shell, output=completions)
