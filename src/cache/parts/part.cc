#include "cache/parts/part.h"

#include "base/error.h"
#include "cache/texts.h"

namespace wheelsmith::cache {

namespace {
// No program of a CompileRequest, which begins with an absolute path.
constexpr std::string_view k_part_request = "part";
}  // namespace

std::string PartRequest::to_bytes() const {
  TextWriter writer;
  writer.add(k_part_request).add(program).add(tools).add(words).add(text).add(outputs).add(files).add(archs).add(id);
  writer.add(sources).add(maps).add_number(device_text ? 1 : 0).add_number(positions ? 1 : 0);
  return writer.take();
}

PartRequest PartRequest::from_bytes(std::string_view bytes) {
  TextReader reader(bytes);
  if (reader.text() != k_part_request) throw Error("not a request for a part");
  PartRequest request;
  request.program = reader.text();
  request.tools = reader.list();
  request.words = reader.list();
  request.text = reader.text();
  request.outputs = reader.list();
  request.files = reader.list();
  request.archs = reader.text();
  request.id = reader.text();
  request.sources = reader.list();
  request.maps = reader.list();
  request.device_text = reader.number() != 0;
  request.positions = reader.number() != 0;
  return request;
}

bool PartRequest::is_request(std::string_view bytes) {
  try {
    return TextReader(bytes).text() == k_part_request;
  } catch (const Error&) {  // the answer is no
    return false;
  }
}

std::string PartFiles::to_bytes() const {
  return TextWriter().add(outputs).add(output).add(errors).add_number(milliseconds).take();
}

PartFiles PartFiles::from_bytes(std::string_view bytes) {
  TextReader reader(bytes);
  PartFiles files;
  files.outputs = reader.list();
  files.output = reader.text();
  files.errors = reader.text();
  files.milliseconds = reader.last_number();
  return files;
}

}  // namespace wheelsmith::cache
