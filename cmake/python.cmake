# The Python module waybill._core, built by scikit-build-core.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(_core STABLE_ABI NB_STATIC NOMINSIZE
  python/bind/arrays.cpp
  python/bind/buffer.cpp
  python/bind/buffer_view.cpp
  python/bind/check.cpp
  python/bind/cufile.cpp
  python/bind/ended_watch.cpp
  python/bind/errors.cpp
  python/bind/file.cpp
  python/bind/future.cpp
  python/bind/kept_future.cpp
  python/bind/memory.cpp
  python/bind/module.cpp
  python/bind/receipt.cpp
  python/bind/settings.cpp)
target_link_libraries(_core PRIVATE waybill waybill_warnings)
target_compile_options(_core PRIVATE -Wno-shadow -Wno-conversion)
target_link_options(_core PRIVATE -static-libgcc)
# The stub python/waybill/_core.pyi is made by scripts/docs.sh; a test compares it with the module.
install(TARGETS _core LIBRARY DESTINATION waybill COMPONENT python)
install(TARGETS waybill_probe RUNTIME DESTINATION waybill COMPONENT python)
