#include <nlohmann/json.hpp>

#include <limits>

#include "waybill/check.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json fact_json(const Fact<T>& fact) {
    Json json{{"state", fact.known() ? "known" : fact.absent() ? "absent" : "unknown"}};
    if (fact.known()) {
        json["value"] = fact.value;
    }
    json["source"] = fact.source;
    if (fact.unknown() && !fact.why.empty()) {
        json["why"] = fact.why;
    }
    return json;
}

Json maybe(const std::optional<Reason>& reason) { return reason ? Json{{"id", reason->id}, {"text", reason->text}} : Json(nullptr); }

std::string_view kind_text(BlockLayer::Kind kind) {
    using Kind = BlockLayer::Kind;
    switch (kind) {
        case Kind::nvme: return "nvme";
        case Kind::nvme_of: return "nvme-of";
        case Kind::scsi: return "scsi";
        case Kind::virtio: return "virtio";
        case Kind::loop: return "loop";
        case Kind::device_mapper: return "device-mapper";
        case Kind::md: return "md";
        case Kind::partition: return "partition";
        case Kind::anonymous: return "anonymous";
        case Kind::other: break;
    }
    return "other";
}

std::string_view distance_text(PciDistance distance) {
    switch (distance) {
        case PciDistance::same_switch: return "same-switch";
        case PciDistance::same_root: return "same-root-complex";
        case PciDistance::same_socket: return "same-socket";
        case PciDistance::other_socket: return "other-socket";
        case PciDistance::unknown: break;
    }
    return "unknown";
}

Json mount_json(const MountFacts& mount) {
    return {{"id", mount.id},     {"file_system", mount.file_system}, {"source", mount.source}, {"mount_point", mount.mount_point},
            {"root", mount.root}, {"options", mount.options}};
}

Json file_json(const FileFacts& file) {
    Json stack = Json::array();
    for (const BlockLayer& layer : file.block.value.stack) {
        stack.push_back({{"name", layer.name}, {"kind", kind_text(layer.kind)}, {"pci_address", layer.pci_address}});
    }
    return {{"path", file.path},
            {"resolved", file.resolved},
            {"size_bytes", file.size_bytes},
            {"device", std::to_string(file.device.major) + ":" + std::to_string(file.device.minor)},
            {"mount", file.mount.known() ? mount_json(file.mount.value) : Json(nullptr)},
            {"block", {{"kind", file.block.known() ? Json(kind_text(file.block.value.kind)) : Json(nullptr)}, {"stack", stack}}},
            {"direct_open", fact_json(file.direct_open)},
            {"direct_offset_align", fact_json(file.direct_offset_align)},
            {"direct_memory_align", fact_json(file.direct_memory_align)},
            {"udev_record", fact_json(file.udev_record)},
            {"udev_usage", fact_json(file.udev_usage)}};
}

Json cufile_json(const CufileFacts& cufile) {
    return {{"library", fact_json(cufile.library)},
            {"version", fact_json(cufile.version)},
            {"missing_dependencies", fact_json(cufile.missing_dependencies)},
            {"json", cufile.config.file.empty() ? Json(nullptr) : Json(cufile.config.file)},
            {"allow_compat_mode", cufile.config.allow_compat_mode},
            {"force_compat_mode", cufile.config.force_compat_mode},
            {"use_pci_p2pdma", cufile.config.use_pci_p2pdma}};
}

Json machine_json(const MachineFacts& machine) {
    const NvidiaFsFacts& nvidia_fs = machine.nvidia_fs;
    return {{"root", machine.root},
            {"kernel", fact_json(machine.kernel)},
            {"nvidia_driver", fact_json(machine.nvidia_driver)},
            {"modules_readable", fact_json(machine.modules_readable)},
            {"nvidia_fs",
             {{"loaded", fact_json(nvidia_fs.loaded)},
              {"version", fact_json(nvidia_fs.version)},
              {"device_nodes", fact_json(nvidia_fs.device_nodes)},
              {"registered", fact_json(nvidia_fs.registered)}}},
            {"p2pdma",
             {{"kernel", fact_json(machine.p2pdma.kernel)},
              {"driver_static_bar", fact_json(machine.p2pdma.driver_static_bar)},
              {"nvme_multipath", fact_json(machine.p2pdma.nvme_multipath)}}},
            {"cufile", cufile_json(machine.cufile)},
            {"udev_database", fact_json(machine.udev_database)},
            {"container", fact_json(machine.container)},
            {"wsl", machine.wsl},
            {"free_memory_bytes", machine.free_memory_bytes},
            {"cores", machine.cores}};
}

