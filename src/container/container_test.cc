#include "container/container.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "container/visible.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::container {

namespace {

namespace fs = std::filesystem;

Image image_of(Engine engine) {
  return {engine, fs::path("/bin") / to_string(engine), "tools:1", "sha256:ab", "sha256:ab", engine != Engine::docker};
}

std::string call_text(Engine engine, const Container& container) {
  return join(engine_call(image_of(engine), container, {"/opt/w", "build", "a b"}).argv, "|");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Mount* mount_of(const Container& container, const fs::path& path) {
  const auto found = std::ranges::find(container.mounts, path, &Mount::path);
  return found == container.mounts.end() ? nullptr : &*found;
}

}  // namespace

TEST(EngineCall, UsesTheSyntaxOfEachEngine) {
  Container container;
  container.mounts = {{"/store", true}, {"/src", false}};
  container.folder = "/src";
  container.options = {"--cpus=2"};
  const std::string podman = call_text(Engine::podman, container);
  EXPECT_TRUE(podman.starts_with("/bin/podman|run|--rm|")) << podman;
  EXPECT_TRUE(has(podman, "|--mount|type=bind,source=/store,target=/store|")) << podman;
  EXPECT_TRUE(has(podman, "|--mount|type=bind,source=/src,target=/src,readonly|")) << podman;
  EXPECT_TRUE(podman.ends_with("|--cpus=2|--entrypoint|/opt/w|sha256:ab|build|a b")) << podman;
  EXPECT_FALSE(has(podman, "--user")) << podman;
  container.rootless = false;
  container.user = 1000;
  container.group = 100;
  container.nvidia = container.amd = container.terminal = true;
  const std::string docker = call_text(Engine::docker, container);
  EXPECT_TRUE(has(docker, "|--user|1000:100|")) << docker;
  EXPECT_TRUE(has(docker, "|--gpus|all|")) << docker;
  EXPECT_TRUE(has(docker, "|--device|/dev/kfd|--device|/dev/dri|")) << docker;
  EXPECT_TRUE(has(docker, "|-it|")) << docker;
  EXPECT_FALSE(has(docker, "--pull")) << docker;
  const std::string apptainer = call_text(Engine::apptainer, container);
  EXPECT_TRUE(apptainer.starts_with("/bin/apptainer|exec|")) << apptainer;
  EXPECT_TRUE(has(apptainer, "|--bind|/store:/store:rw|--bind|/src:/src:ro|")) << apptainer;
  EXPECT_TRUE(has(apptainer, "|--nv|--rocm|")) << apptainer;
  EXPECT_TRUE(apptainer.ends_with("|--cpus=2|sha256:ab|/opt/w|build|a b")) << apptainer;
}

// Process lists are public, and an index URL may contain a password.
TEST(EngineCall, KeepsValuesOutOfTheCommandLine) {
  Container container;
  container.folder = "/";
  container.variables = {{"PIP_INDEX_URL", "secret"}};
  for (const Engine engine : {Engine::podman, Engine::docker, Engine::apptainer}) {
    const EngineCall call = engine_call(image_of(engine), container, {"/w"});
    EXPECT_FALSE(has(join(call.argv, " "), "secret")) << to_string(engine);
    EXPECT_TRUE(std::ranges::any_of(call.variables, [](const auto& pair) { return pair.second == "secret"; }));
  }
}

TEST(EngineCall, RejectsPathsThatCannotBeMounted) {
  Container container;
  container.folder = "/";
  container.mounts = {{"/a,readonly=false", false}};
  EXPECT_THROW(engine_call(image_of(Engine::podman), container, {"/w"}), Error);
  EXPECT_THROW(engine_call(image_of(Engine::apptainer), container, {"/w"}), Error);
  container.mounts = {{"/a:b", false}};
  EXPECT_NO_THROW(engine_call(image_of(Engine::docker), container, {"/w"}));
  EXPECT_THROW(engine_call(image_of(Engine::apptainer), container, {"/w"}), Error);
}

TEST(Inside, IsDetectedByTheVariable) {
  Container container;
  container.folder = "/";
  const EngineCall call = engine_call(image_of(Engine::podman), container, {"/w"});
  const auto found = inside(call.variables);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "podman");
  EXPECT_EQ(found->image, "tools:1");
  EXPECT_EQ(found->id, "sha256:ab");
  EXPECT_FALSE(inside({{"PATH", "/bin"}}));
  EXPECT_THROW(inside({{k_inside_variable, "1"}}), Error);
}

TEST(FindImage, RejectsInvalidNames) {
  for (const char* name : {"", "-v", "a b", "a\nb"}) EXPECT_THROW(find_image(name, "auto", "/nowhere", true), Error);
}

