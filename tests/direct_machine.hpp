// A folder that stands for a machine with a direct path, so that `auto` chooses cuFile.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "waybill/settings.hpp"

namespace waybill {

// A machine on which nvidia-fs serves every file but those in memory.
class DirectMachine {
public:
    DirectMachine() {
        char name[] = "/tmp/waybill_machine_XXXXXX";
        root_ = ::mkdtemp(name);
        const std::map<std::string, std::string> texts = {
            {"proc/self/mountinfo",
             "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw,data=ordered\n23 22 0:30 / /dev/shm rw - tmpfs tmpfs rw\n"},
            {"proc/modules", "nvidia_fs 1 0 - Live 0\n"},
            {"proc/driver/nvidia-fs/version", "version: 2.27\n"},
            {"proc/driver/nvidia-fs/modules", "nvme: 3\n"},
            {"dev/nvidia-fs0", ""},
            {"run/udev/data/b259:2", "I:1\nE:ID_FS_USAGE=filesystem\n"},
            {"sys/class/nvme/nvme0/transport", "pcie\n"},
        };
        for (const auto& [path, text] : texts) {
            std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
            std::ofstream(root_ + "/" + path) << text;
        }
        std::filesystem::create_directories(root_ + "/sys/dev/block");
        std::filesystem::create_symlink("../../devices/nvme0/nvme0n1", root_ + "/sys/dev/block/259:2");
    }
    ~DirectMachine() { std::filesystem::remove_all(root_); }
    DirectMachine(const DirectMachine&) = delete;
    DirectMachine& operator=(const DirectMachine&) = delete;
    [[nodiscard]] SettingValues settings() const { return {{"machine_root", root_}}; }

private:
    std::string root_;
};

}  // namespace waybill
