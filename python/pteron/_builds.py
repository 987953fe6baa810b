"""Written by scripts/openvino_builds."""

# Where PyPI has builds of OpenVINO: (system, machine): its first and last Python, 3.x.
BUILDS = {
    ("Linux", "x86_64"): (10, 14),
    ("Linux", "aarch64"): (10, 14),
    ("Windows", "AMD64"): (10, 14),
}