class VisibleTest : public testing::Test {
 protected:
  VisibleTest() {
    around.program = make_file("bin/wheelsmith");
    around.store = folder.path() / "home/.cache/wheelsmith";
    around.folder = folder.path() / "home/project";
    around.root = folder.path() / "machine";
    around.environment = {{"HOME", (folder.path() / "home").string()}, {"PATH", "/bin"}};
    fs::create_directories(around.folder);
  }
  fs::path make_file(const std::string& name) {
    const fs::path path = folder.path() / name;
    fs::create_directories(path.parent_path());
    sys::write_file(path, "");
    return path;
  }
  Container shown(Engine engine = Engine::podman) {
    settings.set_from_command_line("out", (around.folder / "wheelhouse").string());
    return visible(settings, around, image_of(engine));
  }

  sys::TempDir folder;
  MountInputs around;
  settings::Settings settings;
};

TEST_F(VisibleTest, OnlyStoreAndWheelhouseCanBeWritten) {
  const Container container = shown();
  ASSERT_NE(mount_of(container, around.store), nullptr);
  EXPECT_TRUE(mount_of(container, around.store)->writable);
  ASSERT_NE(mount_of(container, around.folder / "wheelhouse"), nullptr);
  EXPECT_TRUE(mount_of(container, around.folder / "wheelhouse")->writable);
  ASSERT_NE(mount_of(container, around.folder), nullptr);
  EXPECT_FALSE(mount_of(container, around.folder)->writable);
  EXPECT_FALSE(mount_of(container, around.program)->writable);
  EXPECT_EQ(std::ranges::count_if(container.mounts, &Mount::writable), 2);
  EXPECT_EQ(container.variables.at("WHEELSMITH_STORE"), around.store.string());
}

TEST_F(VisibleTest, TheHomeFolderIsNeverMounted) {
  const fs::path home = folder.path() / "home";
  around.folder = home;
  settings.set_from_command_line("source", "x=" + home.string());
  const Container container = shown();
  EXPECT_EQ(mount_of(container, home), nullptr);
  EXPECT_EQ(mount_of(container, folder.path()), nullptr);
  EXPECT_EQ(container.empty_folders, std::vector<fs::path>{home});
}

TEST_F(VisibleTest, PathsInTheSettingsAreMounted) {
  const fs::path recipes = make_file("elsewhere/recipes/x.toml").parent_path();
  const fs::path mirror = make_file("elsewhere/mirror/x.git/HEAD").parent_path().parent_path();
  const fs::path cert = make_file("etc/ca.pem");
  const fs::path files = make_file("opt/index/files/a.whl").parent_path();
  fs::create_directories(folder.path() / "opt/index/simple");
  settings.set_from_command_line("recipes", recipes.string());
  settings.set_from_command_line("mirrors", document::Array{"https://a.example=" + mirror.string()});
  around.index.cert = cert.string();
  around.index.extra_index_urls = {"file://" + (folder.path() / "opt/index/simple").string()};
  around.index.index_url = "https://user:secret@a.example/simple";
  const Container container = shown();
  for (const fs::path& path : {recipes, mirror, cert, files.parent_path()}) {
    const Mount* mount = mount_of(container, path);
    ASSERT_NE(mount, nullptr) << path;
    EXPECT_FALSE(mount->writable) << path;
  }
  EXPECT_EQ(container.variables.at("PIP_INDEX_URL"), around.index.index_url);
  EXPECT_EQ(container.variables.at("PIP_CERT"), cert.string());
}

TEST_F(VisibleTest, ParentsOfTheHomeFolderAreNotWritable) {
  const fs::path home = folder.path() / "home";
  for (const fs::path& out : {home, folder.path(), fs::path("/opt"), fs::path("/")}) {
    settings.set_from_command_line("out", out.string());
    EXPECT_THROW(visible(settings, around, image_of(Engine::podman)), Error) << out;
  }
  // Through a link.
  fs::create_directory_symlink(home, folder.path() / "link");
  around.environment["HOME"] = (folder.path() / "link").string();
  settings.set_from_command_line("out", home.string());
  EXPECT_THROW(visible(settings, around, image_of(Engine::podman)), Error);
}

// The innermost mount decides: a source inside a wheelhouse inside a project stays read-only.
TEST_F(VisibleTest, MountsWithinMounts) {
  const fs::path source = make_file("home/project/wheelhouse/src/setup.py").parent_path();
  settings.set_from_command_line("source", "x=" + source.string());
  const Container container = shown();
  ASSERT_NE(mount_of(container, source), nullptr);
  EXPECT_FALSE(mount_of(container, source)->writable);
}

