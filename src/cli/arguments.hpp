// The command line's arguments as plain values. arguments.cpp alone knows the parser.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "waybill/settings.hpp"

namespace waybill {

struct ReadArguments {
    std::string file;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::string> to;  // gpu, gpu:N, host
    std::string require = "none";
    std::uint64_t repeat = 1;
    bool sha256 = false;
    std::optional<std::string> out;
    SettingValues settings;
    bool json = false;
};

struct WriteArguments {
    std::string file;
    std::string from;  // a path, or - for standard input
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> size_bytes;
    std::string via = "host";
    std::string require = "none";
    bool create = false;
    bool truncate = false;
    bool fsync = false;
    bool atomic = false;
    SettingValues settings;
    bool json = false;
};

struct PlanArguments {
    std::string file;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::string> to;
    bool registered = false;
    SettingValues settings;
    bool json = false;
};

struct CheckArguments {
    std::string file;  // empty: the current folder, or / of another root
    std::string device = "0";
    std::string root = "/";
    std::optional<std::string> save;
    std::optional<std::string> compare;
    bool mounts = false;
    bool probe = false;
    SettingValues settings;
    bool json = false;
};

struct StatsArguments {
    std::optional<std::int64_t> pid;  // all processes without one
    bool all = false;
    bool watch = false;
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
    bool openmetrics = false;
    bool json = false;
};

struct BenchArguments {
    std::string file;  // empty: one is made
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::string> to;
    std::vector<std::string> paths;            // empty: all that can be
    std::vector<std::uint64_t> request_bytes;  // empty: from 4 KiB to the file's size
    std::vector<std::uint64_t> threads;        // empty: as Waybill chooses
    std::string cache = "both";
    std::chrono::nanoseconds time = std::chrono::milliseconds(500);
    std::optional<std::string> compare;
    std::optional<std::string> plot;
    SettingValues settings;
    bool json = false;
};

struct ConfigArguments {
    SettingValues settings;
    bool cufile = false;
    bool json = false;
    bool markdown = false;
};

struct VersionArguments {
    bool json = false;
};

// Help or an error of usage: a text to print, and the exit code.
struct Usage {
    std::string text;      // for people
    int exit_code = 0;
    std::string sentence;  // of an error, without the advice on --help
    bool json = false;     // --json is among the words, wherever the error is
};

using Arguments = std::variant<ReadArguments, WriteArguments, PlanArguments, CheckArguments, StatsArguments, BenchArguments,
                               ConfigArguments, VersionArguments, Usage>;

[[nodiscard]] Arguments parse_arguments(int count, char** words);

}  // namespace waybill
