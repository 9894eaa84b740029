// Settings: every choice a user may disagree with, each with its value and where that value came from.
//
// Plain values, owned by whoever holds them; share freely once made. The one table of settings (src/settings/table.cpp)
// gives names, variables, ranges, defaults and texts. Precedence: call, context, WAYBILL_ variable, KVIKIO_ variable,
// configuration file, default. A variable with an empty text counts as not set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

// Whether cuFile moves the bytes of GPU requests from gds_threshold on: `off` always or an error, `on` never, `auto` where a
// direct path exists.
enum class CompatMode { automatic, on, off };               // `auto`, `on`, `off`
// How a read uses the page cache; docs/settings.md says what each does. `auto` chooses by file and free memory.
enum class PageCacheUse { automatic, use, bypass, direct };  // `auto`, `use`, `bypass`, `direct`
// Which counters are read for the evidence of a request.
enum class EvidenceLevel { off, automatic, on };             // `off`, `auto`, `on`
// What a required path must be at least, by its evidence.
enum class RequiredJudgement { proved, consistent };

// Where a value came from, the strongest first.
enum class Origin { call, context, waybill_variable, kvikio_variable, config_file, built_in };

// A value and where it came from.
template <class T>
struct Setting {
    T value{};
    Origin origin = Origin::built_in;
    std::string where;  // the variable's name, the file's path; empty for a default, a call and a context
};

// All settings of a call, resolved. docs/settings.md has their ranges, defaults and variables.
struct Settings {
    Setting<CompatMode> compat_mode;
    Setting<std::uint64_t> gds_threshold;       // bytes; smaller GPU requests never call cuFile
    Setting<std::uint64_t> task_size;           // bytes
    Setting<std::uint64_t> num_threads;         // 0: chosen by size and cores
    Setting<std::uint64_t> bounce_buffer_size;  // bytes of one pinned slot
    Setting<std::uint64_t> pinned_limit;        // bytes of pinned memory, all slots together
    Setting<PageCacheUse> page_cache;
    Setting<std::uint64_t> cached_share;        // per cent of a range that must be resident to call it cached
    Setting<bool> direct_write;                 // write with O_DIRECT where alignment allows
    Setting<std::string> cufile_library;        // path or soname of libcufile
    Setting<std::string> cufile_json;           // path of a cufile.json; empty: cuFile's own search
    Setting<EvidenceLevel> evidence;
    Setting<RequiredJudgement> require_evidence;
    Setting<std::string> machine_root;          // a folder that stands for `/` when facts are read
    Setting<std::uint64_t> driver_timeout;      // nanoseconds for cuFileDriverOpen
    Setting<std::uint64_t> time_limit;          // nanoseconds for one request; 0: none
    Setting<bool> stats;                        // count in shared memory, for `waybill stats`
    Setting<std::string> receipts;              // `stderr`, a path for JSON lines, or empty
};

// Setting values as a user writes them: name -> text (`task_size` -> `16MiB`).
using SettingValues = std::map<std::string, std::string, std::less<>>;

// The two layers that a program gives; the rest comes from its environment and the configuration file.
struct SettingLayers {
    SettingValues call;
    SettingValues context;
};

// Resolves all settings from the layers, this process's environment and the configuration file.
// Throws Error bad_setting, naming the variable or key, its value and what is accepted. Thread-safe as long as the
// program does not change its environment meanwhile.
[[nodiscard]] Settings resolve_settings(const SettingLayers& layers = {});
// The same, shared, and throwing the same: without layers the last answer is given again while the environment's variables are
// the same. The configuration file is looked at again after a second.
[[nodiscard]] std::shared_ptr<const Settings> shared_settings(const SettingLayers& layers = {});

// One row of `waybill config` and of a receipt: name, value as text, origin as text (`WAYBILL_TASK_SIZE`, `default`, ...).
struct SettingRow {
    std::string name;
    std::string value;
    std::string from;
};
// All settings, in the order of the table.
[[nodiscard]] std::vector<SettingRow> setting_rows(const Settings& settings);

// The words of the enumerators, as users write and see them. Any thread.
[[nodiscard]] std::string_view to_text(CompatMode mode) noexcept;
[[nodiscard]] std::string_view to_text(PageCacheUse use) noexcept;
[[nodiscard]] std::string_view to_text(EvidenceLevel level) noexcept;
[[nodiscard]] std::string_view to_text(RequiredJudgement judgement) noexcept;
[[nodiscard]] std::string_view to_text(Origin origin) noexcept;

// "16MiB", "4K", "1GiB", "12" -> bytes; K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024, KB, MB, GB, TB of 1000.
// Throws Error invalid_argument on anything else, on trailing text and past 2^64-1. `what` names the value in the message.
[[nodiscard]] std::uint64_t parse_size(std::string_view text, std::string_view what);

}  // namespace waybill