Json pci_json(const Fact<PciFacts>& fact) {
    if (!fact.known()) {
        return nullptr;
    }
    const PciFacts& pci = fact.value;
    return {{"address", pci.address},
            {"way", pci.way},
            {"numa_node", fact_json(pci.numa_node)},
            {"link_gt_per_s", fact_json(pci.link_gt_per_s)},
            {"link_most_gt_per_s", fact_json(pci.link_most_gt_per_s)},
            {"lanes", fact_json(pci.lanes)},
            {"lanes_most", fact_json(pci.lanes_most)},
            {"iommu_group_type", fact_json(pci.iommu_group_type)},
            {"acs_on", pci.acs_on},
            {"acs_unknown", pci.acs_unknown}};
}

Json limit_json(const Fact<std::uint64_t>& limit) {
    Json json = fact_json(limit);
    if (limit.is(std::numeric_limits<std::uint64_t>::max())) {
        json["value"] = "unlimited";
    }
    return json;
}

Json surroundings_json(const SurroundingFacts& facts) {
    Json variables = Json::object();
    for (const auto& [name, value] : facts.cufile_variables) {
        variables[name] = value;
    }
    return {{"gpu_pci", pci_json(facts.gpu)},
            {"drive_pci", pci_json(facts.drive)},
            {"distance", distance_text(facts.distance)},
            {"iommu", fact_json(facts.iommu)},
            {"virtual_machine", fact_json(facts.virtual_machine)},
            {"memlock_bytes", limit_json(facts.memlock_bytes)},
            {"open_files", limit_json(facts.open_files)},
            {"shared_memory_bytes", fact_json(facts.shared_memory_bytes)},
            {"nvme_symbol", fact_json(facts.nvme_symbol)},
            {"cufile_variables", variables}};
}

Json gpu_json(const GpuFacts& gpu) {
    return {{"device", gpu.device}, {"present", gpu.present.known()}, {"name", gpu.name}, {"uuid", gpu.uuid}, {"pci_address", gpu.pci_address},
            {"gpu_direct_rdma", fact_json(gpu.gpu_direct_rdma)}};
}

Json route_json(const Route& route) {
    Json reasons = Json::array();
    for (const Reason& reason : route.reasons) {
        reasons.push_back({{"id", reason.id}, {"text", reason.text}});
    }
    return {{"engine", to_text(route.engine)}, {"path", to_text(route.expected_path)}, {"reasons", reasons}, {"refused", maybe(route.refused)}};
}

Json direct_json(const Verdict& direct) {
    return {{"possible", direct.possible}, {"path", direct.path ? Json(to_text(*direct.path)) : Json(nullptr)}, {"first_failing", maybe(direct.first_failing)}};
}

Json usable_json(const Verdict& cufile) { return {{"usable", cufile.possible}, {"first_failing", maybe(cufile.first_failing)}}; }

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string to_json(const CheckReport& report, int indent) {
    Json json;
    json["schema"] = "waybill.check/1";
    json["file"] = report.file;
    json["device"] = report.device;
    json["direct"] = direct_json(report.direct);
    json["cufile"] = usable_json(report.cufile);
    json["route"] = route_json(report.route);
    json["findings"] = Json::array();
    for (const Finding& finding : report.findings) {
        json["findings"].push_back({{"id", finding.id}, {"severity", to_text(finding.severity)}, {"seen", finding.seen}, {"source", finding.source},
                                    {"fix", finding.fix}, {"not_needed", finding.not_needed}});
    }
    json["probe"] = Json::array();
    for (const ProbeStep& step : report.probe) {
        json["probe"].push_back({{"what", step.what}, {"done", step.done}, {"result", step.result}, {"foretold", step.foretold}, {"agrees", step.agrees}});
    }
    json["facts"] = {{"file", file_json(report.file_facts)},
                     {"gpu", gpu_json(report.gpu)},
                     {"machine", machine_json(report.machine)},
                     {"surroundings", surroundings_json(report.surroundings)}};
    return dump(json, indent);
}

std::string to_json(const std::vector<MountReport>& mounts, int indent) {
    Json json{{"schema", "waybill.mounts/1"}, {"mounts", Json::array()}};
    for (const MountReport& report : mounts) {
        Json entry = mount_json(report.mount);
        entry["direct"] = direct_json(report.direct);
        entry["cufile"] = usable_json(report.cufile);
        json["mounts"].push_back(std::move(entry));
    }
    return dump(json, indent);
}

}  // namespace waybill
