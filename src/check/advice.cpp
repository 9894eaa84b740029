#include "check/advice.hpp"

#include <algorithm>
#include <array>

namespace waybill {
namespace {

constexpr std::array kAdvice{
    Advice{"no-gpu", "/proc/driver/nvidia/gpus, /sys/bus/pci/devices",
           "on a machine with a GPU, give it to this container (--gpus all) or virtual machine; without one, reads go to host memory",
           "installing CUDA or cuFile does not help without a GPU"},
    Advice{"gpu-driver-missing", "/proc/driver/nvidia/version",
           "install NVIDIA's driver for this kernel and load it (modprobe nvidia)", "installing libcufile or nvidia-fs before it"},
    Advice{"wsl", "/proc/sys/kernel/osrelease", "for a direct path boot Linux itself; under WSL bytes are staged",
           "installing nvidia-fs or switching P2PDMA on: neither can be had under WSL"},
    Advice{"gpu-class-unsupported", "the GPU's name or attribute GPU_DIRECT_RDMA_SUPPORTED",
           "use a data-centre or professional GPU for a direct path; bytes are staged on this one",
           "neither nvidia-fs nor a cufile.json changes what the GPU offers"},
    Advice{"cufile-missing", "LD_LIBRARY_PATH, /etc/ld.so.conf.d and the usual folders",
           "install libcufile (with CUDA: package libcufile; from PyPI: nvidia-cufile) or set cufile_library to its path; staged reads "
           "do without it",
           "installing nvidia-fs: without libcufile nothing uses it"},
    Advice{"cufile-dependency-missing", "libcufile's header (DT_NEEDED)",
           "install the package that has what is missing; staged reads do without it", "installing CUDA again"},
    Advice{"cufile-json-invalid", "cufile.json",
           "correct the file at the place named; staged reads do without it",
           "another file in CUFILE_ENV_PATH_JSON does not help against a faulty /etc/cufile.json: cuFile reads both"},
    Advice{"cufile-json-bad-value", "cufile.json",
           "correct the value, or take the key out: cuFileDriverOpen fails (5002; -22 in older versions) while one is refused",
           "the built-in value is not taken instead"},
    Advice{"kernel-modules-unreadable", "/proc/modules",
           "leave cuFile alone on this kernel (compat_mode=on or auto), or use libcufile 1.15",
           "installing nvidia-fs: a kernel without modules cannot load it"},
    Advice{"compat-forced", "cufile.json, CUFILE_FORCE_COMPAT_MODE",
           "set force_compat_mode to false, or unset CUFILE_FORCE_COMPAT_MODE (only the word true switches it on)", ""},
    Advice{"nvidia-fs-not-loaded", "/proc/driver/nvidia-fs, /sys/module/nvidia_fs",
           "install the package nvidia-fs (nvidia-gds) on the host and load it (modprobe nvidia-fs), or use P2PDMA where the findings "
           "below allow it",
           "reinstalling CUDA or libcufile, which do not bring it; cuFile's compatibility mode and staged reads do without"},
    Advice{"nvidia-fs-nodes-missing", "/dev/nvidia-fs*",
           "give the container the device nodes (--device /dev/nvidia-fs0 and so on, or the container toolkit's GDS mode); Waybill "
           "stages until then",
           "reinstalling nvidia-fs: the host has it"},
    Advice{"nvidia-fs-known-bad", "/proc/driver/nvidia-fs/version, /proc/driver/nvidia-fs/stats",
           "2.25.6: install 2.24.3, or (likely good too) a version from 2.25.7 on; 2.26.6 with driver 580.65.06: rebuild or update nvidia-fs for this driver",
           "changing mounts, IOMMU or cufile.json: the module itself is at fault"},
    Advice{"p2pdma-disabled", "cufile.json",
           "to use P2PDMA set properties.use_pci_p2pdma and the switch of the file's block device or file system "
           "(block.nvme.use_pci_p2pdma, fs.nfs.use_pci_p2pdma, ...) to true in cufile.json",
           "in libcufile 1.16 and newer the general switch, or CUFILE_USE_PCIP2PDMA, alone"},
    Advice{"p2pdma-kernel", "/boot/config-RELEASE, /proc/kallsyms", "boot a kernel built with CONFIG_PCI_P2PDMA", ""},
    Advice{"p2pdma-driver", "/proc/driver/nvidia/params",
           "likely: use the open kernel modules with the options "
           "NVreg_RegistryDwords=\"RMForceStaticBar1=1;RmForceDisableIomapWC=1\" and reload the driver",
           "a newer libcufile does not help while CUDA answers 801 (not supported)"},
    Advice{"p2pdma-multipath", "/sys/module/nvme_core/parameters/multipath", "boot with nvme_core.multipath=N", ""},
    Advice{"p2pdma-raid", "/sys/dev/block", "put the file on a plain NVMe partition", ""},
    Advice{"overlay", "/proc/self/mountinfo",
           "keep the file on a volume mounted into the container (docker -v, a hostPath or a local volume) whose file system is ext4 or xfs",
           "nvidia-fs alone does not help: no direct path leads into an overlay"},
    Advice{"filesystem-anonymous-device", "/proc/self/mountinfo",
           "keep the file on ext4 or xfs on a local NVMe drive, or on a network file system that NVIDIA supports", ""},
    Advice{"filesystem-unsupported", "/proc/self/mountinfo",
           "keep the file on ext4 or xfs on a local NVMe drive, or on a network file system that NVIDIA supports", ""},
    Advice{"mount-data-mode", "/proc/self/mountinfo", "remount with data=ordered spelled out: mount -o remount,data=ordered; or in fstab",
           "moving the file: drive and file system are as they should be"},
    Advice{"block-device-unsupported", "/sys/dev/block",
           "keep the file on a local NVMe drive (a virtual machine needs it passed through)", "nvidia-fs alone does not help on this device"},
    Advice{"nvme-not-registered", "/proc/driver/nvidia-fs/modules",
           "install the nvme driver with NVIDIA's hooks (DOCA-OFED or MLNX_OFED, mlnx-nvme) and rebuild the initramfs, or use P2PDMA where "
           "kernel and driver allow it",
           "a RAID of drives: one drive is enough"},
    Advice{"direct-open-refused", "open with O_DIRECT", "keep the file on a file system that takes O_DIRECT", ""},
    Advice{"udev-missing", "/run/udev/data",
           "in a container mount the host's database: -v /run/udev:/run/udev:ro; on a host run udevd; or leave cuFile alone (compat_mode=on)",
           "allow_compat_mode does not help: cuFile refuses the file in its compatibility mode too (5027 or 5030)"},
    Advice{"udev-record-missing", "/run/udev/data/bMAJOR:MINOR",
           "in a container mount the host's /run/udev read-only; on the host have udev look at the device again (udevadm trigger)",
           "allow_compat_mode does not help: cuFile refuses the file in its compatibility mode too (5027 or 5030)"},
    Advice{"udev-usage-missing", "/run/udev/data/bMAJOR:MINOR",
           "have udev look at the device again on the host (udevadm trigger), keep the file on another device, or leave cuFile alone "
           "(compat_mode=on)",
           "more mounts into the container do not help: the record itself is incomplete"},
    Advice{"compat-disallowed", "cufile.json, CUFILE_ALLOW_COMPAT_MODE", "set properties.allow_compat_mode to true, or make a direct path possible",
           "use_compat_mode: libcufile passes that name over"},
};

constexpr Advice kNone{};

}  // namespace

const Advice& advice_for(std::string_view id) noexcept {
    const auto found = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& advice) { return advice.id == id; });
    return found == kAdvice.end() ? kNone : *found;
}

}  // namespace waybill
