#include <gtest/gtest.h>

#include "settings/resolve.hpp"
#include "waybill/receipt.hpp"

namespace waybill {
namespace {

Receipt sample() {
    Receipt receipt;
    receipt.file = std::make_shared<const std::string>("model.bin");
    receipt.asked_bytes = receipt.moved_bytes = 1 << 30;
    receipt.destination = {MemoryKind::device, 0, "Test GPU", false};
    receipt.engine = EngineKind::cufile;
    receipt.path = Path::nvidia_fs;
    receipt.paths = {{Path::nvidia_fs, 1 << 30, 256}};
    receipt.tasks = {256, 4 << 20, 4 << 20};
    receipt.times.total_ns = 21'474'836;
    Route route;
    route.reasons.push_back({"direct-possible", "a direct path exists"});
    receipt.route = std::make_shared<const Route>(route);
    receipt.settings = std::make_shared<const Settings>(resolve({{{"task_size", "4MiB"}}, {}}, {}, {}));
    receipt.evidence.cufile = CufileCounters{256, 256, 0, 0, 0, 0, 1 << 30};
    receipt.judgement = Judgement::proved;
    receipt.judgement_text = "cuFile counted n=256 nvfs=256 p2pdma=0 posix=0";
    return receipt;
}

TEST(ReceiptText, TheFirstLineAnswers) {
    const std::string text = to_text(sample());
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "1 GiB of model.bin to gpu:0 (Test GPU) by nvidia-fs in 21.5 ms, 50.00 GB/s: proved");
    EXPECT_NE(text.find("n=256 nvfs=256 p2pdma=0 posix=0"), std::string::npos);
    EXPECT_NE(text.find("direct-possible"), std::string::npos);
    EXPECT_NE(text.find("task_size=4MiB (from call)"), std::string::npos);
}

TEST(ReceiptText, AContradictionIsLoudAndFirst) {
    Receipt receipt = sample();
    receipt.judgement = Judgement::contradicted;
    EXPECT_TRUE(to_text(receipt).starts_with("CONTRADICTED: "));
}

TEST(ReceiptText, AShortReceiptSaysSo) {
    Receipt receipt = sample();
    receipt.is_short = true;
    receipt.moved_bytes = 1000;
    receipt.short_reason = "end-of-file";
    EXPECT_NE(to_text(receipt).find("SHORT: 1 GiB asked, end-of-file"), std::string::npos);
}

TEST(ReceiptJson, ANameThatIsNotUtf8IsStillJson) {
    Receipt receipt = sample();
    receipt.file = std::make_shared<const std::string>("bad\xff\xfename");
    const std::string json = to_json(receipt);
    EXPECT_NE(json.find("\"schema\":\"waybill.receipt/1\""), std::string::npos);
    EXPECT_EQ(json.find('\xff'), std::string::npos);
}

TEST(ErrorJson, CarriesCodeNativeCodeAndReceipt) {
    const Error error = Error(ErrorCode::io_error, "reading failed", {NativeCode::Layer::system, 5, "EIO"})
                            .with_receipt(std::make_shared<const Receipt>(sample()));
    const std::string json = to_json(error);
    EXPECT_NE(json.find("\"schema\":\"waybill.error/1\""), std::string::npos);
    EXPECT_NE(json.find("\"name\":\"EIO\""), std::string::npos);
    EXPECT_NE(json.find("waybill.receipt/1"), std::string::npos);
}

}  // namespace
}  // namespace waybill
