# The program `waybill`.
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
add_executable(waybill_cli
  src/bench/bench.cpp
  src/bench/bench_json.cpp
  src/bench/cache.cpp
  src/bench/ceilings.cpp
  src/bench/plot.cpp
  src/bench/report.cpp
  src/bench/test_file.cpp
  src/cli/arguments.cpp
  src/cli/aside.cpp
  src/cli/bench.cpp
  src/cli/check.cpp
  src/cli/check_compare_json.cpp
  src/cli/config.cpp
  src/cli/config_cufile.cpp
  src/cli/config_cufile_json.cpp
  src/cli/config_json.cpp
  src/cli/end.cpp
  src/cli/hash.cpp
  src/cli/main.cpp
  src/cli/new_file.cpp
  src/cli/patience.cpp
  src/cli/pause.cpp
  src/cli/place.cpp
  src/cli/plan.cpp
  src/cli/print.cpp
  src/cli/read.cpp
  src/cli/stats.cpp
  src/cli/version.cpp
  src/cli/write.cpp
  src/cli/write_source.cpp
  src/cli/write_stream.cpp)
set_target_properties(waybill_cli PROPERTIES OUTPUT_NAME waybill)
target_include_directories(waybill_cli PRIVATE src)
target_link_libraries(waybill_cli PRIVATE waybill waybill_warnings CLI11::CLI11 OpenSSL::Crypto
  fmt::fmt-header-only nlohmann_json::nlohmann_json)
add_dependencies(waybill_cli waybill_probe)
install(TARGETS waybill_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS waybill_probe RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/waybill)
