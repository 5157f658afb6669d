"""What names of GPUs and machines say."""

import pytest

from hopline.model.nccl.devices import architecture_of, has_arm, meets_in_switches
from hopline.model.nccl.numbers import ARCHITECTURES


@pytest.mark.parametrize(
    ("name", "architecture", "arm", "switches"),
    [
        ("NVIDIA H100 80GB HBM3", "hopper", False, True),
        ("NVIDIA GB200", "blackwell", True, True),
        ("NVIDIA B200", "blackwell", False, None),
        ("h100_dgx", "hopper", False, True),
        ("h100_pairwise_nvlink", "hopper", False, False),
        ("NVIDIA H100 NVL", "hopper", False, False),
        ("NVIDIA H100 PCIe", "hopper", False, False),
        ("NVIDIA GH200 480GB", "hopper", True, None),
        ("NVIDIA A100-SXM4-80GB", "ampere", False, True),
        ("a40_pairwise_nvlink", "ampere", False, False),
        ("Tesla V100-SXM2-32GB", "volta", False, True),
    ],
)
def test_names_tell(name, architecture, arm, switches):
    assert (architecture_of(name), has_arm(name), meets_in_switches(name)) == (architecture, arm, switches)
    assert architecture in ARCHITECTURES


@pytest.mark.parametrize(
    "name", ["", "AMD Instinct MI300X", "NVIDIA H1000", "XH100", "H100 and A100", "Graphics Device"]
)
def test_other_names_tell_nothing(name):
    assert architecture_of(name) == ""
