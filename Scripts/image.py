#!/usr/bin/env python3
"""Writes a folder as an OCI image in an archive: one layer, the same bytes for the same files.

Usage: image.py ROOT ARCHIVE NAME < CONFIG

CONFIG is the `config` of the image in JSON (https://github.com/opencontainers/image-spec/blob/main/config.md). Its
Healthcheck is Docker's, which reads it here too. SOURCE_DATE_EPOCH is the time of all files. Set-user-ID and
set-group-ID bits are left out.
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

TIME = int(os.environ["SOURCE_DATE_EPOCH"])


def entries(root):
    for path in sorted(root.rglob("*")):
        yield path, str(path.relative_to(root))


def member(archive, path, name, owners):
    info = archive.gettarinfo(path, name)
    info.mtime, info.uname, info.gname = TIME, "", ""
    info.mode &= 0o1777
    # Who made the folder isn't who owns it in the image.
    info.uid = info.gid = owners.get(name, info.uid if os.geteuid() == 0 else 0)
    if info.islnk():
        # A second name of a file is the file again: which of them comes first doesn't matter then.
        info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
    return info


def layer(root, owners):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, name in entries(root):
            info = member(archive, path, name, owners)
            if info.isreg():
                with path.open("rb") as file:
                    archive.addfile(info, file)
            elif not info.isdev():
                archive.addfile(info)
    return data.getvalue()


def write(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = len(data), TIME, 0o644
    archive.addfile(info, io.BytesIO(data))


def main():
    root, output, name = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    config = json.load(sys.stdin)
    title, _, version = name.partition(":")
    config["Labels"] = {
        "org.opencontainers.image.title": title, "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "GPL-3.0-or-later"}
    owners = {folder.strip("/"): int(config["User"].split(":")[0]) for folder in config.get("Volumes", {}) if "User" in config}
    plain = layer(root, owners)
    packed = gzip.compress(plain, 9, mtime=0)
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(data)}

    def document(value, kind):
        return blob(json.dumps(value, sort_keys=True, separators=(",", ":")).encode(), kind)

    created = datetime.datetime.fromtimestamp(TIME, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    described = document({
        "created": created, "architecture": "amd64", "os": "linux", "config": config,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]},
        "history": [{"created": created, "created_by": "upright"}]}, "config.v1+json")
    manifest = document({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": described,
        "layers": [blob(packed, "layer.v1.tar+gzip")]}, "manifest.v1+json")
    repository, _, tag = name.partition(":")
    manifest["annotations"] = {
        "org.opencontainers.image.ref.name": tag, "io.containerd.image.name": f"docker.io/library/{repository}:{tag}"}
    with tarfile.open(output, "w", format=tarfile.GNU_FORMAT) as archive:
        write(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        write(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
        for digest in sorted(blobs):
            write(archive, "blobs/sha256/" + digest, blobs[digest])
    print(f"{output}: {len(packed) / 1e6:.1f} MB compressed, {len(plain) / 1e6:.1f} MB unpacked")


if __name__ == "__main__":
    main()
