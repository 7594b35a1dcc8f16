#pragma once

#include "document/fields.h"
#include "plan/step/spec.h"

// All members of a BuildSpec, for its document and its test.

template <>
struct wheelsmith::EnumNames<wheelsmith::recipe::Variant> {
  static constexpr std::array list = {"cpu", "cuda", "rocm"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::source::Pin::Kind> {
  static constexpr std::array list = {"archive", "folder", "git", "program"};
};

namespace wheelsmith::document {

template <>
struct Codec<gpu::ArchList> {
  static Value write(const gpu::ArchList& archs) { return archs.to_string(); }
  static gpu::ArchList read(const Value& value, const std::string& where) {
    const std::string text = Codec<std::string>::read(value, where);
    return text.empty() ? gpu::ArchList() : gpu::ArchList::parse(text);
  }
};

template <>
struct Codec<store::Manifest> {
  static Value write(const store::Manifest& manifest) { return manifest.to_value(); }
  static store::Manifest read(const Value& value, const std::string&) { return store::Manifest::from_value(value); }
};

template <>
struct Fields<toolchain::Python> {
  using T = toolchain::Python;
  static constexpr auto list = fields_of<T>(
      field("executable", &T::executable), field("version", &T::version), field("implementation", &T::implementation),
      field("tag", &T::tag), field("abi", &T::abi), field("platform", &T::platform), field("soabi", &T::soabi),
      field("prefix", &T::prefix), field("base_prefix", &T::base_prefix), field("include", &T::include),
      field("purelib", &T::purelib), field("platlib", &T::platlib), field("stdlib", &T::stdlib),
      field("sites", &T::sites), field("has_headers", &T::has_headers), field("has_venv", &T::has_venv),
      field("has_pip", &T::has_pip), field("has_ensurepip", &T::has_ensurepip), field("pip_version", &T::pip_version),
      field("glibc", &T::glibc), field("digest", &T::digest));
};

template <>
struct Fields<source::Pin> {
  using T = source::Pin;
  static constexpr auto list = fields_of<T>(
      field("kind", &T::kind), field("project", &T::project), field("version", &T::version),
      field("file_name", &T::file_name), field("url", &T::url), field("sha256", &T::sha256),
      field("folder", &T::folder), field("git_url", &T::git_url), field("git_ref", &T::git_ref),
      field("git_commit", &T::git_commit), field("git_tag", &T::git_tag), field("submodules", &T::submodules),
      field("incremental", &T::incremental), field("digest", &T::digest), field("files", &T::files));
};

template <>
struct Fields<source::Patch> {
  using T = source::Patch;
  static constexpr auto list =
      fields_of<T>(field("name", &T::name), field("text", &T::text), field("folder", &T::folder));
};

template <>
struct Fields<env::PinnedWheel> {
  using T = env::PinnedWheel;
  static constexpr auto list =
      fields_of<T>(field("name", &T::name), field("version", &T::version), field("file_name", &T::file_name),
                   field("url", &T::url), field("sha256", &T::sha256));
};

template <>
struct Fields<env::InstalledPackage> {
  using T = env::InstalledPackage;
  static constexpr auto list =
      fields_of<T>(field("name", &T::name), field("version", &T::version), field("digest", &T::digest));
};

template <>
struct Fields<env::Lock> {
  using T = env::Lock;
  static constexpr auto list = fields_of<T>(field("wheels", &T::wheels), field("requirements", &T::requirements));
};

template <>
struct Fields<choose::TorchChoice> {
  using T = choose::TorchChoice;
  static constexpr auto list = fields_of<T>(field("kind", &T::kind), field("requirement", &T::requirement),
                                            field("index_urls", &T::index_urls), field("wheelhouses", &T::wheelhouses),
                                            field("prereleases", &T::prereleases), field("python", &T::python));
};

template <>
struct Fields<choose::ContainerImage> {
  using T = choose::ContainerImage;
  static constexpr auto list = fields_of<T>(field("name", &T::name), field("id", &T::id));
};

template <>
struct Fields<choose::TorchBuild> {
  using T = choose::TorchBuild;
  static constexpr auto list =
      fields_of<T>(field("version", &T::version), field("cuda", &T::cuda), field("hip", &T::hip));
};

template <>
struct Fields<plan::FetchSource> {
  using T = plan::FetchSource;
  static constexpr auto list = fields_of<T>(field("name", &T::name), field("pin", &T::pin));
};

template <>
struct Fields<plan::ApplyPatch> {
  static constexpr auto list = fields_of<plan::ApplyPatch>(field("patch", &plan::ApplyPatch::patch));
};

template <>
struct Fields<plan::RemoveFiles> {
  static constexpr auto list = fields_of<plan::RemoveFiles>(field("patterns", &plan::RemoveFiles::patterns));
};

template <>
struct Fields<plan::WriteFile> {
  using T = plan::WriteFile;
  static constexpr auto list = fields_of<T>(field("path", &T::path), field("text", &T::text));
};

template <>
struct Fields<plan::RunCommand> {
  using T = plan::RunCommand;
  static constexpr auto list = fields_of<T>(field("argv", &T::argv), field("network", &T::network));
};

template <>
struct Fields<plan::CallHook> {
  using T = plan::CallHook;
  static constexpr auto list =
      fields_of<T>(field("hook", &T::hook), field("config", &T::config), field("dropped", &T::dropped));
};

template <>
struct Fields<plan::PackProgram> {
  static constexpr std::tuple<> list{};
  static_assert(member_count<plan::PackProgram>() == 0);
};

template <>
struct Fields<plan::Action> {
  using T = plan::Action;
  static constexpr auto list = fields_of<T>(field("phase", &T::phase), field("what", &T::what));
};

template <>
struct Fields<plan::EnvironmentSpec> {
  using T = plan::EnvironmentSpec;
  static constexpr auto list = fields_of<T>(field("requirements", &T::requirements), field("lock", &T::lock),
                                            field("resolve_late", &T::resolve_late), field("torch", &T::torch),
                                            field("torch_build", &T::torch_build), field("isolated", &T::isolated),
                                            field("installed", &T::installed));
};

template <>
struct Fields<plan::CudaSpec> {
  using T = plan::CudaSpec;
  static constexpr auto list =
      fields_of<T>(field("root", &T::root), field("index_version", &T::index_version), field("version", &T::version));
};

template <>
struct Fields<plan::RocmSpec> {
  using T = plan::RocmSpec;
  static constexpr auto list =
      fields_of<T>(field("root", &T::root), field("index_version", &T::index_version), field("version", &T::version),
                   field("index", &T::index), field("lock", &T::lock), field("clang", &T::clang),
                   field("device_libraries", &T::device_libraries));
};

template <>
struct Fields<toolchain::Library> {
  using T = toolchain::Library;
  static constexpr auto list =
      fields_of<T>(field("name", &T::name), field("version", &T::version), field("root", &T::root),
                   field("header", &T::header), field("file", &T::file), field("file_version", &T::file_version),
                   field("found_by", &T::found_by), field("digest", &T::digest), field("unknown", &T::unknown));
};

template <>
struct Fields<plan::ToolSpec> {
  using T = plan::ToolSpec;
  static constexpr auto list =
      fields_of<T>(field("cc", &T::cc), field("cxx", &T::cxx), field("compiler_family", &T::compiler_family),
                   field("compiler_version", &T::compiler_version), field("programs", &T::programs),
                   field("cuda", &T::cuda), field("rocm", &T::rocm), field("libraries", &T::libraries));
};

template <>
struct Fields<plan::VariableSpec> {
  using T = plan::VariableSpec;
  static constexpr auto list = fields_of<T>(field("fixed", &T::fixed), field("loose", &T::loose));
};

template <>
struct Fields<plan::BuildSpec> {
  using T = plan::BuildSpec;
  static constexpr auto list = fields_of<T>(
      field("id", &T::id), field("identity", &T::identity), field("package", &T::package),
      field("project", &T::project), field("version", &T::version), field("wheel_version", &T::wheel_version),
      field("variant", &T::variant), field("target", &T::target), field("archs", &T::archs),
      field("platform", &T::platform), field("build_type", &T::build_type), field("container", &T::container),
      field("recipe_text", &T::recipe_text), field("recipe_origin", &T::recipe_origin), field("python", &T::python),
      field("source", &T::source), field("subfolder", &T::subfolder), field("environment", &T::environment),
      field("tools", &T::tools), field("variables", &T::variables), field("actions", &T::actions),
      field("network", &T::network), field("verbose", &T::verbose), field("uncacheable", &T::uncacheable),
      field("editable", &T::editable), field("manifest", &T::manifest), field("key", &T::key));
};

}  // namespace wheelsmith::document
