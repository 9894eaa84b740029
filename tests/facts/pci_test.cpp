#include "facts/pci.hpp"

#include <gtest/gtest.h>

#include "base/pci_address.hpp"
namespace waybill {
namespace {

std::string configuration(std::uint16_t control) {
    std::string bytes(512, '\0');
    const auto put = [&](std::size_t at, std::uint32_t word) {
        for (std::size_t k = 0; k < 4; ++k) {
            bytes[at + k] = static_cast<char>(word >> (8 * k));
        }
    };
    put(0x100, 0x0001 | (1U << 16) | (0x140U << 20));  // another capability, and where the next one is
    put(0x140, 0x000d | (1U << 16));
    put(0x144, static_cast<std::uint32_t>(control) << 16);
    return bytes;
}

TEST(Pci, AcsIsReadFromTheConfigurationSpace) {
    EXPECT_TRUE(acs_redirects(configuration(0x001d), "x").is(true));
    EXPECT_TRUE(acs_redirects(configuration(0x0004), "x").is(true));
    EXPECT_TRUE(acs_redirects(configuration(0x0001), "x").is(false));
    EXPECT_TRUE(acs_redirects(std::string(64, '\0'), "x").unknown()) << "without root the first 64 bytes can be read";
    EXPECT_TRUE(acs_redirects(std::string(4096, '\0'), "x").is(false));
}

TEST(Pci, ABrokenChainOfCapabilitiesEnds) {
    std::string loop(4096, '\0');
    for (std::size_t at = 0x100; at + 4 <= loop.size(); at += 4) {
        loop[at] = 1;
        loop[at + 2] = static_cast<char>(0x01);
        loop[at + 3] = static_cast<char>(0x10);  // next: 0x100
    }
    EXPECT_TRUE(acs_redirects(loop, "x").is(false));
}

TEST(Pci, AddressesAreWrittenOneWay) {
    EXPECT_EQ(plain_pci_address("01:00.0"), "0000:01:00.0");
    EXPECT_EQ(plain_pci_address("00000000:3B:00.0"), "0000:3b:00.0");
    EXPECT_EQ(plain_pci_address("0000:01:00.0\n"), "0000:01:00.0");
    for (const char* wrong : {"", "0", "01:00", "0000:01:00.x", "gpu", "0000:01:00.00"}) {
        EXPECT_EQ(plain_pci_address(wrong), "") << wrong;
    }
}

TEST(Pci, DistanceIsToldByTheSharedWay) {
    const auto device = [](std::vector<std::string> way, std::int64_t node) {
        PciFacts facts;
        facts.way = std::move(way);
        facts.numa_node = known_fact(node, "x");
        return facts;
    };
    const PciFacts gpu = device({"pci0000:00", "0000:00:01.0", "0000:01:00.0", "0000:02:00.0"}, 0);
    EXPECT_EQ(distance_between(gpu, device({"pci0000:00", "0000:00:01.0", "0000:01:00.0", "0000:02:01.0"}, 0)), PciDistance::same_switch);
    EXPECT_EQ(distance_between(gpu, device({"pci0000:00", "0000:00:02.0", "0000:05:00.0"}, 0)), PciDistance::same_root);
    EXPECT_EQ(distance_between(gpu, device({"pci0000:40", "0000:40:01.0"}, 0)), PciDistance::same_socket);
    EXPECT_EQ(distance_between(gpu, device({"pci0000:80", "0000:80:01.0"}, 1)), PciDistance::other_socket);
    EXPECT_EQ(distance_between(gpu, device({"pci0000:80"}, -1)), PciDistance::unknown);
}

}  // namespace
}  // namespace waybill
