#include "base/device_name.hpp"

#include <gtest/gtest.h>

#include "waybill/error.hpp"

namespace waybill {
namespace {

GpuFacts gpu(int device, const char* uuid, const char* address) {
    GpuFacts facts;
    facts.device = device;
    facts.uuid = uuid;
    facts.pci_address = address;
    return facts;
}

const std::vector<GpuFacts> kGpus{gpu(0, "GPU-57575757-5757-5757-5757-575757575700", "00000000:3B:00.0"),
                                  gpu(1, "GPU-57575757-5757-5757-5757-575757575701", "0000:af:00.0"), gpu(2, "MIG-0a", "")};

int find(const char* text) { return device_among(kGpus, parse_device_name(text)); }

ErrorCode error_of(const char* text) {
    try {
        (void)find(text);
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos);
        return error.code();
    }
    ADD_FAILURE() << text;
    return ErrorCode::internal;
}

TEST(DeviceName, TheHostHasNoNumber) {
    for (const char* text : {"host", "cpu", "cpu:0"}) {
        EXPECT_EQ(find(text), -1) << text;
    }
}

TEST(DeviceName, ANumberIsTakenAsItIs) {
    EXPECT_EQ(find("gpu"), 0);
    EXPECT_EQ(find("cuda"), 0);
    for (const char* text : {"7", "gpu:7", "cuda:7"}) {
        EXPECT_EQ(find(text), 7) << text;
    }
    EXPECT_GT(find("99999999999999999999"), 1000);
}

TEST(DeviceName, UuidsAndAddressesInEveryWayOfWritingThem) {
    for (const char* text : {"GPU-57575757-5757-5757-5757-575757575701", "gpu-57575757-5757-5757-5757-575757575701",
                             "gpu:GPU-57575757-5757-5757-5757-575757575701", "0000:af:00.0", "0000:AF:00.0", "AF:00.0", "00000000:AF:00.0",
                             "gpu:0000:af:00.0", "cuda:af:00.0"}) {
        EXPECT_EQ(find(text), 1) << text;
    }
    EXPECT_EQ(find("3b:00.0"), 0);
    EXPECT_EQ(find("MIG-0"), 2) << "as much of a UUID as no other has";
}

TEST(DeviceName, WhatIsNotThereIsNoGpuAndWhatIsNoNameIsAWrongArgument) {
    EXPECT_EQ(error_of("GPU-00000000"), ErrorCode::no_gpu);
    EXPECT_EQ(error_of("0000:01:00.0"), ErrorCode::no_gpu);
    EXPECT_EQ(error_of("GPU-57575757"), ErrorCode::invalid_argument) << "two begin so";
    for (const char* text : {"", "gpu:", "cuda:", "moon", "-1", "gpu:-1", "1.5", "GPU-", "0000:zz:00.0", "host:1", "cpu:1", " 1"}) {
        EXPECT_EQ(error_of(text), ErrorCode::invalid_argument) << text;
    }
}

}  // namespace
}  // namespace waybill
