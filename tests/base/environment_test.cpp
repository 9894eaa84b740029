#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace waybill {
namespace {

TEST(Environment, MayBeReadWhileWaybillChangesIt) {
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> readers;
    for (int k = 0; k < 3; ++k) {
        readers.emplace_back([&] {
            while (!stop) {
                wrong += find_variable(process_environment(), "PATH") == nullptr ? 1 : 0;
                wrong += environment_entries({"PATH="}).empty() ? 1 : 0;
            }
        });
    }
    for (int k = 0; k < 3000; ++k) {  // each new name may move the whole table
        exchange_process_variable("WAYBILL_TEST_" + std::to_string(k), "some value");
    }
    stop = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(wrong, 0);
    for (int k = 0; k < 3000; ++k) {
        ::unsetenv(("WAYBILL_TEST_" + std::to_string(k)).c_str());
    }
}

TEST(Environment, AVariableThatHasTheValueIsLeftAlone) {
    EXPECT_EQ(exchange_process_variable("WAYBILL_TEST_SAME", "a"), std::nullopt);
    const char* const before = std::getenv("WAYBILL_TEST_SAME");
    exchange_process_variable("WAYBILL_TEST_SAME", "a");
    EXPECT_EQ(std::getenv("WAYBILL_TEST_SAME"), before);
    EXPECT_EQ(exchange_process_variable("WAYBILL_TEST_SAME", "b"), "a");
    EXPECT_STREQ(std::getenv("WAYBILL_TEST_SAME"), "b");
    EXPECT_EQ(environment_entries({"WAYBILL_TEST_SAME"}), std::string("WAYBILL_TEST_SAME=b\0", 20));
    EXPECT_EQ(exchange_process_variable("WAYBILL_TEST_SAME", std::nullopt), "b");
    EXPECT_EQ(std::getenv("WAYBILL_TEST_SAME"), nullptr);
}

}  // namespace
}  // namespace waybill
