# What a consumer gets: the library, its headers, the program, and the CMake package waybill::waybill.
include(CMakePackageConfigHelpers)
install(TARGETS waybill EXPORT waybill_targets COMPONENT library)
install(DIRECTORY include/waybill DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT waybill_targets NAMESPACE waybill:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/waybill COMPONENT library)
configure_package_config_file(cmake/waybill-config.cmake.in ${CMAKE_BINARY_DIR}/waybill-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/waybill)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/waybill-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/waybill-config.cmake ${CMAKE_BINARY_DIR}/waybill-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/waybill COMPONENT library)
install(TARGETS waybill_probe RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/waybill COMPONENT library)
