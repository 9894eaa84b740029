// Facts: what was seen of the machine, a file and a GPU, each known, absent or unknown.
//
// Plain values without behaviour; share freely once made. `unknown` means that it could not be read (no permission, no
// such interface in this kernel): that is never the same as absent, and never an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace waybill {

// What is known of a value.
enum class Known { unknown, absent, known };

// A value that was read from `source` (a path or a call). `why` says why an unknown one could not be read.
template <class T>
struct Fact {
    Known state = Known::unknown;
    T value{};
    std::string source;
    std::string why;

    // Which of the three; is() only where it is known.
    [[nodiscard]] bool known() const noexcept { return state == Known::known; }
    [[nodiscard]] bool absent() const noexcept { return state == Known::absent; }
    [[nodiscard]] bool unknown() const noexcept { return state == Known::unknown; }
    [[nodiscard]] bool is(const T& wanted) const noexcept { return known() && value == wanted; }
};

// Facts of each state.
template <class T>
[[nodiscard]] Fact<T> known_fact(T value, std::string source) {
    return {Known::known, std::move(value), std::move(source), {}};
}
template <class T>
[[nodiscard]] Fact<T> absent_fact(std::string source) {
    return {Known::absent, {}, std::move(source), {}};
}
template <class T>
[[nodiscard]] Fact<T> unknown_fact(std::string source, std::string why) {
    return {Known::unknown, {}, std::move(source), std::move(why)};
}

// A device's number, as in st_dev.
struct DeviceNumber {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    bool operator==(const DeviceNumber&) const = default;
};

// One mount, as in mountinfo.
struct MountFacts {
    std::int64_t id = 0;
    std::string file_system;  // ext4, xfs, overlay, tmpfs, ...
    std::string source;
    std::string mount_point;
    std::string root;          // the part of the file system that is mounted here (`/` unless a bind mount)
    std::string options;       // of the mount and of the file system, joined by commas
    DeviceNumber device;
    std::int64_t parent_id = 0;  // of the mount that it stands on
};

// One device of the stack under a file system.
struct BlockLayer {
    enum class Kind { other, nvme, nvme_of, scsi, virtio, loop, device_mapper, md, partition, anonymous };
    Kind kind = Kind::other;
    std::string name;         // nvme0n1p2
    std::string pci_address;  // of its controller, 0000:01:00.0; empty where there is none
    bool operator==(const BlockLayer&) const = default;
};

// The block device under a file: the stack from the file system's device down.
struct BlockFacts {
    using Kind = BlockLayer::Kind;
    Kind kind = Kind::other;           // of the file system's device; of the disk where that is a partition
    std::string name;                  // nvme0n1p2
    std::vector<BlockLayer> stack;     // the file system's own device first
};

// How many of a range's bytes were in the page cache when asked.
struct Residency {
    enum class State { unknown, partial, known };
    State state = State::unknown;
    std::uint64_t range_bytes = 0;
    std::uint64_t cached_bytes = 0;
    std::uint64_t dirty_bytes = 0;
    std::string source;  // `cachestat`, `mincore`, or why unknown
};

// How much of an open file's range is in the page cache: by cachestat where the kernel answers; else by mincore, which tells the
// truth to an owner or a writer of the file alone and counts every page as resident for others; else unknown. Never throws.
[[nodiscard]] Residency measure_residency(int fd, std::uint64_t offset, std::uint64_t size_bytes) noexcept;

// What decides of a file which way its bytes can go.
struct FileFacts {
    std::string path;      // as the caller gave it
    std::string resolved;  // without symbolic links; empty when it could not be had
    std::uint64_t size_bytes = 0;
    DeviceNumber device;
    Fact<MountFacts> mount;
    Fact<BlockFacts> block;
    Fact<bool> direct_open;               // does the file system open with O_DIRECT
    Fact<std::uint32_t> direct_offset_align;  // bytes
    Fact<std::uint32_t> direct_memory_align;  // bytes
    Fact<bool> udev_record;
    Fact<std::string> udev_usage;         // ID_FS_USAGE of the record
    bool memory_backed = false;           // tmpfs, ramfs: no device under it
};

// nvidia-fs, the kernel module.
struct NvidiaFsFacts {
    Fact<bool> loaded;
    Fact<std::string> version;             // "2.27", or "2.27.3" where the statistics tell the whole of it
    Fact<bool> device_nodes;               // /dev/nvidia-fs*
    Fact<std::vector<std::string>> registered;  // drivers in /proc/driver/nvidia-fs/modules
};

// What PCI P2PDMA needs besides cufile.json.
struct P2pdmaFacts {
    Fact<bool> kernel;            // the kernel has CONFIG_PCI_P2PDMA (from its config or symbols)
    Fact<bool> driver_static_bar; // the NVIDIA driver's parameters that expose memory (RMForceStaticBar1)
    Fact<bool> driver_no_write_combining;  // RmForceDisableIomapWC=1
    Fact<bool> driver_open;       // the open kernel modules
    Fact<bool> nvme_multipath;    // nvme_core multipath is on
};

// A member of cufile.json, as it stands there.
struct CufileEntry {
    std::string key;     // execution.max_io_threads
    std::string value;   // as JSON text
    std::string type;    // boolean, integer, number, text, list, object, null
    std::string file;
    std::size_t line = 0;    // of the key, from 1
    std::size_t column = 0;  // in bytes, from 1
};

