// All of Waybill's public C++ surface.
#pragma once

#include "waybill/buffer.hpp"
#include "waybill/check.hpp"
#include "waybill/cufile.hpp"
#include "waybill/error.hpp"
#include "waybill/facts.hpp"
#include "waybill/file.hpp"
#include "waybill/finding.hpp"
#include "waybill/future.hpp"
#include "waybill/plan.hpp"
#include "waybill/receipt.hpp"
#include "waybill/request.hpp"
#include "waybill/route.hpp"
#include "waybill/settings.hpp"
#include "waybill/version.hpp"