// The file comes with the source, and must not expose other folders.
TEST_F(VisibleTest, AForgedGitFileExposesNothing) {
  make_file("home/.ssh/a/b/key");
  make_file("repo/setup.py");
  sys::write_file(folder.path() / "repo/.git", "gitdir: " + (folder.path() / "home/.ssh/a/b").string() + "\n");
  settings.set_from_command_line("source", "x=" + (folder.path() / "repo").string());
  const Container container = shown();
  EXPECT_NE(mount_of(container, folder.path() / "repo"), nullptr);
  EXPECT_EQ(mount_of(container, folder.path() / "home/.ssh"), nullptr);
}

// setuptools-scm and similar tools call git, which needs the repository above and, for a worktree, the main repository.
TEST_F(VisibleTest, ASourceIsMountedWithItsRepository) {
  make_file("repo/sub/setup.py");
  fs::create_directories(folder.path() / "main/.git/worktrees/repo");
  make_file("main/.git/HEAD");
  fs::create_directories(folder.path() / "main/.git/objects");
  sys::write_file(folder.path() / "main/.git/worktrees/repo/gitdir", (folder.path() / "repo/.git").string() + "\n");
  sys::write_file(folder.path() / "repo/.git",
                  "gitdir: " + (folder.path() / "main/.git/worktrees/repo").string() + "\n");
  settings.set_from_command_line("source", "x=" + (folder.path() / "repo/sub").string());
  const Container container = shown();
  EXPECT_NE(mount_of(container, folder.path() / "repo"), nullptr);
  EXPECT_NE(mount_of(container, folder.path() / "main/.git"), nullptr);
  EXPECT_EQ(mount_of(container, folder.path() / "repo/sub"), nullptr);  // inside the first mount
}

TEST_F(VisibleTest, SomeVariablesArePassed) {
  around.environment["WHEELSMITH_ARCH"] = "9.0";
  around.environment["https_proxy"] = "http://proxy.example";
  around.environment["TORCH_CUDA_ARCH_LIST"] = "8.0";
  around.environment["AWS_SECRET_ACCESS_KEY"] = "secret";
  around.environment["CUDA_HOME"] = "/opt/cuda";
  around.exported_variables = {"TORCH_CUDA_ARCH_LIST"};
  const Container container = shown();
  EXPECT_EQ(container.variables.at("WHEELSMITH_ARCH"), "9.0");
  EXPECT_EQ(container.variables.at("https_proxy"), "http://proxy.example");
  EXPECT_EQ(container.variables.at("TORCH_CUDA_ARCH_LIST"), "8.0");
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "CUDA_HOME", "PATH", "HOME"})
    EXPECT_FALSE(container.variables.contains(name)) << name;
}

// The list of trusted files stays outside; only the decision is passed.
TEST_F(VisibleTest, OnlyATrustedProjectFileIsPassed) {
  const fs::path file = make_file("work/wheelsmith.toml");
  settings.read_project(file, "packages = [\"small\"]\n");
  EXPECT_FALSE(shown().variables.contains("WHEELSMITH_CONFIG"));
  settings.trust_project();
  EXPECT_EQ(shown().variables.at("WHEELSMITH_CONFIG"), file);
}

TEST_F(VisibleTest, OnlyDevicesThatTheEngineSupportsArePassed) {
  make_file("machine/dev/nvidiactl");
  make_file("machine/dev/kfd");
  EXPECT_TRUE(shown(Engine::apptainer).nvidia);
  EXPECT_FALSE(shown(Engine::podman).nvidia);  // no CDI description
  make_file("machine/etc/cdi/nvidia.yaml");
  EXPECT_TRUE(shown(Engine::podman).nvidia);
  EXPECT_TRUE(shown(Engine::podman).amd);
}

TEST(Obstacles, AreReportedWithTheirFixes) {
  sys::TempDir folder;
  const auto put = [&](const char* name, const char* text) {
    fs::create_directories((folder.path() / name).parent_path());
    sys::write_file(folder.path() / name, text);
  };
  put("etc/subuid", "builder:100000:65536\n");
  put("etc/subgid", "1001:100000:65536\n");
  put("proc/sys/user/max_user_namespaces", "96349\n");
  EXPECT_EQ(obstacles(folder.path(), 1001, "builder"), std::vector<std::string>());
  EXPECT_EQ(obstacles(folder.path(), 0, "root"), std::vector<std::string>());
  put("proc/sys/user/max_user_namespaces", "0\n");
  put("proc/sys/kernel/unprivileged_userns_clone", "0\n");
  put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  const std::string all = join(obstacles(folder.path(), 1002, "other"), "\n");
  for (const char* part :
       {"max_user_namespaces", "unprivileged_userns_clone", "AppArmor", "/etc/subuid", "/etc/subgid"})
    EXPECT_TRUE(has(all, part)) << part;
}

}  // namespace wheelsmith::container
