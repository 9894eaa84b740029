#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

#include "facts/cufile_entries.hpp"

namespace waybill {
namespace {

using Json = nlohmann::json;

// No key of cufile.json lies deeper; a mount table's own entries are no keys.
constexpr std::size_t kDeepestKey = 5;
constexpr std::size_t kDeepest = 1000;  // JsonCpp's limit: it throws beyond, and libcufile does not catch
constexpr std::size_t kLongestValue = 4096;

// Tells how far the parser has read: its events carry no positions.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, const char* begin, std::size_t* read) : at_(at), begin_(begin), read_(read) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        ++at_;
        *read_ = static_cast<std::size_t>(at_ - begin_);
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    const char* begin_;
    std::size_t* read_;
};

struct Position {
    std::size_t line = 1;
    std::size_t column = 1;
};

// Positions are asked for in ascending order, so each byte is looked at once.
class Lines {
public:
    explicit Lines(const std::string& text) : text_(text) {}
    Position of(std::size_t byte) {
        for (; at_ < std::min(byte, text_.size()); ++at_) {
            if (text_[at_] == '\n') {
                ++position_.line;
                position_.column = 1;
            } else {
                ++position_.column;
            }
        }
        return position_;
    }

private:
    const std::string& text_;
    std::size_t at_ = 0;
    Position position_;
};

std::string place(Position position) {
    return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

class EntryCollector : public nlohmann::json_sax<Json> {
public:
    EntryCollector(const std::string& text, const std::string& file, const std::size_t& read, CufileText& result)
        : text_(text), file_(file), read_(read), lines_(text), result_(result) {}

    bool null() override { return scalar("null", "null"); }
    bool boolean(bool value) override { return scalar("boolean", value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { return scalar("integer", std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override { return scalar("integer", std::to_string(value)); }
    bool number_float(number_float_t /*value*/, const string_t& written) override { return scalar("number", written); }
    bool string(string_t& value) override {
        return scalar("text", Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*count*/) override { return start("object", '{'); }
    bool end_object() override { return end('}'); }
    bool start_array(std::size_t /*count*/) override { return start("list", '['); }
    bool end_array() override { return end(']'); }

    bool key(string_t& name) override {
        Level& level = levels_.back();
        // The parser has just read the closing quote; the opening one is the nearest that no backslash hides.
        std::size_t opening = read_ - 1;
        do {
            opening = text_.rfind('"', opening - 1);
        } while (opening != std::string::npos && opening != 0 && is_hidden(opening));
        level.key_at = lines_.of(opening);
        level.key = name.find('.') == std::string::npos ? name : '"' + name + '"';  // no path: the library sees one name
        separate(level);
        written_ += Json(name).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
        return true;
    }

    bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& problem) override {
        std::string what = problem.what();
        const auto colon = what.find("column ") == std::string::npos ? std::string::npos : what.find(": ", what.find("column "));
        fail(position == 0 ? 0 : position - 1, colon == std::string::npos ? what : what.substr(colon + 2));
        return false;
    }

    void fail(std::size_t byte, const std::string& problem) {
        result_.valid = false;
        result_.problem = place(Lines(text_).of(byte)) + ": " + problem;
    }

private:
    struct Level {
        bool list = false;
        bool empty = true;
        std::string path;       // with a dot behind, or empty
        std::string key;
        Position key_at;
        std::size_t written_at = 0;
        std::size_t entry = kNone;
    };
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    [[nodiscard]] bool is_hidden(std::size_t quote) const {
        std::size_t backslashes = 0;
        while (backslashes < quote && text_[quote - 1 - backslashes] == '\\') {
            ++backslashes;
        }
        return backslashes % 2 == 1;
    }

    void separate(Level& level) {
        written_ += level.empty ? "" : ", ";
        level.empty = false;
    }

    // A member's entry; elements of lists have none.
    std::size_t add(const std::string& type, const std::string& value) {
        if (levels_.empty() || levels_.back().list || in_list_ || levels_.size() > kDeepestKey) {
            return kNone;
        }
        const Level& level = levels_.back();
        result_.entries.push_back({level.path + level.key, value, type, file_, level.key_at.line, level.key_at.column});
        return result_.entries.size() - 1;
    }

    bool scalar(const char* type, const std::string& value) {
        if (levels_.empty()) {
            return root_is_no_object(value == "null");
        }
        if (levels_.back().list) {
            separate(levels_.back());
        }
        add(type, value);
        written_ += value;
        return true;
    }

    bool start(const char* type, char opening) {
        if (levels_.size() >= kDeepest) {
            result_.ends_process = true;
            fail(read_ - 1, "nested deeper than libcufile can read");
            return false;
        }
        Level level;
        level.list = opening == '[';
        level.entry = add(type, {});
        if (!levels_.empty()) {
            Level& parent = levels_.back();
            if (parent.list) {
                separate(parent);
            } else if (!in_list_ && levels_.size() <= kDeepestKey) {
                level.path = parent.path + parent.key + ".";
            }
        }
        level.written_at = written_.size();
        written_ += opening;
        in_list_ += level.list ? 1 : 0;
        levels_.push_back(std::move(level));
        return true;
    }

    bool end(char closing) {
        const Level level = std::move(levels_.back());
        levels_.pop_back();
        in_list_ -= level.list ? 1 : 0;
        written_ += closing;
        if (level.entry != kNone) {
            result_.entries[level.entry].value = written_.substr(level.written_at, kLongestValue);
        }
        return !levels_.empty() || !level.list || root_is_no_object(level.empty);
    }

    // libcufile looks for its sections in whatever the file is: in an empty value it finds none, in another it aborts.
    bool root_is_no_object(bool holds_nothing) {
        if (!holds_nothing) {
            result_.ends_process = true;
            fail(read_ == 0 ? 0 : read_ - 1, "the file is no object, on which libcufile ends the process");
        }
        return holds_nothing;
    }

    const std::string& text_;
    const std::string& file_;
    const std::size_t& read_;
    Lines lines_;
    CufileText& result_;
    std::vector<Level> levels_;
    std::string written_;  // what was read so far, without comments and blanks
    std::size_t in_list_ = 0;
};

// The parser used here refuses control characters in texts, JsonCpp takes them: they become blanks.
std::string without_control_characters(std::string text) {
    bool quoted = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (!quoted && text[k] == '/' && k + 1 < text.size() && (text[k + 1] == '/' || text[k + 1] == '*')) {
            const bool line = text[k + 1] == '/';
            const auto end = line ? text.find('\n', k) : text.find("*/", k + 2);
            k = end == std::string::npos ? text.size() : end;
            continue;
        }
        if (quoted && text[k] == '\\') {
            ++k;
            continue;
        }
        if (text[k] == '"') {
            quoted = !quoted;
        } else if (quoted && static_cast<unsigned char>(text[k]) < ' ') {
            text[k] = ' ';
        }
    }
    return text;
}

}  // namespace

CufileText parse_cufile_entries(const std::string& text, const std::string& file) {
    CufileText result;
    if (text.starts_with("\xEF\xBB\xBF")) {
        result.valid = false;
        result.problem = "line 1, column 1: a byte order mark, which libcufile refuses";
        return result;
    }
    const std::string plain = without_control_characters(text);
    std::size_t read = 0;
    EntryCollector collector(text, file, read, result);
    const char* const begin = plain.data();
    (void)Json::sax_parse(CountingIterator(begin, begin, &read), CountingIterator(begin + plain.size(), begin, &read), &collector,
                          Json::input_format_t::json, false, true);
    if (!result.valid) {
        result.entries.clear();
    }
    return result;
}

}  // namespace waybill
