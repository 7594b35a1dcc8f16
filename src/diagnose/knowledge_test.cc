#include "diagnose/knowledge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/diagnose.h"
#include "diagnose/needed_words.h"
#include "diagnose/remedy.h"

namespace wheelsmith::diagnose {
namespace {

std::string message_of(std::string_view toml) {
  try {
    Knowledge knowledge;
    knowledge.add(toml, "own.toml");
    knowledge.compile();
  } catch (const Error& error) {
    return error.what();
  }
  return "fine";
}

constexpr std::string_view k_row = R"([[pattern]]
id = "x"
class = "oom"
stage = "compile"
match = 'out of (?P<what>[a-z]+)'
cause = "It ran out of {what}."
fix = ["Buy more {what}.", "Lower MAX_JOBS to {machine.jobs}."]
)";

TEST(Knowledge, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(message_of(k_row), "fine");
  const struct {
    std::string_view from, to, message;
  } cases[] = {
      {"class = \"oom\"", "class = \"ooom\"", "own.toml:3: ooom: no such class; did you mean oom?"},
      {"stage = \"compile\"", "stage = \"compiel\"", "own.toml:4: compiel: no such stage; did you mean compile?"},
      {"cause =", "causes =", "own.toml:6: unknown key causes; did you mean cause?"},
      {"'out of (?P<what>[a-z]+)'", "'out of ('", "own.toml:5: missing ): out of ( in the expression out of ("},
      {"id = \"x\"\n", "", "own.toml:1: id: expected a string"},
      {"[[pattern]]", "[[patern]]", "own.toml:1: unknown table patern; valid tables are [[pattern]] and [[fact]]"},
      {"id = \"x\"", "id = \"x\"\npriority = 1000", "own.toml:3: priority: expected a number from 0 to 100"},
  };
  for (const auto& item : cases) {
    std::string text(k_row);
    text.replace(text.find(item.from), item.from.size(), item.to);
    EXPECT_EQ(message_of(text), item.message);
  }
}

TEST(Knowledge, PatternsOfTheUserComeBeforeBuiltInOnes) {
  Knowledge knowledge;
  knowledge.add(k_row, "ours.toml");
  std::string theirs(k_row);
  theirs.replace(theirs.find("\"oom\""), 5, "\"disk\"");
  knowledge.add(theirs, "theirs.toml");
  knowledge.compile();
  ASSERT_EQ(knowledge.patterns().size(), 1u);
  const Diagnosis diagnosis = diagnose("cc: out of paper\n", knowledge,
                                       {.values = [] { return Values{{"machine.jobs", "3"}}; }, .nvcc_archs = {}});
  ASSERT_TRUE(diagnosis.cause);
  EXPECT_EQ(diagnosis.cause->kind, "disk");
  EXPECT_EQ(diagnosis.cause->what, "It ran out of paper.");
  EXPECT_EQ(diagnosis.cause->fixes, (std::vector<std::string>{"Buy more paper.", "Lower MAX_JOBS to 3."}));
  EXPECT_EQ(diagnose("cc: out of paper\n", knowledge).cause->fixes, (std::vector<std::string>{"Buy more paper."}));
}

// Ours are compiled when a line needs them; here all of them are.
TEST(Knowledge, EveryExpressionIsValid) {
  Knowledge all;
  for (const auto& [name, text] : builtin_files()) all.add(text, name);
  EXPECT_NO_THROW(all.compile());
}

TEST(NeededWords, OfExpressions) {
  const struct {
    std::string_view expression;
    std::vector<std::string> words;
  } cases[] = {
      {"No space left", {"no space left"}},
      {"(?:cannot|unable) find it", {" find it"}},
      {"(?P<x>killed|stopped) by", {"killed", "stopped"}},
      {"a(?:bcde)?f", {}},
      {"error+s now", {"error"}},
      {"x[abc]yyyyy", {"yyyyy"}},
      {"fatal\\.error", {"fatal.error"}},
      {"(?i)Fatal Error", {"fatal error"}},
      {"abcd|(?:efgh|.*)", {}},
      {"abcd{0,3}efgh", {"efgh"}},
      {"(broken", {}},
      {"\\x41bcdef", {}},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(needed_words(item.expression, 4, [](const std::string& word) { return 1.0 / double(word.size()); }),
              item.words)
        << item.expression;
  }
}

TEST(Knowledge, EveryExpressionIsReachedThroughAWord) {
  EXPECT_EQ(builtin_knowledge().unreachable(), std::vector<std::string>());
}

TEST(Knowledge, EveryRowIsWhole) {
  std::set<std::string> facts;
  for (const Fact& fact : builtin_knowledge().facts()) {
    facts.insert(fact.name);
    EXPECT_FALSE(fact.samples.empty()) << fact.name;
  }
  for (const Pattern& pattern : builtin_knowledge().patterns()) {
    EXPECT_FALSE(pattern.samples.empty()) << pattern.id;
    for (const std::vector<std::string>* names : {&pattern.seen, &pattern.unseen}) {
      for (const std::string& name : *names) EXPECT_TRUE(facts.contains(name)) << pattern.id << ": no fact " << name;
    }
    if (pattern.role != Role::cause) continue;
    // One remedy must hold whatever the log and the machine tell.
    const bool any = std::any_of(pattern.fix.begin(), pattern.fix.end(), [&](const std::string& fix) {
      return fix.find('{') == std::string::npos || fix.find("{machine") == std::string::npos;
    });
    EXPECT_TRUE(any) << pattern.id;
  }
}

// Inside `wheelsmith build` a remedy is an option, a line of the recipe or a package of the system: what is exported,
// or installed into an environment, does not reach a build. tests/diagnose_fixes.py compares options and keys with the
// program.
TEST(Knowledge, EveryRemedyWorksInsideABuild) {
  for (const Pattern& pattern : builtin_knowledge().patterns()) {
    if (pattern.role != Role::cause) continue;
    const std::vector<std::string>& fixes = pattern.build_fix.empty() ? pattern.fix : pattern.build_fix;
    EXPECT_FALSE(fixes.empty()) << pattern.id;
    bool always = false;
    for (const std::string& fix : fixes) {
      for (const std::string_view word :
           {"export ", "pip install", "pip3 install", "pip uninstall", "uv pip", "uv venv", "PIP_CONSTRAINT",
            "MAX_JOBS=", "rm -rf", "docker run", "CMakeCache"}) {
        const std::size_t at = fix.find(word);
        if (at == fix.npos || (word == "export " && fix.find('=', at) == fix.npos)) continue;
        if (word == "export " && fix.find("export option") != fix.npos) continue;
        ADD_FAILURE() << pattern.id << ": \"" << word << "\" has no effect inside a build: " << fix;
      }
      always |= fix != "{install}" && fix.find("{machine") == fix.npos;
    }
    EXPECT_TRUE(always) << pattern.id << ": no remedy that holds whatever the log and the machine tell";
  }
}

TEST(Diagnose, ShowsTheRemedyThatWorksWhereItIsRead) {
  const std::string log = "c++: fatal error: Killed signal terminated program cc1plus\n";
  const Machine machine = {.values = [] { return Values{{"machine.jobs", "3"}}; }, .nvcc_archs = {}};
  EXPECT_EQ(diagnose(log, builtin_knowledge(), machine).cause->fixes.front(), "export MAX_JOBS=3");
  Machine inside = machine;
  inside.audience = Audience::build;
  EXPECT_EQ(diagnose(log, builtin_knowledge(), inside).cause->fixes.front(), "the same command with --jobs 3");
}

// The samples in the tables: each of them, alone in a log, gives the class of its row.
TEST(Knowledge, EverySampleIsRecognised) {
  for (const Fact& fact : builtin_knowledge().facts()) {
    for (const std::string& sample : fact.samples) {
      bool found = false;
      for (const std::string_view line : lines(sample)) {
        for (const Match& match : builtin_knowledge().match_facts(trim(line))) found |= match.fact == &fact;
      }
      EXPECT_TRUE(found) << fact.name << ": " << sample;
    }
  }
  for (const Pattern& pattern : builtin_knowledge().patterns()) {
    for (const std::string& sample : pattern.samples) {
      std::string log = sample + "\n";
      if (pattern.role == Role::cause) {
        // What also occurs in healthy builds needs the build's own word that it failed.
        if (pattern.weak) log += "ninja: build stopped: subcommand failed.\n";
        const Diagnosis diagnosis = diagnose(log);
        if (!pattern.seen.empty()) continue;
        EXPECT_TRUE(diagnosis.failed) << pattern.id << ": " << sample;
        if (!diagnosis.cause) continue;
        EXPECT_EQ(diagnosis.cause->kind, pattern.kind)
            << pattern.id << " taken by " << diagnosis.cause->id << ": " << sample;
        EXPECT_FALSE(diagnosis.cause->fixes.empty()) << pattern.id;
        EXPECT_TRUE(filled_in(diagnosis.cause->what, {})) << pattern.id << ": " << diagnosis.cause->what;
        continue;
      }
      const Diagnosis diagnosis = diagnose(log);
      if (pattern.role == Role::wrapper) {
        EXPECT_TRUE(diagnosis.failed) << pattern.id << ": " << sample;
        if (diagnosis.cause) {
          // "collect2: error" says at least that it was the link.
          const bool vague = diagnosis.cause->id == "wrapper-only" || diagnosis.cause->id == "link-any";
          EXPECT_TRUE(vague) << pattern.id << " taken by " << diagnosis.cause->id << ": " << sample;
        }
      } else {
        EXPECT_FALSE(diagnosis.failed) << pattern.id << " (" << pattern.kind << ") taken by "
                                       << (diagnosis.cause ? diagnosis.cause->id : "nothing") << ": " << sample;
      }
    }
  }
}

TEST(Remedy, FillsIn) {
  const Values known = {{"nvcc", "13.0"}, {"evil", "a\x1b[31mb"}, {"empty", ""}};
  const std::vector<const Values*> all = {&known};
  EXPECT_EQ(filled_in("nvcc {nvcc}", all), "nvcc 13.0");
  EXPECT_EQ(filled_in("{gcc|this GCC} {nvcc|x}", all), "this GCC 13.0");
  EXPECT_EQ(filled_in("{gcc}", all), std::nullopt);
  EXPECT_EQ(filled_in("{empty}", all), std::nullopt);
  EXPECT_EQ(filled_in("awk '{ print $1 }' {open", all), "awk '{ print $1 }' {open");
  EXPECT_EQ(filled_in("{evil}", all)->find('\x1b'), std::string::npos);
}

TEST(Remedy, ShortensTheListOfArchitectures) {
  const std::string command =
      "nvcc -gencode=arch=compute_60,code=sm_60 -gencode arch=compute_90a,code=sm_90a "
      "-gencode=arch=compute_120,code=compute_120";
  const Values known = arch_values(command, "", {"75", "90", "90a", "120"});
  EXPECT_EQ(known.at("archs"), "6.0;9.0a;12.0");
  EXPECT_EQ(known.at("archs.known"), "9.0a;12.0");
  EXPECT_EQ(arch_values(command, "compute_120", {}).at("archs.known"), "6.0;9.0a");
  EXPECT_FALSE(arch_values(command, "", {}).contains("archs.known"));
  EXPECT_TRUE(arch_values("g++ -c sm_x compute_1 compute_12345", "", {}).empty());
}

}  // namespace
}  // namespace wheelsmith::diagnose
