#include "cli/write_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "cli/print.hpp"
#include "receipt/join.hpp"

namespace waybill {
namespace {

// Large enough that a part's bytes take far longer than a request's own work, small enough to be had anywhere.
constexpr std::uint64_t kPartBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kLeastKeptBytes = std::uint64_t{1} << 20;

}  // namespace

// The route looks at each part's size: a last one under the threshold would go another way than all the others.
WriteStream::WriteStream(WriteSource& source, int device, const Settings& settings, const Patience& patience)
    : source_(source), device_(device), kept_bytes_(std::clamp(settings.gds_threshold.value, kLeastKeptBytes, kPartBytes)),
      settings_(std::make_shared<const Settings>(settings)), patience_(patience) {}

void WriteStream::begin() { read_next(); }

// A part is written when as much as the least last part is known to follow it, or nothing.
void WriteStream::read_next() {
    const std::uint64_t room = kPartBytes + kept_bytes_;
    std::swap(now_, then_);
    if (!now_) {
        now_ = std::make_shared<Memory>();
        now_->host = Buffer::on_host(room);
    }
    auto* const host = static_cast<std::byte*>(now_->host.data());
    std::uint64_t bytes = 0;
    if (then_) {
        std::memcpy(host, static_cast<const std::byte*>(then_->host.data()) + kPartBytes, kept_bytes_);
        bytes = kept_bytes_;
    }
    bytes += source_.read(host + bytes, room - bytes, [this] { look(); });
    last_ = source_.ended();
    now_->bytes = last_ ? bytes : kPartBytes;
    if (device_ < 0) {
        return;
    }
    if (now_->gpu.device() < 0) {
        now_->gpu = Buffer::on_gpu(device_, last_ && !then_ ? bytes : room);
    }
    now_->gpu.copy_from_host(host, 0, now_->bytes);
}

Receipt WriteStream::write_to(const File& file, Request request) {
    const bool sync = request.sync;
    try {
        while (true) {
            request.sync = sync && last_;
            submit(file, request);
            request.file_offset += now_->bytes;
            if (last_) {
                break;
            }
            read_next();
            collect();
        }
        collect();
    } catch (const Error& error) {
        throw ended_by(error);
    }
    if (parts_ > 1) {
        whole_->notes.push_back(fmt::format("written in {} parts, each while the next was read; the time is that of the writes", parts_));
    }
    return std::move(*whole_);
}

void WriteStream::submit(const File& file, Request request) {
    request.target = {device_ < 0 ? now_->host.data() : now_->gpu.data(), now_->bytes, now_, true};
    // Of a long write the counters are read, as if it were one request.
    SettingValues call;
    if (settings_->evidence.value == EvidenceLevel::automatic && !(parts_ == 0 && last_)) {
        call["evidence"] = "on";
    }
    pending_ = file.pwrite(request, call);
    ++parts_;
}

// Waits for the part that is being written, if there is one.
void WriteStream::collect() {
    if (!pending_.valid()) {
        return;
    }
    Future written = std::move(pending_);
    const auto add = [this](const Receipt& receipt) {
        if (whole_) {
            join(*whole_, receipt);
        } else {
            whole_ = receipt;
            whole_->settings = settings_;  // as the user gave them
        }
    };
    try {
        add(wait_visibly(written, patience_));
    } catch (const Error& error) {
        if (error.receipt()) {
            add(*error.receipt());
        }
        throw;
    }
}

// While the source is waited for: a write that has failed must not wait for bytes that may never come.
void WriteStream::look() {
    patience_.check("waiting for the bytes of '" + source_.name() + "'");
    if (pending_.valid() && pending_.done()) {
        collect();
    }
}

Error WriteStream::ended_by(const Error& error) {
    try {
        collect();
    } catch (const Error&) {  // what came first is told
    }
    if (!whole_) {
        return error;
    }
    end_by_error(*whole_, error, source_.known_bytes().value_or(0));
    return error.with_receipt(std::make_shared<const Receipt>(*whole_));
}

}  // namespace waybill
