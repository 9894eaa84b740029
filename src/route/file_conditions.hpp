// What must hold of the file: its mount, file system, block device and udev record. Pure; see conditions.cpp for their order.
#pragma once

#include "route/conditions.hpp"

namespace waybill {

Answer p2pdma_enabled(const Subject& subject);
Answer p2pdma_raid(const Subject& subject);
Answer not_overlay(const Subject& subject);
Answer real_device(const Subject& subject);
Answer file_system_direct(const Subject& subject);
Answer data_ordered(const Subject& subject);
Answer block_device(const Subject& subject);
Answer nvme_registered(const Subject& subject);
Answer direct_open(const Subject& subject);

Answer overlay_served(const Subject& subject);
Answer file_system_served(const Subject& subject);
Answer udev_database(const Subject& subject);
Answer udev_record(const Subject& subject);
Answer udev_usage(const Subject& subject);
Answer compat_allowed(const Subject& subject);

}  // namespace waybill