// The effective cufile.json with the CUFILE_* variables that override it. cuFile reads /etc/cufile.json and then, over it, the file
// that CUFILE_ENV_PATH_JSON names; a key that neither has keeps the library's built-in value.
struct CufileConfig {
    std::string file;              // the last one that was read; empty: none was found
    std::vector<std::string> files;
    std::string missing_file;      // named by CUFILE_ENV_PATH_JSON or a setting, and not there: cuFile passes it over without a word
    bool valid = true;
    std::string problem;           // why a file as a whole is not understood, with line and column
    bool ends_process = false;     // the library aborts on this file instead of refusing it
    bool ends_in_read = false;     // and only when it reads: the driver opens, so trying that first protects nobody
    bool invalid_by_values = false;  // not as a text, but by what the values say to the version of the library
    std::string refused_values;    // values that make cuFile refuse the file, each with its place; empty: none
    std::uint64_t max_io_threads = 0;
    std::uint64_t max_io_queue_depth = 128;
    bool parallel_io = false;
    std::uint64_t min_io_threshold_bytes = 1024 * 1024;
    std::uint64_t max_request_parallelism = 0;
    std::uint64_t max_direct_io_bytes = 1024 * 1024;
    bool allow_compat_mode = true;
    bool force_compat_mode = false;
    bool use_pci_p2pdma = false;
    std::vector<std::string> p2pdma_switches;  // block kinds and file systems with use_pci_p2pdma: block.nvme, fs.nfs, ...
    bool p2pdma_needs_switch = true;           // this version has such switches
    std::vector<std::pair<std::string, std::string>> origins;  // key and where its value is from, for the values above
    std::vector<CufileEntry> entries;          // of all files, in the order in which the library reads them
};

// NVIDIA's library and its configuration, as files tell them.
struct CufileFacts {
    Fact<std::string> library;     // the path that a dlopen would take
    Fact<int> version;             // 1000*major+10*minor when it can be told without loading (file name, or loaded)
    Fact<std::vector<std::string>> missing_dependencies;  // libraries that it needs and the loader does not find; absent when all are there
    CufileConfig config;
};

// What all files of a machine have in common.
struct MachineFacts {
    std::string root;              // "/" for the machine itself
    Fact<std::string> kernel;      // release
    Fact<bool> modules_readable;   // /proc/modules opens
    Fact<bool> udev_database;      // /run/udev/data exists
    NvidiaFsFacts nvidia_fs;
    P2pdmaFacts p2pdma;
    CufileFacts cufile;
    Fact<std::string> nvidia_driver;  // the version of NVIDIA's kernel driver; absent when it is not loaded
    std::uint64_t free_memory_bytes = 0;  // MemAvailable, under the cgroup's limit
    std::uint32_t cores = 1;       // this process may use
    bool wsl = false;
    Fact<std::string> container;   // docker, podman, kubernetes, ...; absent when none is seen
};

// One GPU, as the driver or the bus shows it.
struct GpuFacts {
    int device = 0;                // CUDA's ordinal
    Fact<bool> present;            // seen on the bus, or given by the driver
    Fact<bool> driver;             // NVIDIA's kernel driver serves it
    std::string name;
    std::string uuid;              // "GPU-..." form
    std::string pci_address;       // 0000:01:00.0
    Fact<bool> gpu_direct_rdma;    // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
};

// A device's place on the PCI bus and what its link does.
struct PciFacts {
    std::string address;               // 0000:01:00.0
    std::vector<std::string> way;      // from the root complex down: pci0000:00, 0000:00:01.0, 0000:01:00.0
    Fact<std::int64_t> numa_node;      // -1: the machine has none
    Fact<double> link_gt_per_s;        // as it runs now, and the most that the device can
    Fact<double> link_most_gt_per_s;
    Fact<std::int64_t> lanes;
    Fact<std::int64_t> lanes_most;
    Fact<std::uint64_t> bar1_bytes;    // the second region of its memory, of a GPU
    Fact<std::string> iommu_group_type;  // identity, DMA, DMA-FQ
    std::vector<std::string> acs_on;   // bridges on the way that send peer traffic up to the root (ACS)
    bool acs_unknown = false;          // a bridge's configuration space needs root to read
};

// How near two PCI devices are.
enum class PciDistance { unknown, same_switch, same_root, same_socket, other_socket };

// What only `check` looks at: of no use for a transfer, or too slow for one.
struct SurroundingFacts {
    int device = 0;                          // the number that was asked for, or that the name asked for has
    std::vector<GpuFacts> gpus;              // by bus address
    Fact<PciFacts> gpu;                      // of the GPU that was asked for
    Fact<PciFacts> drive;                    // of the first drive under the file
    PciDistance distance = PciDistance::unknown;
    Fact<bool> iommu;                        // the kernel uses one
    Fact<std::string> virtual_machine;       // KVM, VMware, ...; absent on bare metal
    Fact<std::uint64_t> memlock_bytes;       // RLIMIT_MEMLOCK; the largest number means no limit
    Fact<std::uint64_t> open_files;          // RLIMIT_NOFILE, likewise
    Fact<std::uint64_t> shared_memory_bytes; // the most that /dev/shm holds
    Fact<std::string> nvme_symbol;           // what the nvme module exports for nvidia-fs: v1, v2, none
    std::vector<std::pair<std::string, std::string>> cufile_variables;  // CUFILE_ variables that are set
    bool order_uncertain = false;            // several GPUs, and which one CUDA numbers so is not sure
};

}  // namespace waybill
