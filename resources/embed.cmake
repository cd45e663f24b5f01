# SPDX-License-Identifier: GPL-3.0-or-later
# tickscope_embed(OUT FILE NAME): OUT becomes a source with `const std::string_view NAME` (namespace
# tickscope), the bytes of FILE, so that programs need no file beside them.
function(tickscope_embed out file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${file}")
  file(READ "${CMAKE_SOURCE_DIR}/${file}" text)
  set(source "${CMAKE_BINARY_DIR}/embedded/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Made from ${file}.
#include <string_view>
namespace tickscope {
extern const std::string_view ${name};
const std::string_view ${name} = R\"embedded(@text@)embedded\";
}  // namespace tickscope
")
  set(${out} "${source}" PARENT_SCOPE)
endfunction()
