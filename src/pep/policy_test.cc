#include "pep/policy.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::pep {
namespace {

const Policy& glibc_policy(std::string_view name) {
  const Policy* policy = find_policy(builtin_policies(LibC::glibc), name);
  if (policy == nullptr) {
    throw Error("no policy " + std::string(name));
  }
  return *policy;
}

TEST(Policy, AllowsTheVersionsOfItsMachines) {
  struct Row {
    const char *policy, *machine, *version;
    bool allowed;
  };
  const Row rows[] = {
      {"manylinux_2_5", "x86_64", "GLIBC_2.2.5", true},
      {"manylinux_2_5", "x86_64", "GLIBC_2.6", false},
      {"manylinux_2_5", "i686", "GLIBC_2.0", true},
      {"manylinux_2_5", "x86_64", "GLIBC_2.0", false},
      {"manylinux_2_12", "i686", "GCC_4.5.0", true},
      {"manylinux_2_12", "x86_64", "GCC_4.5.0", false},
      {"manylinux_2_5", "x86_64", "LIBATOMIC_1.0", false},  // named with an empty list
      {"manylinux_2_5", "x86_64", "OPENSSL_1_1_0", true},   // no family of the policy
      {"manylinux_2_17", "x86_64", "GLIBC_2.10", true},     // inside a range, and not by text order
      {"manylinux_2_17", "x86_64", "GLIBC_2.17", true},
      {"manylinux_2_17", "x86_64", "GLIBC_2.18", false},
      {"manylinux_2_17", "aarch64", "GLIBC_2.18", true},  // as auditwheel has it
      {"manylinux_2_17", "aarch64", "GLIBC_2.5", false},  // what x86_64 has does not leak
      {"manylinux_2_17", "x86_64", "CXXABI_TM_1", true},
      {"manylinux_2_12", "x86_64", "CXXABI_TM_1", false},
      {"manylinux_2_17", "ppc64le", "GLIBCXX_LDBL_3.4.10", true},
      {"manylinux_2_17", "armv7l", "CXXABI_ARM_1.3.3", true},
      {"manylinux_2_24", "x86_64", "CXXABI_FLOAT128", true},
      {"manylinux_2_24", "x86_64", "GLIBC_2.19", false},  // a hole: x86_64 never had one
      {"manylinux_2_24", "s390x", "GLIBC_2.19", true},
      {"manylinux_2_35", "x86_64", "GLIBC_ABI_DT_RELR", false},
      {"manylinux_2_36", "x86_64", "GLIBC_ABI_DT_RELR", true},
      {"manylinux_2_36", "riscv64", "GLIBC_ABI_DT_RELR", false},
      {"manylinux_2_38", "riscv64", "GLIBC_ABI_DT_RELR", true},
      {"manylinux_2_41", "x86_64", "GLIBC_2.41", true},
      {"manylinux_2_41", "x86_64", "GLIBC_2.42", false},
      {"manylinux_2_41", "x86_64", "GLIBC_PRIVATE", false},
      {"manylinux_2_41", "x86_64", "GLIBC", false},
      {"manylinux_2_41", "x86_64", "GLIBC_", false},
      {"manylinux_2_41", "x86_64", "GLIBC_2.41.1", false},
      {"manylinux_2_41", "x86_64", "GLIBC_2.99999999999999999999999", false},
      {"manylinux_2_41", "x86_64", "", true},
      {"linux", "x86_64", "GLIBC_2.99", true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(glibc_policy(row.policy).allows(row.machine, row.version), row.allowed)
        << row.policy << " " << row.machine << " " << row.version;
  }
}

TEST(Policy, ExistsForSomeMachines) {
  EXPECT_FALSE(glibc_policy("manylinux_2_12").exists_for("aarch64"));
  EXPECT_TRUE(glibc_policy("manylinux_2_17").exists_for("ppc64"));
  EXPECT_FALSE(glibc_policy("manylinux_2_24").exists_for("ppc64"));
  EXPECT_FALSE(glibc_policy("manylinux_2_28").exists_for("riscv64"));
  EXPECT_TRUE(glibc_policy("manylinux_2_31").exists_for("riscv64"));
  EXPECT_TRUE(glibc_policy("manylinux_2_36").exists_for("loongarch64"));
  EXPECT_TRUE(glibc_policy("linux").exists_for("vax"));
}

TEST(Policy, NewestOfAFamily) {
  EXPECT_EQ(glibc_policy("manylinux_2_28").newest("x86_64", "GLIBC"), "2.28");
  EXPECT_EQ(glibc_policy("manylinux_2_12").newest("x86_64", "GLIBC"), "2.12");
  EXPECT_EQ(glibc_policy("manylinux_2_28").newest("x86_64", "GLIBCXX"), "3.4.24");
  EXPECT_EQ(glibc_policy("manylinux_2_39").newest("x86_64", "CXXABI"), "1.3.15");
  EXPECT_EQ(glibc_policy("manylinux_2_5").newest("x86_64", "ZLIB"), "");
}

// PEP 600: what a policy allows, every narrower one allows too.
TEST(Policy, NarrowerPoliciesAllowMore) {
  const auto& policies = builtin_policies(LibC::glibc);
  ASSERT_EQ(policies.size(), 17U);
  EXPECT_EQ(policies.front().name, "manylinux_2_5");
  EXPECT_EQ(policies.back().name, "linux");
  int compared = 0;
  for (std::size_t i = 1; i + 1 < policies.size(); ++i) {
    const Policy& wider = policies[i - 1];
    const Policy& narrower = policies[i];
    EXPECT_GT(wider.priority, narrower.priority);
    for (const std::string& soname : wider.libraries) {
      EXPECT_TRUE(narrower.has_library(soname)) << narrower.name << " " << soname;
    }
    for (const auto& [soname, symbols] : narrower.blacklist) {
      for (const std::string& symbol : symbols) {
        EXPECT_TRUE(wider.blacklist.at(soname).contains(symbol)) << wider.name << " " << symbol;
      }
    }
    for (const VersionGrant& grant : wider.grants) {
      for (const std::string& machine : grant.machines.empty() ? wider.machines : grant.machines) {
        for (const VersionRange& range : grant.versions) {
          if (narrower.exists_for(machine)) {
            EXPECT_TRUE(narrower.allows(machine, grant.family + "_" + range.last)) << narrower.name << " " << machine;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(Policy, LibrariesAndForbiddenSymbols) {
  EXPECT_FALSE(glibc_policy("manylinux1").has_library("libexpat.so.1"));
  EXPECT_TRUE(glibc_policy("manylinux2010").has_library("libexpat.so.1"));
  EXPECT_FALSE(glibc_policy("manylinux2014").has_library("libmvec.so.1"));
  EXPECT_FALSE(glibc_policy("manylinux_2_41").has_library("libgomp.so.1"));
  EXPECT_EQ(glibc_policy("manylinux_2_17").blacklist.count("libc.so.6"), 1U);
  EXPECT_EQ(glibc_policy("manylinux_2_24").blacklist.count("libc.so.6"), 0U);
  EXPECT_EQ(glibc_policy("manylinux_2_31").blacklist.at("libz.so.1").size(), 41U);
  EXPECT_EQ(glibc_policy("manylinux_2_34").blacklist.at("libz.so.1").size(), 40U);
  EXPECT_EQ(glibc_policy("manylinux_2_41").blacklist.at("libz.so.1").size(), 23U);

  const auto& musl = builtin_policies(LibC::musl);
  ASSERT_EQ(musl.size(), 3U);
  EXPECT_EQ(musl[1].name, "musllinux_1_2");
  EXPECT_TRUE(musl[1].has_library("libc.musl-x86_64.so.1"));
  EXPECT_FALSE(musl[1].has_library("libc.so.6"));
  EXPECT_TRUE(musl[1].exists_for("loongarch64"));
  EXPECT_FALSE(musl[0].exists_for("loongarch64"));
}

TEST(Policy, FoundByAnyOfItsNames) {
  const auto& policies = builtin_policies(LibC::glibc);
  struct Row {
    const char *text, *name;
  };
  for (const Row& row : {Row{"manylinux_2_28", "manylinux_2_28"},
                         {"manylinux2014", "manylinux_2_17"},
                         {"manylinux2014_x86_64", "manylinux_2_17"},
                         {"manylinux_2_5_i686", "manylinux_2_5"},
                         {"manylinux1_x86_64", "manylinux_2_5"},
                         {"linux_x86_64", "linux"},
                         {"linux", "linux"}}) {
    const Policy* policy = find_policy(policies, row.text);
    ASSERT_NE(policy, nullptr) << row.text;
    EXPECT_EQ(policy->name, row.name) << row.text;
  }
  for (const char* text : {"", "_", "manylinux", "manylinux_2_2", "manylinux_2_28_", "manylinux_2_28_vax",
                           "manylinux_2_5_aarch64", "musllinux_1_2", "win_amd64", "any"}) {
    EXPECT_EQ(find_policy(policies, text), nullptr) << text;
  }
}

constexpr std::string_view k_own = R"(
[[policy]]
name = "fleet_2026"
extends = "manylinux2014"
priority = 75
machines = ["x86_64"]
libraries = ["libcuda.so.1", "libnccl*.so.2"]

[policy.permit]
"libz.so.1" = ["uncompress2"]

[[policy.add]]
GLIBC = ["2.18..2.20"]
ACME = ["1.0"]
)";

TEST(Policy, TagsThatNoListHasAreDerived) {
  const std::optional<Policy> between = derived_policy("manylinux_2_18");
  ASSERT_TRUE(between.has_value());
  EXPECT_TRUE(between->allows("x86_64", "GLIBC_2.18"));
  EXPECT_TRUE(between->allows("x86_64", "GLIBC_2.17"));
  EXPECT_FALSE(between->allows("x86_64", "GLIBC_2.34"));
  EXPECT_FALSE(between->allows("x86_64", "GLIBCXX_3.4.30"));
  EXPECT_TRUE(between->has_library("libc.so.6"));
  EXPECT_TRUE(derived_policy("manylinux_2_77")->allows("x86_64", "GLIBC_2.76"));
  EXPECT_TRUE(derived_policy("musllinux_1_7").has_value());
  for (const char* none : {"manylinux_2_4", "manylinux2014", "manylinux_2", "manylinux_2_99999", "linux", "win_2_3"}) {
    EXPECT_FALSE(derived_policy(none).has_value()) << none;
  }
}

TEST(OwnPolicy, ExtendsABuiltInOne) {
  const auto policies = parse_policies(k_own, "fleet.toml");
  ASSERT_EQ(policies.size(), 1U);
  const Policy& own = policies[0];
  EXPECT_TRUE(own.allows("x86_64", "GLIBC_2.19"));
  EXPECT_TRUE(own.allows("x86_64", "GLIBC_2.2.5"));
  EXPECT_FALSE(own.allows("x86_64", "GLIBC_2.21"));
  EXPECT_FALSE(own.allows("x86_64", "ACME_1.1"));
  EXPECT_TRUE(own.has_library("libnccl-net.so.2"));
  EXPECT_TRUE(own.has_library("libstdc++.so.6"));
  EXPECT_FALSE(own.exists_for("aarch64"));
  EXPECT_FALSE(own.blacklist.at("libz.so.1").contains("uncompress2"));
  EXPECT_EQ(find_policy(policies, "fleet_2026_x86_64"), &own);
}

TEST(OwnPolicy, MistakesNameTheirLineAndTheRightWord) {
  struct Row {
    const char *text, *error;
  };
  const Row rows[] = {
      {"", "p.toml:1: there is no [[policy]]"},
      {"[[policy]]\nname = \"a\"\npriority = \n", "p.toml:3: "},
      {"[[polciy]]\nname = \"a\"\n", "(did you mean \"policy\"?)"},
      {"policy = 3\n", "p.toml:1: write [[policy]]"},
      {"policy = [3]\n", "p.toml:1: write [[policy]]"},
      {"[[policy]]\npriority = 1\n", "p.toml:1: a policy needs a name"},
      {"[[policy]]\nname = \"a\"\n", "p.toml:1: a policy needs a priority"},
      {"[[policy]]\nname = \"a\"\npriority = 0\n", "p.toml:3: priority must be"},
      {"[[policy]]\nname = \"a\"\npriority = 1.5\n", "p.toml:3: priority must be"},
      {"[[policy]]\nname = \"a\"\npriority = 99999999999\n", "p.toml:3: priority must be"},
      {"[[policy]]\nname = 3\npriority = 1\n", "p.toml:2: name must be a string"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nlibrarys = []\n",
       "p.toml:4: unknown key of a policy: \"librarys\" (did you mean \"libraries\"?)"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nlibraries = \"x\"\n", "p.toml:4: libraries must be a list of strings"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nlibraries = [1]\n", "p.toml:4: each element of libraries must be"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nmachines = [\"x86-64\"]\n",
       "unknown machine \"x86-64\" (did you mean \"x86_64\"?)"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nextends = \"manylinux_2_29\"\n", "p.toml:4: unknown policy to extend"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nextends = \"a\"\n", "p.toml:4: unknown policy to extend"},
      {"[[policy]]\nname = \"a\"\npriority = 1\n[[policy.add]]\nglibc = []\n",
       "p.toml:5: unknown key of [[policy.add]]: \"glibc\""},
      {"[[policy]]\nname = \"a\"\npriority = 1\n[[policy.add]]\nGLIBC = [\"2.9..2.5\"]\n",
       "p.toml:5: \"2.9..2.5\" is not a valid range"},
      {"[[policy]]\nname = \"a\"\npriority = 1\n[[policy.add]]\nGLIBC = [\"2.1..3.5\"]\n", "is not a valid range"},
      {"[[policy]]\nname = \"a\"\npriority = 1\n[[policy.add]]\nGLIBC = [\"..\"]\n", "is not a valid range"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nmachines = [\"i686\"]\n[[policy.add]]\nto = [\"x86_64\"]\n",
       "p.toml:6: x86_64 is not in the machines of a"},
      {"[[policy]]\nname = \"a\"\npriority = 1\npermit = {\"libz.so.1\" = [\"x\"]}\n",
       "p.toml:4: x of libz.so.1 was not forbidden"},
      {"[[policy]]\nname = \"a\"\npriority = 1\nforbid = 3\n", "p.toml:4: forbid and permit are tables"},
      {"[[policy]]\nname = \"a\"\nGLI\u013c = 3\n", "p.toml:3: a non-ASCII character must be quoted"},
  };
  for (const Row& row : rows) {
    try {
      parse_policies(row.text, "p.toml");
      ADD_FAILURE() << "accepted: " << row.text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(row.error), std::string::npos) << row.text << "\nsaid: " << e.what();
    }
  }
}

}  // namespace
}  // namespace wheelsmith::pep
