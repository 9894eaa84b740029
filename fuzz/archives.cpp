// A hostile archive given to --root: unpacked by facts/unpack into a folder of its own. Nothing may appear beside that folder, no
// more than the limit may be written, what was unpacked is read as a machine without leaving it, and nothing stays behind.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/root.hpp"
#include "facts/archive.hpp"
#include "facts/block.hpp"
#include "facts/mount.hpp"
#include "waybill/error.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;  // as facts/unpack.cpp
constexpr const char* kSecret = "not of the archive";

// OUTER/secret, and OUTER/inner, in which archives are unpacked.
const fs::path& outer() {
    // Never destroyed, because the end of the process still needs it.
    static const fs::path& folder = *new fs::path([] {
        std::string name = (fs::exists("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/waybill-fuzz-XXXXXX");
        const fs::path made = ::mkdtemp(name.data());
        fs::create_directory(made / "inner");
        std::ofstream(made / "secret") << kSecret;
        ::setenv("TMPDIR", (made / "inner").c_str(), 1);
        std::atexit([] { fs::remove_all(outer()); });
        return made;
    }());
    return folder;
}

void must(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "%s\n", what);
        std::abort();
    }
}

long entries_in(const fs::path& folder) { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

void check_outside() {
    must(entries_in(outer()) == 2 && entries_in(outer() / "inner") <= 1, "something was made outside of the archive's folder");
    std::ifstream secret(outer() / "secret");
    must(std::string(std::istreambuf_iterator<char>(secret), {}) == kSecret, "a file outside of the archive's folder was changed");
}

// Every file through the root, as the facts read it: links must not lead to the secret.
void read_as_machine(const std::string& folder) {
    const waybill::MachineRoot root(folder);
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {  // which follows no links
        bytes += entry.is_regular_file() && !entry.is_symlink() ? entry.file_size() : 0;
        const std::string path = "/" + fs::relative(entry.path().parent_path(), folder).string() + "/" + entry.path().filename().string();
        must(root.read(path).value.find(kSecret) == std::string::npos, "a link led out of the root");
        (void)root.list(path);
    }
    must(bytes <= kMostBytes, "more was written than the limit allows");
    (void)waybill::read_mounts(root);
    (void)waybill::block_of_device(root, {259, 1}, "/dev/nvme0n1p1");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    (void)outer();
    static const int file = ::memfd_create("archive", MFD_CLOEXEC);
    must(::ftruncate(file, 0) == 0 && ::pwrite(file, bytes, size, 0) == static_cast<ssize_t>(size), "the archive cannot be written");
    try {
        const waybill::SavedMachine machine("/proc/self/fd/" + std::to_string(file));
        check_outside();
        read_as_machine(machine.folder());
    } catch (const waybill::Error&) {
    }
    check_outside();
    must(entries_in(outer() / "inner") == 0, "what was unpacked stays behind");
    return 0;
}
