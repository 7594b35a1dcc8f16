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

TEST(Help, GroupsHaveOneOrderEverywhere) {
  DescribedCommand command;
  command.path = "wheelsmith check";
  command.summary = "Check wheels";
  command.details = "Reads wheels.\n\nExamples:\n  wheelsmith check x.whl";
  for (const char* group : {"Advanced", "Target", "Own", "Source"})
    command.options.push_back(
        {.name = std::string("--in-") + group, .shorter = "", .argument = "", .text = "Text", .group = group});
  EXPECT_EQ(option_groups(command.options), (std::vector<std::string>{"Own", "Source", "Target", "Advanced"}));
  for (const std::string& text : {help_text(command, HelpLength::full, 80), help_json(command)}) {
    EXPECT_LT(text.find("--in-Own"), text.find("--in-Source")) << text;
    EXPECT_LT(text.find("--in-Target"), text.find("--in-Advanced")) << text;
  }
  const std::string page = man_page(command, "1.0");
  EXPECT_LT(page.find(".SH DESCRIPTION"), page.find(".SS Own"));
  EXPECT_LT(page.find(".SS Target"), page.find(".SS Advanced"));
  EXPECT_LT(page.find(".SS Advanced"), page.find(".SH EXAMPLES"));
}

}  // namespace wheelsmith::report
