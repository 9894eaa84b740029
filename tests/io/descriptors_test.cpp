// The descriptor that cuFile is given, or why there is none.
#include "io/descriptors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "no_descriptors.hpp"

namespace waybill {
namespace {

std::vector<int> registered;  // with cuFile, in order

const CufileDriver& driver() {
    static CufileDriver& one = *new CufileDriver();
    one.api.handle_register = [](CufileHandle* handle, CufileDescription* description) {
        registered.push_back(description->descriptor);
        *handle = &registered;
        return CufileStatus{};
    };
    return one;
}

Error refusal_of(Descriptors& descriptors) {
    try {
        (void)descriptors.cufile_handle(driver(), true, "/data/x");
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::internal, "nothing was thrown");
}

TEST(Descriptors, WithoutODirectCufileIsGivenNoneAndTheReasonIsTold) {
    registered.clear();
    Descriptors descriptors(open_descriptor("/proc/self/maps", O_RDONLY));  // a file system that refuses it
    ASSERT_EQ(descriptors.direct(), -1);
    const Error error = refusal_of(descriptors);
    EXPECT_EQ(error.code(), ErrorCode::cufile_unavailable);
    EXPECT_EQ(error.native().name, "EINVAL");
    EXPECT_NE(std::string(error.what()).find("'/data/x': it cannot be opened with O_DIRECT"), std::string::npos);
    EXPECT_TRUE(registered.empty());
    (void)descriptors.cufile_handle(driver(), false, "/data/x");
    EXPECT_EQ(registered, std::vector{descriptors.buffered()});
}

TEST(Descriptors, AWantOfThemIsToldAsOneAndIsOfThatMomentAlone) {
    registered.clear();
    char name[] = "/tmp/waybill_descriptors_XXXXXX";
    Descriptors descriptors{Fd(::mkstemp(name))};
    {
        const NoDescriptors none;
        EXPECT_EQ(refusal_of(descriptors).native().name, "EMFILE");
    }
    EXPECT_TRUE(registered.empty());
    ::unlink(name);
    if (descriptors.direct() < 0) {
        GTEST_SKIP() << "no O_DIRECT on /tmp";
    }
    (void)descriptors.cufile_handle(driver(), true, "/data/x");
    EXPECT_EQ(registered, std::vector{descriptors.direct()});
}

}  // namespace
}  // namespace waybill
