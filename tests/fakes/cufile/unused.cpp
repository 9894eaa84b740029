// Calls that are there because loaders look for them; nobody here makes them.
#include "fake.hpp"

using namespace fake;

namespace {
constexpr Status kUnsupported{5008, 0};
}  // namespace

FAKE_EXPORT Status cuFileBatchIOSetUp() { return kUnsupported; }
FAKE_EXPORT Status cuFileBatchIOSubmit() { return kUnsupported; }
FAKE_EXPORT Status cuFileBatchIOGetStatus() { return kUnsupported; }
FAKE_EXPORT Status cuFileBatchIOCancel() { return kUnsupported; }
FAKE_EXPORT void cuFileBatchIODestroy() {}
FAKE_EXPORT Status cuFileReadAsync() { return kUnsupported; }
FAKE_EXPORT Status cuFileWriteAsync() { return kUnsupported; }
FAKE_EXPORT Status cuFileStreamRegister() { return kUnsupported; }
FAKE_EXPORT Status cuFileStreamDeregister() { return kUnsupported; }
