#include "engine/engine.hpp"

#include "engine/cufile.hpp"
#include "engine/host.hpp"
#include "engine/staged.hpp"

namespace waybill {
namespace {

// The table of engines: a row each.
struct Row {
    EngineKind kind;
    std::unique_ptr<Engine> (*make)(Direction direction, const Lading& lading);
};
constexpr Row kEngines[] = {
    {EngineKind::host, &make_host_engine},
    {EngineKind::staged, &make_staged_engine},
    {EngineKind::cufile, &make_cufile_engine},
};

}  // namespace

std::unique_ptr<Engine> make_engine(EngineKind kind, Direction direction, const Lading& lading) {
    for (const Row& row : kEngines) {
        if (row.kind == kind) {
            return row.make(direction, lading);
        }
    }
    throw Error(ErrorCode::internal, "no engine of this kind");
}

}  // namespace waybill
