#include "check/place_rules.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace waybill {

// LMCache pull 3127: cuFile refused a directory mounted by subPath, and took a subdirectory of the parent mount.
bool subpath_mount(const CheckSubject& subject, Finding& finding) {
    const MountFacts& mount = subject.file.mount.value;
    const bool on_disk = subject.file.block.known() && subject.file.block.value.kind != BlockLayer::Kind::anonymous;
    if (!subject.file.mount.known() || mount.root.empty() || mount.root == "/" || !on_disk) {
        return false;
    }
    finding.seen = fmt::format("{} is the folder {} of its file system, mounted by itself; cuFile likely misreads such a mount", mount.mount_point,
                               mount.root);
    finding.source = "/proc/self/mountinfo";
    finding.fix = "if cuFile refuses the file (5008), mount the whole file system and use a folder below it";
    finding.not_needed = "staged reads are not concerned";
    return true;
}

bool memlock_low(const CheckSubject& subject, Finding& finding) {
    constexpr std::uint64_t kEnough = std::uint64_t{8} << 20;  // what systemd gives since version 254
    const auto& limit = subject.surroundings.memlock_bytes;
    if (!limit.known() || limit.value >= kEnough) {
        return false;
    }
    finding.seen = fmt::format("the limit of locked memory is {}", size_text(limit.value));
    finding.source = limit.source;
    finding.fix = "raise it (ulimit -l, LimitMEMLOCK=, docker --ulimit memlock=-1) where RDMA or io_uring is used";
    finding.not_needed = "CUDA's own pinned memory does not count against it";
    return true;
}

// Docker gives a container 64 MiB (docker run, --shm-size). Reads need none of it: cuFile 1.20 and Waybill were tried with 4 KiB.
bool shared_memory_low(const CheckSubject& subject, Finding& finding) {
    constexpr std::uint64_t kDockers = std::uint64_t{64} << 20;
    const auto& size = subject.surroundings.shared_memory_bytes;
    if (!size.known() || size.value >= kDockers) {
        return false;
    }
    finding.seen = fmt::format("/dev/shm holds {}, less than the {} that Docker gives by itself", size_text(size.value), size_text(kDockers));
    finding.source = size.source;
    finding.fix = "raise it (docker --shm-size, an emptyDir of medium Memory) where loaders hand data from process to process through it";
    finding.not_needed = "neither staged reads nor cuFile need it";
    return true;
}

// The kernel's own soft limit is 1024 (INR_OPEN_CUR); a file that is read holds up to three descriptors (io/descriptors.hpp).
bool open_files_low(const CheckSubject& subject, Finding& finding) {
    constexpr std::uint64_t kKernels = 1024;
    const auto& limit = subject.surroundings.open_files;
    if (!limit.known() || limit.value >= kKernels) {
        return false;
    }
    finding.seen = fmt::format("{} files may be open at once, fewer than the {} that the kernel gives by itself; each file that is read takes up to "
                               "three, and cuFile some of its own",
                               limit.value, kKernels);
    finding.source = limit.source;
    finding.fix = "raise it (ulimit -n, LimitNOFILE=, docker --ulimit nofile=65536) where many files are open at once";
    return true;
}

bool device_order_unknown(const CheckSubject& subject, Finding& finding) {
    if (!subject.surroundings.order_uncertain) {
        return false;
    }
    finding.seen = fmt::format("of {} GPUs, CUDA numbers the fastest 0 unless CUDA_DEVICE_ORDER=PCI_BUS_ID is set; this check took the order of "
                               "the bus",
                               subject.surroundings.gpus.size());
    finding.source = "CUDA_DEVICE_ORDER";
    finding.fix = "set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name the GPU by its UUID or bus address";
    return true;
}

bool in_container(const CheckSubject& subject, Finding& finding) {
    const auto& container = subject.machine.container;
    if (!container.known()) {
        return false;
    }
    finding.seen = fmt::format("this is a container ({}): mounts, /dev, /run and limits are its own", container.value);
    finding.source = container.source;
    finding.fix = "nothing by itself; kernel modules and their parameters are the host's to change";
    return true;
}

bool in_virtual_machine(const CheckSubject& subject, Finding& finding) {
    const auto& machine = subject.surroundings.virtual_machine;
    if (!machine.known()) {
        return false;
    }
    finding.seen = fmt::format("this is a virtual machine ({}): PCI positions and links are what the hypervisor shows", machine.value);
    finding.source = machine.source;
    finding.fix = "a direct path needs drive and GPU passed through, below one bridge where that can be arranged";
    return true;
}

}  // namespace waybill
