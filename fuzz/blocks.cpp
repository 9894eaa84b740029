// A hostile /sys: the input's lines make a root (`path=text`, `path>target of a link`, `path/`, names of a few letters of sysfs's
// own), in which the stack of block devices below a file and the two devices' places on the bus are looked up.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/root.hpp"
#include "base/text.hpp"
#include "facts/block.hpp"
#include "facts/cufile_library.hpp"
#include "facts/limits.hpp"
#include "facts/nvidia_fs.hpp"
#include "facts/pci.hpp"
#include "facts/udev.hpp"
#include "waybill/error.hpp"

namespace {

namespace fs = std::filesystem;

std::string make_folder() {
    std::string name = (fs::exists("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/waybill-fuzz-XXXXXX");
    return ::mkdtemp(name.data());
}

// Stays in the folder: no part of a path is "..", and no link is followed on the way.
void make(const fs::path& folder, std::string_view line) {
    const auto mark = line.find_first_of("=>/", line.find_last_of('/') == std::string_view::npos ? 0 : line.find_last_of('/') + 1);
    const fs::path path = fs::path(line.substr(0, std::min(line.find_first_of("=>"), mark))).relative_path().lexically_normal();
    if (path.empty() || path.string().find("..") != std::string::npos) {
        return;
    }
    std::error_code ignored;
    fs::path at = folder;
    for (const auto& part : path.parent_path()) {
        at /= part;
        if (fs::is_symlink(at, ignored)) {
            return;
        }
        fs::create_directory(at, ignored);
    }
    const auto kind = line.find_first_of("=>");
    const fs::path place = folder / path;
    if (fs::is_symlink(place, ignored)) {
        return;
    }
    if (kind == std::string_view::npos) {
        fs::create_directory(place, ignored);
    } else if (line[kind] == '>') {
        fs::create_symlink(std::string(line.substr(kind + 1)), place, ignored);
    } else {
        std::ofstream(place) << line.substr(kind + 1);
    }
}

void look(const waybill::MachineRoot& root) {
    const auto block = waybill::block_of_device(root, {259, 1}, "/dev/mapper/a");
    for (const waybill::BlockLayer& layer : block.value.stack) {
        (void)waybill::read_pci(root, layer.pci_address);
    }
    (void)waybill::read_gpus(root);
    (void)waybill::read_iommu(root);
    (void)waybill::read_nvidia_fs(root);
    (void)waybill::read_udev_record(root, {259, 1});
    (void)waybill::shared_memory_bytes(root);
    (void)waybill::cufile_version_of(root, "/lib/libcufile.so.0");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    if (text.find('\0') != std::string::npos) {
        return -1;  // no path holds one
    }
    const std::string folder = make_folder();
    for (const std::string_view line : waybill::split(text, '\n')) {
        make(folder, line);
    }
    try {
        look(waybill::MachineRoot(folder));
    } catch (const waybill::Error&) {
    }
    fs::remove_all(folder);
    return 0;
}
