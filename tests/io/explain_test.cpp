#include <gtest/gtest.h>

#include "waybill/file.hpp"

namespace waybill {
namespace {

TEST(Explanation, SaysThatAReadWouldFailWhereLibcufileWouldEndTheProcess) {
    Explanation explanation;
    explanation.device = 0;
    explanation.file.path = "/data/x";
    explanation.route.engine = EngineKind::cufile;
    explanation.route.expected_path = Path::cufile_posix;
    explanation.route.doubt = Reason{"cufile-json-invalid", "a section is no object (the process would end)"};
    const auto first = [&] { return to_text(explanation).substr(0, to_text(explanation).find('\n')); };
    EXPECT_NE(first().find("would go by cufile-posix"), std::string::npos) << "a doubt of another kind is a line below";
    explanation.cufile.config.ends_process = true;
    EXPECT_NE(first().find("would FAIL: a section is no object"), std::string::npos);
    EXPECT_EQ(first().find("would go by"), std::string::npos);
}

}  // namespace
}  // namespace waybill
