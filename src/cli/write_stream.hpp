// WriteStream: a write whose bytes are read part by part, each while the one before it is being written. However long the source
// is, two parts of it are in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cli/patience.hpp"
#include "cli/write_source.hpp"
#include "waybill/waybill.hpp"

namespace waybill {

class WriteStream {
public:
    // `device`: memory that the bytes are written from, -1 for the host. `settings`: those that the file will be opened with.
    WriteStream(WriteSource& source, int device, const Settings& settings, const Patience& patience);

    // Reads the first part. Throws as WriteSource::read() and Patience::check().
    void begin();
    // Writes all of it from `request.file_offset` on; one receipt for the whole. An Error's receipt tells what is good by then,
    // whether it was the writing, the source or the user's patience that ended it. Once, after begin().
    Receipt write_to(const File& file, Request request);

private:
    struct Memory {
        Buffer host;
        Buffer gpu;
        std::uint64_t bytes = 0;
    };
    void read_next();
    void submit(const File& file, Request request);
    void collect();
    void look();
    [[nodiscard]] Error ended_by(const Error& error);

    WriteSource& source_;
    int device_;
    std::uint64_t kept_bytes_;  // the least that the last part has, where it is not the only one
    std::shared_ptr<const Settings> settings_;
    const Patience& patience_;
    std::shared_ptr<Memory> now_;   // what is read or was read last
    std::shared_ptr<Memory> then_;  // what is written
    std::uint64_t parts_ = 0;
    bool last_ = false;
    Future pending_;
    std::optional<Receipt> whole_;
};

}  // namespace waybill
