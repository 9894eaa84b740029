#include "route/machine_conditions.hpp"

#include "base/text.hpp"
#include "route/answers.hpp"

namespace waybill {

Answer gpu_present(const Subject& subject) {
    return subject.gpu == nullptr ? yes() : must_be(subject.gpu->present, "no NVIDIA GPU is here");
}

Answer gpu_driver(const Subject& subject) {
    return subject.gpu == nullptr ? yes() : must_be(subject.gpu->driver, "NVIDIA's kernel driver is not loaded");
}

// GPUDirect RDMA is what every direct path rests on; NVIDIA gives it to its data-centre and professional GPUs
// (nvidia-fs, hardware requirements).
Answer gpu_class(const Subject& subject) {
    if (subject.gpu == nullptr || subject.gpu->gpu_direct_rdma.is(true)) {
        return yes();
    }
    const GpuFacts& gpu = *subject.gpu;
    if (gpu.gpu_direct_rdma.is(false)) {
        return no(fmt::format("the driver says that {} has no GPUDirect RDMA", gpu.name.empty() ? "the GPU" : gpu.name), gpu.gpu_direct_rdma.source);
    }
    return gpu.name.find("GeForce") != std::string::npos
               ? no(fmt::format("{} is, by its name, of a class that NVIDIA likely gives no GPUDirect RDMA; the driver was not asked", gpu.name),
                    gpu.present.source)
               : yes();
}

Answer not_wsl(const Subject& subject) {
    return subject.machine.wsl ? no("this is WSL, where the GPU is reached through Windows and no direct path exists", subject.machine.kernel.source)
                               : yes();
}

Answer cufile_library(const Subject& subject) {
    return must_be(subject.machine.cufile.library, "libcufile is not installed");
}

// Where the header does not tell, as of a saved machine's empty file, nothing is said.
Answer cufile_dependencies(const Subject& subject) {
    const auto& missing = subject.machine.cufile.missing_dependencies;
    return missing.known() ? no(fmt::format("libcufile needs {}, which the loader does not find", join(missing.value, ", ")), missing.source) : yes();
}

Answer json_valid(const Subject& subject) {
    const CufileConfig& config = subject.machine.cufile.config;
    if (config.valid) {
        return yes();
    }
    std::string text = config.ends_in_read ? fmt::format("libcufile would end the process: {}", config.problem)
                                           : fmt::format("cuFile's configuration is not understood: {}{}", config.problem,
                                                         config.ends_process ? " (the process would end)" : "");
    return no(std::move(text), join(config.files, ", "));
}

// One value that it refuses is enough for cuFileDriverOpen to fail, with 5002 or, in older versions, -22 (seen with 1.15 to 1.20).
Answer json_values(const Subject& subject) {
    const CufileConfig& config = subject.machine.cufile.config;
    return config.refused_values.empty()
               ? yes()
               : no(fmt::format("cuFile's driver does not open with {}", config.refused_values), join(config.files, ", "));
}

// From 1.16 on cuFileDriverOpen spins for ever where /proc/modules does not open (seen with 1.16 to 1.20).
Answer modules_readable(const Subject& subject) {
    constexpr int kSpinsFrom = 1160;
    const MachineFacts& machine = subject.machine;
    if (machine.modules_readable.known() || machine.nvidia_fs.loaded.known() || !machine.cufile.library.known() ||
        older_than(machine, kSpinsFrom)) {
        return yes();
    }
    std::string text = "/proc/modules cannot be read, where cuFileDriverOpen of libcufile 1.16 and newer spins for ever";
    return machine.modules_readable.absent() && at_least(machine, kSpinsFrom) ? no(std::move(text), machine.modules_readable.source)
                                                                                  : not_known(std::move(text), machine.modules_readable.source);
}

Answer not_forced(const Subject& subject) {
    const CufileConfig& config = subject.machine.cufile.config;
    const std::string origin = cufile_origin(config, "properties.force_compat_mode");
    return config.force_compat_mode ? no(fmt::format("force_compat_mode is true ({}), so cuFile always stages", origin), origin) : yes();
}

Answer nvidia_fs_loaded(const Subject& subject) {
    Answer answer = must_be(subject.machine.nvidia_fs.loaded, "the kernel module nvidia-fs is not loaded");
    answer.source.clear();  // two places were looked at, and the fact names the first
    return answer;
}

Answer nvidia_fs_nodes(const Subject& subject) {
    const NvidiaFsFacts& facts = subject.machine.nvidia_fs;
    return facts.loaded.known() ? must_be(facts.device_nodes, "nvidia-fs is loaded, but its device nodes are not here") : yes();
}

// Versions with known faults: 2.25.6 fails every transfer with EFAULT (NVIDIA/gds-nvidia-fs 60); 2.26.6 with driver
// 580.65.06 ends in a kernel BUG (issue 66 there).
Answer nvidia_fs_good(const Subject& subject) {
    const Fact<std::string>& version = subject.machine.nvidia_fs.version;
    if (version.is("2.25.6")) {
        return no("nvidia-fs 2.25.6 fails every transfer with EFAULT; 2.24.3 does not", version.source);
    }
    if (version.is("2.26.6") && subject.machine.nvidia_driver.is("580.65.06")) {
        return no("nvidia-fs 2.26.6 with driver 580.65.06 ends in a kernel BUG", version.source);
    }
    return yes();
}

Answer p2pdma_kernel(const Subject& subject) {
    return must_be(subject.machine.p2pdma.kernel, "the kernel is built without PCI P2PDMA");
}

// The three below: NVIDIA's troubleshooting guide of GPUDirect Storage, NVMe P2PDMA; none of them was tried here.
Answer p2pdma_driver(const Subject& subject) {
    const P2pdmaFacts& facts = subject.machine.p2pdma;
    Answer answer = must_be(facts.driver_static_bar, "the NVIDIA driver runs without RMForceStaticBar1=1 and so likely does not map the GPU's memory");
    if (answer.holds != Holds::yes) {
        // The rest of NVIDIA's list, whichever is missing.
        answer.text += facts.driver_no_write_combining.absent() ? "; RmForceDisableIomapWC=1 is missing too" : "";
        answer.text += facts.driver_open.absent() ? "; these are not the open kernel modules" : "";
    }
    return answer;
}

Answer p2pdma_multipath(const Subject& subject) {
    return subject.machine.p2pdma.nvme_multipath.is(true) ? no("nvme_core's multipath is on, which likely hides the drive from P2PDMA",
                                                               subject.machine.p2pdma.nvme_multipath.source)
                                                          : yes();
}

}  // namespace waybill
