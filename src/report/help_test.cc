#include "report/help.h"

#include <gtest/gtest.h>

#include "report/man.h"

namespace wheelsmith::report {

TEST(Help, ChoicesAreInTheFirstClause) {
  DescribedCommand command;
  command.path = command.name = "wheelsmith";
  command.options = {{.name = "--mode",
                      .shorter = "",
                      .argument = "MODE",
                      .text = "How to work; a: the fast one",
                      .group = "Output",
                      .choices = {"a", "b"}},
                     {.name = "--kind",
                      .shorter = "",
                      .argument = "KIND",
                      .text = "One of x, y",
                      .group = "Output",
                      .choices = {"x", "y"}}};
  const std::string full = help_text(command, HelpLength::full, 120);
  EXPECT_NE(full.find("How to work: a, b; a: the fast one\n"), std::string::npos) << full;
  EXPECT_NE(full.find("One of x, y\n"), std::string::npos) << full;
  EXPECT_NE(help_text(command, HelpLength::brief, 120).find("How to work: a, b\n"), std::string::npos);
  EXPECT_NE(man_page(command, "1.0").find("How to work: a, b; a: the fast one."), std::string::npos);
}

}  // namespace wheelsmith::report
