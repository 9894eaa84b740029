#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/config_cufile.hpp"
#include "cli/config_json.hpp"
#include "cli/print.hpp"
#include "settings/table.hpp"

namespace waybill {
namespace {

// WAYBILL_ variables that no setting knows: most likely misspelt.
std::vector<std::string> unknown_variables() {
    std::vector<std::string> unknown;
    for (const auto& [name, text] : process_environment()) {
        bool known = !name.starts_with("WAYBILL_") || name == "WAYBILL_CONFIG";
        for (const SettingEntry& entry : setting_table()) {
            known = known || entry.variable == name;
        }
        if (!known) {
            unknown.push_back(name);
        }
    }
    return unknown;
}

std::string as_text(const std::vector<SettingRow>& rows, const std::vector<std::string>& unknown) {
    std::string text;
    for (const SettingRow& row : rows) {
        text += fmt::format("{:<20} {:<16} {}\n", row.name, row.value.empty() ? "\"\"" : row.value, row.from);
    }
    std::vector<std::string> variables{"WAYBILL_CONFIG"};
    for (const SettingEntry& entry : setting_table()) {
        variables.emplace_back(entry.variable);
    }
    for (const std::string& name : unknown) {
        const std::string meant = nearest(name, variables);
        const std::string guess = meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
        text += fmt::format("note: {} is set, but no setting has this variable{}\n", name, guess);
    }
    return text;
}

std::string as_markdown() {
    std::string text =
        "# Settings\n\nGenerated from `src/settings/table.cpp` by `waybill config --markdown`; don't edit.\n\n"
        "Precedence: call, context, `WAYBILL_` variable, `KVIKIO_` variable, configuration file, default. A variable that is empty is as one that is not set. The file is "
        "`WAYBILL_CONFIG`, else `$XDG_CONFIG_HOME/waybill/config.json`, else `~/.config/waybill/config.json`, else "
        "`/etc/waybill.json`: a JSON object of names and values, comments allowed.\n\n"
        "| setting | variables | accepted | default | meaning | source of the default |\n| --- | --- | --- | --- | --- | --- |\n";
    for (const SettingEntry& entry : setting_table()) {
        std::string variables = fmt::format("`{}`", entry.variable);
        for (const std::string_view alias : entry.kvikio_variables) {
            variables += fmt::format(" `{}`", alias);
        }
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", entry.name, variables, entry.accepted,
                            entry.default_text.empty() ? "(empty)" : entry.default_text, entry.meaning, entry.source);
    }
    return text;
}

// 0, or 1 where cuFile's driver would not open with it.
int run_config_cufile(const ConfigArguments& arguments) {
    if (arguments.markdown) {
        print(cufile_markdown());
        return 0;
    }
    const CufileSummary summary = gather_cufile_summary(resolve_settings({arguments.settings, {}}));
    print(arguments.json ? cufile_json(summary) + "\n" : cufile_text(summary));
    return summary.config.valid && summary.config.refused_values.empty() ? 0 : 1;
}

}  // namespace

int run_config(const ConfigArguments& arguments) {
    if (arguments.cufile) {
        return run_config_cufile(arguments);
    }
    if (arguments.markdown) {
        print(as_markdown());
        return 0;
    }
    const std::vector<SettingRow> rows = setting_rows(resolve_settings({arguments.settings, {}}));
    print(arguments.json ? config_json(rows, unknown_variables()) + "\n" : as_text(rows, unknown_variables()));
    return 0;
}

}  // namespace waybill
